/**
 * Pictures as data: a grid of cells, each with a colour, a short text for large cells and a sentence for those who point
 * at it or hear it. What draws them knows nothing of kernels; what makes them knows nothing of pixels.
 */
import type { Colour } from "./colours.ts";

/** A cell of a picture. */
export interface Cell {
  readonly colour: Colour;
  /** Shown in the cell where there is room. */
  readonly text: string;
  /** The whole truth about it. */
  readonly says: string;
}

/** A grid of cells. */
export interface Picture {
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  /** The cell at a column and a row, both from 0. */
  cell(column: number, row: number): Cell;
  /** What a column or a row is called in tables. */
  columnName(column: number): string;
  rowName(row: number): string;
  /** Cells are so many times as tall as they are wide; 1 when absent. */
  readonly tall?: number;
}

/** Pixels of a side of a cell: whole ones, so that all cells are equal. */
export function cellSize(
  { columns, rows, tall = 1 }: Pick<Picture, "columns" | "rows" | "tall">,
  width: number,
  height: number,
): number {
  const fits = Math.floor(
    Math.min(width / Math.max(1, columns), height / Math.max(1, tall * rows)),
  );
  return Math.max(1, Math.min(MOST, fits));
}

/** Larger cells say nothing more. */
const MOST = 40;

/** A picture as RGBA pixels, cells without their texts. */
export function pixelsOf(picture: Picture, size: number): Uint8ClampedArray<ArrayBuffer> {
  const { columns, rows, tall = 1 } = picture;
  const width = columns * size;
  const height = size * tall;
  const pixels = new Uint8ClampedArray(4 * width * rows * height);
  const gap = size >= 6 ? 1 : 0;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const { colour } = picture.cell(column, row);
      for (let y = 0; y < height - gap; y++) {
        for (let x = 0; x < size - gap; x++) {
          const at = 4 * ((row * height + y) * width + column * size + x);
          pixels.set([...colour, 255], at);
        }
      }
    }
  }
  return pixels;
}

/** A table of words: what a screen reader gets in place of a picture, and what people copy. */
export interface WordTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A table holds so many cells; a note says what is left out. */
const MOST_ROWS = 64;
const MOST_COLUMNS = 32;

/** The cells of a picture as a table, its upper left corner if it is large. */
export function tableOf(picture: Picture): WordTable {
  const columns = Math.min(picture.columns, MOST_COLUMNS);
  const rows = Math.min(picture.rows, MOST_ROWS);
  return {
    columns: ["", ...Array.from({ length: columns }, (_, column) => picture.columnName(column))],
    rows: Array.from({ length: rows }, (_, row) => [
      picture.rowName(row),
      ...Array.from({ length: columns }, (_, column) => picture.cell(column, row).text),
    ]),
  };
}

/** What `tableOf` leaves out, as a sentence; empty where that is nothing. */
export function restOf({ columns, rows }: Pick<Picture, "columns" | "rows">): string {
  if (columns <= MOST_COLUMNS && rows <= MOST_ROWS) return "";
  return `The table has the first ${Math.min(rows, MOST_ROWS)} of ${rows} rows and ` +
    `${Math.min(columns, MOST_COLUMNS)} of ${columns} columns.`;
}
