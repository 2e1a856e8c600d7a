/** Random expressions about tiles as wholes: shapes, scans, products. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import type { Feature } from "./features.ts";
import { isWide, type ProgramContext, sameShape } from "./scope.ts";
import { countOf } from "../compiler/tile_index.ts";
import { type Node, node, spellTile, type Wanted } from "./tree.ts";

export function newaxis(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const ones = wanted.shape.flatMap((extent, axis) => extent === 1 ? [axis] : []);
  if (ones.length === 0 || wanted.shape.length === 1) return undefined;
  const axis = cx.choices.pick(ones);
  const items = wanted.shape.map((_, at) => at === axis ? "newaxis" : ":").join(", ");
  const from = cx.expr({ ...wanted, shape: wanted.shape.toSpliced(axis, 1) }, fuel);
  return node(wanted, from, `[${items}]`);
}

export function permutation(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { shape } = wanted;
  const rank = shape.length;
  if (rank < 2 || !cx.has("permute")) return undefined;
  const [last = 1, ...rest] = shape.toReversed();
  if (cx.choices.oneIn(2)) {
    // `^x` rotates the axes left by one, so its operand is the result rotated right.
    return node(
      wanted,
      "(^",
      cx.expr({ ...wanted, shape: [last, ...rest.reverse()] }, fuel),
      ")",
    );
  }
  const order = cx.choices.shuffled(shape.map((_, axis) => axis));
  const from = order.map((_, source) => shape[order.indexOf(source)] ?? 1);
  const items = order.map((axis) => `^${axis}`).join(", ");
  return node(wanted, cx.expr({ ...wanted, shape: from }, fuel), `[${items}]`);
}

export function reshaping(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { shape } = wanted;
  const others = cx.shapes.filter((other) =>
    countOf(other) === countOf(shape) && !sameShape(other, shape)
  );
  if (shape.length === 0 || others.length === 0 || !cx.has("reshape")) return undefined;
  const other = cx.choices.pick(others);
  const from = cx.expr({ ...wanted, shape: other }, fuel);
  return other.length > shape.length && cx.choices.oneIn(2)
    ? node(wanted, `((${spellTile(wanted.type, shape)})`, from, ")")
    : node(wanted, "reshape(", from, `, ${shape.join(", ")})`);
}

const SCANS: readonly (readonly [string, Feature])[] = [
  ["cumsum", "cumsum"],
  ["cumprod", "cumprod"],
  ["cummax", "cummax"],
  ["cummin", "cummax"],
  ["flip", "flip"],
];

export function scan(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const known = SCANS.filter(([, feature]) => cx.has(feature));
  if (cx.isLazy || wanted.shape.length === 0 || known.length === 0 || !isWide(wanted.type)) {
    return undefined;
  }
  const [name] = cx.choices.pick(known);
  const axis = cx.choices.between(0, wanted.shape.length - 1);
  return node(wanted, `${name}(`, cx.expr(wanted, fuel), `, ${axis})`);
}

export function sorting(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  if (cx.isLazy || wanted.shape.length === 0 || !cx.has("sort") || wanted.type === "bool") {
    return undefined;
  }
  const axis = cx.choices.between(0, wanted.shape.length - 1);
  const order = (): string => `, ${axis}, ${cx.choices.between(0, 1)})`;
  const sorted = ["sort(", cx.expr(wanted, fuel), order()];
  // What is sorted may be merged: it rises, or it falls.
  return cx.choices.between(0, 3) > 0
    ? node(wanted, ...sorted)
    : node(wanted, "bitonic_merge(", ...sorted, order());
}

export function gathering(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { shape } = wanted;
  if (cx.isLazy || shape.length === 0 || !cx.has("gather")) return undefined;
  const axis = cx.choices.between(0, shape.length - 1);
  const index = cx.expr({ type: "int32", shape }, fuel - 1);
  const last = (shape[axis] ?? 1) - 1;
  return node(
    wanted,
    "gather(",
    cx.expr(wanted, fuel),
    ", (",
    index,
    ` & ${last}), ${axis})`,
  );
}

/** Result, operand types and feature of each kind of `@`. */
export const PRODUCTS: readonly (readonly [ScalarName, readonly ScalarName[], Feature])[] = [
  ["float32", ["float16"], "dot-half"],
  ["float32", ["bfloat16"], "dot-bfloat16"],
  ["float32", ["float32"], "dot-float"],
  ["float64", ["float64"], "dot-double"],
  ["int32", ["int8", "uint8"], "dot-int8"],
  ["float32", ["float8e4", "float8e5"], "dot-float8"],
];

/** How a product may be asked to compute. */
const MODES: Readonly<Partial<Record<Feature, readonly string[]>>> = {
  "dot-float": ["ieee", "tf32", "tf32x3", "bf16x3"],
  "dot-float8": ["f32acc"],
};

export function matmul(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { choices } = cx;
  const [m, n, ...batch] = wanted.shape;
  if (cx.isLazy || m === undefined || n === undefined) return undefined;
  if (batch.length > 0 && !cx.has("dot-batch")) return undefined;
  const rows = PRODUCTS.filter(([result, , feature]) => result === wanted.type && cx.has(feature));
  if (rows.length === 0) return undefined;
  const [, types, feature] = choices.pick(rows);
  const modes = MODES[feature] ?? [];
  const mode = modes.length > 0 && choices.oneIn(3) ? `, "${choices.pick(modes)}"` : "";
  // A thread holds so many elements and no more.
  const fits = (k: number): boolean => Math.max(m, n) * k * countOf(batch) <= 4 * cx.part;
  const k = choices.pick([1, 2, 4, 8, 16, 32].filter((k) => k === 1 || fits(k)));
  const lhs = cx.expr({ type: choices.pick(types), shape: [m, k, ...batch] }, fuel - 1);
  const rhs = cx.expr({ type: choices.pick(types), shape: [k, n, ...batch] }, fuel - 1);
  return choices.oneIn(3)
    ? node(wanted, "dot(", lhs, ", ", rhs, ", ", cx.expr(wanted, fuel), `${mode})`)
    : mode !== ""
    ? node(wanted, "dot(", lhs, ", ", rhs, `${mode})`)
    : node(wanted, "(", lhs, " @ ", rhs, ")");
}
