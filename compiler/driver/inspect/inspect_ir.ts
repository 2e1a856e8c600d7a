/** Compiling continues from tile IR as text: `tri inspect FILE.ir`. */
import { cloneFunc } from "../../ir/walk.ts";
import type { CompileClock } from "../../options.ts";
import { CompilerBug } from "../../support/bug.ts";
import type { SourceFile } from "../../support/source.ts";
import { ALL_TARGETS, type Target, type TargetName } from "../../targets.ts";
import type { TargetContext } from "../../tile/pass.ts";
import { entryOptions } from "../entry_options.ts";
import { EVERY_STEP, FuncDumps } from "./func_dumps.ts";
import { type IrFunc, type IrHeader, parseIr, printHeader, printIr } from "./ir_text.ts";
import { entryText } from "../lower_entry.ts";
import { namedSteps, type Step } from "../passes/pass_list.ts";
import { PASS_NAMES, STEPS } from "../passes/passes.ts";
import { type PassWatch, runPasses } from "../passes/run_passes.ts";

/** What to make of the functions of a text. */
export interface IrRequest {
  /** What to print in the end. */
  readonly result: "ir" | "ptx";
  /** These passes, in this order; undefined: those that come after the step that the line above the function names. */
  readonly passes?: readonly string[];
  /** Continue to this pass, and print the function after it; `*`: after every pass. */
  readonly after?: string;
  /** The target, whatever the line above the function says. */
  readonly target?: TargetName;
  /** The target where neither says one. */
  readonly defaultTarget: TargetName;
  /** Measures how long each step takes. */
  readonly clock?: CompileClock;
}

/** Why the text or the request cannot be used. */
export interface IrMistake {
  /** A sentence without its full stop. */
  readonly mistake: string;
}

/** The functions of a text after passes, or as PTX. The verifier runs after every pass. */
export function inspectIr(file: SourceFile, request: IrRequest): string | IrMistake {
  const funcs = readFuncs(file);
  if ("mistake" in funcs) return funcs;
  const texts: string[] = [];
  for (const one of funcs) {
    const steps = stepsFor(one.header, request);
    if ("mistake" in steps) return steps;
    texts.push(inspectFunc(one, steps, request));
  }
  return texts.join("\n");
}

function readFuncs({ text, name }: SourceFile): readonly IrFunc[] | IrMistake {
  try {
    const funcs = parseIr(text, name);
    return funcs.length === 0 ? { mistake: `${name} has no function` } : funcs;
  } catch (error) {
    if (!(error instanceof CompilerBug)) throw error;
    return { mistake: error.message };
  }
}

function stepsFor(
  { after: done }: IrHeader,
  { passes, after: last }: IrRequest,
): readonly Step<TargetContext>[] | IrMistake {
  if (passes !== undefined) {
    const found = namedSteps(STEPS, passes);
    return "unknown" in found ? unknownPass(found.unknown) : found;
  }
  const begin = done === undefined ? 0 : PASS_NAMES.indexOf(done) + 1;
  if (done !== undefined && begin === 0) return unknownPass(done);
  if (last === undefined || last === EVERY_STEP) return STEPS.slice(begin);
  const end = PASS_NAMES.indexOf(last) + 1;
  if (end === 0) return unknownPass(last);
  return end > begin ? STEPS.slice(begin, end) : {
    mistake: `the function is one after ${done}, which comes after ${last}; --passes runs any pass`,
  };
}

const unknownPass = (name: string): IrMistake => ({
  mistake: `there is no pass ${name}; there are ${PASS_NAMES.join(", ")}`,
});

function inspectFunc(
  { header, func }: IrFunc,
  steps: readonly Step<TargetContext>[],
  { result, after, target: wanted, defaultTarget, clock }: IrRequest,
): string {
  const original = cloneFunc(func);
  const named = wanted === undefined ? undefined : ALL_TARGETS[wanted];
  const target: Target = named ?? header.target ?? ALL_TARGETS[defaultTarget];
  const entry = entryOptions(func, header.entry);
  const headerAfter = (step: string | undefined): IrHeader => {
    const isForTarget = STEPS.some(({ name, phase }) => name === step && phase !== "tile");
    return { ...header, after: step, ...isForTarget ? { target, entry } : {} };
  };
  const printed = (step: string | undefined): string => printHeader(headerAfter(step));
  const dumps = after === undefined ? undefined : new FuncDumps(after);
  const dump = dumps?.watch(printed);
  const watch: PassWatch = {
    verify: true,
    ...(clock === undefined ? {} : { now: clock.now }),
    after: (step, milliseconds, made) => {
      dump?.(step, milliseconds, made);
      clock?.spent({ entry: func.name, target: target.name, step, milliseconds });
    },
  };
  const settings = { ...entry, target, form: header.form ?? "plain" } as const;
  const passed = runPasses<TargetContext>({
    func,
    again: () => cloneFunc(original),
    steps,
    context: (analyses) => ({ ...analyses, ...settings }),
    watch,
    header: (step) => printed(step ?? header.after),
  });
  if (dumps !== undefined) return dumps.text("");
  if (result === "ptx") return entryText(passed, { ...settings, symbol: func.name, watch });
  return printIr({ header: headerAfter(steps.at(-1)?.name ?? header.after), func });
}
