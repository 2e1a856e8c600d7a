/**
 * Shape rules (language.md, 5.3): when two shapes broadcast, when one stretches to another, and the texts
 * that show a clash.
 */
import type { ShapeOf } from "../tree/value_types.ts";
import { times } from "../../support/times.ts";

/** Two shapes that do not fit: the first bad axis, counted in the longer shape. */
export interface Clash {
  readonly lhs: readonly number[];
  readonly rhs: readonly number[];
  readonly axis: number;
}

export type Outcome = { readonly shape: ShapeOf } | { readonly clash: Clash };

/** Left-pads the shorter shape with 1s; per axis takes the equal extent, or the other one if one is 1. */
export function broadcastShapes(lhs: ShapeOf, rhs: ShapeOf): Outcome {
  if (lhs === undefined) return { shape: rhs };
  if (rhs === undefined) return { shape: lhs };
  const rank = Math.max(lhs.length, rhs.length);
  const shape: number[] = [];
  for (let axis = 0; axis < rank; axis++) {
    const left = paddedExtent(lhs, rank, axis);
    const right = paddedExtent(rhs, rank, axis);
    if (left !== right && left !== 1 && right !== 1) return { clash: { lhs, rhs, axis } };
    shape.push(left === 1 ? right : left);
  }
  return { shape };
}

export type Stretch =
  /** Left-pad and stretch. */
  | { readonly kind: "broadcast" }
  /** Only extents of 1 are dropped. */
  | { readonly kind: "drop" }
  /** A tile of several elements meets a scalar. */
  | { readonly kind: "not-scalar" }
  | { readonly kind: "clash"; readonly clash: Clash };

/** How a value of shape `from` becomes one of shape `to` in assignments, initialisers and casts. */
export function planStretch(from: ShapeOf, to: ShapeOf): Stretch {
  if (from === undefined) return { kind: "broadcast" };
  if (to === undefined) {
    return { kind: from.every((extent) => extent === 1) ? "drop" : "not-scalar" };
  }
  if (from.length > to.length) {
    if (dropsTo(from, to)) return { kind: "drop" };
    return { kind: "clash", clash: { lhs: from, rhs: to, axis: firstBadAxis(from, to) } };
  }
  for (let axis = 0; axis < to.length; axis++) {
    const extent = paddedExtent(from, to.length, axis);
    if (extent !== 1 && extent !== to[axis]) {
      return { kind: "clash", clash: { lhs: from, rhs: to, axis } };
    }
  }
  return { kind: "broadcast" };
}

/** Whether `to` is `from` without some extents of 1. */
function dropsTo(from: readonly number[], to: readonly number[]): boolean {
  let at = 0;
  for (const extent of from) {
    if (at < to.length && extent === to[at]) at++;
    else if (extent !== 1) return false;
  }
  return at === to.length;
}

function firstBadAxis(lhs: readonly number[], rhs: readonly number[]): number {
  const rank = Math.max(lhs.length, rhs.length);
  for (let axis = 0; axis < rank; axis++) {
    if (paddedExtent(lhs, rank, axis) !== paddedExtent(rhs, rank, axis)) return axis;
  }
  return 0;
}

function paddedExtent(shape: readonly number[], rank: number, axis: number): number {
  return shape[axis - (rank - shape.length)] ?? 1;
}

/** `[128, 64]`, or `scalar`. */
export function shapeText(shape: ShapeOf): string {
  return shape === undefined ? "scalar" : `[${shape.join(", ")}]`;
}

/** `[128, 64] vs [32, 64]: axis 0 is 128 and 32`. */
export function clashText({ lhs, rhs, axis }: Clash): string {
  const rank = Math.max(lhs.length, rhs.length);
  const missing = (shape: readonly number[]): boolean => axis < rank - shape.length;
  const extent = (shape: readonly number[]): string =>
    missing(shape) ? "missing" : String(paddedExtent(shape, rank, axis));
  return `${shapeText(lhs)} vs ${shapeText(rhs)}: axis ${axis} is ${extent(lhs)} and ${
    extent(rhs)
  }`;
}

/**
 * Lines that show both shapes right-aligned axis by axis, the bad axis marked:
 *
 *     [128, 64]
 *     [ 32, 64]
 *       ^^^
 */
export function clashPicture({ lhs, rhs, axis }: Clash): readonly string[] {
  const rank = Math.max(lhs.length, rhs.length);
  const cells = (shape: readonly number[]): string[] =>
    times(rank, (at) => at < rank - shape.length ? "" : String(paddedExtent(shape, rank, at)));
  const rows = [cells(lhs), cells(rhs)];
  const widths = times(rank, (at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string => {
    let text = "";
    row.forEach((cell, at) => {
      const open = cell !== "" && (at === 0 || row[at - 1] === "");
      text += (open ? "[" : " ") + cell.padStart(widths[at] ?? 0);
      if (at + 1 < rank) text += cell === "" ? " " : ",";
    });
    return `${text}]`;
  };
  const before = widths.slice(0, axis).reduce((sum, width) => sum + width + 2, 1);
  const mark = " ".repeat(before) + "^".repeat(widths[axis] ?? 1);
  return [...rows.map(line), mark];
}

/** Whether the value would fit if an axis were inserted after its last one: `x[:, newaxis]`. */
export function fitsWithNewAxis(from: readonly number[], to: readonly number[]): boolean {
  if (from.length + 1 !== to.length) return false;
  return from.every((extent, axis) => extent === to[axis] || extent === 1 || to[axis] === 1);
}
