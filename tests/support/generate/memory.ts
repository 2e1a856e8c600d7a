/** Random loads, always inside of their buffers: guarded by a mask, or with their index cut to a power of two. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { makeExpr } from "./expressions.ts";
import { columnMajor, countOf, isInt, isNarrow, rowMajor, type Workshop } from "./scope.ts";
import { type BufferSpec, type Node, type Shape, spell } from "./tree.ts";

/** So many elements of every input may be read without a mask. */
export const SAFE = 64;

interface Place {
  readonly type: ScalarName;
  readonly shape: Shape;
}

/** An input of the type; made where there is none yet. */
function inputOf(shop: Workshop, type: ScalarName): BufferSpec | undefined {
  const { dice, buffers } = shop;
  const known = buffers.filter((one) => one.type === type && one.name.startsWith("X"));
  if (known.length > 0 && (buffers.length > 6 || !dice.oneIn(4))) return dice.pick(known);
  if (buffers.length > 6) return undefined;
  const spec: BufferSpec = {
    name: shop.name("X"),
    type,
    length: SAFE + (dice.oneIn(3) ? 16 * dice.between(0, 12) : dice.between(0, 200)),
    written: false,
    attributes: dice.pick(["", "", " __noalias", " __readonly", " __noalias __readonly"]),
  };
  buffers.push(spec);
  return spec;
}

/** A load of a tile or scalar. */
export function loadedTile(shop: Workshop, wanted: Place): Node | undefined {
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
  const strides = dice.pick([rowMajor, rowMajor, columnMajor])(shape);
  const index = shop.indexTile(shape, strides);
  const offset = ["(get_program_id(0) * ", `${countOf(shape)} + `, index, ")"];
  const guard = ["(", ...offset, ` < ${buffer.length})`];
  const extra: (string | Node)[] = dice.oneIn(3)
    ? [" & ", makeExpr(shop, { type: "bool", shape }, 1)]
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
    () => makeExpr(shop, { type: wanted.type, shape: dice.oneIn(2) ? [] : shape }, 0),
  );
  return kind === "load"
    ? node("load(", name, " + ", ...offset, ", ", ...mask, ", ", fill, ")")
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
function gatherFrom(shop: Workshop, { name }: BufferSpec, wanted: Place): Node {
  const types = shop.types.filter((type) => isInt(type) && !isNarrow(type));
  const type = types.length === 0 ? "int32" : shop.dice.pick(types);
  const index = makeExpr(shop, { type, shape: wanted.shape }, 1);
  return { ...wanted, parts: ["(*(", name, " + (", index, ` & ${SAFE - 1})))`] };
}
