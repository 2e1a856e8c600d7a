import { nearest } from "../../../compiler/support/spelling.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("nearest() finds the word that was meant and nothing far away", () => {
  const cases: [string, string[], string | undefined][] = [
    ["get_progam_id", ["get_num_programs", "get_program_id"], "get_program_id"],
    ["gird", ["key", "grid"], "grid"],
    ["tm", ["TM"], "TM"],
    ["ab", ["cd", "ax"], undefined],
    ["a", ["b"], undefined],
    ["newaxs", ["newaxis"], "newaxis"],
    ["same", ["same"], undefined],
    ["matrix", ["vector"], undefined],
    ["", ["a"], undefined],
    ["ldz", ["ldx", "ldy"], "ldx"],
  ];
  for (const [word, candidates, wanted] of cases) {
    assertEquals(nearest(word, candidates), wanted, word);
  }
});
