/** Built-in functions that are nodes of their own in the typed tree (language.md, section 7), by canonical name. */
import { must } from "../../../compiler/support/bug.ts";
import type { IntegerFunction } from "../../../compiler/support/math_functions.ts";
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import type { ReduceOperator } from "../../../compiler/check/tree/typed.ts";
import { extreme } from "./arithmetic.ts";
import { atomic, type AtomicName, isAtomic } from "./atomics.ts";
import {
  boolean,
  type Cell,
  exact,
  type FloatCell,
  type IntCell,
  integer,
  isKnown,
  NotInterpreted,
  UNKNOWN_FLOAT,
  UNKNOWN_INT,
  wrap,
} from "./cell.ts";
import { isFloatName } from "./formats.ts";
import { isMathFunction, mathCell } from "./math.ts";
import { philox, uniform } from "./philox.ts";
import { scanLine, sortLine } from "./reductions.ts";
import { fromLines, lines, pick, type Shape } from "./shapes.ts";

/** A value with what is known of its type. */
export interface Argument {
  readonly cells: readonly Cell[];
  readonly shape: Shape;
  readonly element: ScalarName | "pointer";
}

export interface Call {
  readonly name: string;
  readonly args: readonly Argument[];
  readonly options: readonly string[];
  /** Of the result. */
  readonly shape: Shape;
}

type Rule = (call: Call) => readonly Cell[];

/** The value of a call; of no elements where it has none. */
export function callBuiltin(call: Call): readonly Cell[] {
  const { name, args } = call;
  if (isAtomic(name)) return callAtomic(name, args);
  const rule = isInteger(name) ? INTEGERS[name] : isMathFunction(name) ? elementwise : RULES[name];
  if (rule === undefined) throw new RangeError(`no rule for \`${name}\` in ${import.meta.url}`);
  return rule(call);
}

function callAtomic(name: AtomicName, args: readonly Argument[]): readonly Cell[] {
  const operands = name === "atomic_cas" ? 2 : 1;
  const [pointer, ...rest] = args.map(({ cells }) => cells);
  const element = must(args[1], "an operand").element;
  if (element === "pointer") throw new NotInterpreted("atomics on pointers");
  return atomic(name, element, must(pointer, "a pointer"), rest.slice(0, operands), rest[operands]);
}

const argument = (call: Call, index = 0): Argument => must(call.args[index], "argument");

function floatOf(cell: Cell): FloatCell {
  if (cell.kind !== "float") throw new TypeError("a float was expected");
  return cell;
}

function scalarOf({ element }: Argument): ScalarName {
  if (element === "pointer") throw new TypeError("a number was expected");
  return element;
}

const elementwise: Rule = (call) => {
  const type = scalarOf(argument(call));
  return argument(call).cells.map((cell, index) => {
    if (cell.kind === "int") return absolute(cell, type);
    const cells = call.args.map(({ cells }) => floatOf(must(cells[index], "element")));
    return isFloatName(type) ? mathCell(call.name, cells, type) : UNKNOWN_FLOAT;
  });
};

function absolute(cell: IntCell, type: ScalarName): IntCell {
  return cell.known && cell.value < 0n ? wrap(-cell.value, type) : cell;
}

/** A test of exact floats. */
const test = (holds: (value: number) => boolean): Rule => (call) =>
  argument(call).cells.map(floatOf).map((cell) =>
    cell.error === Infinity ? UNKNOWN_INT : boolean(holds(cell.value))
  );

/** NaN wins. */
const propagating = (choose: (a: number, b: number) => number): Rule => (call) =>
  argument(call).cells.map((cell, index) => {
    const [a, b] = [floatOf(cell), floatOf(must(argument(call, 1).cells[index], "element"))];
    const nan = [a, b].find(({ value }) => Number.isNaN(value));
    if (!isKnown(a) || !isKnown(b)) return UNKNOWN_FLOAT;
    return nan ?? extreme(a, b, choose);
  });

/** Integers as unsigned bit patterns of their width. */
const bitwise = (compute: (pattern: bigint, bits: number) => bigint): Rule => (call) => {
  const type = scalarOf(argument(call));
  const { bits } = SCALARS[type];
  return argument(call).cells.map((cell) => {
    if (cell.kind !== "int" || !cell.known) return UNKNOWN_INT;
    return wrap(compute(BigInt.asUintN(bits, cell.value), bits), type);
  });
};

const digits = (pattern: bigint): string => pattern === 0n ? "" : pattern.toString(2);

const highProduct: Rule = (call) => {
  const type = scalarOf(argument(call));
  return argument(call).cells.map((cell, index) => {
    const other = must(argument(call, 1).cells[index], "element");
    if (cell.kind !== "int" || other.kind !== "int" || !cell.known || !other.known) {
      return UNKNOWN_INT;
    }
    return wrap((cell.value * other.value) >> BigInt(SCALARS[type].bits), type);
  });
};

const INTEGERS: Readonly<Record<Exclude<IntegerFunction, "abs"> | "umulhi", Rule>> = {
  popc: bitwise((pattern) => BigInt(digits(pattern).replaceAll("0", "").length)),
  clz: bitwise((pattern, bits) => BigInt(bits - digits(pattern).length)),
  ffs: bitwise((pattern) => BigInt(pattern === 0n ? 0 : digits(pattern & -pattern).length)),
  brev: bitwise((pattern, bits) =>
    BigInt(`0b${[...pattern.toString(2).padStart(bits, "0")].reverse().join("")}`)
  ),
  mulhi: highProduct,
  umulhi: highProduct,
};

const isInteger = (name: string): name is keyof typeof INTEGERS => Object.hasOwn(INTEGERS, name);

const alongAxis = (change: (line: Cell[], call: Call) => Cell[]): Rule => (call) => {
  const { cells, shape } = argument(call);
  const axis = Number(call.options[0]);
  return fromLines(lines(cells, shape, axis).map((line) => change(line, call)), call.shape, axis);
};

const scan = (operator: ReduceOperator): Rule =>
  alongAxis((line, call) => scanLine(operator, scalarOf(argument(call)), line));

/** One of two tiles for each element of the result. */
const weave =
  (which: (at: readonly number[], shape: Shape) => readonly number[]): Rule => (call) => {
    const [a, b] = [argument(call), argument(call, 1)];
    // One after the other along a new first axis.
    return pick([...a.cells, ...b.cells], [2, ...a.shape], call.shape, (at) => which(at, a.shape));
  };

const half = (side: number): Rule => (call) => {
  const { cells } = argument(call);
  return cells.filter((_, index) => index % 2 === side);
};

const gather: Rule = (call) => {
  const [x, index] = [argument(call), argument(call, 1)];
  const axis = Number(call.options[0]);
  const extent = must(x.shape[axis], "extent");
  const along = lines(x.cells, x.shape, axis);
  const indices = lines(index.cells, index.shape, axis);
  const open = isFloatName(scalarOf(x)) ? UNKNOWN_FLOAT : UNKNOWN_INT;
  const picked = indices.map((line, at) =>
    line.map((position) => {
      const inside = position.kind === "int" && position.known && position.value >= 0n &&
        position.value < BigInt(extent);
      return inside ? must(along[at]?.[Number(position.value)], "element") : open;
    })
  );
  return fromLines(picked, index.shape, axis);
};

const histogram: Rule = (call) => {
  const { cells } = argument(call);
  const bins = must(call.shape[0], "bins");
  if (!cells.every(isKnown)) return Array.from({ length: bins }, () => UNKNOWN_INT);
  return Array.from({ length: bins }, (_, bin) =>
    integer(BigInt(
      cells.filter((cell) => cell.kind === "int" && cell.value === BigInt(bin)).length,
    )));
};

/** A function of the words of the generator. */
const random = (compute: (words: readonly bigint[], call: Call) => Cell): Rule => (call) =>
  argument(call).cells.map((seed, index) => {
    const offset = must(argument(call, 1).cells[index], "element");
    const known = seed.kind === "int" && offset.kind === "int" && seed.known && offset.known;
    if (known) return compute(philox(seed.value, BigInt.asUintN(32, offset.value)), call);
    return call.name === "rand" || call.name === "randn" ? UNKNOWN_FLOAT : UNKNOWN_INT;
  });

const word = (words: readonly bigint[], index: number): bigint => must(words[index], "word");

function normal(words: readonly bigint[]): FloatCell {
  const [u0, u1] = [uniform(word(words, 0)), uniform(word(words, 1))];
  const value = Math.sqrt(-2 * Math.log(Math.max(1e-7, u0))) * Math.cos(2 * Math.PI * u1);
  return { kind: "float", value, error: 2 ** -16, slack: 0 };
}

const nothing: Rule = () => [];
const same: Rule = (call) => argument(call).cells;

const RULES: Readonly<Record<string, Rule>> = {
  isnan: test(Number.isNaN),
  isfinite: test(Number.isFinite),
  isinf: test((value) => Math.abs(value) === Infinity),
  minimum: propagating(Math.min),
  maximum: propagating(Math.max),
  cumsum: scan("add"),
  cumprod: scan("mul"),
  cummax: scan("max"),
  cummin: scan("min"),
  flip: alongAxis((line) => line.toReversed()),
  sort: alongAxis((line, { options }) => sortLine(line, options[1] === "down")),
  bitonic_merge: alongAxis((line, { options }) => sortLine(line, options[1] === "down")),
  cat: weave(([first = 0, ...rest], [extent = 1]) => [
    Math.floor(first / extent),
    first % extent,
    ...rest,
  ]),
  join: weave((at) => [must(at.at(-1), "coordinate"), ...at.slice(0, -1)]),
  interleave: weave((at) => {
    const last = must(at.at(-1), "coordinate");
    return [last % 2, ...at.slice(0, -1), Math.floor(last / 2)];
  }),
  split0: half(0),
  split1: half(1),
  gather,
  histogram,
  philox: random((words, { options }) => integer(word(words, Number(options[0])))),
  randint: random((words) => integer(word(words, 0))),
  rand: random((words) => exact(uniform(word(words, 0)))),
  randn: random(normal),
  multiple_of: same,
  max_contiguous: same,
  max_constancy: same,
  __debug_barrier: nothing,
  threadfence: nothing,
  prefetch: nothing,
  printf: nothing,
  static_print: nothing,
  assert: nothing,
  assume: nothing,
};
