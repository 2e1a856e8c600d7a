/** Integers are negated in a way that no assembler merges into minima and maxima; tests/gpu/negations_test.ts runs them on a GPU. */
import type { TargetName } from "../../../compiler/targets.ts";
import { assertEquals } from "../../support/assert.ts";
import { checkNegations, negationsFor } from "../../support/compiler/negations.ts";
import { emulate } from "../../support/emulate.ts";

for (const target of ["sm_70", "sm_89", "sm_90a", "sm_100"] satisfies TargetName[]) {
  Deno.test(`minima and maxima of negations are right, for ${target}`, () => {
    const ptx = negationsFor(target);
    assertEquals(ptx.match(/\b(?:neg|sub|mul\.lo|mad\.lo)\.\w+.*/g), null);
    checkNegations(ptx, (text, launch) => void emulate(text, launch));
  });
}
