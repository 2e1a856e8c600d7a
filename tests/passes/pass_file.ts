/**
 * Files that test passes: IR in, names of passes, IR out.
 *
 *     // what it is about
 *     // passes: cse, drop-dead
 *
 *     // ---- a case
 *     func @f(…) {…}
 *     // becomes
 *     func @f(…) {…}
 *
 *     // ---- another one, which the passes must leave alone
 *     func @f(…) {…}
 *     // unchanged
 *
 * A pass is a step of the list of passes, or `simplify:RULE`: one rule alone. Above a function may stand what
 * `tri inspect` prints there: passes for a target read it (`compiler/driver/inspect/ir_text.ts`).
 */
import { entryOptions } from "../../compiler/driver/entry_options.ts";
import { type IrFunc, parseIr } from "../../compiler/driver/inspect/ir_text.ts";
import type { Step } from "../../compiler/driver/passes/pass_list.ts";
import { STEPS } from "../../compiler/driver/passes/passes.ts";
import { runPasses } from "../../compiler/driver/passes/run_passes.ts";
import { printFunc } from "../../compiler/ir/print.ts";
import { cloneFunc } from "../../compiler/ir/walk.ts";
import { must } from "../../compiler/support/bug.ts";
import { TARGETS } from "../../compiler/targets.ts";
import type { TargetContext } from "../../compiler/tile/pass.ts";
import { RULES, simplifyWith } from "../../compiler/tile/simplify.ts";

export interface PassFile {
  readonly head: string;
  readonly passes: readonly string[];
  readonly cases: readonly PassCase[];
}

export interface PassCase {
  readonly title: string;
  /** The IR before, as it is in the file. */
  readonly before: string;
  /** The IR after; undefined: as before. */
  readonly after: string | undefined;
}

const CASE = /^\/\/ ---- (.*)\n/m;
const RESULT = /^\/\/ (becomes|unchanged)\n/m;

/** Reads a file. Results may be missing: blessing writes them. */
export function readPassFile(text: string): PassFile {
  const [head = "", ...rest] = text.split(CASE);
  const passes = /^\/\/ passes: (.*)$/m.exec(head)?.[1]?.split(", ") ?? [];
  const cases = Array.from({ length: rest.length / 2 }, (_, i): PassCase => {
    const [title = "", body = ""] = rest.slice(2 * i);
    const [before = "", word, after = ""] = body.split(RESULT);
    return { title, before, after: word === "becomes" ? after.trimEnd() + "\n" : undefined };
  });
  return { head, passes, cases };
}

/** The file with the results that its passes give now. */
export function rewritePassFile({ head, passes, cases }: PassFile): string {
  const texts = cases.map(({ title, before }) => {
    const { after, isSame } = runCase(passes, before);
    const result = isSame ? "// unchanged\n" : `// becomes\n${after}`;
    return `// ---- ${title}\n${before.trimEnd()}\n${result}`;
  });
  return head + texts.join("\n");
}

/** What passes make of a function, verified after each; each says truly whether it changed something. */
export function runCase(
  passes: readonly string[],
  text: string,
): { readonly after: string; readonly isSame: boolean } {
  const all = parseIr(text, "case");
  const { func, header } = must(all[0], "a function");
  const before = printFunc(func);
  for (const name of passes) runStep(stepNamed(name), { func, header });
  const after = printFunc(func);
  return { after, isSame: after === before };
}

function runStep(step: Step<TargetContext>, { func, header }: IrFunc): void {
  const before = printFunc(func);
  let changed = false;
  const run = (...[at, context]: Parameters<typeof step.pass.run>): boolean =>
    changed = step.pass.run(at, context);
  const { target, form = "plain" } = header;
  const entry = entryOptions(func, header.entry);
  if (step.phase !== "tile") must(target, `a target in the line above the function: ${step.name}`);
  runPasses<TargetContext>({
    func,
    again: () => cloneFunc(func),
    steps: [{ ...step, pass: { ...step.pass, run } }],
    context: (analyses) => ({ ...analyses, ...entry, target: target ?? TARGETS.sm_80, form }),
    watch: { verify: true },
  });
  if (!changed && printFunc(func) !== before) {
    throw new Error(`${step.name} changed the function and says that it did not`);
  }
}

function stepNamed(name: string): Step<TargetContext> {
  const rule = /^simplify:(.*)$/.exec(name)?.[1];
  if (rule === undefined) return must(STEPS.find((step) => step.name === name), `pass ${name}`);
  const rules = RULES.filter((one) => one.name === rule);
  if (rules.length === 0) throw new Error(`simplify has no rule ${rule}`);
  return { name, phase: "tile", pass: simplifyWith(rules), needs: [], because: undefined };
}
