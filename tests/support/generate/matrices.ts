/**
 * Matrices with extents and strides that only the launch knows, as kernels have them: blocks of rows, masked at the
 * edges, read and written by rows or by columns. The buffers end with the last element.
 */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { makeExpr } from "./expressions.ts";
import { attributesOf } from "./header.ts";
import { isWide, type ProgramContext } from "./scope.ts";
import { declarator, type Node, type ScalarSpec, type Shape, spell, type Stmt } from "./tree.ts";

/** A parameter with a value that the program never changes. */
function parameter(cx: ProgramContext, value: number): string {
  const { choices } = cx;
  const type = choices.oneIn(5) ? "int64" : "int32";
  const spec: ScalarSpec = { name: cx.name("n"), type, value: `${value}`, attributes: "" };
  cx.scalars.push({ ...spec, attributes: attributesOf(choices, spec) });
  return spec.name;
}

interface Matrix {
  readonly rows: number;
  readonly columns: number;
}

/** A buffer that holds a matrix by rows or by columns, and the text of its addresses. */
function matrixOf(
  cx: ProgramContext,
  type: ScalarName,
  { rows, columns }: Matrix,
  written: boolean,
): { readonly at: (row: string, column: string) => string } {
  const { choices } = cx;
  const byRows = !choices.oneIn(3);
  const [lines, length] = byRows ? [rows, columns] : [columns, rows];
  const gap = choices.pick([0, 0, 1, 3, (16 - length % 16) % 16, 16]);
  const start = choices.oneIn(3) ? choices.between(1, 5) : 0;
  const stride = parameter(cx, length + gap);
  const name = cx.name(written ? "M" : "V");
  cx.buffers.push({
    name,
    type,
    length: start + (lines - 1) * (length + gap) + length,
    written,
    attributes: choices.pick(["", " __noalias", written ? " __aligned(16)" : " __readonly"]),
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

export function matrix(cx: ProgramContext): readonly Stmt[] | undefined {
  const { choices } = cx;
  const shapes = cx.shapes.filter(({ length }) => length === 2);
  if (shapes.length === 0 || cx.buffers.length > 8 || cx.scalars.length > 6) return undefined;
  const shape: Shape = choices.pick(shapes);
  const [height = 1, width = 1] = shape;
  const isLoop = cx.has("loop") && choices.oneIn(2);
  const size: Matrix = {
    rows: choices.between(1, height * cx.programs),
    columns: choices.between(1, isLoop ? 3 * width : width),
  };
  const [type, result] = [choices.pick(cx.types), choices.pick(cx.types)];
  const [from, to] = [matrixOf(cx, type, size, false), matrixOf(cx, result, size, true)];
  const [rows, columns] = [parameter(cx, size.rows), parameter(cx, size.columns)];
  const [r, c, mask, x, k] = ["r", "c", "m", "v", "k"].map((letter) => cx.name(letter));
  const [row, column] = [`${r}[:, newaxis]`, `${c}[newaxis, :]`];
  const both = choices.pick(["&&", "&"]);
  const body = cx.inScope((): Stmt[] => {
    cx.variables.push({ name: x ?? "", type, shape });
    const plain: Node = { type, shape, parts: [x ?? ""] };
    const value: (string | Node)[] = choices.oneIn(2)
      ? [makeExpr(cx, { type: result, shape }, 3)]
      : isWide(type) && choices.oneIn(2)
      ? [plain, ` - ${x}${choices.pick(OF_ROWS)}`]
      : [plain];
    // Masks of the transposed tile, where the store turns it.
    const isTransposed = cx.has("permute") && choices.oneIn(3);
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
    { parts: [`int ${r}[${height}] = ${cx.programIndex} * ${height} + 0 ... ${height};`] },
    isLoop
      ? { parts: [`for (int ${k} = 0; ${k} < ${columns}; ${k} += ${width}) `, body] }
      : { parts: [body] },
  ];
}
