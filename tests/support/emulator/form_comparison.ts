/**
 * How results of instructions are compared when two run the same: exactly, within the bounds of approximations, or not
 * at all where the ISA leaves them open.
 */
import type { Match } from "../../../compiler/ptx/match.ts";
import { type TypeName, TYPES } from "../../../compiler/ptx/types.ts";
import type { FormKernel } from "./ptx_form_kernel.ts";

/** Whether the ISA says exactly what the result is, but for the bits of NaN: not of approximations. */
function expectedExact(match: Match): boolean {
  return !match.modifiers.includes("approx") && !match.modifiers.includes("full");
}

const isNarrow24 = (value: bigint, signed: boolean): boolean =>
  BigInt.asUintN(32, signed ? BigInt.asIntN(24, value) : BigInt.asUintN(24, value)) === value;

/** Whether the ISA defines the result for these operands at all. */
export function isDefined(match: Match, sources: readonly bigint[]): boolean {
  const [a = 0n, b = 0n, c = 0n] = sources;
  const type = match.operands[0]?.type ?? "b32";
  switch (match.opcode) {
    case "div":
    case "rem":
      return TYPES[type].class === "float" || b !== 0n;
    case "fns":
      // The least offset has no absolute value that fits it.
      return b <= 31n && c !== 0x80000000n;
    case "bfe":
    case "bfi":
      // Positions and lengths are restricted to a byte.
      return sources.slice(match.opcode === "bfe" ? 1 : 2).every((value) => value <= 0xffn);
    case "mul24":
    case "mad24":
      return [a, b].every((value) => isNarrow24(value, type === "s32"));
    default:
      return true;
  }
}

/** Where GPUs do not do what the ISA says. */
export interface Deviation {
  readonly doc: string;
  applies(match: Match, sources: readonly bigint[]): boolean;
}

/** GPUs have no such instructions any more; ptxas replaces them by others. */
const isScalarVideo = ({ opcode }: Match): boolean =>
  /^v(?:add|sub|absdiff|min|max|shl|shr|set|mad)$/.test(opcode);

/** The part of the destination that an instruction writes; undefined for all of it. */
function partWritten(match: Match): string | undefined {
  const operand = match.operands[0]?.operand;
  return operand?.kind === "part" ? operand.part : undefined;
}

/** Seen on an H200 with driver 580 (CUDA 13.0). */
const DEVIATIONS: readonly Deviation[] = [
  {
    doc: "cvt.rm.ftz.f16.f32 and cvt.rp.ftz.f16.f32 do not flush subnormal sources",
    applies: ({ opcode, modifiers }, [a = 0n]) =>
      opcode === "cvt" && modifiers.includes("ftz") && modifiers.slice(-2).join() === "f16,f32" &&
      (modifiers.includes("rm") || modifiers.includes("rp")) &&
      (a & 0x7f800000n) === 0n,
  },
  {
    doc: "scalar video instructions merge the upper half of a result into .h1, not the lower half",
    applies: (match) => isScalarVideo(match) && partWritten(match) === "h1",
  },
  {
    doc: "scalar video instructions have 32 bits of what they saturate, scale or compare with c",
    applies: (match) =>
      isScalarVideo(match) &&
      ["sat", "shr7", "shr15", "min", "max"].some((name) => match.modifiers.includes(name)),
  },
];

/** Bits of exponent and fraction. */
const FORMATS: Readonly<Record<string, readonly [exponent: number, fraction: number]>> = {
  f16: [5, 10],
  bf16: [8, 7],
  tf32: [8, 23],
  f32: [8, 23],
  f64: [11, 52],
};

/** The value of a float of a format. */
function valueOf(bits: bigint, [exponentBits, fractionBits]: readonly [number, number]): number {
  const fraction = Number(BigInt.asUintN(fractionBits, bits));
  const exponent = Number(BigInt.asUintN(exponentBits, bits >> BigInt(fractionBits)));
  const sign = (bits >> BigInt(exponentBits + fractionBits)) & 1n ? -1 : 1;
  const bias = 2 ** (exponentBits - 1) - 1;
  if (exponent === 2 * bias + 1) return fraction === 0 ? sign * Infinity : NaN;
  const scaled = fraction / 2 ** fractionBits;
  return exponent === 0
    ? sign * scaled * 2 ** (1 - bias)
    : sign * (1 + scaled) * 2 ** (exponent - bias);
}

/** How far apart two approximations may be: as many units in the last place, or by a ratio, or by a distance. */
interface Bound {
  readonly ulps?: number;
  readonly relative?: number;
  readonly absolute?: number;
}

/** Twice what the ISA allows, since both may be off, and a unit for the rounding of either. */
const BOUNDS: Readonly<Record<string, Bound>> = {
  "div.f32": { ulps: 5 },
  "rcp.f32": { ulps: 3 },
  "rcp.f64": { relative: 2 ** -18 },
  "sqrt.f32": { ulps: 3, relative: 2 ** -22 },
  "rsqrt.f32": { ulps: 3, relative: 2 ** -21.9 },
  "rsqrt.f64": { ulps: 3 },
  "rsqrt.ftz.f64": { relative: 2 ** -18 },
  "lg2.f32": { ulps: 3, relative: 2 ** -21, absolute: 2 ** -21 },
  "ex2.f32": { ulps: 5 },
  "ex2.f16": { ulps: 1, relative: 2 ** -8.9 },
  "ex2.bf16": { ulps: 1, relative: 2 ** -6 },
  "tanh.f32": { ulps: 1, relative: 2 ** -10 },
  "tanh.f16": { ulps: 1, absolute: 2 ** -9.987 },
  "tanh.bf16": { ulps: 1, absolute: 2 ** -7 },
};

/** Sine and cosine by how large the argument is; beyond, anything goes. */
function periodicBound(size: number): Bound {
  if (size <= 2 * Math.PI) return { absolute: 2 ** -19.5 };
  return { absolute: size <= 100 * Math.PI ? 2 ** -13.7 : 2 };
}

function boundOf(match: Match, type: string, source: number): Bound {
  const { opcode, modifiers } = match;
  if (opcode === "sin" || opcode === "cos") return periodicBound(Math.abs(source));
  const ftz = modifiers.includes("ftz") ? BOUNDS[`${opcode}.ftz.${type}`] : undefined;
  return ftz ?? BOUNDS[`${opcode}.${type}`] ?? { ulps: 0 };
}

/** Whether two floats are the same, both NaN, or closer than a bound. */
function areClose(
  x: bigint,
  y: bigint,
  format: readonly [number, number],
  { ulps = 0, relative = 0, absolute = 0 }: Bound,
): boolean {
  if (x === y) return true;
  const [a, b] = [valueOf(x, format), valueOf(y, format)];
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  // Values of different signs are far apart in their bits.
  const apart = x > y ? x - y : y - x;
  if (apart <= BigInt(ulps)) return true;
  return Math.abs(a - b) <= absolute || Math.abs(a - b) <= relative * Math.abs(b);
}

/** Compares element by element what a type packs; types without NaN exactly. */
function sameParts(
  type: TypeName,
  found: bigint,
  wanted: bigint,
  boundAt: (shift: bigint, width: number, element: string) => Bound,
): boolean {
  if (found === wanted) return true;
  const element = type.replace(/x2$/, "");
  const format = FORMATS[element];
  if (format === undefined) return false;
  const width = format[0] + format[1] + 1;
  const count = TYPES[type].bits / width;
  return Array.from({ length: count }, (_, i) => BigInt(i * width)).every((shift) => {
    const [x = 0n, y = 0n] = [found, wanted].map((word) => BigInt.asUintN(width, word >> shift));
    return areClose(x, y, format, boundAt(shift, width, element));
  });
}

/** Whether two results are equal, any NaN being as good as any other. */
function sameResult(type: TypeName, found: bigint, wanted: bigint): boolean {
  return sameParts(type, found, wanted, () => ({}));
}

/** What to say of the results that two machines have of the same operands. */
export type Judgement = "same" | "undefined" | "deviation" | "different";

/** Compares the results of a case. */
export function compareForms(
  kernel: FormKernel,
  sources: readonly bigint[],
  found: readonly bigint[],
  wanted: readonly bigint[],
): Judgement {
  const { match } = kernel.spelling;
  const [source = 0n] = sources;
  const boundAt = (shift: bigint, width: number, element: string): Bound =>
    boundOf(
      match,
      element,
      valueOf(BigInt.asUintN(width, source >> shift), FORMATS[element] ?? [8, 23]),
    );
  const exact = expectedExact(match);
  const agrees = kernel.results.every(({ type }, i) => {
    const [x = 0n, y = 0n] = [found[i], wanted[i]];
    return exact ? sameResult(type, x, y) : sameParts(type, x, y, boundAt);
  });
  if (agrees) return "same";
  if (!isDefined(match, sources)) return "undefined";
  return DEVIATIONS.some(({ applies }) => applies(match, sources)) ? "deviation" : "different";
}
