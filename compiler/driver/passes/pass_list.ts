/** A list of passes becomes steps with names of their own, after its order has been checked. */
import { bug } from "../../support/bug.ts";
import { type Pass, type Phase, PHASES } from "../../tile/pass.ts";

/** A row of the list. */
export interface Row<Context> {
  readonly pass: Pass<Context>;
  /** Steps that must come before this one. */
  readonly needs?: readonly string[];
  /** Why it is where it is, if the order matters. */
  readonly because?: string;
}

/** A pass and its position in the list. */
export interface Step<Context> extends Required<Pick<Row<Context>, "needs">> {
  /** The name of the pass; of its second entry in the list `simplify.2`. */
  readonly name: string;
  readonly phase: Phase;
  readonly pass: Pass<Context>;
  readonly because: string | undefined;
}

/** The steps of rows in groups by phase. A list whose order is wrong is a defect, found when the list is loaded. */
export function stepsOf<Context>(
  groups: readonly (readonly [Phase, readonly Row<Context>[]])[],
): readonly Step<Context>[] {
  const steps: Step<Context>[] = [];
  for (const [phase, rows] of groups) {
    const last = steps.at(-1);
    if (last !== undefined && PHASES.indexOf(phase) < PHASES.indexOf(last.phase)) {
      bug(`The phase ${phase} comes after the phase ${last.phase} in the list of passes`);
    }
    for (const { pass, needs = [], because } of rows) {
      const occurrence = steps.filter((step) => step.pass.name === pass.name).length + 1;
      const name = occurrence === 1 ? pass.name : `${pass.name}.${occurrence}`;
      const missing = needs.find((need) => steps.every((step) => step.name !== need));
      if (missing !== undefined) bug(`The pass ${name} needs ${missing}, which is not before it`);
      steps.push({ name, phase, pass, needs, because });
    }
  }
  return steps;
}

/** The steps with these names, in the order of the names; the first name that no step has. */
export function namedSteps<Context>(
  steps: readonly Step<Context>[],
  names: readonly string[],
): readonly Step<Context>[] | { readonly unknown: string } {
  const found: Step<Context>[] = [];
  for (const name of names) {
    const step = steps.find((one) => one.name === name);
    if (step === undefined) return { unknown: name };
    found.push(step);
  }
  return found;
}
