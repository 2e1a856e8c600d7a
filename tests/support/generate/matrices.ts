/**
 * Matrices with extents and strides that only the launch knows, as kernels have them: blocks of rows, masked at the
 * edges, read and written by rows or by columns. The buffers end with the last element.
 */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { makeExpr } from "./expressions.ts";
import { attributesOf } from "./header.ts";
import { isWide, type Workshop } from "./scope.ts";
import { declarator, type Node, type ScalarSpec, type Shape, spell, type Stmt } from "./tree.ts";

/** A parameter with a value that the program never changes. */
function parameter(shop: Workshop, value: number): string {
  const { dice } = shop;
  const type = dice.oneIn(5) ? "int64" : "int32";
  const spec: ScalarSpec = { name: shop.name("n"), type, value: `${value}`, attributes: "" };
  shop.scalars.push({ ...spec, attributes: attributesOf(dice, spec) });
  return spec.name;
}

interface Matrix {
  readonly rows: number;
  readonly columns: number;
}

/** A buffer that holds a matrix by rows or by columns, and the text of its addresses. */
function matrixOf(
  shop: Workshop,
  type: ScalarName,
  { rows, columns }: Matrix,
  written: boolean,
): { readonly at: (row: string, column: string) => string } {
  const { dice } = shop;
  const byRows = !dice.oneIn(3);
  const [lines, length] = byRows ? [rows, columns] : [columns, rows];
  const gap = dice.pick([0, 0, 1, 3, (16 - length % 16) % 16, 16]);
  const start = dice.oneIn(3) ? dice.between(1, 5) : 0;
  const stride = parameter(shop, length + gap);
  const name = shop.name(written ? "M" : "V");
  shop.buffers.push({
    name,
    type,
    length: start + (lines - 1) * (length + gap) + length,
    written,
    attributes: dice.pick(["", " __noalias", written ? " __aligned(16)" : " __readonly"]),
  });
  const base = start === 0 ? name : `${name} + ${start}`;
  return {
    at: (row, column) =>
      byRows
        ? `${base} + ${row} * ${stride} + ${column}`
        : `${base} + ${column} * ${stride} + ${row}`,
  };
}

/** Reductions of a row, put beside its elements. */
const OF_ROWS = ["[:, +][:, newaxis]", "[:, max, newaxis]", "[:, min][:, newaxis]"];

export function matrix(shop: Workshop): readonly Stmt[] | undefined {
  const { dice } = shop;
  const shapes = shop.shapes.filter(({ length }) => length === 2);
  if (shapes.length === 0 || shop.buffers.length > 8 || shop.scalars.length > 6) return undefined;
  const shape: Shape = dice.pick(shapes);
  const [height = 1, width = 1] = shape;
  const isLoop = shop.has("loop") && dice.oneIn(2);
  const size: Matrix = {
    rows: dice.between(1, height * shop.programs),
    columns: dice.between(1, isLoop ? 3 * width : width),
  };
  const [type, result] = [dice.pick(shop.types), dice.pick(shop.types)];
  const [from, to] = [matrixOf(shop, type, size, false), matrixOf(shop, result, size, true)];
  const [rows, columns] = [parameter(shop, size.rows), parameter(shop, size.columns)];
  const [r, c, mask, x, k] = ["r", "c", "m", "v", "k"].map((letter) => shop.name(letter));
  const [row, column] = [`${r}[:, newaxis]`, `${c}[newaxis, :]`];
  const both = dice.pick(["&&", "&"]);
  const body = shop.inScope((): Stmt[] => {
    shop.variables.push({ name: x ?? "", type, shape });
    const plain: Node = { type, shape, parts: [x ?? ""] };
    const value: (string | Node)[] = dice.oneIn(2)
      ? [makeExpr(shop, { type: result, shape }, 3)]
      : isWide(type) && dice.oneIn(2)
      ? [plain, ` - ${x}${dice.pick(OF_ROWS)}`]
      : [plain];
    // Masks of the transposed tile, where the store turns it.
    const isTransposed = shop.has("permute") && dice.oneIn(3);
    const [turnedRow, turnedColumn] = [`${r}[newaxis, :]`, `${c}[:, newaxis]`];
    const store: Stmt = isTransposed
      ? {
        parts: [
          `*?(^${mask}) (${to.at(turnedRow, turnedColumn)}) = ^((${spell(result)})(`,
          ...[...value, "));"],
        ],
      }
      : { parts: [`*?(${mask}) (${to.at(row, column)}) = `, ...value, ";"] };
    return [
      {
        parts: [
          `int ${c}[${width}] = ${isLoop ? `${k} + ` : ""}0 ... ${width};`,
        ],
      },
      {
        parts: [
          `${declarator("bool", shape, mask ?? "")} = `,
          `${row} < ${rows} ${both} ${column} < ${columns};`,
        ],
      },
      {
        parts: [
          `${declarator(type, shape, x ?? "")} = *?(${mask}) (${from.at(row, column)});`,
        ],
      },
      store,
    ];
  });
  return [
    { parts: [`int ${r}[${height}] = ${shop.programIndex} * ${height} + 0 ... ${height};`] },
    isLoop
      ? { parts: [`for (int ${k} = 0; ${k} < ${columns}; ${k} += ${width}) `, body] }
      : { parts: [body] },
  ];
}
