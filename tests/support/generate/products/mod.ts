/** Random programs on products: tiles of warp groups, of tensors that the launch knows, as kernels have them. */
import { type ScalarName, SCALARS } from "../../../../compiler/support/scalar.ts";
import type { Choices } from "../choices.ts";
import type { ProgramContext } from "../scope.ts";
import type { Stmt } from "../tree.ts";
import { store } from "./ends.ts";
import { parameter, type Product } from "./product.ts";
import { chained, standing, summed } from "./sums.ts";
import { anyPictures, depthOf, namesOf, resultOf, windowOf } from "./windows.ts";

/** Operands, sums, and how some products are asked for. */
const TYPES: readonly (readonly [ScalarName, ScalarName, mode?: string])[] = [
  ["float16", "float32"],
  ["float16", "float32"],
  ["float16", "float32"],
  ["bfloat16", "float32"],
  ["float32", "float32", "tf32"],
  ["int8", "int32"],
  ["uint8", "int32"],
  ["float8e4", "float32"],
  ["float8e5", "float32", "f32acc"],
];

/** Where the programs of a launch are. */
export interface Tiling {
  readonly kind: "product" | "window" | "large";
  readonly grid: readonly [number, number, number];
  /** Tiles of rows and of columns, and products side by side. */
  readonly rows: number;
  readonly columns: number;
  readonly planes: number;
  /** Whether programs are along the axes of the grid, or along the first one, the columns or the rows fastest. */
  readonly order: "axes" | "columns" | "rows";
}

export function anyTiling(choices: Choices): Tiling {
  const kind = choices.pick(
    ["product", "product", "product", "product", "window", "large"] as const,
  );
  const rows = choices.between(1, 3);
  const columns = kind !== "large" && choices.oneIn(4) ? 2 : 1;
  const planes = kind === "product" && choices.oneIn(6) ? 2 : 1;
  const order = choices.pick(["axes", "axes", "columns", "rows"] as const);
  const count = rows * columns * planes;
  return {
    kind,
    rows,
    columns,
    planes,
    order,
    grid: order === "axes" ? [rows, columns, planes] : [count, 1, 1],
  };
}

/** The index of a program's tile of rows, of columns, and of its plane, as texts. */
function indices(
  { order, planes }: Tiling,
  down: string,
  across: string,
): readonly string[] {
  if (order === "axes") return ["get_program_id(0)", "get_program_id(1)", "get_program_id(2)"];
  const pid = "get_program_id(0)";
  const plane = `${pid} / (${down} * ${across})`;
  const inPlane = planes === 1 ? pid : `${pid} % (${down} * ${across})`;
  return order === "columns"
    ? [`${inPlane} / ${across}`, `${pid} % ${across}`, plane]
    : [`${pid} % ${down}`, `${inPlane} / ${down}`, plane];
}

/** Extents of a tensor along an axis of so many tiles: whole tiles, a few more or fewer, or nothing. */
function extentOf(choices: Choices, tile: number, tiles: number): number {
  const most = tile * tiles;
  return choices.pick([
    most,
    most,
    Math.max(1, most - choices.between(1, 9)),
    choices.between(1, most),
    choices.oneIn(4) ? 0 : most,
  ]);
}

/** The statements of a program with products, its warps, and the stages that loops are asked to have. */
export function productStmts(
  cx: ProgramContext,
  tiling: Tiling,
): { readonly stmts: readonly Stmt[]; readonly numWarps: number } {
  const { choices } = cx;
  const { kind } = tiling;
  const [element, sum, mode] = choices.pick(kind === "product" ? TYPES : TYPES.slice(0, 4));
  const bytes = SCALARS[element].bits / 8;
  const isChain = kind === "product" && choices.oneIn(4);
  const [wide, wideWarps] = choices.oneIn(4) ? [256, 8] as const : [128, 4] as const;
  const tile = {
    m: kind === "large" ? 128 : choices.pick([64, 64, 64, 128]),
    n: kind === "large" ? wide : choices.pick([64, 64, 64, 64, 64, 128, 128, 128, 16]),
    k: isChain && !choices.oneIn(4) ? 64 : choices.pick([32, 64, 128, 128]) / bytes,
  };
  const pictures = kind === "window"
    ? anyPictures(choices, tile.m * tiling.rows, tile.k)
    : undefined;
  const pixels = pictures && resultOf(pictures);
  const size = {
    m: pictures === undefined || pixels === undefined
      ? extentOf(choices, tile.m, tiling.rows)
      : pictures.count * pixels[0] * pixels[1],
    n: extentOf(choices, tile.n, tiling.columns),
    k: pictures === undefined
      ? extentOf(choices, tile.k, choices.between(1, kind === "large" ? 2 : 4))
      : depthOf(pictures),
  };
  const ofPictures = pictures && namesOf(cx, pictures);
  const names = {
    m: ofPictures === undefined ? parameter(cx, size.m) : `(${ofPictures.m})`,
    n: parameter(cx, size.n),
    k: ofPictures === undefined ? parameter(cx, size.k) : `(${ofPictures.k})`,
  };
  const [rm, rn, acc] = [cx.name("r"), cx.name("r"), cx.name("v")];
  const axes = [["m", tiling.rows], ["n", tiling.columns]] as const;
  const whole = axes.filter(([axis, tiles]) => size[axis] === tile[axis] * tiles)
    .map(([axis]) => axis);
  const tiles = ([axis, count]: typeof axes[number]): string =>
    whole.includes(axis)
      ? `((${names[axis]} + ${tile[axis] - 1}) / ${tile[axis]})`
      : parameter(cx, count);
  const [down, across] = [tiles(axes[0]), tiles(axes[1])];
  const [row = "", column = "", plane = ""] = indices(tiling, down, across);
  const z = cx.name("z");
  const isLong = choices.oneIn(4);
  const product: Product = {
    ...{ cx, element, sum, mode, tile, size, names, whole, rm, rn },
    ...tiling.planes === 1 ? {} : { plane: { index: z, count: tiling.planes } },
  };
  const declared = [
    `int ${rm}[${tile.m}] = ${row} * ${tile.m} + 0 ... ${tile.m};`,
    `int ${rn}[${tile.n}] = ${column} * ${tile.n} + 0 ... ${tile.n};`,
    ...tiling.planes === 1 ? [] : [`${isLong ? "long" : "int"} ${z} = ${plane};`],
  ].map((text) => ({ parts: [text] }));
  const early = choices.oneIn(12)
    ? [{ parts: [`if (${cx.programIndex} == ${choices.between(0, 2)}) return;`] }]
    : [];
  const sums = pictures !== undefined && ofPictures !== undefined
    ? summed(product, acc, windowOf(product, pictures, ofPictures))
    : isChain
    ? chained(product, acc)
    : choices.oneIn(4)
    ? standing(product, acc)
    : summed(product, acc);
  const warps = kind === "large" ? wideWarps : tile.m / 16;
  return {
    stmts: [...declared, ...early, ...sums, ...store(product, acc)],
    numWarps: choices.oneIn(6) ? choices.pick([2, 4, 8]) : warps,
  };
}
