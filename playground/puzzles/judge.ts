/** Judges a kernel that somebody wrote for a puzzle: runs it with the hidden inputs on the emulator. */
import type { Program } from "../session/program.ts";
import { type Call, type Ran, run } from "../session/run.ts";
import { type Case, type Inputs, type Judgement, JUDGEMENTS } from "./cases.ts";

/** What became of one launch. */
export interface Verdict {
  /** The sizes: `M = 3, N = 17`. */
  readonly title: string;
  readonly passed: boolean;
  /** What is wrong; empty if nothing is. */
  readonly says: string;
}

/** The puzzle is solved where all have passed. */
export interface Judged {
  readonly isSolved: boolean;
  readonly verdicts: readonly Verdict[];
}

/** Judges a program; `call` says the budget. After the first launch that fails the others are not run. */
export function judge(program: Program, call: Call, puzzle: string): Judged {
  const judgement = JUDGEMENTS[puzzle];
  if (judgement === undefined) return { isSolved: false, verdicts: [] };
  const verdicts: Verdict[] = [];
  for (const each of judgement.cases) {
    const { sizes, fills = {} } = each;
    const title = Object.entries(sizes).map(([name, value]) => `${name} = ${value}`).join(", ");
    const says = mistakeOf(program, { ...call, sizes, fills }, each, judgement);
    verdicts.push({ title, passed: says === "", says });
    if (says !== "") break;
  }
  const isSolved = verdicts.length === judgement.cases.length &&
    verdicts.every(({ passed }) => passed);
  return { isSolved, verdicts };
}

/** What is wrong with one launch; empty if nothing is. */
function mistakeOf(program: Program, call: Call, each: Case, judgement: Judgement): string {
  const ran = run(program, call);
  if (ran.kind === "not run") return ran.reason;
  const [finding] = ran.findings;
  if (finding !== undefined) return `${finding.kind}: ${finding.detail}`;
  const wrong = wrongElement(ran, each, judgement);
  if (wrong !== undefined) return wrong;
  const { profile } = ran;
  for (const { exceeded } of judgement.limits ?? []) {
    const says = profile === undefined ? undefined : exceeded(profile);
    if (says !== undefined) return says;
  }
  return "";
}

/** The first element of the output that is not what it must be. */
function wrongElement(
  ran: Ran,
  { sizes }: Case,
  { output, expected, tolerance }: Judgement,
): string | undefined {
  const { after } = ran.tensors.find(({ name }) => name === output) ?? {};
  if (after === undefined) return `the kernel must write ${output}`;
  const tensors = Object.fromEntries(
    ran.tensors.flatMap(({ name, before }) => before === undefined ? [] : [[name, before]]),
  );
  const inputs: Inputs = { tensors, sizes };
  const right = Float64Array.from(after, (_, index) => expected(inputs)(index));
  const largest = right.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const index = after.findIndex((value, at) =>
    !(Math.abs(value - (right[at] ?? NaN)) <= tolerance * largest)
  );
  if (index < 0) return undefined;
  const said = Number((right[index] ?? NaN).toPrecision(6));
  return `${output}, element ${index}, is ${after[index]}; it must be ${said}`;
}
