/** The value of every kind of typed expression, as check/tree/typed.ts describes it. */
import { must } from "../../../compiler/support/bug.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import type { TypedExpr } from "../../../compiler/check/tree/typed.ts";
import type { ElementType } from "../../../compiler/check/tree/types.ts";
import { binaryCell, unaryCell } from "./arithmetic.ts";
import { callBuiltin } from "./builtins.ts";
import {
  type Cell,
  type Cells,
  either,
  exact,
  integer,
  isKnown,
  NotInterpreted,
  NULL,
  Undecided,
  unknown,
  UNKNOWN_INT,
  wrap,
  zero,
} from "./cell.ts";
import { bitcastCell, convertCell } from "./convert.ts";
import { dotCells } from "./dots.ts";
import { isFloatName } from "./formats.ts";
import { advance, loadCell, perhapsStore, pointerTo, storeCell } from "./memory.ts";
import type { Program } from "./program.ts";
import { reduceLine } from "./reductions.ts";
import { lines, permute, type Shape, stretch } from "./shapes.ts";
import { countOf } from "../compiler/tile_index.ts";
import { callHelper } from "./statements.ts";

type Of<K extends TypedExpr["kind"]> = Extract<TypedExpr, { kind: K }>;
type AnyType = TypedExpr["type"];

/** Scalars have no axes. */
function shapeOf(type: AnyType): Shape {
  return type.kind === "tile" ? type.shape : [];
}

export function elementOf(type: AnyType): ScalarName | "pointer" {
  const element: AnyType | ElementType = type.kind === "tile" ? type.element : type;
  if (element.kind === "void") throw new TypeError("void has no elements");
  return element.kind === "pointer" ? "pointer" : element.name;
}

export function cellsOf(type: AnyType, make: (index: number) => Cell): Cell[] {
  return Array.from({ length: countOf(shapeOf(type)) }, (_, index) => make(index));
}

const cellAt = (cells: Cells, index: number): Cell => must(cells[index], "element");

/** The elements of an expression's value, in row-major order. */
export function evaluate(program: Program, expr: TypedExpr): Cells {
  program.step();
  const inner = (operand: TypedExpr): Cells => evaluate(program, operand);
  switch (expr.kind) {
    case "constant":
      return constantCells(expr);
    case "variable":
      return must(program.variables.get(expr.variable.id), expr.variable.name);
    case "binary": {
      const [lhs, rhs] = [inner(expr.lhs), inner(expr.rhs)];
      const type = elementOf(expr.lhs.type);
      return lhs.map((cell, i) => binaryCell(expr.operator, type, cell, cellAt(rhs, i)));
    }
    case "unary": {
      const type = elementOf(expr.type);
      if (type === "pointer") throw new TypeError("sign of a pointer");
      return inner(expr.operand).map((cell) => unaryCell(expr.operator, type, cell));
    }
    case "offset": {
      const [pointers, counts] = [inner(expr.pointer), inner(expr.count)];
      return pointers.map((pointer, i) => advance(pointer, cellAt(counts, i)));
    }
    case "difference": {
      const [lhs, rhs] = [inner(expr.lhs), inner(expr.rhs)];
      return lhs.map((cell, i) => distance(cell, cellAt(rhs, i)));
    }
    case "convert": {
      const cells = inner(expr.operand);
      checkReinterpretation(expr.operand.type, expr.type, cells);
      const [from, to] = [elementOf(expr.operand.type), elementOf(expr.type)];
      return cells.map((cell) => convertCell(cell, from, to));
    }
    case "bitcast": {
      const [from, to] = [elementOf(expr.operand.type), elementOf(expr.type)];
      if (from === "pointer" || to === "pointer") throw new NotInterpreted("bits of an address");
      return inner(expr.operand).map((cell) => bitcastCell(cell, from, to));
    }
    case "broadcast":
      return stretch(inner(expr.operand), shapeOf(expr.operand.type), shapeOf(expr.type));
    case "reshape":
      return inner(expr.operand);
    case "permute":
      return permute(inner(expr.operand), shapeOf(expr.operand.type), expr.order);
    case "range":
      return cellsOf(expr.type, (index) => integer(expr.lo + BigInt(index)));
    case "reduce": {
      const type = elementOf(expr.operand.type);
      if (type === "pointer") throw new TypeError("reduction of pointers");
      return lines(inner(expr.operand), shapeOf(expr.operand.type), expr.axis)
        .map((line) => reduceLine(expr.operator, type, line));
    }
    case "dot":
      return product(expr, inner(expr.lhs), inner(expr.rhs));
    case "load":
      return loadCells(program, expr);
    case "store":
      return storeCells(program, expr);
    case "select": {
      const [conditions, then, otherwise] = [
        inner(expr.condition),
        inner(expr.then),
        inner(expr.else),
      ];
      return conditions.map((condition, i) => {
        const sides = [cellAt(then, i), cellAt(otherwise, i)] as const;
        if (!isKnown(condition)) return either(...sides);
        return isTrue(condition) ? sides[0] : sides[1];
      });
    }
    case "conditional":
      return decide(cellAt(inner(expr.condition), 0)) ? inner(expr.then) : inner(expr.else);
    case "assign":
    case "let": {
      const value = inner(expr.value);
      program.variables.set(expr.variable.id, value);
      return expr.kind === "assign" ? value : inner(expr.body);
    }
    case "comma":
      inner(expr.first);
      return inner(expr.then);
    case "program-id":
      return [integer(BigInt(must(program.id[expr.axis], "axis")))];
    case "num-programs":
      return [integer(BigInt(must(program.grid[expr.axis], "axis")))];
    case "builtin":
      if (expr.name === "constant-buffer") return [constantBuffer(program, expr.options)];
      return callBuiltin({
        name: expr.name,
        options: expr.options,
        shape: shapeOf(expr.type),
        args: expr.args.map((arg) => ({
          cells: inner(arg),
          shape: shapeOf(arg.type),
          element: elementOf(arg.type),
        })),
      });
    case "call":
      return callHelper(program, expr.helper, expr.args.map(inner));
  }
}

function constantBuffer({ constants }: Program, [name = ""]: readonly string[]): Cell {
  const memory = constants.get(name);
  if (memory === undefined) throw new NotInterpreted(`the constant buffer ${name}`);
  return pointerTo(memory);
}

function constantCells({ value, type }: Of<"constant">): Cells {
  const element = elementOf(type);
  const cell = element === "pointer"
    ? NULL
    : typeof value === "number"
    ? exact(value)
    : isFloatName(element)
    ? exact(Number(value))
    : wrap(value, element);
  return cellsOf(type, () => cell);
}

function isTrue(condition: Cell): boolean {
  return condition.kind === "int" && condition.value === 1n;
}

/** The truth of a condition that decides where the program goes. */
export function decide(condition: Cell): boolean {
  if (!isKnown(condition)) throw new Undecided("a condition is unknown");
  return isTrue(condition);
}

function distance(a: Cell, b: Cell): Cell {
  if (a.kind !== "pointer" || b.kind !== "pointer") throw new TypeError("difference of pointers");
  if (!a.known || !b.known) return UNKNOWN_INT;
  if (a.memory !== b.memory) throw new NotInterpreted("the distance of two buffers");
  return integer(a.index - b.index);
}

/**
 * Memory is typed here, so a pointer cannot be reinterpreted as elements of another size; but for one to the beginning
 * of a constant buffer, whose memory has the type that the program reads it as.
 */
function checkReinterpretation(from: AnyType, to: AnyType, cells: Cells): void {
  const [source, target] = [from, to].map((type) => type.kind === "tile" ? type.element : type);
  if (source?.kind !== "pointer" || target?.kind !== "pointer") return;
  const name = (type: typeof source.pointee): string =>
    type.kind === "scalar" ? type.name : type.kind;
  const isBeginning = source.space === "constant" &&
    cells.every((cell) => cell.kind === "pointer" && cell.index === 0n);
  if (name(source.pointee) !== name(target.pointee) && !isBeginning) {
    throw new NotInterpreted("a pointer to another type");
  }
}

function loadCells(program: Program, expr: Of<"load">): Cells {
  const pointers = evaluate(program, expr.pointer);
  const mask = expr.mask && evaluate(program, expr.mask);
  const other = expr.other && evaluate(program, expr.other);
  const element = elementOf(expr.type);
  return pointers.map((pointer, i) => {
    const runs = mask === undefined ? integer(1n) : cellAt(mask, i);
    if (!isKnown(runs)) return unknown(element);
    if (!isTrue(runs)) return other === undefined ? zero(element) : cellAt(other, i);
    return isKnown(pointer) ? loadCell(pointer) : unknown(element);
  });
}

/** Value, then pointer and mask; of lanes that meet at an address one wins. */
function storeCells(program: Program, expr: Of<"store">): Cells {
  const values = evaluate(program, expr.value);
  const pointers = evaluate(program, expr.pointer);
  const mask = expr.mask && evaluate(program, expr.mask);
  const written = new Map<string, Cell>();
  pointers.forEach((pointer, i) => {
    const runs = mask === undefined ? integer(1n) : cellAt(mask, i);
    const value = cellAt(values, i);
    if (!isKnown(runs)) perhapsStore(pointer, value);
    else if (isTrue(runs)) {
      const address = pointer.kind === "pointer" ? `${pointer.memory?.name} ${pointer.index}` : "";
      const earlier = written.get(address);
      const result = earlier === undefined ? value : either(earlier, value);
      written.set(address, result);
      storeCell(pointer, result);
    }
  });
  return values;
}

function product(expr: Of<"dot">, lhs: Cells, rhs: Cells): Cells {
  const [[, depth = 1], [, columns = 1]] = [shapeOf(expr.lhs.type), shapeOf(expr.rhs.type)];
  const batch = countOf(shapeOf(expr.type).slice(2));
  const [from, to] = [elementOf(expr.lhs.type), elementOf(expr.type)];
  if (from === "pointer" || to === "pointer") throw new TypeError("product of pointers");
  return cellsOf(expr.type, dotCells({ depth, columns, batch }, [from, to], expr.mode, lhs, rhs));
}
