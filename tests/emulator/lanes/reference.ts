/**
 * What integer instructions do, written after the pseudo-code of the PTX ISA with bigints of any size, bit by bit where
 * the ISA does so: an independent judge of the emulator's operations. Values are bits without sign.
 */
import type { Match } from "../../../compiler/ptx/match.ts";
import { type TypeName, TYPES } from "../../../compiler/ptx/types.ts";
import { must } from "../../../compiler/support/bug.ts";
import { referenceComparison } from "./reference_floats.ts";
import { type Reference, VIDEO_REFERENCES } from "./reference_video.ts";

const bitAt = (value: bigint, at: number): bigint => (value >> BigInt(at)) & 1n;
const isSigned = (type: string): boolean => type.startsWith("s");
const valueOf = (bits: bigint, type: TypeName): bigint =>
  isSigned(type) ? BigInt.asIntN(TYPES[type].bits, bits) : BigInt.asUintN(TYPES[type].bits, bits);
const has = (match: Match, modifier: string): boolean => match.modifiers.includes(modifier);
const typeAt = (match: Match, name: string): TypeName =>
  must(match.operands.find((operand) => operand.name === name), `operand ${name}`).type;
const instructionType = (match: Match): TypeName => must(match.operands[0], "an operand").type;

function limits(bits: number, signed: boolean): [bigint, bigint] {
  return signed
    ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
    : [0n, 2n ** BigInt(bits) - 1n];
}
function held(value: bigint, [least, most]: [bigint, bigint]): bigint {
  if (value < least) return least;
  return value > most ? most : value;
}

/** Values of one type in, one out; the result is cut to the type. */
function typed(compute: (match: Match, values: bigint[]) => bigint): Reference {
  return (match, sources) => {
    const type = instructionType(match);
    const { bits } = TYPES[type];
    if (type === "u16x2" || type === "s16x2") {
      const half = isSigned(type) ? "s16" : "u16";
      const parts = [0n, 16n].map((shift) => {
        const values = sources.map((source) => valueOf(source >> shift, half));
        return BigInt.asUintN(16, compute(match, values)) << shift;
      });
      return [parts.reduce((word, part) => word | part)];
    }
    return [BigInt.asUintN(bits, compute(match, sources.map((source) => valueOf(source, type))))];
  };
}

const at = (values: readonly bigint[], i: number): bigint => must(values[i], "a source");

const sum = (sign: bigint): Reference =>
  typed((match, values) => {
    const result = at(values, 0) + sign * at(values, 1);
    return has(match, "sat") ? held(result, limits(32, true)) : result;
  });

/** t = a * b; d = t<2n-1..n>, t<n-1..0> or t, plus c. */
const product: Reference = (match, sources) => {
  const type = typeAt(match, "a");
  const { bits } = TYPES[type];
  const wide = has(match, "wide");
  const t = valueOf(at(sources, 0), type) * valueOf(at(sources, 1), type);
  const part = has(match, "hi")
    ? BigInt.asIntN(bits, BigInt.asUintN(2 * bits, t) >> BigInt(bits))
    : t;
  const c = sources[2] ?? 0n;
  const width = wide ? 2 * bits : bits;
  const saturated = has(match, "sat")
    ? held(part + BigInt.asIntN(32, c), limits(32, true))
    : part + c;
  return [BigInt.asUintN(width, saturated)];
};

const product24: Reference = (match, sources) => {
  const signed = isSigned(instructionType(match));
  const [a, b] = sources.slice(0, 2).map((source) =>
    signed ? BigInt.asIntN(24, source) : BigInt.asUintN(24, source)
  );
  const t = BigInt.asUintN(48, must(a, "a") * must(b, "b"));
  const part = has(match, "hi") ? t >> 16n : BigInt.asUintN(32, t);
  const c = sources[2] ?? 0n;
  if (has(match, "sat")) {
    const total = BigInt.asIntN(32, part) + BigInt.asIntN(32, c);
    return [BigInt.asUintN(32, held(total, limits(32, true)))];
  }
  return [BigInt.asUintN(32, part + c)];
};

const division = (compute: (a: bigint, b: bigint) => bigint): Reference =>
  typed((_match, values) => at(values, 1) === 0n ? -1n : compute(at(values, 0), at(values, 1)));

const extreme = (compare: (a: bigint, b: bigint) => boolean): Reference =>
  typed((match, values) => {
    const [a, b] = [at(values, 0), at(values, 1)];
    const result = compare(a, b) ? a : b;
    return has(match, "relu") && result < 0n ? 0n : result;
  });

const findHighest: Reference = (match, [a = 0n]) => {
  const type = typeAt(match, "a");
  const msb = TYPES[type].bits - 1;
  const value = isSigned(type) && bitAt(a, msb) === 1n ? ~a : a;
  for (let i = msb; i >= 0; i--) {
    if (bitAt(value, i) === 1n) return [BigInt(has(match, "shiftamt") ? msb - i : i)];
  }
  return [0xffffffffn];
};

const findNth: Reference = (_match, [mask = 0n, base = 0n, offsetBits = 0n]) => {
  const offset = BigInt.asIntN(32, offsetBits);
  if (base > 31n) return [0xffffffffn];
  if (offset === 0n) return [bitAt(mask, Number(base)) === 1n ? base : 0xffffffffn];
  let count = (offset < 0n ? -offset : offset) - 1n;
  for (let pos = Number(base); pos >= 0 && pos < 32; pos += offset > 0n ? 1 : -1) {
    if (bitAt(mask, pos) === 1n && count-- === 0n) return [BigInt(pos)];
  }
  return [0xffffffffn];
};

const fromBits = (count: number, bit: (i: number) => bigint): bigint =>
  Array.from({ length: count }, (_, i) => bit(i) << BigInt(i)).reduce((all, one) => all | one, 0n);

const extractField: Reference = (match, [a = 0n, b = 0n, c = 0n]) => {
  const type = instructionType(match);
  const msb = TYPES[type].bits - 1;
  const [pos, len] = [Number(b & 0xffn), Number(c & 0xffn)];
  const sbit = !isSigned(type) || len === 0 ? 0n : bitAt(a, Math.min(pos + len - 1, msb));
  return [fromBits(msb + 1, (i) => i < len && pos + i <= msb ? bitAt(a, pos + i) : sbit)];
};

const insertField: Reference = (match, [a = 0n, b = 0n, c = 0n, d = 0n]) => {
  const { bits } = TYPES[instructionType(match)];
  const [pos, len] = [Number(c & 0xffn), Number(d & 0xffn)];
  return [fromBits(bits, (i) => i >= pos && i < pos + len ? bitAt(a, i - pos) : bitAt(b, i))];
};

const extend: Reference = (match, [a = 0n, b = 0n]) => {
  const b1 = Number(b & 31n);
  const tooLarge = b >= 32n && has(match, "clamp");
  const mask = tooLarge ? 0n : BigInt.asUintN(32, -1n << BigInt(b1));
  const signed = b1 !== 0 && !tooLarge && instructionType(match) === "s32";
  const sign = signed && bitAt(a, (b1 - 1) & 31) === 1n;
  return [(a & ~mask) | (sign ? mask : 0n)];
};

const maskOf: Reference = (match, [a = 0n, b = 0n]) => {
  const clamp = has(match, "clamp");
  const [a1, b1] = [a & 31n, b & 31n];
  const sum = a1 + b1;
  const mask0 = clamp && a >= 32n ? 0n : BigInt.asUintN(32, -1n << a1);
  let mask1 = BigInt.asUintN(32, -1n << sum);
  if (sum >= 32n || (clamp && (a >= 32n || b >= 32n))) mask1 = 0n;
  else if (b1 === 0n) mask1 = 0xffffffffn;
  return [mask0 & ~mask1];
};

const dot: Reference = (match, [a = 0n, b = 0n, c = 0n]) => {
  const [aSigned, bSigned] = ["T", "U"].map((name) => match.bound.get(name) === "s32");
  const part = (word: bigint, i: number, size: number, signed: boolean | undefined): bigint => {
    const bits = word >> BigInt(i * size);
    return signed ? BigInt.asIntN(size, bits) : BigInt.asUintN(size, bits);
  };
  let d = c;
  if (match.opcode === "dp4a") {
    for (let i = 0; i < 4; i++) d += part(a, i, 8, aSigned) * part(b, i, 8, bSigned);
  } else {
    const select = has(match, "lo") ? 0 : 2;
    for (let i = 0; i < 2; i++) d += part(a, i, 16, aSigned) * part(b, select + i, 8, bSigned);
  }
  return [BigInt.asUintN(32, d)];
};

/**
 * Sums with the condition code as last source and, where it is written, last result. A borrow is a condition code of 0,
 * as on GPUs: the ISA has it the other way round, which only shows where additions and subtractions are mixed.
 */
const extended = (compute: (match: Match, sources: readonly bigint[]) => bigint): Reference =>
(
  match,
  sources,
) => {
  const { bits } = TYPES[instructionType(match)];
  const total = compute(match, sources);
  const writes = match.opcode.endsWith(".cc") || has(match, "cc");
  const beyond = total < 0n || total >= 2n ** BigInt(bits) ? 1n : 0n;
  const carry = match.opcode.startsWith("sub") ? 1n - beyond : beyond;
  return [BigInt.asUintN(bits, total), ...(writes ? [carry] : [])];
};

const extendedProduct = extended((match, sources) => {
  const type = instructionType(match);
  const { bits } = TYPES[type];
  const t = BigInt.asUintN(2 * bits, valueOf(at(sources, 0), type) * valueOf(at(sources, 1), type));
  const isHigh = match.opcode === "mad.hi.cc" || has(match, "hi");
  return BigInt.asUintN(bits, isHigh ? t >> BigInt(bits) : t) + at(sources, 2) + (sources[3] ?? 0n);
});

type Compare = (a: bigint, b: bigint) => boolean;

function comparison(match: Match, type: TypeName): Compare {
  const name = must(
    ["CMPI", "CMPU", "CMPF", "eq|ne"].map((group) => match.bound.get(group)).find((n) =>
      n !== undefined
    ),
    "a comparison",
  );
  if (TYPES[type].class === "float") return referenceComparison(type, name, has(match, "ftz"));
  const table: Readonly<Record<string, Compare>> = {
    eq: (a, b) => a === b,
    ne: (a, b) => a !== b,
    lt: (a, b) => valueOf(a, type) < valueOf(b, type),
    le: (a, b) => valueOf(a, type) <= valueOf(b, type),
    gt: (a, b) => valueOf(a, type) > valueOf(b, type),
    ge: (a, b) => valueOf(a, type) >= valueOf(b, type),
    lo: (a, b) => a < b,
    ls: (a, b) => a <= b,
    hi: (a, b) => a > b,
    hs: (a, b) => a >= b,
  };
  return must(table[name], `comparison ${name}`);
}

function boolOp(match: Match, t: boolean, c: bigint): boolean {
  switch (match.bound.get("BOOL")) {
    case "and":
      return t && c === 1n;
    case "or":
      return t || c === 1n;
    case "xor":
      return t !== (c === 1n);
    default:
      return t;
  }
}

const PACKED: Readonly<Partial<Record<TypeName, TypeName>>> = { f16x2: "f16", bf16x2: "bf16" };
const ONE: Readonly<Partial<Record<TypeName, bigint>>> = {
  f32: 0x3f800000n,
  f16: 0x3c00n,
  f16x2: 0x3c00n,
  bf16: 0x3f80n,
  bf16x2: 0x3f80n,
};

const set: Reference = (match, [a = 0n, b = 0n, c = 0n]) => {
  const [type, from] = [instructionType(match), typeAt(match, "a")];
  const half = PACKED[from];
  const compare = comparison(match, half ?? from);
  if (half === undefined) {
    const yes = ONE[type] ?? 2n ** BigInt(TYPES[type].bits) - 1n;
    return [boolOp(match, compare(a, b), c) ? yes : 0n];
  }
  const yes = ONE[type] ?? 0xffffn;
  const parts = [0n, 16n].map((shift) => {
    const t = compare((a >> shift) & 0xffffn, (b >> shift) & 0xffffn);
    return (boolOp(match, t, c) ? yes : 0n) << shift;
  });
  return [parts.reduce((word, part) => word | part)];
};

const setp: Reference = (match, [a = 0n, b = 0n, c = 0n]) => {
  const from = typeAt(match, "a");
  const half = PACKED[from];
  const compare = comparison(match, half ?? from);
  const [low, high] = half === undefined
    ? [compare(a, b), !compare(a, b)]
    : [compare(a & 0xffffn, b & 0xffffn), compare(a >> 16n, b >> 16n)];
  return [low, high].map((t) => boolOp(match, t === true, c) ? 1n : 0n);
};

const slct: Reference = (match, [a = 0n, b = 0n, c = 0n]) => {
  if (typeAt(match, "c") === "s32") return [BigInt.asIntN(32, c) >= 0n ? a : b];
  return [referenceComparison("f32", "ge", has(match, "ftz"))(c, 0n) ? a : b];
};

const bitwise = (compute: (a: bigint, b: bigint) => bigint): Reference => (match, sources) => {
  const { bits } = TYPES[instructionType(match)];
  return [fromBits(bits, (i) => compute(bitAt(at(sources, 0), i), bitAt(sources[1] ?? 0n, i)))];
};

const lop3: Reference = (match, [a = 0n, b = 0n, c = 0n, q = 0n]) => {
  const { operand } = must(match.operands.find(({ name }) => name === "lut"), "a table");
  const table = operand.kind === "integer" ? operand.value : 0n;
  const d = fromBits(32, (i) => {
    // F(0xF0, 0xCC, 0xAA) is the table: bit n of it is F of the bits n of the three.
    const n = (bitAt(a, i) << 2n) | (bitAt(b, i) << 1n) | bitAt(c, i);
    return bitAt(table, Number(n));
  });
  const nonzero = d !== 0n;
  return [d, (has(match, "or") ? nonzero || q === 1n : nonzero && q === 1n) ? 1n : 0n];
};

const shf: Reference = (match, [a = 0n, b = 0n, c = 0n]) => {
  const n = has(match, "clamp") ? (c > 32n ? 32n : c) : c & 31n;
  const whole = (b << 32n) | a;
  return [has(match, "l") ? BigInt.asUintN(64, whole << n) >> 32n : BigInt.asUintN(32, whole >> n)];
};

const shl: Reference = (match, [a = 0n, b = 0n]) => {
  const { bits } = TYPES[instructionType(match)];
  return [fromBits(bits, (i) => BigInt(i) >= b ? bitAt(a, i - Number(b)) : 0n)];
};

const shr: Reference = (match, [a = 0n, b = 0n]) => {
  const type = instructionType(match);
  const { bits } = TYPES[type];
  const fill = isSigned(type) ? bitAt(a, bits - 1) : 0n;
  return [fromBits(bits, (i) => BigInt(i) + b < BigInt(bits) ? bitAt(a, i + Number(b)) : fill)];
};

/** The ISA's table: source of d.b3, d.b2, d.b1, d.b0 by mode and selector. */
const PRMT: Readonly<Record<string, readonly (readonly number[])[]>> = {
  f4e: [[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]],
  b4e: [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]],
  rc8: [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]],
  ecl: [[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]],
  ecr: [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]],
  rc16: [[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]],
};

const prmt: Reference = (match, [a = 0n, b = 0n, c = 0n]) => {
  const whole = (b << 32n) | a;
  const byte = (n: number): bigint => (whole >> BigInt(8 * n)) & 0xffn;
  const mode = match.modifiers.find((name) => Object.hasOwn(PRMT, name));
  if (mode !== undefined) {
    const picks = must(PRMT[mode]?.[Number(c & 3n)], "a row of the table");
    return [picks.reduce((word, n) => (word << 8n) | byte(n), 0n)];
  }
  const parts = [0, 1, 2, 3].map((i) => {
    const control = Number((c >> BigInt(4 * i)) & 0xfn);
    const value = byte(control & 7);
    const copied = control & 8 ? (bitAt(value, 7) === 1n ? 0xffn : 0n) : value;
    return copied << BigInt(8 * i);
  });
  return [parts.reduce((word, part) => word | part)];
};

const mov: Reference = (match, sources) => {
  const [d, a] = [instructionType(match), typeAt(match, "a")];
  if (d === a) return [...sources];
  const count = TYPES[a].bits / TYPES[d].bits;
  const part = TYPES[a].bits;
  if (count < 1) {
    return [sources.reduce((whole, source, i) => whole | (source << BigInt(i * part)), 0n)];
  }
  return Array.from(
    { length: count },
    (_, i) => BigInt.asUintN(TYPES[d].bits, at(sources, 0) >> BigInt(i * TYPES[d].bits)),
  );
};

const cvt: Reference = (match, [a = 0n]) => {
  const [to, from] = [instructionType(match), typeAt(match, "a")];
  const destination = must(match.operands[0], "a destination").operand;
  const width = destination.kind === "register" ? TYPES[destination.type].bits : TYPES[to].bits;
  const value = valueOf(a, from);
  const result = has(match, "sat")
    ? held(value, limits(TYPES[to].bits, isSigned(to)))
    : valueOf(value, to);
  return [BigInt.asUintN(width, result)];
};

const cvtPack: Reference = (match, [a = 0n, b = 0n, c = 0n]) => {
  const name = must(
    match.modifiers.find((modifier) => /^[us](2|4|8|16)$/.test(modifier)),
    "a type",
  );
  const size = Number(name.slice(1));
  const [ta, tb] = [a, b].map((value) =>
    BigInt.asUintN(size, held(BigInt.asIntN(32, value), limits(size, isSigned(name))))
  );
  const td = (must(ta, "a") << BigInt(size)) | must(tb, "b");
  return [fromBits(32, (i) => i < 2 * size ? bitAt(td, i) : bitAt(c, i - 2 * size))];
};

export const REFERENCES: Readonly<Record<string, Reference>> = {
  add: sum(1n),
  sub: sum(-1n),
  mul: product,
  mad: product,
  mul24: product24,
  mad24: product24,
  sad: typed((_match, [a = 0n, b = 0n, c = 0n]) => c + (a < b ? b - a : a - b)),
  div: division((a, b) => a / b),
  rem: division((a, b) => a - (a / b) * b),
  abs: typed((_match, [a = 0n]) => a < 0n ? -a : a),
  neg: typed((_match, [a = 0n]) => -a),
  min: extreme((a, b) => a < b),
  max: extreme((a, b) => a > b),
  popc: (_match, [a = 0n]) => [BigInt([...a.toString(2)].filter((digit) => digit === "1").length)],
  clz: (match, [a = 0n]) => {
    const digits = a === 0n ? 0 : a.toString(2).length;
    return [BigInt(TYPES[typeAt(match, "a")].bits - digits)];
  },
  bfind: findHighest,
  fns: findNth,
  brev: (match, [a = 0n]) => {
    const { bits } = TYPES[instructionType(match)];
    return [fromBits(bits, (i) => bitAt(a, bits - 1 - i))];
  },
  bfe: extractField,
  bfi: insertField,
  szext: extend,
  bmsk: maskOf,
  dp4a: dot,
  dp2a: dot,
  "add.cc": extended((_match, [a = 0n, b = 0n]) => a + b),
  addc: extended((_match, [a = 0n, b = 0n, cf = 0n]) => a + b + cf),
  "sub.cc": extended((_match, [a = 0n, b = 0n]) => a - b),
  subc: extended((_match, [a = 0n, b = 0n, cf = 0n]) => a - (b + 1n - cf)),
  "mad.lo.cc": extendedProduct,
  "mad.hi.cc": extendedProduct,
  madc: extendedProduct,
  set,
  setp,
  selp: (_match, [a = 0n, b = 0n, c = 0n]) => [c === 1n ? a : b],
  slct,
  and: bitwise((a, b) => a & b),
  or: bitwise((a, b) => a | b),
  xor: bitwise((a, b) => a ^ b),
  not: bitwise((a) => 1n - a),
  cnot: (_match, [a = 0n]) => [a === 0n ? 1n : 0n],
  lop3,
  shf,
  shl,
  shr,
  prmt,
  mov,
  cvt,
  "cvt.pack": cvtPack,
  ...VIDEO_REFERENCES,
};
