/** What is known of a random product, and its operands: their tensors, and how tiles of them are loaded. */
import { type ScalarName, SCALARS } from "../../../../compiler/support/scalar.ts";
import { attributesOf } from "../header.ts";
import type { ProgramContext } from "../scope.ts";
import { declarator, type ScalarSpec, type Shape, spell, type Stmt } from "../tree.ts";

export type Axis = "m" | "n" | "k";
type Extents<T> = Readonly<Record<Axis, T>>;

export interface Product {
  readonly cx: ProgramContext;
  /** Of operands, and of sums. */
  readonly element: ScalarName;
  readonly sum: ScalarName;
  /** How a product is asked for, if not by `@`. */
  readonly mode: string | undefined;
  /** Of a tile, and of the tensors. */
  readonly tile: Extents<number>;
  readonly size: Extents<number>;
  /** Parameters with the sizes. */
  readonly names: Extents<string>;
  /** Axes along which all programs have whole tiles. */
  readonly whole: readonly Axis[];
  /** Indices of a program's rows and columns. */
  readonly rm: string;
  readonly rn: string;
  /** Which of several products of one shape it is: a number and how many there are. */
  readonly plane?: { readonly index: string; readonly count: number };
}

/** A parameter with a value. */
export function parameter(
  cx: ProgramContext,
  value: number,
  type: ScalarName = "int32",
): string {
  const spec: ScalarSpec = { name: cx.name("n"), type, value: `${value}`, attributes: "" };
  cx.scalars.push({ ...spec, attributes: attributesOf(cx.choices, spec) });
  return spec.name;
}

/** An operand of a product. */
export interface Operand {
  readonly shape: Shape;
  /** A tile of it, where `k` is the first index along k, and `isMasked` says whether that may be beyond the end. */
  readonly load: (k: string, isMasked: boolean) => string;
  /** What comes before the loop, and at the end of an iteration: pointers that step on. */
  readonly before: readonly Stmt[];
  readonly after: readonly Stmt[];
}

/** A tensor of two axes: by rows of either, with a gap after each row, which copies demand to be whole vectors. */
export function operandOf(
  product: Product,
  axes: readonly [Axis, Axis],
  mayStep = true,
): Operand {
  const { cx, element, tile, size, names, plane } = product;
  const { choices } = cx;
  // Warp groups take narrow elements along k alone.
  const isAlongK = axes[1] === "k";
  const isSwapped = SCALARS[element].bits === 16 || choices.oneIn(6) ? choices.oneIn(3) : !isAlongK;
  const [outer, inner] = isSwapped ? [axes[1], axes[0]] : axes;
  const vector = 128 / SCALARS[element].bits;
  const length = size[inner];
  const gap = choices.oneIn(12)
    ? choices.between(0, 3)
    : (vector - length % vector) % vector + vector * choices.pick([0, 0, 1, 2]);
  const ld = Math.max(vector, length + gap);
  const start = choices.oneIn(6) ? choices.pick([1, vector, 3 * vector]) : 0;
  const isSmall = !choices.oneIn(12);
  // An axis whose tiles fit may go without a mask.
  const open = axes.filter((axis) => product.whole.includes(axis) && choices.oneIn(2));
  const name = cx.name("W");
  const rows = Math.max(1, size[outer]);
  const apart = rows * ld + vector * choices.pick([0, 1]);
  cx.buffers.push({
    name,
    type: element,
    length: start + (plane === undefined ? 0 : (plane.count - 1) * apart) + (rows - 1) * ld +
      length,
    written: false,
    ...isSmall ? { small: true } : {},
    attributes: choices.pick([
      " __noalias",
      " __noalias",
      " __noalias __readonly",
      " __readonly",
      "",
    ]),
  });
  const stride = parameter(cx, ld, choices.oneIn(5) ? "int64" : "int32");
  const ofPlane = plane === undefined
    ? ""
    : ` + ${plane.index} * ${parameter(cx, apart, choices.oneIn(3) ? "int64" : "int32")}`;
  const base = `${name}${start === 0 ? "" : ` + ${start}`}${ofPlane}`;
  const tileOf = `(0 ... ${tile.k})`;
  const vectorOf = (axis: Axis, k: string): string =>
    axis === "m"
      ? product.rm
      : axis === "n"
      ? product.rn
      : k === "" || k === "0"
      ? tileOf
      : `(${k} + ${tileOf})`;
  const isTransposed = choices.oneIn(4);
  const order = isTransposed ? axes.toReversed() : axes;
  const along = (axis: Axis, k: string): string =>
    `${vectorOf(axis, k)}${order[0] === axis ? "[:, newaxis]" : "[newaxis, :]"}`;
  const both = choices.pick(["&&", "&"]);
  const isFilled = choices.oneIn(24);
  const isCall = isFilled || choices.oneIn(3);
  const isReversed = choices.oneIn(2);
  const offsets = (k: string): string =>
    choices.oneIn(2)
      ? `${along(outer, k)} * ${stride} + ${along(inner, k)}`
      : `(${along(outer, k)} * ${stride} + ${along(inner, k)})`;
  const pointer = (k: string): string => `${base} + ${offsets(k)}`;
  const maskOf = (k: string, isMasked: boolean): string => {
    const mask = order
      .filter((axis) => !open.includes(axis) && (axis !== "k" || isMasked))
      .map((axis) => `${along(axis, k)} < ${names[axis]}`);
    return (isReversed ? mask.toReversed() : mask).join(` ${both} `);
  };
  const access = (at: string, mask: string): string => {
    const loaded = mask === ""
      ? `*(${at})`
      : isCall
      ? `load(${at}, ${mask}, (${spell(element)})${isFilled ? 3 : 0})`
      : `*?(${mask}) (${at})`;
    return isTransposed ? `^(${loaded})` : loaded;
  };
  if (mayStep && choices.oneIn(4)) {
    const p = cx.name("p");
    const shape = order.map((axis) => tile[axis]).join(", ");
    return {
      shape: axes.map((axis) => tile[axis]),
      load: (k, isMasked) => access(p, maskOf(k, isMasked)),
      before: [{ parts: [`const ${spell(element)} *${p}[${shape}] = ${pointer("")};`] }],
      after: [{ parts: [`${p} += ${tile.k}${outer === "k" ? ` * ${stride}` : ""};`] }],
    };
  }
  return {
    shape: axes.map((axis) => tile[axis]),
    before: [],
    after: [],
    load: (k, isMasked) => access(pointer(k), maskOf(k, isMasked)),
  };
}

/** A tile in a variable, sometimes computed before it multiplies. */
export function loaded(
  { cx, element }: Product,
  name: string,
  { load, shape }: Operand,
  k: string,
  isMasked: boolean,
): readonly Stmt[] {
  const isSigned = !["float8e4", "float8e5", "uint8"].includes(element);
  const cast = `${spell(element)}[${shape.join(", ")}]`;
  return [
    { parts: [`${declarator(element, shape, name)} = ${load(k, isMasked)};`] },
    ...isSigned && cx.choices.oneIn(12) ? [{ parts: [`${name} = (${cast})(-${name});`] }] : [],
  ];
}
