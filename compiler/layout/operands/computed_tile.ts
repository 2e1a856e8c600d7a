/**
 * The loaded tile that threads compute an operand of a dot from, in registers (computed_left.ts): element by element, with
 * vectors that are spread over it, or several elements of each, in a row, as where nibbles of bytes are interleaved:
 *
 *     w: uint8[128, 32]  ─▶  f(w), g(w): half[128, 32]  ─▶  expand_dims, broadcast, select: [128, 32, 2]  ─▶  reshape: [128, 64]
 *     w: int32[8, 128]   ─▶  expand_dims, broadcast: [8, 8, 128]  ─▶  reshape: [64, 128]  ─▶  f(w)
 */
import { isOp, type Op, type OpOf, type Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { hasTrait } from "../../ir/table.ts";
import { bytesOf, type IrType } from "../../ir/types.ts";
import {
  invertOrder,
  type LinearLayout,
  ofAxis,
  permuteLayout,
  product,
  reshapeLayout,
  unbroadcastLayout,
} from "../../linear/linear.ts";
import { must } from "../../support/bug.ts";
import { conversionOf } from "../exchanges.ts";
import { times } from "../../support/times.ts";

/** What an operand, maybe permuted, is computed from. */
export interface ComputedTile {
  readonly value: Value;
  /** Permutations from the value to the dot, the last one first. */
  readonly permutations: readonly OpOf<"permute">[];
  readonly load: OpOf<"load"> | OpOf<"tensor_load">;
  /** Where the tile changes its shape on its way to the value, the last one first. */
  readonly shapings: readonly Shaping[];
  /** What makes tiles of other shapes on all ways from the tile to the value, and the changes of shape behind it. */
  readonly shaped: ReadonlyMap<Op, readonly Shaping[]>;
}

type Shaping = OpOf<"reshape"> | OpOf<"expand_dims"> | OpOf<"broadcast">;

/** The most elements that are made of each one of a tile. */
export const MOST_PARTS = 8;

/**
 * What an operand is computed from: one loaded tile of fewer bytes, and what is spread over it. Undefined for all else.
 */
export function computedTile(operand: Value): ComputedTile | undefined {
  const tile = tileBehind(operand);
  // What is as wide as the operand is computed in its slot, and the instruction reads it from there (computed_operand.ts).
  const isNarrow = tile !== undefined &&
    bytesIn(resultOf(tile.load).type) < bytesIn(tile.value.type);
  return isNarrow ? tile : undefined;
}

/** The same, however wide its elements are. */
export function tileBehind(operand: Value): ComputedTile | undefined {
  const permutations: OpOf<"permute">[] = [];
  let value = operand;
  for (let { def } = value; isOp(def, "permute"); { def } = value) {
    permutations.push(def);
    ({ value } = operandsOf(def));
  }
  const tile = tileOf(value);
  if (tile === undefined || value.def === tile.load) return undefined;
  const { load, shapings, shaped } = tile;
  const isWhole = load.name === "tensor_load" || operandsOf(load).other === undefined;
  if (!isWhole || !keepsAxes(shapings, value.type, resultOf(load).type)) {
    return undefined;
  }
  return { value, permutations, load, shapings, shaped };
}

const bytesIn = ({ element, shape }: IrType): number => bytesOf(element) * product(shape);

/** The only source of as many elements as a value has, but for what is spread, and how it gets the value's shape. */
function tileOf(value: Value): Pick<ComputedTile, "load" | "shapings" | "shaped"> | undefined {
  const waysTo = new Map<Value, readonly Shaping[]>();
  const sources = new Set<Op | undefined>();
  const shaped = new Map<Op, readonly Shaping[]>();
  const queue: (readonly [Value, readonly Shaping[]])[] = [[value, []]];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [one, way] = next;
    const known = waysTo.get(one);
    if (known !== undefined && !isSameWay(known, way)) return undefined;
    if (known !== undefined || one.type.shape.length === 0) continue;
    waysTo.set(one, way);
    const { def } = one;
    // What joins tiles has one more axis, before it is reshaped.
    const isShaped = isOp(def, "reshape") || isOp(def, "expand_dims") ||
      (isOp(def, "broadcast") && way.length > 0 && partsOf(def) <= MOST_PARTS);
    if (def !== undefined && (hasTrait(def, "elementwise") || renamesRegisters(def))) {
      queue.push(...def.operands.map((operand) => [operand, way] as const));
    } else if (isShaped) {
      shaped.set(def, way);
      queue.push([operandsOf(def).value, [...way, def]]);
    } else if (!isSpread(def)) sources.add(def);
  }
  const [load, ...others] = sources;
  const isOnly = others.length === 0 && (isOp(load, "load") || isOp(load, "tensor_load"));
  return isOnly ? { load, shapings: waysTo.get(resultOf(load)) ?? [], shaped } : undefined;
}

/** Whether threads have the elements in other registers, no more. */
export const renamesRegisters = (op: Op): boolean =>
  isOp(op, "convert_layout") && conversionOf(op).kind !== "shared";

const partsOf = (op: OpOf<"broadcast">): number =>
  product(resultOf(op).type.shape) / product(operandsOf(op).value.type.shape);

const isSameWay = (a: readonly Shaping[], b: readonly Shaping[]): boolean =>
  a.length === b.length && a.every((op, i) => wayKey(op) === wayKey(b[i]));

const wayKey = (op: Shaping | undefined): string =>
  `${op?.name} ${op?.operands[0]?.type.shape} ${op?.results[0]?.type.shape}`;

/** Whether an operation gives elements what does not differ between all of them. */
const isSpread = (def: Op | undefined): boolean =>
  def?.name === "broadcast" || def?.name === "splat" || def?.name === "constant";

/** The layout of a tile in which threads have what their elements of the value in a layout are made of, each once. */
export function layoutOfTile(
  { permutations, shapings }: ComputedTile,
  layout: LinearLayout,
): LinearLayout {
  const copied = layoutBefore(permutations, shapings, layout);
  return shapings.length === 0
    ? copied
    : { ...copied, register: copied.register.filter((basis) => basis !== 0) };
}

/** The layout of what is permuted so, and before that changes its shape so, where the result has a layout. */
export function layoutBefore(
  permutations: ComputedTile["permutations"],
  shapings: readonly Shaping[],
  layout: LinearLayout,
): LinearLayout {
  const ofValue = permutations.reduce(
    (one, { attrs: { order } }) => permuteLayout(one, invertOrder(order)),
    layout,
  );
  return shapings.reduce(beforeShaping, ofValue);
}

function beforeShaping(layout: LinearLayout, op: Shaping): LinearLayout {
  const { shape } = operandsOf(op).value.type;
  return op.name === "broadcast" ? unbroadcastLayout(layout, shape) : reshapeLayout(layout, shape);
}

/** Whether rows of a value are made of rows of a tile, and columns of columns. */
function keepsAxes(shapings: readonly Shaping[], value: IrType, tile: IrType): boolean {
  if (shapings.length === 0) return true;
  if (tile.shape.length !== 2) return false;
  const [, columns = 1] = value.shape;
  const bits = times(Math.log2(product(value.shape)), (bit) => 1 << bit);
  const whole: LinearLayout = {
    shape: value.shape,
    register: bits,
    lane: [],
    warp: [],
    block: [],
  };
  const inner = ofAxis(tile.shape, 1);
  return shapings.reduce(beforeShaping, whole).register.every((basis, bit) =>
    basis === 0 || (basis < inner) === (must(bits[bit], "bit") < columns)
  );
}
