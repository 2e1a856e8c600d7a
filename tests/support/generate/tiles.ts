/** Random expressions about tiles as wholes: shapes, scans, products. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import type { Feature } from "./features.ts";
import { isWide, sameShape, type Workshop } from "./scope.ts";
import { countOf } from "../tile_index.ts";
import { type Node, node, spellTile, type Wanted } from "./tree.ts";

export function newaxis(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  const ones = wanted.shape.flatMap((extent, axis) => extent === 1 ? [axis] : []);
  if (ones.length === 0 || wanted.shape.length === 1) return undefined;
  const axis = shop.dice.pick(ones);
  const items = wanted.shape.map((_, at) => at === axis ? "newaxis" : ":").join(", ");
  const from = shop.expr({ ...wanted, shape: wanted.shape.toSpliced(axis, 1) }, fuel);
  return node(wanted, from, `[${items}]`);
}

export function permutation(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  const { shape } = wanted;
  const rank = shape.length;
  if (rank < 2 || !shop.has("permute")) return undefined;
  const [last = 1, ...rest] = shape.toReversed();
  if (shop.dice.oneIn(2)) {
    // `^x` rotates the axes left by one, so its operand is the result rotated right.
    return node(
      wanted,
      "(^",
      shop.expr({ ...wanted, shape: [last, ...rest.reverse()] }, fuel),
      ")",
    );
  }
  const order = shop.dice.shuffled(shape.map((_, axis) => axis));
  const from = order.map((_, source) => shape[order.indexOf(source)] ?? 1);
  const items = order.map((axis) => `^${axis}`).join(", ");
  return node(wanted, shop.expr({ ...wanted, shape: from }, fuel), `[${items}]`);
}

export function reshaping(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  const { shape } = wanted;
  const others = shop.shapes.filter((other) =>
    countOf(other) === countOf(shape) && !sameShape(other, shape)
  );
  if (shape.length === 0 || others.length === 0 || !shop.has("reshape")) return undefined;
  const other = shop.dice.pick(others);
  const from = shop.expr({ ...wanted, shape: other }, fuel);
  return other.length > shape.length && shop.dice.oneIn(2)
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

export function scan(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  const known = SCANS.filter(([, feature]) => shop.has(feature));
  if (shop.isLazy || wanted.shape.length === 0 || known.length === 0 || !isWide(wanted.type)) {
    return undefined;
  }
  const [name] = shop.dice.pick(known);
  const axis = shop.dice.between(0, wanted.shape.length - 1);
  return node(wanted, `${name}(`, shop.expr(wanted, fuel), `, ${axis})`);
}

export function sorting(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  if (shop.isLazy || wanted.shape.length === 0 || !shop.has("sort") || wanted.type === "bool") {
    return undefined;
  }
  const axis = shop.dice.between(0, wanted.shape.length - 1);
  return node(
    wanted,
    "sort(",
    shop.expr(wanted, fuel),
    `, ${axis}, ${shop.dice.between(0, 1)})`,
  );
}

export function gathering(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  const { shape } = wanted;
  if (shop.isLazy || shape.length === 0 || !shop.has("gather")) return undefined;
  const axis = shop.dice.between(0, shape.length - 1);
  const index = shop.expr({ type: "int32", shape }, fuel - 1);
  const last = (shape[axis] ?? 1) - 1;
  return node(
    wanted,
    "gather(",
    shop.expr(wanted, fuel),
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

export function matmul(shop: Workshop, wanted: Wanted, fuel: number): Node | undefined {
  const { dice } = shop;
  const [m, n, ...batch] = wanted.shape;
  if (shop.isLazy || m === undefined || n === undefined) return undefined;
  if (batch.length > 0 && !shop.has("dot-batch")) return undefined;
  const rows = PRODUCTS.filter(([result, , feature]) =>
    result === wanted.type && shop.has(feature)
  );
  if (rows.length === 0) return undefined;
  const [, types, feature] = dice.pick(rows);
  const modes = MODES[feature] ?? [];
  const mode = modes.length > 0 && dice.oneIn(3) ? `, "${dice.pick(modes)}"` : "";
  // A thread holds so many elements and no more.
  const fits = (k: number): boolean => Math.max(m, n) * k * countOf(batch) <= 4 * shop.part;
  const k = dice.pick([1, 2, 4, 8, 16, 32].filter((k) => k === 1 || fits(k)));
  const lhs = shop.expr({ type: dice.pick(types), shape: [m, k, ...batch] }, fuel - 1);
  const rhs = shop.expr({ type: dice.pick(types), shape: [k, n, ...batch] }, fuel - 1);
  return dice.oneIn(3)
    ? node(wanted, "dot(", lhs, ", ", rhs, ", ", shop.expr(wanted, fuel), `${mode})`)
    : mode !== ""
    ? node(wanted, "dot(", lhs, ", ", rhs, `${mode})`)
    : node(wanted, "(", lhs, " @ ", rhs, ")");
}
