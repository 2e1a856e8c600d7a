/** Questions to TILE_OPS. */
import {
  type AttrKind,
  OPERAND_CLASSES,
  type OperandClass,
  type OpWhere,
  TILE_OPS,
  type TileOp,
  type TileOpRow,
} from "./ops.ts";
import { must } from "../support/bug.ts";
import type { Op, OpOf } from "./func.ts";
import { isPointer } from "./types.ts";

/** The row of an operation, all columns visible. */
export function rowOf(op: Op): TileOpRow {
  return TILE_OPS[op.name];
}

export function isTileOp(name: string): name is TileOp {
  return Object.hasOwn(TILE_OPS, name);
}

/** The names of all operations. */
export const TILE_OP_NAMES: readonly TileOp[] = Object.keys(TILE_OPS).filter(isTileOp);

/** A column that is true or empty. */
export type Trait = {
  [C in keyof TileOpRow]-?: TileOpRow[C] extends true | undefined ? C : never;
}[keyof TileOpRow];

/** The operations that have a trait. */
export type OpWith<T extends Trait> = OpWhere<{ readonly [K in T]: true }>;

/** Whether an operation has a trait, which narrows it. */
export function hasTrait<T extends Trait>(op: Op, trait: T): op is Op & OpOf<OpWith<T>> {
  return rowOf(op)[trait] === true;
}

/** The names of the operations that have a trait. */
export function opsWith<T extends Trait>(trait: T): readonly OpWith<T>[] {
  return TILE_OP_NAMES.filter((name): name is OpWith<T> => {
    const row: TileOpRow = TILE_OPS[name];
    return row[trait] === true;
  });
}

/** Operations that read or write memory of the program. */
export type MemoryOp = OpWhere<{ readonly effect: "read" | "write" }>;

export function isMemoryOp(op: Op): op is Op & OpOf<MemoryOp> {
  const { effect } = rowOf(op);
  return effect === "read" || effect === "write";
}

/** An entry of the column `args`. */
export interface ArgRow {
  readonly name: string;
  readonly class: OperandClass;
  readonly count: "one" | "optional" | "any";
}

const ARGS: ReadonlyMap<TileOp, readonly ArgRow[]> = new Map(
  TILE_OP_NAMES.map((name) => [name, readArgs(TILE_OPS[name].args)]),
);

function readArgs(args: TileOpRow["args"]): readonly ArgRow[] {
  return Object.entries(args).map(([name, text]) => ({
    name,
    class: must(OPERAND_CLASSES.find((one) => text.startsWith(one)), "class of an operand"),
    count: text.endsWith("?") ? "optional" : text.endsWith("*") ? "any" : "one",
  }));
}

/** The operands that an operation takes, in order. */
export function argsOf(name: TileOp): readonly ArgRow[] {
  return must(ARGS.get(name), "row of an operation");
}

/** Works on a slot of a buffer in shared memory. */
export function takesBuffer(op: Op): boolean {
  return argsOf(op.name).some((arg) => arg.class === "buffer");
}

/**
 * Reads constant memory, which is not written while a kernel runs: whether it happens again, or later among the operations
 * of its region, makes no difference.
 */
export function isLookup(op: Op): boolean {
  const element = op.name === "load" ? op.operands[0]?.type.element : undefined;
  return element !== undefined && isPointer(element) && element.space === "constant";
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
  "access?": "access",
};

function isOptional(kind: string): kind is Optional {
  return Object.hasOwn(OPTIONAL, kind);
}

/** What an attribute is where it is not absent. */
export function requiredKind(kind: AttrKind | `${AttrKind}?`): AttrKind {
  return isOptional(kind) ? OPTIONAL[kind] : kind;
}
