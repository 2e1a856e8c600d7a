import fc from "../../support/property.ts";
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

/** The definition: the least cost of all ways, each pair of prefixes by itself. */
function distance(a: string, b: string): number {
  const known = new Map<string, number>();
  const upTo = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const key = `${i} ${j}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const ways = [
      upTo(i - 1, j) + 1,
      upTo(i, j - 1) + 1,
      upTo(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
    ];
    const swaps = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
    if (swaps) ways.push(upTo(i - 2, j - 2) + 1);
    const least = Math.min(...ways);
    known.set(key, least);
    return least;
  };
  return upTo(a.length, b.length);
}

Deno.test("nearest() takes the first of the nearest, at most a third of the word away", () => {
  const anyWord = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 12 });
  fc.assert(fc.property(anyWord, fc.array(anyWord, { maxLength: 6 }), (word, candidates) => {
    const near = candidates.filter((one) =>
      one !== word && distance(word, one) <= Math.floor(word.length / 3)
    );
    const least = Math.min(...near.map((one) => distance(word, one)));
    assertEquals(nearest(word, candidates), near.find((one) => distance(word, one) === least));
  }));
});

Deno.test("nearest() gives no suggestion for words that are not typed", () => {
  const word = "a".repeat(100_000);
  assertEquals(nearest(`${word}b`, [`${word}c`]), undefined);
});
