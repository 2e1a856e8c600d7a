/** Puzzles: what one begins with fails, the solution passes, and the inputs are not those that the page shows. */
import { JUDGEMENTS } from "../../playground/puzzles/cases.ts";
import { judge, type Judged } from "../../playground/puzzles/judge.ts";
import { type Puzzle, puzzleOf, PUZZLES } from "../../playground/puzzles/puzzles.ts";
import { problemsOf } from "../../playground/session/check.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { openEntry } from "./gallery.ts";

function judged(puzzle: Puzzle, file: string): Judged {
  const { program, call } = openEntry({ ...puzzle, file });
  return judge(program, call, puzzle.name);
}

/** Why what one begins with fails. */
const FAILS: Readonly<Record<string, RegExp>> = {
  puzzle_tail_mask: /expected a buffer of at least 256 bytes/,
  puzzle_outer_sum: /is -?[\d.]+; it must be/,
  puzzle_long_rows: /element 0, is/,
  puzzle_row_maximum: /is 0; it must be -2.5/,
  puzzle_stencil: /touches elements -1 to 1/,
  puzzle_safe_softmax: /is NaN; it must be/,
  puzzle_variance: /it must be 0\.\d+/,
  puzzle_whole_sectors: /sectors of memory where \d+ are enough/,
  puzzle_product: /it must be/,
  puzzle_race: /^race/,
};

for (const puzzle of PUZZLES) {
  Deno.test(`judge() finds ${puzzle.name} unsolved at its beginning, and its solution right`, () => {
    const begun = judged(puzzle, puzzle.file);
    assert(!begun.isSolved);
    const says = begun.verdicts.at(-1)?.says ?? "";
    assert(FAILS[puzzle.name]?.test(says), says);
    // It compiles: what is wrong is found by running it.
    assertEquals(problemsOf(openEntry(puzzle).program, "all"), []);
    const solved = judged(puzzle, puzzle.solution);
    assertEquals(solved.verdicts.filter(({ passed }) => !passed), []);
    assert(solved.isSolved);
    assertEquals(problemsOf(openEntry({ ...puzzle, file: puzzle.solution }).program, "all"), []);
  });
}

Deno.test("each puzzle has hints, and inputs of its own that are not those of the page", () => {
  assertEquals(PUZZLES.length, 10);
  assertEquals(Object.keys(JUDGEMENTS).sort(), PUZZLES.map(({ name }) => name).sort());
  for (const { name, chosen: { sizes }, hints } of PUZZLES) {
    assert(hints.length >= 2);
    const shown = JSON.stringify(sizes);
    assert(JUDGEMENTS[name]?.cases.every((each) => JSON.stringify(each.sizes) !== shown), name);
  }
});

Deno.test("judge() answers for texts that cannot run, and for puzzles that do not exist", () => {
  const [first] = PUZZLES;
  assert(first !== undefined);
  const { program, call } = openEntry(first);
  const broken = judge({ ...program, text: "__global__ void k(" }, call, first.name);
  assert(!broken.isSolved && broken.verdicts[0]?.says !== "");
  const other = judge(
    { ...program, text: "__global__ void k(int *Q) { *Q = 1; }" },
    call,
    first.name,
  );
  assert(!other.isSolved);
  assertEquals(judge(program, call, "nothing"), { isSolved: false, verdicts: [] });
  assertEquals(puzzleOf("nothing"), undefined);
});
