/** Integer instructions that vectors have not: division, shifts by another amount in each lane, leading zeros. */
import type { Match } from "../../compiler/ptx/match.ts";
import { type Expr, i32, i64, op, type Scratch } from "./expr.ts";
import { lanePrimitive, type LaneRow, type LaneSpec } from "./lane.ts";
import { chose, has, type IntegerType, integerType, shapeOf, typesOf } from "./shape.ts";
import type { Primitive } from "./primitive.ts";

type Meaning = (type: IntegerType, match: Match) => LaneSpec["evaluate"] | undefined;

/** Both are computed. */
export const choose = (condition: Expr, a: Expr, b: Expr): Expr => op("select", a, b, condition);

/** Only one is computed. */
function either(type: "i32" | "i64", condition: Expr, a: Expr, b: Expr): Expr {
  return (code) => {
    condition(code);
    code.op("if", type);
    a(code);
    code.op("else");
    b(code);
    code.op("end");
  };
}

const wordOf = ({ bits }: IntegerType): "i32" | "i64" => bits === 64 ? "i64" : "i32";
const literalOf = (word: "i32" | "i64", value: number): Expr =>
  word === "i64" ? i64(BigInt(value)) : i32(value);
const long = (count: Expr): Expr => op("i64.extend_i32_u", count);
/** A count for shifts of a word. */
const countFor = (word: "i32" | "i64", count: Expr): Expr => word === "i64" ? long(count) : count;

/** 16-bit values have zeros above them. */
const signedValue = ({ bits, signed }: IntegerType, value: Expr): Expr =>
  bits === 16 && signed ? op("i32.extend16_s", value) : value;
const stored = ({ bits }: IntegerType, value: Expr): Expr =>
  bits === 16 ? op("i32.and", value, i32(0xffff)) : value;

/** Dividing by zero gives all ones, as NVIDIA's GPUs do; the ISA leaves it open. */
const divide = (name: "div" | "rem"): Meaning => (type) => (scratch, x, y) => {
  const word = wordOf(type);
  const sign = type.signed ? "s" : "u";
  const a = scratch.bind(word, signedValue(type, x));
  const b = scratch.bind(word, signedValue(type, y));
  const all = literalOf(word, -1);
  let quotient = op(`${word}.${name}_${sign}`, a, b);
  // The least value divided by -1 would trap.
  if (name === "div" && type.signed) {
    quotient = either(
      word,
      op(`${word}.eq`, b, all),
      op(`${word}.sub`, literalOf(word, 0), a),
      quotient,
    );
  }
  return [stored(type, either(word, op(`${word}.eqz`, b), all, quotient))];
};

const shl: Meaning = (type) => (_, a, count) => {
  const word = wordOf(type);
  const fits = op("i32.lt_u", count, i32(word === "i64" ? 64 : 32));
  const moved = op(`${word}.shl`, a, countFor(word, count));
  return [stored(type, choose(fits, moved, literalOf(word, 0)))];
};

const shr: Meaning = (type) => (_, a, count) => {
  const word = wordOf(type);
  const most = word === "i64" ? 63 : 31;
  if (type.signed) {
    const bounded = choose(op("i32.lt_u", count, i32(most)), count, i32(most));
    return [
      stored(type, op(`${word}.shr_s`, signedValue(type, a), countFor(word, bounded))),
    ];
  }
  const moved = op(`${word}.shr_u`, a, countFor(word, count));
  return [choose(op("i32.le_u", count, i32(most)), moved, literalOf(word, 0))];
};

/** The two words as 64 bits, shifted. */
const shf: Meaning = (_, match) => (_scratch, a, b, c) => {
  const both = op("i64.or", long(a), op("i64.shl", long(b), i64(32n)));
  const count = long(
    chose(match, "wrap")
      ? op("i32.and", c, i32(31))
      : choose(op("i32.lt_u", c, i32(32)), c, i32(32)),
  );
  return [
    op(
      "i32.wrap_i64",
      chose(match, "l")
        ? op("i64.shr_u", op("i64.shl", both, count), i64(32n))
        : op("i64.shr_u", both, count),
    ),
  ];
};

const least = (scratch: Scratch, value: Expr, bound: number): Expr => {
  const low = scratch.bind("i32", op("i32.and", value, i32(255)));
  return scratch.bind("i32", choose(op("i32.lt_u", low, i32(bound)), low, i32(bound)));
};

/** A value as 64 bits. */
const extended = ({ bits, signed }: IntegerType, value: Expr): Expr =>
  bits === 64 ? value : op(signed ? "i64.extend_i32_s" : "i64.extend_i32_u", value);
const narrowed = ({ bits }: IntegerType, value: Expr): Expr =>
  bits === 64 ? value : op("i32.wrap_i64", value);

/** So many ones, up to 64. */
const onesOf = (count: Expr): Expr =>
  choose(
    op("i32.lt_u", count, i32(64)),
    op("i64.sub", op("i64.shl", i64(1n), long(count)), i64(1n)),
    i64(-1n),
  );

const bfe: Meaning = (type) => (scratch, a, b, c) => {
  const at = least(scratch, b, 64);
  const length = least(scratch, c, 64);
  const value = scratch.bind("i64", extended(type, a));
  if (!type.signed) {
    const moved = choose(
      op("i32.lt_u", at, i32(64)),
      op("i64.shr_u", value, long(at)),
      i64(0n),
    );
    return [narrowed(type, op("i64.and", moved, onesOf(length)))];
  }
  const from = choose(op("i32.lt_u", at, i32(63)), at, i32(63));
  const above = scratch.bind("i64", long(op("i32.sub", i32(64), length)));
  const field = op("i64.shr_s", op("i64.shl", op("i64.shr_s", value, long(from)), above), above);
  return [narrowed(type, choose(length, field, i64(0n)))];
};

const bfi: Meaning = (type) => (scratch, a, b, c, e) => {
  const at = least(scratch, c, 64);
  const length = least(scratch, e, 64);
  const moved = (value: Expr): Expr =>
    choose(op("i32.lt_u", at, i32(64)), op("i64.shl", value, long(at)), i64(0n));
  const mask = scratch.bind("i64", moved(onesOf(length)));
  const base = scratch.bind("i64", extended(type, b));
  // base ^ ((base ^ moved) & mask)
  return [
    narrowed(
      type,
      op("i64.xor", base, op("i64.and", op("i64.xor", base, moved(extended(type, a))), mask)),
    ),
  ];
};

const clz: Meaning = ({ bits }) => (_, a) => [
  bits === 64 ? op("i32.wrap_i64", op("i64.clz", a)) : op("i32.clz", a),
];

const bfind: Meaning = (type, match) => (scratch, a) => {
  const word = wordOf(type);
  const bits = type.bits;
  const value = type.signed
    ? op(`${word}.xor`, a, op(`${word}.shr_s`, a, literalOf(word, bits - 1)))
    : a;
  const count = op(`${word}.clz`, value);
  const zeros = scratch.bind("i32", word === "i64" ? op("i32.wrap_i64", count) : count);
  const found = has(match, "shiftamt") ? zeros : op("i32.sub", i32(bits - 1), zeros);
  return [choose(op("i32.eq", zeros, i32(bits)), i32(-1), found)];
};

/** The upper 64 of 128 bits, from products of halves (Warren, "Hacker's Delight", 8-2). */
function highProduct(scratch: Scratch, signed: boolean, a: Expr, b: Expr): Expr {
  const low = (value: Expr): Expr => scratch.bind("i64", op("i64.and", value, i64(0xffffffffn)));
  const high = (value: Expr): Expr =>
    scratch.bind("i64", op(signed ? "i64.shr_s" : "i64.shr_u", value, i64(32n)));
  const [aLow, aHigh, bLow, bHigh] = [low(a), high(a), low(b), high(b)];
  const carry = op("i64.shr_u", op("i64.mul", aLow, bLow), i64(32n));
  const first = scratch.bind("i64", op("i64.add", op("i64.mul", aHigh, bLow), carry));
  const second = scratch.bind(
    "i64",
    op("i64.add", op("i64.mul", aLow, bHigh), low(first)),
  );
  return op(
    "i64.add",
    op("i64.add", op("i64.mul", aHigh, bHigh), high(first)),
    high(second),
  );
}

const mulHigh: Meaning = ({ bits, signed }, match) =>
  bits === 64 && chose(match, "hi")
    ? (scratch, a, b) => [highProduct(scratch, signed, a, b)]
    : undefined;

const madHigh: Meaning = ({ bits, signed }, match) =>
  bits === 64 && chose(match, "hi")
    ? (scratch, a, b, c) => [op("i64.add", highProduct(scratch, signed, a, b), c)]
    : undefined;

/** Bytes picked by the nibbles of c; bit 3 of a nibble takes the sign of the byte. */
const prmt: Meaning = (_, match) => {
  if (match.bound.size > 1) return undefined;
  return (scratch, a, b, c) => {
    const both = scratch.bind("i64", op("i64.or", long(a), op("i64.shl", long(b), i64(32n))));
    const picked = [0, 1, 2, 3].map((at): Expr => {
      const nibble = scratch.bind("i32", op("i32.shr_u", c, i32(4 * at)));
      const byte = scratch.bind(
        "i32",
        op(
          "i32.extend8_s",
          op(
            "i32.wrap_i64",
            op("i64.shr_u", both, long(op("i32.shl", op("i32.and", nibble, i32(7)), i32(3)))),
          ),
        ),
      );
      const kept = choose(
        op("i32.and", nibble, i32(8)),
        op("i32.shr_s", byte, i32(31)),
        byte,
      );
      return op("i32.shl", op("i32.and", kept, i32(0xff)), i32(8 * at));
    });
    return [picked.reduce((all, byte) => op("i32.or", all, byte))];
  };
};

const MEANINGS: Readonly<Record<string, Meaning>> = {
  div: divide("div"),
  rem: divide("rem"),
  shl,
  shr,
  shf,
  bfe,
  bfi,
  clz,
  bfind,
  mul: mulHigh,
  mad: madHigh,
  prmt,
};

/** Integer instructions lane by lane. */
export function scalarForm(match: Match): Primitive | undefined {
  const type = integerType(typesOf(match)[0]);
  const evaluate = type === undefined ? undefined : MEANINGS[match.opcode]?.(type, match);
  if (evaluate === undefined) return undefined;
  const shape = shapeOf(match);
  const lanes = (rows: typeof shape.sources): readonly LaneRow[] =>
    rows.flatMap((it) => it.kind === "row" ? [{ ...it, as: it.bits > 32 ? "i64" : "i32" }] : []);
  return lanePrimitive({
    name: shape.name,
    results: lanes(shape.results),
    sources: lanes(shape.sources),
    evaluate,
  });
}
