/** Runs steps of the list of passes, and everything around them: the verifier, the clock, what is seen of a failure. */
import type { Func } from "../../ir/func.ts";
import { printFunc } from "../../ir/print.ts";
import { verifyFunc } from "../../ir/verify.ts";
import { Unsupported } from "../../lower/unsupported.ts";
import { axisAnalysis, type AxisFacts } from "../../tile/axis.ts";
import type { Analyses } from "../../tile/pass.ts";
import { PassFailure } from "./pass_failure.ts";
import type { Step } from "./pass_list.ts";

/** Looks at passes while they run. */
export interface PassWatch {
  /** Check the function before the first and after every pass, whatever it says of its changes. */
  readonly verify?: boolean;
  /** Milliseconds of some clock; without it all times are 0. */
  readonly now?: () => number;
  /** Called after every pass with the function, and after what else takes time, such as `build` and `emit`. */
  readonly after?: (step: string, milliseconds: number, func?: Func) => void;
}

/** Does what is not a pass, and reports how long it took. */
export function timed<T>({ now, after }: PassWatch, step: string, work: () => T): T {
  const start = now?.() ?? 0;
  const result = work();
  after?.(step, (now?.() ?? 0) - start);
  return result;
}

/** What to run, and on what. */
export interface PassRun<Context extends Analyses> {
  /** Is edited. */
  readonly func: Func;
  /** Makes the same function again, after a failure, so that no copy is kept for that. */
  readonly again: () => Func;
  readonly steps: readonly Step<Context>[];
  /** The other queries of passes. */
  readonly context: (analyses: Analyses) => Context;
  readonly watch?: PassWatch;
  /** What a dump says of the function above it; after the step of this name, undefined: before the first. */
  readonly header?: (after: string | undefined) => string;
}

/** A function after its passes, with what is known of it. */
export interface Passed {
  readonly func: Func;
  readonly analyses: Analyses;
}

/** Runs steps in order. A failure is a {@linkcode PassFailure}; {@linkcode Unsupported} stays what it is. */
export function runPasses<Context extends Analyses>(run: PassRun<Context>): Passed {
  const { func, steps, context, watch = {} } = run;
  const { verify = false, now = (): number => 0, after } = watch;
  if (verify) verifyFunc(func);
  let axisInfo: AxisFacts | undefined;
  const analyses: Analyses = { axisInfo: () => axisInfo ??= axisAnalysis(func) };
  const given = context(analyses);
  steps.forEach(({ name, pass }, index) => {
    const start = now();
    let milliseconds = 0;
    try {
      if (pass.run(func, given)) axisInfo = undefined;
      milliseconds = now() - start;
      if (verify) verifyFunc(func);
    } catch (error) {
      if (error instanceof Unsupported || error instanceof PassFailure) throw error;
      throw new PassFailure(name, func.name, textBefore(run, index), error);
    }
    after?.(name, milliseconds, func);
  });
  return { func, analyses };
}

/** The function before a step. Passes give the same each time, so those before it are run again. */
function textBefore<Context extends Analyses>(run: PassRun<Context>, index: number): string {
  const { watch: _watch, ...rest } = run;
  const { func } = runPasses({ ...rest, func: run.again(), steps: run.steps.slice(0, index) });
  return `${run.header?.(run.steps[index - 1]?.name) ?? ""}${printFunc(func)}`;
}
