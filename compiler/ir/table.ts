/** Questions to TILE_OPS. */
import { type AttrKind, TILE_OPS, type TileOp, type TileOpRow } from "./ops.ts";
import type { Op } from "./func.ts";
import { isPointer } from "./types.ts";

/** The row of an operation, all columns visible. */
export function rowOf(op: Op): TileOpRow {
  return TILE_OPS[op.name];
}

export function isTileOp(name: string): name is TileOp {
  return Object.hasOwn(TILE_OPS, name);
}

/** The operations whose rows fulfil a condition. */
export function opsWhere(test: (row: TileOpRow) => boolean): readonly TileOp[] {
  return Object.keys(TILE_OPS).filter(isTileOp).filter((name) => test(TILE_OPS[name]));
}

/** Works element by element and without effect, so it may be repeated and moved freely. */
export function isPureElementwise(row: TileOpRow): boolean {
  return row.elementwise === true && row.effect === "pure";
}

/**
 * Reads constant memory, which nobody writes while a kernel runs: whether it happens again, or later among the operations
 * of its region, makes no difference.
 */
export function isLookup({ name, operands: [pointer] }: Op): boolean {
  const element = pointer?.type.element;
  return name === "load" && element !== undefined && isPointer(element) &&
    element.space === "constant";
}

type Optional = Extract<NonNullable<TileOpRow["attrs"]>[string], `${string}?`>;
const OPTIONAL: Readonly<Record<Optional, AttrKind>> = {
  "int?": "int",
  "ints?": "ints",
  "number?": "number",
  "bigint?": "bigint",
  "string?": "string",
  "bool?": "bool",
  "strings?": "strings",
};

function isOptional(kind: string): kind is Optional {
  return Object.hasOwn(OPTIONAL, kind);
}

/** What an attribute is where it is not absent. */
export function requiredKind(kind: AttrKind | `${AttrKind}?`): AttrKind {
  return isOptional(kind) ? OPTIONAL[kind] : kind;
}
