/**
 * Tensor maps of a function: which tensors its `tensor_load`s copy boxes of. The host encodes them at each launch and
 * passes them after the kernel's parameters.
 *
 * Dumps print them after the parameters, axes innermost first, each with its extent, its stride and the axis of the
 * tile along it, or of runs of it; expressions are in prefix notation. Scheduling adds the box of a copy:
 *
 *     map(A float16 "K" "1" 1, "(* M 2)" "lda" 0 runs 64, "Z" "sz" - box [64, 64, 1] swizzle 128)
 *
 * Axes of pictures may have windows, with where they begin and the step between them (views/windows). A tile then has a
 * pixel of each along one of its axes, and coordinates are followed by how far the pixels are from where their windows
 * begin, for each run along the innermost axis and each axis with windows:
 *
 *     map(X float16 "C" "1" 1 runs 64, "W" "sw" 0 windows "(- 0 pad)" "upper" "step", …)
 */
import type { MapElement, TensorMapPlan, WindowsPlan } from "../options.ts";
import { bug, must } from "../support/bug.ts";
import { type ScalarName, SCALARS } from "../support/scalar.ts";

/** An expression over the kernel's scalar parameters. */
export type MapExpr = TensorMapPlan["axes"][number]["extent"];

export interface TensorMapAxis {
  /** Elements; copies give zero beyond. */
  readonly extent: MapExpr;
  /** In elements; that of the innermost axis is 1. */
  readonly stride: MapExpr;
  /** The axis of the tile that runs along it; undefined: a copy has one element of it. */
  readonly tile: number | undefined;
  /** Elements of the tile that follow each other in the tensor, where it has several such runs, each with a coordinate. */
  readonly run?: number | undefined;
  readonly windows?: WindowsPlan | undefined;
}

/** What a copy moves, and how its lines lie in shared memory. */
export type Box = Pick<TensorMapPlan, "box" | "swizzle">;

export interface TensorMap {
  /** The pointer parameter whose address is that of element 0 of each axis. */
  readonly param: string;
  readonly element: MapElement;
  /** One to five, innermost first. */
  readonly axes: readonly TensorMapAxis[];
  /** Decided by scheduling. */
  readonly copied?: Box;
}

/** Type of the elements in memory, and of those that a copy makes. */
export const tileElement = (element: MapElement): ScalarName =>
  element === "tfloat32" ? "float32" : element;

/** Whether a word of a dump is the element type of a map. */
export const isMapElement = (word: string): word is MapElement =>
  word === "tfloat32" || Object.hasOwn(SCALARS, word);

/** The widths of lines in shared memory that copies can swizzle, in bytes; 0: none. */
export const SWIZZLES = [0, 32, 64, 128] as const;

/** Most axes of a tensor map (PTX ISA 9.0, 5.5.1). */
export const MOST_AXES = 5;

/** Coordinates of a box along an axis: one, or one for each run of the tile. */
export function coordinatesAlong({ tile, run }: TensorMapAxis, shape: readonly number[]): number {
  return tile === undefined || run === undefined ? 1 : must(shape[tile], "extent") / run;
}

/** Axes that have windows. */
export const windowAxes = ({ axes }: Pick<TensorMap, "axes">): readonly TensorMapAxis[] =>
  axes.filter(({ windows }) => windows !== undefined);

/** Coordinates of a load or a copy, with offsets in windows. */
export function coordinatesOf({ axes }: Pick<TensorMap, "axes">, shape: readonly number[]): number {
  const [inner] = axes;
  const runs = inner === undefined ? 1 : coordinatesAlong(inner, shape);
  return axes.reduce((sum, axis) => sum + coordinatesAlong(axis, shape), 0) +
    windowAxes({ axes }).length * runs;
}

/** The lengths of the runs along the axes of a tile. */
export function runsOfTile({ axes }: TensorMap, shape: readonly number[]): readonly number[] {
  return shape.map((extent, axis) => axes.find(({ tile }) => tile === axis)?.run ?? extent);
}

export function spellTensorMap({ param, element, axes, copied }: TensorMap): string {
  const list = axes.map(({ extent, stride, tile, run, windows }) =>
    `"${spellExpr(extent)}" "${spellExpr(stride)}" ${tile ?? "-"}${
      run === undefined ? "" : ` runs ${run}`
    }${windows === undefined ? "" : ` windows ${spellWindows(windows)}`}`
  );
  const box = copied === undefined
    ? ""
    : ` box [${copied.box.join(", ")}] swizzle ${copied.swizzle}`;
  return `map(${param} ${element} ${list.join(", ")}${box})`;
}

const spellWindows = ({ lower, upper, step }: WindowsPlan): string =>
  [lower, upper, step].map((expr) => `"${spellExpr(expr)}"`).join(" ");

function spellExpr(expr: MapExpr): string {
  switch (expr.op) {
    case "const":
      return String(expr.value);
    case "param":
      return expr.name;
    case "grid":
      return bug("a tensor map that depends on the grid");
    default:
      return `(${[expr.op, ...expr.args.map(spellExpr)].join(" ")})`;
  }
}

type Operator = Exclude<MapExpr["op"], "const" | "param" | "grid">;

/** Reads the text of an expression of a dump. */
export function parseMapExpr(text: string): MapExpr {
  const words = text.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const next = (): MapExpr => {
    const word = must(words[at++], "part of an expression");
    if (/^-?\d+$/.test(word)) return { op: "const", value: Number(word) };
    if (word !== "(") return { op: "param", name: word };
    // Evaluating an unknown operator fails; a dump is ours.
    const op = must(words[at++], "operator") as Operator;
    const args: MapExpr[] = [];
    while (words[at] !== ")") args.push(next());
    at++;
    return { op, args };
  };
  return next();
}
