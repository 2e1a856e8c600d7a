/** Random loads, always inside of their buffers: guarded by a mask, or with their index cut to a power of two. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { columnMajor, isInt, isNarrow, rowMajor, type Workshop } from "./scope.ts";
import { countOf } from "../tile_index.ts";
import { type BufferSpec, type Node, type Shape, spell } from "./tree.ts";

/** So many elements of every input may be read without a mask. */
const SAFE = 64;

const INPUT_WORDS = [
  " __noalias __readonly",
  " __aligned(16)",
  " __readonly __retune __aligned(64)",
  " __attribute__((aligned(16), noalias))",
];
const LOAD_MODIFIERS = ["ca", "cg", "cs", "cv", "nc", "evict_first", "evict_last", "volatile"];

/** Few pointers are volatile: that keeps accesses from being merged. */
export function qualified({ dice }: Workshop): Pick<BufferSpec, "qualifier"> {
  if (dice.oneIn(16)) return { qualifier: "volatile" };
  return dice.oneIn(10) ? { qualifier: "restrict" } : {};
}

interface Wanted {
  readonly type: ScalarName;
  readonly shape: Shape;
}

/** An input of the type; made where there is none yet. */
function inputOf(shop: Workshop, type: ScalarName): BufferSpec | undefined {
  const { dice, buffers } = shop;
  const known = buffers.filter((one) => one.type === type && one.name.startsWith("X"));
  if (known.length > 0 && (buffers.length > 6 || !dice.oneIn(4))) return dice.pick(known);
  if (buffers.length > 6) return undefined;
  const input = {
    name: shop.name("X"),
    type,
    length: SAFE + (dice.oneIn(3) ? 16 * dice.between(0, 12) : dice.between(0, 200)),
    written: false,
  };
  const spec: BufferSpec = dice.oneIn(5) ? { ...input, attributes: "", constant: true } : {
    ...input,
    attributes: dice.pick(["", "", " __noalias", " __readonly", ...INPUT_WORDS]),
    ...qualified(shop),
  };
  buffers.push(spec);
  return spec;
}

/** A load of a tile or scalar. */
export function loadedTile(shop: Workshop, wanted: Wanted): Node | undefined {
  const { dice } = shop;
  const buffer = inputOf(shop, wanted.type);
  if (buffer === undefined) return undefined;
  const { name } = buffer;
  const { shape } = wanted;
  const node = (...parts: (string | Node)[]): Node => ({ ...wanted, parts });
  if (shape.length === 0) {
    const index = dice.pick([`${dice.between(0, SAFE - 1)}`, `(get_program_id(0) & ${SAFE - 1})`]);
    return node(dice.oneIn(2) ? `${name}[${index}]` : `(*(${name} + ${index}))`);
  }
  if (dice.oneIn(4)) return gatherFrom(shop, buffer, wanted);
  if (dice.oneIn(8)) return chosenFrom(shop, buffer, wanted);
  const strides = dice.pick([rowMajor, rowMajor, columnMajor])(shape);
  const index = shop.indexTile(shape, strides);
  const start = dice.oneIn(6)
    ? `multiple_of(get_program_id(0) * ${countOf(shape)}, ${countOf(shape)}) + `
    : `get_program_id(0) * ${countOf(shape)} + `;
  const offset = ["(", start, index, ")"];
  const guard = ["(", ...offset, ` < ${buffer.length})`];
  const extra: (string | Node)[] = dice.oneIn(3)
    ? [" & ", shop.expr({ type: "bool", shape }, 1)]
    : [];
  const mask = [...guard, ...extra];
  const kind = dice.pick([
    "load",
    ...(shop.has("lazy-tile") ? ["choice"] : []),
    "masked",
    "masked",
  ]);
  if (kind === "masked") return node("(*?(", ...mask, ") (", name, " + ", ...offset, "))");
  const fill = shop.whileLazy(
    kind === "choice",
    () => shop.expr({ type: wanted.type, shape: dice.oneIn(2) ? [] : shape }, 0),
  );
  return kind === "load"
    ? node(
      ...["load(", name, " + ", ...offset, ", ", ...mask, ", ", fill],
      dice.oneIn(2) && buffer.qualifier !== "volatile" ? `, "${dice.pick(LOAD_MODIFIERS)}")` : ")",
    )
    : node(
      `((${spell(wanted.type)})(`,
      ...mask,
      " ? *(",
      name,
      " + ",
      ...offset,
      ") : ",
      fill,
      "))",
    );
}

/** Any index, cut to what the buffer surely has. */
function gatherFrom(shop: Workshop, { name }: BufferSpec, wanted: Wanted): Node {
  const types = shop.types.filter((type) => isInt(type) && !isNarrow(type));
  const type = types.length === 0 ? "int32" : shop.dice.pick(types);
  const index = shop.expr({ type, shape: wanted.shape }, 1);
  const safe = [index, ` & ${SAFE - 1}`];
  return {
    ...wanted,
    parts: shop.dice.oneIn(3) ? [`${name}[`, ...safe, "]"] : ["(*(", name, " + (", ...safe, ")))"],
  };
}

/** Through a tile of pointers that were chosen, transposed or stretched. */
function chosenFrom(shop: Workshop, { name, type }: BufferSpec, { shape }: Wanted): Node {
  const { dice } = shop;
  const pointers = (to: Shape): (string | Node)[] => {
    const index = shop.expr({ type: "int32", shape: to }, 1);
    return ["(", name, " + (", index, ` & ${SAFE - 1}))`];
  };
  const made = (...parts: (string | Node)[]): Node => ({ type, shape, parts });
  const [first = 1, second = 1] = shape;
  if (shape.length === 2 && shop.has("permute") && dice.oneIn(2)) {
    return made("(*(^", ...pointers([second, first]), "))");
  }
  if (shape.length === 2 && dice.oneIn(3)) {
    return made("(*(", ...pointers([first]), `[:, newaxis] + (0 ... ${second})[newaxis, :] * 0))`);
  }
  const condition = shop.expr({ type: "bool", shape }, 1);
  const isEager = shop.has("select") && dice.oneIn(2);
  const [a, b] = shop.whileLazy(!isEager, () => [pointers(shape), pointers(shape)] as const);
  return isEager
    ? made("(*select(", condition, ", ", ...a, ", ", ...b, "))")
    : made("(*(", condition, " ? ", ...a, " : ", ...b, "))");
}
