/** Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011). */
import type { Operand } from "../../ptx/func.ts";
import { type Emitter, int } from "../emitter.ts";

const ROUNDS = 10;
/** What the words 0 and 2 are multiplied by, and what each round adds to the lower and the upper half of the key. */
const MULTIPLIERS = { first: 0xd2511f53, third: 0xcd9e8d57 } as const;
const WEYL = { lower: 0x9e3779b9, upper: 0xbb67ae85 } as const;

type Block = readonly [Operand, Operand, Operand, Operand];

/** A word of the block that a 64-bit key gives for the counter (counter, 0, 0, 0). */
export function philox(e: Emitter, key: Operand, counter: Operand, word: 0 | 1 | 2 | 3): Operand {
  const lower = e.pure("cvt.u32.u64", "b32", [key]);
  const upper = e.pure("cvt.u32.u64", "b32", [e.pure("shr.u64", "b64", [key, int(32)])]);
  let block: Block = [counter, int(0), int(0), int(0)];
  for (let round = 0; round < ROUNDS; round++) {
    const weyl = (half: Operand, step: number): Operand =>
      e.inRegister(e.add("b32", half, word32(BigInt(round) * BigInt(step))), "b32");
    block = nextBlock(e, block, weyl(lower, WEYL.lower), weyl(upper, WEYL.upper));
  }
  return block[word];
}

function nextBlock(e: Emitter, block: Block, lower: Operand, upper: Operand): Block {
  const register = (value: Operand): Operand => e.inRegister(value, "b32");
  const [c0, c1, c2, c3] = [
    register(block[0]),
    register(block[1]),
    register(block[2]),
    register(block[3]),
  ];
  const times = (half: "hi" | "lo", c: Operand, multiplier: number): Operand =>
    e.pure(`mul.${half}.u32`, "b32", [c, word32(BigInt(multiplier))]);
  const mix = (product: Operand, c: Operand, key: Operand): Operand =>
    e.pure("xor.b32", "b32", [e.pure("xor.b32", "b32", [product, c]), key]);
  return [
    mix(times("hi", c2, MULTIPLIERS.third), c1, lower),
    times("lo", c2, MULTIPLIERS.third),
    mix(times("hi", c0, MULTIPLIERS.first), c3, upper),
    times("lo", c0, MULTIPLIERS.first),
  ];
}

const word32 = (value: bigint): Operand => int(BigInt.asIntN(32, value));
