/** What the instructions on floats give, from the text of the PTX ISA and exact arithmetic; but for `.approx`. */
import { TYPES } from "../../../compiler/ptx/types.ts";
import { must } from "../../../compiler/support/bug.ts";
import {
  add,
  compare,
  decodeReal,
  divide,
  encodeReal,
  finite,
  type Mode,
  multiply,
  NAN,
  negate,
  type Real,
  squareRoot,
  toInteger,
} from "./exact_float.ts";
import type { FloatForm } from "./float_forms.ts";
import { type Layout, LAYOUTS } from "./float_operands.ts";

/** Bits, or some NaN. */
export type Expected = bigint | "nan";

interface Format extends Layout {
  readonly name: string;
  readonly max: bigint;
  /** Zeros below the value. */
  readonly padding: bigint;
}

/** Formats without infinity. */
const FINITE: Readonly<Record<string, Layout & { readonly max: bigint }>> = {
  e4m3: { exponentBits: 4, mantissaBits: 3, max: 0x7en },
  e3m2: { exponentBits: 3, mantissaBits: 2, max: 0x1fn },
  e2m3: { exponentBits: 2, mantissaBits: 3, max: 0x1fn },
  e2m1: { exponentBits: 2, mantissaBits: 1, max: 0x7n },
};

function formatOf(name: string): Format {
  const found = FINITE[name];
  if (found !== undefined) return { ...found, name, padding: 0n };
  if (name === "ue8m0") {
    return { exponentBits: 8, mantissaBits: -1, name, max: 0xfen, padding: 0n };
  }
  const layout = must(LAYOUTS[name], name);
  const max = (((1n << BigInt(layout.exponentBits)) - 1n) << BigInt(layout.mantissaBits)) - 1n;
  return { ...layout, name, max, padding: name === "tf32" ? 13n : 0n };
}

const width = ({ exponentBits, mantissaBits }: Layout): number => 1 + exponentBits + mantissaBits;
const signBit = (format: Layout): bigint => 1n << BigInt(width(format) - 1);

function decode(format: Format, bits: bigint, flush: boolean): Real {
  const magnitude = bits & (signBit(format) - 1n);
  if (format.name === "ue8m0") {
    return bits === 0xffn ? NAN : finite(false, 1n << bits, 1n << 127n);
  }
  if (FINITE[format.name] !== undefined) {
    if (magnitude > format.max) return NAN;
    // One exponent more, so that the largest is no infinity.
    const wide = { exponentBits: format.exponentBits + 1, mantissaBits: format.mantissaBits };
    const shift = finite(false, 1n << (1n << BigInt(format.exponentBits - 1)));
    const value = multiply(decodeReal(wide, magnitude), shift);
    return magnitude === bits ? value : negate(value);
  }
  if (flush && magnitude < 1n << BigInt(format.mantissaBits)) {
    return finite(magnitude !== bits, 0n);
  }
  return decodeReal(format, bits);
}

interface Context {
  readonly modifiers: ReadonlySet<string>;
  readonly mode: Mode;
}

function finish(format: Format, value: Real, { modifiers, mode }: Context): Expected {
  const ftz = modifiers.has("ftz") && ["f32", "f16"].includes(format.name);
  if (modifiers.has("sat")) {
    if (value.kind === "nan" || value.negative) return 0n;
    if (compare(value, finite(false, 1n)) >= 0) return finish(format, finite(false, 1n), NONE);
  }
  if (value.kind === "nan") {
    // Formats without NaN.
    return FINITE[format.name] !== undefined && format.name !== "e4m3" ? format.max : "nan";
  }
  if (modifiers.has("relu") && value.negative) return 0n;
  const saturate = modifiers.has("satfinite");
  return encodeReal(format, value, { mode, max: format.max, flush: ftz, saturate }) <<
    format.padding;
}

const NONE: Context = { modifiers: new Set(), mode: "rn" };

const ARITHMETIC: Readonly<Record<string, (mode: Mode, a: Real, b: Real, c: Real) => Real>> = {
  add: (mode, a, b) => add(a, b, mode),
  sub: (mode, a, b) => add(a, negate(b), mode),
  mul: (_, a, b) => multiply(a, b),
  fma: (mode, a, b, c) => add(multiply(a, b), c, mode),
  mad: (mode, a, b, c) => add(multiply(a, b), c, mode),
  div: (_, a, b) => divide(a, b),
  rcp: (_, a) => divide(finite(false, 1n), a),
  sqrt: (_, a) => squareRoot(a),
};

function minMax(opcode: string, format: Format, bits: bigint[], context: Context): Expected {
  const { modifiers } = context;
  const sign = signBit(format);
  const sizes = bits.map((each) => modifiers.has("abs") ? each & (sign - 1n) : each);
  const flush = modifiers.has("ftz");
  const values = sizes.map((each) => decode(format, each, flush));
  if (modifiers.has("NaN") && values.some(({ kind }) => kind === "nan")) return "nan";
  const best = values.filter(({ kind }) => kind !== "nan").reduce<Real>((a, b) => {
    if (a.kind === "nan") return b;
    const order = compare(a, b) ||
      (b.kind !== "nan" && a.negative !== b.negative ? (a.negative ? -1 : 1) : 0);
    return (order < 0) === (opcode === "min") ? a : b;
  }, NAN);
  const chosen = finish(format, best, NONE);
  if (chosen === "nan" || !modifiers.has("xorsign")) return chosen;
  const signs = bits.reduce((a, b) => a ^ b, 0n) & sign;
  return chosen | signs;
}

function signOperation(opcode: string, format: Format, bits: bigint, flush: boolean): Expected {
  const value = decode(format, bits, flush);
  if (value.kind === "nan") return "nan";
  const negative = opcode === "neg" ? !value.negative : false;
  return finish(format, { ...value, negative }, NONE);
}

function property(modifiers: ReadonlySet<string>, format: Format, bits: bigint): bigint {
  const { kind } = decode(format, bits, false);
  const magnitude = bits & (signBit(format) - 1n);
  const subnormal = magnitude !== 0n && magnitude < 1n << BigInt(format.mantissaBits);
  const holds: Readonly<Record<string, boolean>> = {
    finite: kind === "finite",
    infinite: kind === "infinite",
    number: kind !== "nan",
    notanumber: kind === "nan",
    normal: kind === "finite" && !subnormal,
    subnormal,
  };
  const name = must(Object.keys(holds).find((each) => modifiers.has(each)), "property");
  return holds[name] === true ? 1n : 0n;
}

function elementResult(
  opcode: string,
  format: Format,
  bits: bigint[],
  context: Context,
): Expected {
  const { modifiers, mode } = context;
  const flush = modifiers.has("ftz");
  if (opcode === "min" || opcode === "max") return minMax(opcode, format, bits, context);
  if (opcode === "neg" || opcode === "abs") {
    return signOperation(opcode, format, bits[0] ?? 0n, flush);
  }
  if (opcode === "testp") return property(modifiers, format, bits[0] ?? 0n);
  if (opcode === "copysign") {
    const [a = 0n, b = 0n] = bits;
    const sign = signBit(format);
    return (b & (sign - 1n)) | (a & sign);
  }
  if (modifiers.has("oob") && bits.slice(0, 2).some((each) => (each & 0x7fffn) === 0x7ff7n)) {
    return 0n;
  }
  const [a = NAN, b = NAN, c = NAN] = bits.map((each) => decode(format, each, flush));
  return finish(format, must(ARITHMETIC[opcode], opcode)(mode, a, b, c), context);
}

const INTEGER_MODES: Readonly<Record<string, Mode>> = {
  rni: "rn",
  rzi: "rz",
  rmi: "rm",
  rpi: "rp",
};

function integerMode(modifiers: ReadonlySet<string>): Mode | undefined {
  return Object.entries(INTEGER_MODES).find(([name]) => modifiers.has(name))?.[1];
}

interface Integer {
  readonly signed: boolean;
  readonly bits: number;
}

function integerOf(name: string): Integer | undefined {
  const [, kind, bits] = /^([us])(\d+)$/.exec(name) ?? [];
  return kind === undefined ? undefined : { signed: kind === "s", bits: Number(bits) };
}

function toIntegerBits({ signed, bits }: Integer, value: Real, from: string, mode: Mode): bigint {
  const [least, most] = signed
    ? [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n]
    : [0n, (1n << BigInt(bits)) - 1n];
  if (value.kind === "nan") {
    return from === "f64" || bits === 64 ? (signed ? least : 1n << BigInt(bits - 1)) : 0n;
  }
  if (value.kind === "infinite") return value.negative ? least : most;
  const rounded = toInteger(value, mode);
  return rounded < least ? least : rounded > most ? most : rounded;
}

/** cvt of one value. */
function converted(
  to: string,
  from: string,
  bits: bigint,
  context: Context,
  registerBits: number,
): Expected {
  const { modifiers } = context;
  const source = integerOf(from);
  let value: Real;
  if (source === undefined) {
    value = decode(formatOf(from), bits, modifiers.has("ftz") && from === "f32");
  } else {
    const integer = source.signed ? BigInt.asIntN(source.bits, bits) : bits;
    value = finite(integer < 0n, integer < 0n ? -integer : integer);
  }
  // The ISA leaves NaN open here; an H200 cuts its bits off, and takes a unit off what is left where it saturates.
  if (context.mode === "rna" && value.kind === "nan") {
    const left = bits & ~0x1fffn;
    return modifiers.has("satfinite") ? left - 0x2000n : left;
  }
  const mode = integerMode(modifiers);
  const target = integerOf(to);
  if (target !== undefined) {
    const integer = toIntegerBits(target, value, from, must(mode, "integer rounding"));
    return BigInt.asUintN(registerBits, integer);
  }
  if (mode !== undefined && value.kind === "finite") {
    const integer = toInteger(value, mode);
    value = finite(value.negative, integer < 0n ? -integer : integer);
  }
  if (to === "ue8m0") return scaleOf(value, context);
  const kept = new Set(modifiers);
  if (to !== "f32") kept.delete("ftz");
  return finish(formatOf(to), value, { mode: context.mode, modifiers: kept });
}

/** The least power of two that is not below a value, or the largest not above; as an exponent with bias. */
function scaleOf(value: Real, { mode, modifiers }: Context): Expected {
  if (value.kind === "nan") return 0xffn;
  const saturate = modifiers.has("satfinite");
  if (value.kind === "infinite") return saturate ? 0xfen : 0xffn;
  const size: Real = { ...value, negative: false };
  const power = (bits: bigint): Real => finite(false, 1n << bits, 1n << 127n);
  let bits = 0n;
  while (bits < 254n && compare(power(bits + 1n), size) <= 0) bits++;
  if (mode === "rp" && compare(power(bits), size) < 0) bits++;
  return bits > 254n && saturate ? 254n : bits;
}

/** Which of the random bits are for a source. */
function randomOf(name: string, count: number, nth: number, register: bigint): bigint {
  const upper = nth < count / 2;
  const [high, low] = [register >> 16n, register & 0xffffn];
  if (name === "e2m1") {
    const shift = upper ? 8n : 0n;
    return ((high >> shift) & 0xffn) << 8n | (low >> shift) & 0xffn;
  }
  const half = upper ? high : low;
  return name === "f16" ? half & 0x1fffn : half;
}

/** A value rounded up if the discarded fraction and a random one are at least 1. */
function randomlyRounded(
  format: Format,
  value: Real,
  random: bigint,
  { modifiers }: Context,
): Expected {
  const randomBits = format.name === "f16" ? 13n : 16n;
  const down = finish(format, value, { modifiers, mode: "rz" });
  if (down === "nan" || value.kind !== "finite" || (value.negative && modifiers.has("relu"))) {
    return down;
  }
  const magnitude = down & (signBit(format) - 1n);
  const near = decode(format, magnitude, false);
  const before = magnitude === format.max ? magnitude - 1n : magnitude;
  const spacing = add(
    decode(format, before + 1n, false),
    negate(decode(format, before, false)),
    "rn",
  );
  const size: Real = { ...value, negative: false };
  const fraction = divide(add(size, negate(near), "rn"), spacing);
  const sum = add(fraction, finite(false, random, 1n << randomBits), "rn");
  if (compare(sum, finite(false, 1n)) < 0) return down;
  return magnitude === format.max && modifiers.has("satfinite") ? down : down + 1n;
}

const MODES: readonly Mode[] = ["rn", "rz", "rm", "rp", "rna"];
const TYPE = /^(?:[us]\d+|b?f\d+|tf32|u?e\dm\d)(x\d)?$/;

/** A type as a format and the number of values of it in a register. */
function unpack(type: string): [name: string, count: number] {
  const [, name = type, count = "1"] = /^(\w+?)(?:x(\d))?$/.exec(type) ?? [];
  return [name, Number(count)];
}

/** Bits from one value in a register to the next. */
function strideOf(name: string): number {
  const bits = integerOf(name)?.bits ?? width(formatOf(name));
  return bits === 6 ? 8 : bits;
}

/** The elements of a register, the lowest first. */
function elements(bits: bigint, name: string, count: number): bigint[] {
  const stride = strideOf(name);
  const mask = name === "tf32" ? 32 : integerOf(name)?.bits ?? width(formatOf(name));
  return Array.from(
    { length: count },
    (_, i) => BigInt.asUintN(mask, bits >> BigInt(i * stride)),
  );
}

/** The results of an instruction, the lowest first, each of `stride` bits. */
export interface Results {
  readonly stride: number;
  readonly format: Layout | undefined;
  readonly values: readonly Expected[];
}

/** What an instruction gives for such sources. */
export function referenceOf(form: FloatForm, sources: readonly bigint[]): Results {
  const { opcode } = form.match;
  const { modifiers: names } = form.instruction;
  const types = names.filter((name) => TYPE.test(name));
  const context: Context = {
    modifiers: new Set(names.filter((name) => !TYPE.test(name))),
    mode: MODES.find((mode) => names.includes(mode)) ?? "rn",
  };
  const [to, count] = unpack(types[0] ?? "");
  const [target] = form.instruction.operands;
  const registerBits = TYPES[target?.kind === "register" ? target.type : form.result].bits;
  const stride = count === 1 ? registerBits : strideOf(to);
  const format = integerOf(to) === undefined && opcode !== "testp" ? formatOf(to) : undefined;
  if (opcode === "cvt" && names.includes("rs")) {
    const register = must(sources.at(-1), "random bits");
    const values = sources.slice(0, -1).map((bits, nth) => {
      const random = randomOf(to, count, nth, register);
      return randomlyRounded(formatOf(to), decode(formatOf("f32"), bits, false), random, context);
    });
    return { stride, format, values: values.toReversed() };
  }
  if (opcode === "cvt") {
    const [from, packed] = unpack(types[1] ?? to);
    // Of two sources the first goes to the upper half.
    const inputs = packed === 1
      ? sources.toReversed().map((bits) => elements(bits, from, 1)[0] ?? 0n)
      : elements(sources[0] ?? 0n, from, packed);
    const values = inputs.map((bits) => converted(to, from, bits, context, registerBits));
    return { stride, format, values };
  }
  if (types.length === 2) {
    // The last source is single, the others are narrow.
    const narrow = formatOf(types[1] ?? "");
    const reals = sources.map((bits, i) =>
      decode(i === sources.length - 1 ? formatOf("f32") : narrow, bits, false)
    );
    const [a = NAN, b = NAN, c = NAN] = reals;
    const value = must(ARITHMETIC[opcode], opcode)(context.mode, a, b, c);
    return { stride, format, values: [finish(formatOf("f32"), value, context)] };
  }
  const split = sources.map((bits) => elements(bits, to, count));
  const values = Array.from(
    { length: count },
    (_, i) => elementResult(opcode, formatOf(to), split.map((each) => each[i] ?? 0n), context),
  );
  return { stride, format, values };
}

/** Whether a result is what is expected; for "nan" any NaN is. */
export function agrees({ stride, format, values }: Results, result: bigint): boolean {
  return values.every((value, i) => {
    const bits = BigInt.asUintN(stride, result >> BigInt(i * stride));
    if (value !== "nan") return bits === value;
    if (format === undefined) return false;
    const padding = stride - width(format);
    const magnitude = BigInt.asUintN(width(format) - 1, padding === 13 ? bits >> 13n : bits);
    const infinity = ((1n << BigInt(format.exponentBits)) - 1n) << BigInt(format.mantissaBits);
    return format.exponentBits === 4 ? magnitude === 0x7fn : magnitude > infinity;
  });
}
