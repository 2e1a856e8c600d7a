/**
 * Element-wise arithmetic in PTX: one row per tile operation, chosen by the class of the element type. Narrow
 * integers live extended in 32-bit registers; bfloat16 computes in float and rounds once, which language.md 9.2
 * allows and which is exact for + - * /.
 */
import type { Operand } from "../ptx/func.ts";
import { floatBits, roundFloat } from "../support/float.ts";
import { SCALARS } from "../support/scalar.ts";
import { type Element, isPointer } from "../ir/types.ts";
import type { BinaryOp, ComparisonOp } from "../ir/ops.ts";
import type { Bank } from "./body_register.ts";
import { type Emitter, int, isInteger } from "./emitter.ts";
import { convertScalar } from "./convert/convert.ts";
import { divideByPower } from "./divide_by_power.ts";
import { isFloat8 } from "./convert/float8.ts";

/** What arithmetic sees of an element type. */
type Kind = "bool" | "s32" | "u32" | "s64" | "u64" | "f16" | "bf16" | "f32" | "f64";

export function kindOf(element: Element): Kind {
  if (isPointer(element)) return "u64";
  if (element === "bool") return "bool";
  const { class: kind, bits, signed } = SCALARS[element];
  if (kind === "float") {
    return element === "float64"
      ? "f64"
      : element === "bfloat16"
      ? "bf16"
      : element === "float16"
      ? "f16"
      : "f32";
  }
  return `${signed ? "s" : "u"}${bits === 64 ? 64 : 32}`;
}

const BANKS: Readonly<Record<Kind, Bank>> = {
  bool: "pred",
  s32: "b32",
  u32: "b32",
  s64: "b64",
  u64: "b64",
  f16: "b16",
  bf16: "b16",
  f32: "b32",
  f64: "b64",
};
const isFloatKind = (kind: Kind): boolean =>
  kind === "f16" || kind === "bf16" || kind === "f32" || kind === "f64";

const isIntegerKind = (kind: Kind): kind is "s32" | "u32" | "s64" | "u64" =>
  kind !== "bool" && !isFloatKind(kind);

/** PTX spelling of an operation per kind; `T` is the kind. `via f32` computes in float. */
type Spelling = Readonly<Partial<Record<Kind | "int" | "float", string>>>;

const BINARY: Readonly<Record<Exclude<BinaryOp, "shl" | "shr">, Spelling>> = {
  add: { int: "add.T", float: "add.rn.T", bf16: "via f32" },
  sub: { int: "sub.T", float: "sub.rn.T", bf16: "via f32" },
  mul: { int: "mul.lo.T", float: "mul.rn.T", bf16: "via f32" },
  div: { int: "div.T", float: "div.rn.T", f16: "via f32", bf16: "via f32" },
  rem: { int: "rem.T" },
  // min/max.f16 need sm_80; float gives the same number on every target.
  min: { int: "min.T", float: "min.T", f16: "via f32", bf16: "via f32" },
  max: { int: "max.T", float: "max.T", f16: "via f32", bf16: "via f32" },
  and: { int: "and.B", bool: "and.pred" },
  or: { int: "or.B", bool: "or.pred" },
  xor: { int: "xor.B", bool: "xor.pred" },
};

/** Comparisons: names of setp, unordered `ne` for floats so that NaN != NaN. */
const COMPARE: Readonly<
  Record<ComparisonOp, { readonly name: string; readonly float: string }>
> = {
  lt: { name: "lt", float: "lt" },
  le: { name: "le", float: "le" },
  gt: { name: "gt", float: "gt" },
  ge: { name: "ge", float: "ge" },
  eq: { name: "eq", float: "eq" },
  ne: { name: "ne", float: "neu" },
};

function spell(template: string, kind: Kind): string {
  const bits = kind.endsWith("64") ? 64 : 32;
  return template.replace(/\bT\b/, kind).replace(/\bB\b/, `b${bits}`);
}

/** 8- and 16-bit results are brought back into their range, and constants of any width. */
function narrow(e: Emitter, value: Operand, element: Element): Operand {
  if (isPointer(element) || SCALARS[element].class !== "int" || element === "bool") return value;
  const { bits, signed } = SCALARS[element];
  // The emitter folds constants as signed numbers.
  if (isInteger(value)) return int((signed ? BigInt.asIntN : BigInt.asUintN)(bits, value.value));
  if (bits >= 32) return value;
  return e.pure(signed ? "bfe.s32" : "bfe.u32", "b32", [value, int(0), int(bits)]);
}

/** The scalar element's bits as an immediate that PTX accepts for its kind. */
export function constantOperand(value: number | bigint, element: Element): Operand {
  const kind = kindOf(element);
  if (!isFloatKind(kind)) return int(BigInt(value));
  const number = Number(value);
  // Not by a view: that of Node 20 and 22 has no float16.
  if (!isPointer(element) && (isFloat8(element) || element === "float16")) {
    return int(floatBits(roundFloat(number, element), element));
  }
  const view = new DataView(new ArrayBuffer(8));
  if (kind === "f64") {
    view.setFloat64(0, number);
    return { kind: "float", type: "f64", bits: view.getBigUint64(0) };
  }
  if (kind === "f32") {
    view.setFloat32(0, number);
    return { kind: "float", type: "f32", bits: BigInt(view.getUint32(0)) };
  }
  view.setFloat32(0, number); // a bfloat16 is the upper half of its float
  return int(view.getUint32(0) >>> 16);
}

function viaFloat(
  e: Emitter,
  element: Element,
  operands: readonly Operand[],
  compute: (wide: Operand[]) => Operand,
): Operand {
  if (isPointer(element)) return compute([...operands]);
  const wide = operands.map((operand) => convertScalar(e, operand, element, "float32"));
  return convertScalar(e, compute(wide), "float32", element);
}

/** Whether an operand is 1 in single precision. */
const isOne = (operand: Operand): boolean =>
  operand.kind === "float" && operand.bits === 0x3f800000n;

/** What an operation of integers negates: 0 - b, or a product with -1. */
function negatedBy(name: BinaryOp, a: Operand, b: Operand): Operand | undefined {
  if (name === "sub") return isInteger(a) && a.value === 0n && !isInteger(b) ? b : undefined;
  if (name !== "mul") return undefined;
  if (isInteger(b)) return b.value === -1n && !isInteger(a) ? a : undefined;
  return isInteger(a) && a.value === -1n ? b : undefined;
}

export function lowerBinary(
  e: Emitter,
  name: BinaryOp,
  element: Element,
  a: Operand,
  b: Operand,
  isExact = false,
): Operand {
  const kind = kindOf(element);
  if (name === "shl" || name === "shr") return lowerShift(e, name, element, a, b);
  const opposite = !isFloatKind(kind) && kind !== "bool" ? negatedBy(name, a, b) : undefined;
  if (opposite !== undefined) return lowerUnary(e, "neg", element, opposite);
  if (
    (name === "add" || name === "sub") &&
    (kind === "s32" || kind === "u32" || kind === "s64" || kind === "u64")
  ) {
    const bank = kind.endsWith("64") ? "b64" : "b32";
    const addend = name === "add" ? b : isInteger(b) ? int(-b.value) : undefined;
    if (addend !== undefined) return narrow(e, e.add(bank, a, addend), element);
  }
  if (name === "mul" && !isFloatKind(kind) && kind !== "bool") {
    return narrow(e, e.mul(kind.endsWith("64") ? "b64" : "b32", a, b), element);
  }
  if (isIntegerKind(kind) && isInteger(a) && isInteger(b)) {
    const known = foldIntegers(name, a.value, b.value);
    if (known !== undefined) return narrow(e, int(known), element);
  }
  const isQuotient = name === "div" || name === "rem";
  if (isQuotient && isInteger(b) && !isInteger(a) && isIntegerKind(kind)) {
    const quotient = divideByPower(e, name, kind, a, b.value);
    if (quotient !== undefined) return narrow(e, quotient, element);
  }
  const row = BINARY[name];
  const template = row[kind] ??
    (isFloatKind(kind) ? row.float : kind === "bool" ? undefined : row.int);
  if (template === undefined) throw new RangeError(`No PTX for ${name} on ${kind}`);
  if (template === "via f32") {
    return viaFloat(
      e,
      element,
      [a, b],
      // A quotient of narrow floats is rounded correctly only if that of floats is.
      ([x, y]) => lowerBinary(e, name, "float32", x ?? a, y ?? b, true),
    );
  }
  const bank = BANKS[kind];
  const inRegisters = kind === "bool" || kind === "f16"
    ? [e.inRegister(a, bank), e.inRegister(b, bank)]
    : [a, b];
  const isRelaxed = name === "div" && kind === "f32" && e.floats.fastDivision && !isExact;
  // Within 1 ulp; div.full scales its divisor, which takes five instructions for the one of a reciprocal.
  if (isRelaxed && isOne(a)) return e.pure("rcp.approx.f32", bank, [e.inRegister(b, bank)]);
  // PTX takes an immediate as second operand of most instructions, as first of few.
  const [x, y] = inRegisters;
  return narrow(
    e,
    e.pure(isRelaxed ? "div.full.f32" : spell(template, kind), bank, [
      e.inRegister(x ?? a, bank),
      y ?? b,
    ]),
    element,
  );
}

/** Of what depends on constants and registers' numbers alone, such as which half of a byte an element is. */
function foldIntegers(name: BinaryOp, a: bigint, b: bigint): bigint | undefined {
  if (name === "and") return a & b;
  return name === "rem" && b !== 0n ? a % b : undefined;
}

/** Shift counts are unsigned; PTX clamps counts above the width, which gives 0 or the sign (language.md 9.1). */
function lowerShift(
  e: Emitter,
  name: "shl" | "shr",
  element: Element,
  a: Operand,
  b: Operand,
): Operand {
  const kind = kindOf(element);
  const bits = kind.endsWith("64") ? 64 : 32;
  const count = isInteger(b)
    ? saturatedCount(b.value)
    : bits === 32
    ? b
    : e.pure("cvt.sat.u32.u64", "b32", [b]);
  const spelling = name === "shl" ? `shl.b${bits}` : `shr.${kind}`;
  return narrow(e, e.pure(spelling, BANKS[kind], [e.inRegister(a, BANKS[kind]), count]), element);
}

/** PTX reads the low 32 bits of a count: those of a larger 64-bit constant may be a small number. */
function saturatedCount(value: bigint): Operand {
  return int(value >= 0n && value < 64n ? value : 64n);
}

export function lowerCompare(
  e: Emitter,
  name: ComparisonOp,
  element: Element,
  a: Operand,
  b: Operand,
): Operand {
  const kind = kindOf(element);
  const row = COMPARE[name];
  if (row === undefined) throw new RangeError(`${name} is no comparison`);
  if (kind === "bool") {
    const different = e.pure("xor.pred", "pred", [
      e.inRegister(a, "pred"),
      e.inRegister(b, "pred"),
    ]);
    if (name === "ne") return different;
    if (name === "eq") return e.pure("not.pred", "pred", [different]);
    const word = (p: Operand): Operand =>
      isInteger(p) ? p : e.pure("selp.b32", "b32", [int(1), int(0), p]);
    return lowerCompare(e, name, "int32", word(a), word(b));
  }
  if (kind === "bf16" && !isPointer(element)) {
    return lowerCompare(
      e,
      name,
      "float32",
      convertScalar(e, a, element, "float32"),
      convertScalar(e, b, element, "float32"),
    );
  }
  const bank = BANKS[kind];
  // Fold: masks of constant bounds decide whole accesses.
  if (isInteger(a) && isInteger(b) && !isFloatKind(kind)) {
    return int(compareIntegers(row.name, a.value, b.value) ? 1 : 0);
  }
  const right = kind === "f16" ? e.inRegister(b, bank) : b;
  return e.pure(`setp.${isFloatKind(kind) ? row.float : row.name}.${kind}`, "pred", [
    e.inRegister(a, bank),
    right,
  ]);
}

function compareIntegers(name: string, a: bigint, b: bigint): boolean {
  const results: Readonly<Record<string, boolean>> = {
    lt: a < b,
    le: a <= b,
    gt: a > b,
    ge: a >= b,
    eq: a === b,
    ne: a !== b,
  };
  return results[name] ?? false;
}

/**
 * -a in 32 bits, as ~a + 1. Of `max(max(b, -a), c)`, and of `min`, ptxas 13.0 makes one VIMNMX3 (sm_90 to sm_103), which has
 * no sign for its second operand, and forgets that of a negation, however it is spelled: `neg`, `sub` from 0, `mul` by -1.
 */
function negated32(e: Emitter, a: Operand): Operand {
  return e.add("b32", e.pure("not.b32", "b32", [e.inRegister(a, "b32")]), int(1));
}

export function lowerUnary(e: Emitter, name: "neg" | "not", element: Element, a: Operand): Operand {
  const kind = kindOf(element);
  const bank = BANKS[kind];
  const register = e.inRegister(a, bank);
  if (name === "not") {
    return narrow(
      e,
      e.pure(kind === "bool" ? "not.pred" : `not.b${kind.endsWith("64") ? 64 : 32}`, bank, [
        register,
      ]),
      element,
    );
  }
  if (kind === "f16" || kind === "bf16") return e.pure("xor.b16", "b16", [register, int(0x8000)]);
  if (bank === "b32" && !isFloatKind(kind)) return narrow(e, negated32(e, register), element);
  return e.pure(`neg.${isFloatKind(kind) ? kind : "s64"}`, bank, [register]);
}

export function lowerSelect(
  e: Emitter,
  element: Element,
  condition: Operand,
  a: Operand,
  b: Operand,
): Operand {
  if (isInteger(condition)) return condition.value !== 0n ? a : b;
  const kind = kindOf(element);
  if (kind === "bool") {
    // c ? a : b = (c & a) | (!c & b)
    const c = condition;
    const yes = e.pure("and.pred", "pred", [c, e.inRegister(a, "pred")]);
    const no = e.pure("and.pred", "pred", [
      e.pure("not.pred", "pred", [c]),
      e.inRegister(b, "pred"),
    ]);
    return e.pure("or.pred", "pred", [yes, no]);
  }
  return e.pure(`selp.${BANKS[kind]}`, BANKS[kind], [a, b, condition]);
}

/**
 * Bytes of `count` elements, 64 bits: the count widens by its own signedness, then is scaled. `start` promises that
 * the constant part of the count, less `start`, only sets bits that the rest leaves 0: nothing wraps when it is
 * added, so the parts may widen apart and the constant becomes an immediate of the access.
 */
export function lowerScaled(
  e: Emitter,
  count: Operand,
  element: Element,
  bytes: number,
  start?: bigint,
): Operand {
  if (isInteger(count)) return int(count.value * BigInt(bytes));
  const kind = kindOf(element);
  if (kind === "s64" || kind === "u64") return e.mul("b64", count, int(bytes));
  const { base, constant } = start === undefined ? { base: count, constant: 0n } : e.sumOf(count);
  const apart = constant - (start ?? 0n);
  const wide = e.pure(`mul.wide.${kind === "u32" ? "u32" : "s32"}`, "b64", [
    e.add("b32", base, int(constant - apart)),
    int(bytes),
  ]);
  return e.add("b64", wide, int(apart * BigInt(bytes)));
}
