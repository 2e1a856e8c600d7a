/**
 * `exp` and `exp2` of float may give zero for a subnormal power where nothing that is computed of it changes: the hardware's
 * instruction does that by itself, and takes three more to do without it.
 *
 *     p = exp(x - m)        (half)p       is zero below 2^-25
 *                           1 + p         is 1
 *                           sum of p      has a term of about 1 where m is a maximum of x, or is added to a sum that has
 *
 * A sum of powers is then the sum in another order, with the terms that are flushed at the end, where they are less than half
 * a unit of the last place (language.md 5.7; running_sums.ts). Narrower floats than float need no proof (`lower/math/float.ts`).
 */
import { type Func, isOp, type Op, type OpOf, setAttrs, type Value } from "../ir/func.ts";
import { madeBy, operandsOf, pairOf, resultOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { usersOf, walkOps } from "../ir/walk.ts";
import type { Pass } from "./pass.ts";
import { numberOf, powerOf, powerOfDifference, rowsOf } from "./powers.ts";
import { RunningSums } from "./running_sums.ts";
import { topAbove } from "./sum_updates.ts";

export const flushPowers: Pass = {
  name: "flush-powers",
  doc: "powers may be zero in place of subnormal numbers where no result shows it",
  run: (func, { floats }) => !floats.flush && !floats.precise && run(func),
};

function run(func: Func): boolean {
  const users = usersOf(func);
  const sums = new RunningSums(func, users);
  const flushed: OpOf<"math">[] = [];
  const apart = new Set<OpOf<"sub">>();
  walkOps(func.body, (op) => {
    const power = powerOf(op.results[0]);
    const differences = power && whereUnseen(power, users, sums);
    if (power === undefined || differences === undefined) return;
    flushed.push(power);
    differences.forEach((one) => apart.add(one));
  });
  for (const op of flushed) setAttrs(op, { flushes: true });
  for (const op of apart) if (op.operands.some(isProduct)) setAttrs(op, { apart: true });
  return flushed.length > 0;
}

const isProduct = (value: Value): boolean => value.def?.name === "mul";

/** A power that the instruction flushes, and what it would be, are at most 2 to this. */
const TINY = -125;
/** Numbers up to 2 to this are zero in each of these types: half of their least one, less the error of a product. */
const ZERO: Readonly<Record<string, number>> = { float16: -26, float8e4: -12, float8e5: -19 };
const HIGHEST = Math.max(...Object.values(ZERO));
/** Sums that matter are at least 2 to this (running_sums.ts), and so are constants that absorb what is tiny. */
const LEAST = -60;

/** The differences that must be rounded apart so that nothing shows a flushed power; undefined: something may. */
function whereUnseen(
  power: OpOf<"math">,
  users: ReadonlyMap<Value, readonly Op[]>,
  running: RunningSums,
): readonly OpOf<"sub">[] | undefined {
  const result = resultOf(power);
  const uses = users.get(result) ?? [];
  const reduced = uses.filter((user) => isOp(user, "reduce"));
  const found = reduced.map((sum) => running.find(sum));
  const axes = new Set(reduced.map(({ attrs }) => attrs.axis));
  if (axes.size > 1) return undefined;
  const sums = found.flatMap((one) => one?.sums ?? []);
  const around: Around = { users, axis: [...axes][0], sums };
  const isUnseen = found.every((one) => one !== undefined) &&
    uses.every((user) => user.name === "reduce" || hides(user, result, TINY, around));
  return isUnseen ? found.flatMap((one) => one?.apart ?? []) : undefined;
}

/** Each further operation counts as a factor of 2 to this at least, so that few are looked at. */
const STEP = 8;

interface Around {
  readonly users: ReadonlyMap<Value, readonly Op[]>;
  /** What the power is summed along, and values that are at least 2^{@linkcode LEAST} where a power has been flushed. */
  readonly axis: number | undefined;
  readonly sums: readonly Value[];
}

/** Whether no result of an operation shows that an operand, which is not above 2^bound, may be zero instead. */
function hides(op: Op, value: Value, bound: number, around: Around): boolean {
  const goesOn = (more = STEP): boolean =>
    bound + more <= HIGHEST &&
    (around.users.get(resultOf(op)) ?? []).every((user) =>
      hides(user, resultOf(op), bound + more, around)
    );
  switch (op.name) {
    case "convert": {
      const { element } = resultOf(op).type;
      return typeof element === "string" && bound <= (ZERO[element] ?? -Infinity);
    }
    case "add":
    case "sub": {
      const [left, right] = pairOf(op);
      const number = Math.abs(numberOf(left === value ? right : left) ?? 0);
      return number >= 2 ** LEAST && number < Infinity && bound <= LEAST - 30;
    }
    case "mul":
    case "div": {
      const [left, right] = pairOf(op);
      if (left === right || op.name === "div" && right === value) return false;
      const growth = growthBy(op.name, left === value ? right : left, around);
      return growth !== undefined && goesOn(growth);
    }
    case "select":
      return operandsOf(op).condition !== value && goesOn();
    default:
      return hasTrait(op, "reshapes") && goesOn();
  }
}

/** The power of 2 by which a product with a value, or a quotient by it, is larger at most. */
function growthBy(name: "mul" | "div", by: Value, { axis, sums }: Around): number | undefined {
  const number = Math.abs(numberOf(by) ?? NaN);
  if (number <= 2 ** 30 && number >= 2 ** -30) return 30;
  if (axis === undefined) return undefined;
  const row = rowsOf(by, axis);
  if (name === "div") return sums.includes(row) ? 1 - LEAST : undefined;
  const quotient = madeBy(row, "div");
  if (quotient === undefined) return undefined;
  const { left, right } = operandsOf(quotient);
  const power = powerOfDifference(left);
  const isSmall = power === undefined
    ? Math.abs(numberOf(left) ?? NaN) <= 1
    : topAbove(power) !== undefined;
  return isSmall && sums.includes(rowsOf(right, axis)) ? 1 - LEAST : undefined;
}
