/** Video instructions on two halves or four bytes side by side (PTX ISA 9.0, 9.7.18.2). */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { Match } from "../../compiler/ptx/match.ts";
import type { Bits, LaneOperation } from "../machine.ts";
import { laneOf, modifiersOf } from "./shape.ts";
import { COMPARISONS, saturator } from "./video.ts";

/** The digits of `.b3210`, the last of which is element 0. */
function digitsOf(match: Match, name: string, otherwise: string): readonly number[] {
  const operand: Operand | undefined = match.operands.find((each) => each.name === name)?.operand;
  const part = operand?.kind === "part" ? operand.part.slice(1) : otherwise;
  return [...part].reverse().map(Number);
}

/** Reads element n of a (and those after a's last of b) as a value. */
function elementReader(bits: number, signed: boolean): (a: Bits, b: Bits, n: number) => number {
  const count = 32 / bits;
  const above = 32 - bits;
  const align = (a: Bits, b: Bits, n: number): number =>
    (Number(n < count ? a : b) >>> (bits * (n % count))) << above;
  return signed ? (a, b, n) => align(a, b, n) >> above : (a, b, n) => align(a, b, n) >>> above;
}

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  vadd: (a, b) => a + b,
  vsub: (a, b) => a - b,
  vavrg: (a, b) => a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1,
  vabsdiff: (a, b) => Math.abs(a - b),
  vmin: Math.min,
  vmax: Math.max,
};

function vector(match: Match): LaneOperation {
  const count = match.opcode.endsWith("2") ? 2 : 4;
  const bits = 32 / count;
  const [lower, upper] = count === 2 ? ["10", "32"] : ["3210", "7654"];
  const [pickA, pickB] = [digitsOf(match, "a", lower ?? ""), digitsOf(match, "b", upper ?? "")];
  const written = new Set(digitsOf(match, "d", lower ?? ""));
  const elements = [...Array(count).keys()].filter((element) => written.has(element));
  const readA = elementReader(bits, match.bound.get("ATYPE") === "s32");
  const readB = elementReader(bits, match.bound.get("BTYPE") === "s32");
  const operate = COMPARISONS[match.bound.get("CMPI") ?? ""] ??
    OPERATIONS[match.opcode.slice(0, -1)] ?? ((a: number): number => a);
  const modifiers = modifiersOf(match);
  const saturate = modifiers.has("sat")
    ? saturator(bits, match.bound.get("DTYPE") === "s32")
    : (value: number): number => value;
  const compute = (a: Bits, b: Bits, i: number): number =>
    saturate(operate(readA(a, b, pickA[i] ?? 0), readB(a, b, pickB[i] ?? 0)));
  if (modifiers.has("add")) {
    return laneOf(match, (a, b, c) => {
      let total = Number(c);
      for (const i of elements) total += compute(a, b, i);
      return total >>> 0;
    });
  }
  const mask = (1 << bits) - 1;
  return laneOf(match, (a, b, c) => {
    let word = Number(c);
    for (const i of elements) {
      const at = bits * i;
      word = (word & ~(mask << at)) | ((compute(a, b, i) & mask) << at);
    }
    return word >>> 0;
  });
}

export const VIDEO_VECTOR: Readonly<Record<string, (match: Match) => LaneOperation>> = {
  vadd2: vector,
  vsub2: vector,
  vavrg2: vector,
  vabsdiff2: vector,
  vmin2: vector,
  vmax2: vector,
  vset2: vector,
  vadd4: vector,
  vsub4: vector,
  vavrg4: vector,
  vabsdiff4: vector,
  vmin4: vector,
  vmax4: vector,
  vset4: vector,
};
