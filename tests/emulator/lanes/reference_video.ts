/** What video instructions do, written after the pseudo-code of the PTX ISA (9.7.18) with bigints. */
import type { Operand } from "../../../compiler/ptx/func.ts";
import type { Match } from "../../../compiler/ptx/match.ts";
import { must } from "../../../compiler/support/bug.ts";

/** From the sources in order to the results in order. */
export type Reference = (match: Match, sources: readonly bigint[]) => bigint[];

const has = (match: Match, modifier: string): boolean => match.modifiers.includes(modifier);
const isSigned = (match: Match, group: string): boolean => match.bound.get(group) === "s32";
const min = (a: bigint, b: bigint): bigint => a < b ? a : b;
const max = (a: bigint, b: bigint): bigint => a > b ? a : b;
const abs = (a: bigint): bigint => a < 0n ? -a : a;
const clamp = (value: bigint, most: bigint, least: bigint): bigint => max(min(value, most), least);
const extend = (value: bigint, bits: number, signed: boolean): bigint =>
  signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);

function operandAt(match: Match, name: string): Operand {
  return must(match.operands.find((operand) => operand.name === name), name).operand;
}

/** The selector of an operand, such as "h1"; empty for none. */
function selector(match: Match, name: string): string {
  const operand = operandAt(match, name);
  const inner = operand.kind === "negative" ? operand.operand : operand;
  return inner.kind === "part" ? inner.part : "";
}

function partSelect(word: bigint, signed: boolean, part: string): bigint {
  if (part === "") return extend(word, 32, signed);
  const bits = part.startsWith("b") ? 8 : 16;
  return extend(word >> BigInt(bits * Number(part.slice(1))), bits, signed);
}

function saturate(tmp: bigint, bits: number, signed: boolean): bigint {
  const most = signed ? (1n << BigInt(bits - 1)) - 1n : (1n << BigInt(bits)) - 1n;
  return clamp(tmp, most, signed ? -most - 1n : 0n);
}

function compare(match: Match, a: bigint, b: bigint): bigint {
  const results: Readonly<Record<string, boolean>> = {
    eq: a === b,
    ne: a !== b,
    lt: a < b,
    le: a <= b,
    gt: a > b,
    ge: a >= b,
  };
  return must(results[match.bound.get("CMPI") ?? ""], "a comparison") ? 1n : 0n;
}

function scalarOperation(match: Match, ta: bigint, tb: bigint): bigint {
  const count = has(match, "clamp") ? min(tb, 32n) : tb & 31n;
  switch (match.opcode) {
    case "vadd":
      return ta + tb;
    case "vsub":
      return ta - tb;
    case "vabsdiff":
      return abs(ta - tb);
    case "vmin":
      return min(ta, tb);
    case "vmax":
      return max(ta, tb);
    case "vshl":
      return ta << count;
    case "vshr":
      return ta >> count;
    default:
      return compare(match, ta, tb);
  }
}

const scalar: Reference = (match, [a = 0n, b = 0n, c = 0n]) => {
  const ta = partSelect(a, isSigned(match, "ATYPE"), selector(match, "a"));
  const tb = partSelect(b, isSigned(match, "BTYPE"), selector(match, "b"));
  const dsel = selector(match, "d");
  const signed = isSigned(match, "DTYPE");
  let tmp = scalarOperation(match, ta, tb);
  const bits = dsel === "" ? 32 : dsel.startsWith("b") ? 8 : 16;
  if (has(match, "sat")) tmp = saturate(tmp, bits, signed);
  const third = extend(c, 32, signed);
  if (has(match, "add")) tmp += third;
  if (has(match, "min")) tmp = min(tmp, third);
  if (has(match, "max")) tmp = max(tmp, third);
  if (dsel !== "") {
    const at = BigInt(bits * Number(dsel.slice(1)));
    const hole = ((1n << BigInt(bits)) - 1n) << at;
    return [(c & ~hole) | (BigInt.asUintN(bits, tmp) << at)];
  }
  return [BigInt.asUintN(32, tmp)];
};

const multiplyAdd: Reference = (match, [a = 0n, b = 0n, c = 0n]) => {
  const [signedA, signedB] = [isSigned(match, "ATYPE"), isSigned(match, "BTYPE")];
  const negated = (name: string): boolean => operandAt(match, name).kind === "negative";
  const ta = partSelect(a, signedA, selector(match, "a"));
  const tb = partSelect(b, signedB, selector(match, "b"));
  const signedFinal = signedA || signedB || negated("a") !== negated("b") || negated("c");
  let tmp = ta * tb;
  let third = c;
  let lsb = 0n;
  if (has(match, "po")) lsb = 1n;
  else if (negated("a") !== negated("b")) [tmp, lsb] = [~tmp, 1n];
  else if (negated("c")) [third, lsb] = [BigInt.asUintN(32, ~c), 1n];
  tmp += extend(third, 32, signedFinal) + lsb;
  if (has(match, "shr7")) tmp >>= 7n;
  if (has(match, "shr15")) tmp >>= 15n;
  const result = has(match, "sat") ? saturate(tmp, 32, signedFinal) : tmp;
  return [BigInt.asUintN(32, result)];
};

function vectorOperation(match: Match, x: bigint, y: bigint): bigint {
  switch (match.opcode.slice(0, -1)) {
    case "vadd":
      return x + y;
    case "vsub":
      return x - y;
    case "vavrg":
      return x + y >= 0n ? (x + y + 1n) >> 1n : (x + y) >> 1n;
    case "vabsdiff":
      return abs(x - y);
    case "vmin":
      return min(x, y);
    case "vmax":
      return max(x, y);
    default:
      return compare(match, x, y);
  }
}

const vector: Reference = (match, [a = 0n, b = 0n, c = 0n]) => {
  const count = match.opcode.endsWith("2") ? 2 : 4;
  const bits = 32 / count;
  const both = (b << 32n) | a;
  const part = (name: string, defaults: string): string =>
    selector(match, name).slice(1) || defaults;
  const pick = (name: string, defaults: string, i: number, signed: boolean): bigint => {
    const digits = part(name, defaults);
    const index = Number(digits[count - 1 - i]);
    return extend(both >> BigInt(bits * index), bits, signed);
  };
  const mask = part("d", count === 2 ? "10" : "3210");
  let d = has(match, "add") ? c : 0n;
  for (let i = 0; i < count; i++) {
    const x = pick("a", count === 2 ? "10" : "3210", i, isSigned(match, "ATYPE"));
    const y = pick("b", count === 2 ? "32" : "7654", i, isSigned(match, "BTYPE"));
    let t = vectorOperation(match, x, y);
    if (has(match, "sat")) t = saturate(t, bits, isSigned(match, "DTYPE"));
    const at = BigInt(bits * i);
    const chosen = mask.includes(`${i}`);
    if (has(match, "add")) d += chosen ? t : 0n;
    else d |= chosen ? BigInt.asUintN(bits, t) << at : c & (((1n << BigInt(bits)) - 1n) << at);
  }
  return [BigInt.asUintN(32, d)];
};

export const VIDEO_REFERENCES: Readonly<Record<string, Reference>> = {
  vmad: multiplyAdd,
  ...Object.fromEntries(
    ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"].map((name) => [
      name,
      scalar,
    ]),
  ),
  ...Object.fromEntries(
    ["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"].flatMap((name) => [
      [`${name}2`, vector],
      [`${name}4`, vector],
    ]),
  ),
};
