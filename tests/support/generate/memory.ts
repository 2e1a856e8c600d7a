/** Random loads, always inside of their buffers: guarded by a mask, or with their index cut to a power of two. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { columnMajor, isInt, isNarrow, type ProgramContext, rowMajor } from "./scope.ts";
import { countOf } from "../compiler/tile_index.ts";
import { type BufferSpec, type Node, type Shape, spell } from "./tree.ts";

/** So many elements of every input may be read without a mask. */
const SAFE = 64;

const INPUT_WORDS = [
  " __noalias __readonly",
  " __aligned(16)",
  " __readonly __aligned(64)",
  " __attribute__((aligned(16), noalias))",
];
const LOAD_MODIFIERS = ["ca", "cg", "cs", "cv", "nc", "evict_first", "evict_last", "volatile"];

/** Few pointers are volatile: that keeps accesses from being merged. */
export function qualified({ choices }: ProgramContext): Pick<BufferSpec, "qualifier"> {
  if (choices.oneIn(16)) return { qualifier: "volatile" };
  return choices.oneIn(10) ? { qualifier: "restrict" } : {};
}

interface Wanted {
  readonly type: ScalarName;
  readonly shape: Shape;
}

/** An input of the type; made where there is none yet. */
function inputOf(cx: ProgramContext, type: ScalarName): BufferSpec | undefined {
  const { choices, buffers } = cx;
  const known = buffers.filter((one) => one.type === type && one.name.startsWith("X"));
  if (known.length > 0 && (buffers.length > 6 || !choices.oneIn(4))) return choices.pick(known);
  if (buffers.length > 6) return undefined;
  const input = {
    name: cx.name("X"),
    type,
    length: SAFE + (choices.oneIn(3) ? 16 * choices.between(0, 12) : choices.between(0, 200)),
    written: false,
  };
  const spec: BufferSpec = choices.oneIn(5) ? { ...input, attributes: "", constant: true } : {
    ...input,
    attributes: choices.pick(["", "", " __noalias", " __readonly", ...INPUT_WORDS]),
    ...qualified(cx),
  };
  buffers.push(spec);
  return spec;
}

/** A load of a tile or scalar. */
export function loadedTile(cx: ProgramContext, wanted: Wanted): Node | undefined {
  const { choices } = cx;
  const buffer = inputOf(cx, wanted.type);
  if (buffer === undefined) return undefined;
  const { name } = buffer;
  const { shape } = wanted;
  const node = (...parts: (string | Node)[]): Node => ({ ...wanted, parts });
  if (shape.length === 0) {
    const index = choices.pick([
      `${choices.between(0, SAFE - 1)}`,
      `(get_program_id(0) & ${SAFE - 1})`,
    ]);
    return node(choices.oneIn(2) ? `${name}[${index}]` : `(*(${name} + ${index}))`);
  }
  if (choices.oneIn(4)) return gatherFrom(cx, buffer, wanted);
  if (choices.oneIn(8)) return chosenFrom(cx, buffer, wanted);
  const strides = choices.pick([rowMajor, rowMajor, columnMajor])(shape);
  const index = cx.indexTile(shape, strides);
  const start = choices.oneIn(6)
    ? `multiple_of(get_program_id(0) * ${countOf(shape)}, ${countOf(shape)}) + `
    : `get_program_id(0) * ${countOf(shape)} + `;
  const offset = ["(", start, index, ")"];
  const guard = ["(", ...offset, ` < ${buffer.length})`];
  const extra: (string | Node)[] = choices.oneIn(3)
    ? [" & ", cx.expr({ type: "bool", shape }, 1)]
    : [];
  const mask = [...guard, ...extra];
  const kind = choices.pick([
    "load",
    ...(cx.has("lazy-tile") ? ["choice"] : []),
    "masked",
    "masked",
  ]);
  if (kind === "masked") return node("(*?(", ...mask, ") (", name, " + ", ...offset, "))");
  const fill = cx.whileLazy(
    kind === "choice",
    () => cx.expr({ type: wanted.type, shape: choices.oneIn(2) ? [] : shape }, 0),
  );
  return kind === "load"
    ? node(
      ...["load(", name, " + ", ...offset, ", ", ...mask, ", ", fill],
      choices.oneIn(2) && buffer.qualifier !== "volatile"
        ? `, "${choices.pick(LOAD_MODIFIERS)}")`
        : ")",
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
function gatherFrom(cx: ProgramContext, { name }: BufferSpec, wanted: Wanted): Node {
  const types = cx.types.filter((type) => isInt(type) && !isNarrow(type));
  const type = types.length === 0 ? "int32" : cx.choices.pick(types);
  const index = cx.expr({ type, shape: wanted.shape }, 1);
  const safe = [index, ` & ${SAFE - 1}`];
  return {
    ...wanted,
    parts: cx.choices.oneIn(3) ? [`${name}[`, ...safe, "]"] : ["(*(", name, " + (", ...safe, ")))"],
  };
}

/** Through a tile of pointers that were chosen, transposed or stretched. */
function chosenFrom(cx: ProgramContext, { name, type }: BufferSpec, { shape }: Wanted): Node {
  const { choices } = cx;
  const pointers = (to: Shape): (string | Node)[] => {
    const index = cx.expr({ type: "int32", shape: to }, 1);
    return ["(", name, " + (", index, ` & ${SAFE - 1}))`];
  };
  const made = (...parts: (string | Node)[]): Node => ({ type, shape, parts });
  const [first = 1, second = 1] = shape;
  if (shape.length === 2 && cx.has("permute") && choices.oneIn(2)) {
    return made("(*(^", ...pointers([second, first]), "))");
  }
  if (shape.length === 2 && choices.oneIn(3)) {
    return made("(*(", ...pointers([first]), `[:, newaxis] + (0 ... ${second})[newaxis, :] * 0))`);
  }
  const condition = cx.expr({ type: "bool", shape }, 1);
  const isEager = cx.has("select") && choices.oneIn(2);
  const [a, b] = cx.whileLazy(!isEager, () => [pointers(shape), pointers(shape)] as const);
  return isEager
    ? made("(*select(", condition, ", ", ...a, ", ", ...b, "))")
    : made("(*(", condition, " ? ", ...a, " : ", ...b, "))");
}
