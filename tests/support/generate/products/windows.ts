/**
 * Pixels under a filter as the left operand of a product: its rows are pixels of the result, and along k go the filter's rows and
 * columns and the channels, as one index that is divided. Pictures have their channels last.
 */
import type { Choices } from "../choices.ts";
import type { ProgramContext } from "../scope.ts";
import type { Stmt } from "../tree.ts";
import { type Operand, parameter, type Product } from "./product.ts";

/** A convolution's sizes. */
export interface Pictures {
  readonly count: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  /** Of the filter, its steps, and pixels beyond an edge. */
  readonly rows: number;
  readonly columns: number;
  readonly step: number;
  readonly pad: number;
}

/** Pixels of a result. */
export const resultOf = (
  { height, width, rows, columns, step, pad }: Pictures,
): readonly [number, number] => [
  Math.floor((height + 2 * pad - rows) / step) + 1,
  Math.floor((width + 2 * pad - columns) / step) + 1,
];

/** Pictures of at most so many pixels of a result; channels are mostly whole tiles. */
export function anyPictures(choices: Choices, most: number, tile: number): Pictures {
  const [rows, columns] = [choices.between(1, 3), choices.between(1, 3)];
  const side = Math.floor(Math.sqrt(most));
  const height = choices.between(rows, Math.max(rows, side));
  const width = choices.between(columns, Math.max(columns, side));
  const step = choices.pick([1, 1, 2]);
  const pad = choices.pick([0, 1]);
  const pictures = {
    count: 1,
    height,
    width,
    channels: choices.pick([tile, tile, 2 * tile, 8, tile / 2]),
    rows,
    columns,
    step,
    pad,
  };
  const [p, q] = resultOf(pictures);
  const pixels = p * q;
  if (pixels > most) return { ...pictures, pad: 0 };
  return { ...pictures, count: choices.between(1, Math.max(1, Math.floor(most / pixels))) };
}

/** Parameters with the sizes of pictures, or numbers; and what a product has along its axes, in their terms. */
export interface PictureNames {
  readonly of: Readonly<Record<"N" | "H" | "W" | "C" | "R" | "S" | "P" | "Q" | "T" | "D", string>>;
  readonly m: string;
  readonly k: string;
}

export function namesOf(cx: ProgramContext, pictures: Pictures): PictureNames {
  const [p, q] = resultOf(pictures);
  const all = (value: number): string => parameter(cx, value);
  const isGiven = cx.choices.oneIn(3);
  const some = (value: number): string => isGiven ? `${value}` : all(value);
  const of = {
    N: all(pictures.count),
    H: all(pictures.height),
    W: all(pictures.width),
    C: all(pictures.channels),
    R: some(pictures.rows),
    S: some(pictures.columns),
    P: all(p),
    Q: all(q),
    T: some(pictures.step),
    D: some(pictures.pad),
  };
  return { of, m: `${of.N} * ${of.P} * ${of.Q}`, k: `${of.R} * ${of.S} * ${of.C}` };
}

/** The operand, which needs a mask along k wherever tiles may end beyond it. */
export function windowOf(product: Product, pictures: Pictures, { of, m }: PictureNames): Operand {
  const { cx, element, tile, names, rm } = product;
  const { choices } = cx;
  const { N, H, W, C, S, P, Q, T, D } = of;
  const name = cx.name("X");
  cx.buffers.push({
    name,
    type: element,
    length: pictures.count * pictures.height * pictures.width * pictures.channels,
    written: false,
    small: true,
    attributes: choices.pick([" __noalias", " __noalias __readonly", ""]),
  });
  const [n, p, q] = [cx.name("i"), cx.name("i"), cx.name("i")];
  const declare = (variable: string, value: string): Stmt => ({
    parts: [`int ${variable}[${tile.m}] = ${value};`],
  });
  const before = choices.oneIn(2)
    ? [
      declare(n, `${rm} / (${P} * ${Q})`),
      declare(p, `${rm} % (${P} * ${Q}) / ${Q}`),
      declare(q, `${rm} % ${Q}`),
    ]
    : [
      declare(n, `${rm} / ${Q} / ${P}`),
      declare(p, `${rm} / ${Q} % ${P}`),
      declare(q, `${rm} % ${Q}`),
    ];
  const [isUnsigned, isLong, isByProducts] = [1, 2, 3].map(() => choices.oneIn(2));
  const within = (index: string, extent: string): string =>
    isUnsigned
      ? `(unsigned[${tile.m}, ${tile.k}])(${index}) < (unsigned)${extent}`
      : `${index} >= 0 && ${index} < ${extent}`;
  const ofRows = choices.oneIn(2) ? `${rm}[:, newaxis] < ${m}` : `${n}[:, newaxis] < ${N}`;
  const load = (k: string): string => {
    const at = k === "0" ? `(0 ... ${tile.k})` : `(${k} + (0 ... ${tile.k}))`;
    const r = isByProducts ? `(${at} / (${S} * ${C}))` : `(${at} / ${C} / ${S})`;
    const s = isByProducts ? `(${at} % (${S} * ${C}) / ${C})` : `(${at} / ${C} % ${S})`;
    const row = `(${p}[:, newaxis] * ${T} - ${D} + ${r}[newaxis, :])`;
    const column = `(${q}[:, newaxis] * ${T} - ${D} + ${s}[newaxis, :])`;
    const mask = [
      ofRows,
      `${at}[newaxis, :] < ${names.k}`,
      within(row, H),
      within(column, W),
    ].join(" && ");
    const picture = isLong ? `(long[${tile.m}, 1])${n}[:, newaxis]` : `${n}[:, newaxis]`;
    const place = choices.oneIn(2)
      ? `((${picture} * ${H} + ${row}) * ${W} + ${column}) * ${C}`
      : `${picture} * (${H} * ${W} * ${C}) + ${row} * (${W} * ${C}) + ${column} * ${C}`;
    return `*?(${mask}) (${name} + (${place} + (${at} % ${C})[newaxis, :]))`;
  };
  return { shape: [tile.m, tile.k], load, before, after: [] };
}

/** What a product of such an operand has along k. */
export const depthOf = ({ rows, columns, channels }: Pictures): number => rows * columns * channels;
