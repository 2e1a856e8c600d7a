/**
 * Random programs as data: text in pieces, with the expressions between them typed, so that a failing program
 * can be made smaller without understanding it.
 */
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import type { TargetName } from "../../../compiler/targets.ts";

export type Shape = readonly number[];

/** An expression with its element type and shape; scalars have no axes. */
export interface Node {
  readonly type: ScalarName;
  readonly shape: Shape;
  readonly parts: readonly (string | Node)[];
}

/** What an expression must be. */
export type Wanted = Pick<Node, "type" | "shape">;

/** An expression out of text and the expressions in it. */
export function node({ type, shape }: Wanted, ...parts: (string | Node)[]): Node {
  return { type, shape, parts };
}

/** A statement; blocks are lists of statements. */
export interface Stmt {
  readonly parts: readonly (string | Node | readonly Stmt[])[];
}

/** A buffer of the host, behind a pointer parameter. */
export interface BufferSpec {
  readonly name: string;
  readonly type: ScalarName;
  readonly length: number;
  readonly written: boolean;
  /** Further words of its declaration, such as `__noalias`. */
  readonly attributes: string;
}

/** A scalar parameter. */
export interface ScalarSpec {
  readonly name: string;
  readonly type: ScalarName;
  /** A number that the type can hold, as text that BigInt or Number reads. */
  readonly value: string;
}

export interface GeneratedProgram {
  readonly buffers: readonly BufferSpec[];
  readonly scalars: readonly ScalarSpec[];
  /** Helper functions, as statements of the file. */
  readonly helpers: readonly Stmt[];
  readonly body: readonly Stmt[];
  readonly numWarps: number;
  /** 0: the compiler chooses. */
  readonly numStages: number;
  readonly specialize: boolean;
  readonly grid: readonly [number, number];
  /** Of the buffers' contents. */
  readonly seed: number;
  /** Whether buffers hold any bits, or small numbers only. */
  readonly wild: boolean;
  readonly targets: readonly TargetName[];
}

export const spell = (type: ScalarName): string => SCALARS[type].spelling;

/** `float[4, 8]`, `float`. */
export function spellTile(type: ScalarName, shape: Shape): string {
  return `${spell(type)}${shape.length === 0 ? "" : `[${shape.join(", ")}]`}`;
}

/** `float x[4, 8]`, `float x`. */
export function declarator(type: ScalarName, shape: Shape, name: string): string {
  return `${spell(type)} ${name}${shape.length === 0 ? "" : `[${shape.join(", ")}]`}`;
}

export function renderNode(node: Node): string {
  return node.parts.map((part) => typeof part === "string" ? part : renderNode(part)).join("");
}

function isBlock(part: string | Node | readonly Stmt[]): part is readonly Stmt[] {
  return Array.isArray(part);
}

function renderStmts(stmts: readonly Stmt[], indent: string): string {
  return stmts.map(({ parts }) => {
    const text = parts.map((part) => {
      if (typeof part === "string") return part;
      return isBlock(part) ? `{\n${renderStmts(part, `${indent}  `)}${indent}}` : renderNode(part);
    });
    return `${indent}${text.join("")}\n`;
  }).join("");
}

/** The program as `.tc`. */
export function renderProgram(program: GeneratedProgram): string {
  const { buffers, scalars, numWarps, numStages, specialize } = program;
  const params = [
    ...buffers.map(({ name, type, written, attributes }) =>
      `${written ? "" : "const "}${spell(type)} *${name}${attributes}`
    ),
    ...scalars.map(({ name, type }) => `${spell(type)} ${name}`),
  ];
  return [
    `#pragma tri num_warps=${numWarps}\n`,
    numStages === 0 ? "" : `#pragma tri num_stages=${numStages}\n`,
    specialize ? "" : "#pragma tri specialize(off)\n",
    renderStmts(program.helpers, ""),
    `__global__ void k(${params.join(", ")}) {\n`,
    renderStmts(program.body, "  "),
    "}\n",
  ].join("");
}

/** What the program is run with, for reports. */
export function describeInputs(program: GeneratedProgram): string {
  const { buffers, scalars, grid, seed, wild } = program;
  return [
    `grid ${grid.join(" x ")}, contents from seed ${seed}${wild ? " (any bits)" : ""}`,
    ...buffers.map(({ name, type, length }) => `${name}: ${spell(type)}[${length}]`),
    ...scalars.map(({ name, type, value }) => `${name} = (${spell(type)}) ${value}`),
  ].join("\n");
}
