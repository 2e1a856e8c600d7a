/** Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011). */
import type { Operand } from "../../ptx/func.ts";
import { must } from "../../support/bug.ts";
import { type Emitter, int } from "../emitter.ts";

const ROUNDS = 10;
/** Multipliers of the words 0 and 2, and what each round adds to the two halves of the key. */
const MULTIPLIERS = [0xd2511f53, 0xcd9e8d57] as const;
const WEYL = [0x9e3779b9, 0xbb67ae85] as const;

/** A word of the block that a 64-bit key gives for the counter (counter, 0, 0, 0). */
export function philox(e: Emitter, key: Operand, counter: Operand, word: number): Operand {
  const keys = [
    e.pure("cvt.u32.u64", "b32", [key]),
    e.pure("cvt.u32.u64", "b32", [e.pure("shr.u64", "b64", [key, int(32)])]),
  ];
  const register = (value: Operand): Operand => e.inRegister(value, "b32");
  let block: readonly Operand[] = [counter, int(0), int(0), int(0)];
  for (let round = 0; round < ROUNDS; round++) {
    const [key0, key1] = keys.map((half, i) =>
      register(
        e.add(
          "b32",
          half,
          int(BigInt.asIntN(32, BigInt(round) * BigInt(must(WEYL[i], "constant")))),
        ),
      )
    );
    const [c0, c1, c2, c3] = block.map(register);
    const times = (half: "hi" | "lo", c: Operand | undefined, i: 0 | 1): Operand =>
      e.pure(`mul.${half}.u32`, "b32", [
        must(c, "word"),
        int(BigInt.asIntN(32, BigInt(MULTIPLIERS[i]))),
      ]);
    const mix = (product: Operand, c: Operand | undefined, k: Operand | undefined): Operand =>
      e.pure("xor.b32", "b32", [
        e.pure("xor.b32", "b32", [product, must(c, "word")]),
        must(k, "key"),
      ]);
    block = [
      mix(times("hi", c2, 1), c1, key0),
      times("lo", c2, 1),
      mix(times("hi", c0, 0), c3, key1),
      times("lo", c0, 0),
    ];
  }
  return must(block[word], "word");
}
