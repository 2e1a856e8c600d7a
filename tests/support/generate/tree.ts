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

/** A buffer of the host, for a pointer parameter. */
export interface BufferSpec {
  readonly name: string;
  readonly type: ScalarName;
  readonly length: number;
  readonly written: boolean;
  /** Further words of its declaration, such as `__noalias`. */
  readonly attributes: string;
  readonly qualifier?: "volatile" | "restrict";
  /** Starts with zeros. */
  readonly zeroed?: true;
  /** Has small numbers alone, whatever others have: sums of many elements would be NaN nearly always. */
  readonly small?: true;
  /** A constant buffer of the file instead of a parameter. */
  readonly constant?: true;
}

/** A scalar parameter. */
export interface ScalarSpec {
  readonly name: string;
  readonly type: ScalarName;
  /** A number that the type can hold, as text that BigInt or Number reads. */
  readonly value: string;
  /** Further words of its declaration; what they promise is true. */
  readonly attributes: string;
}

export interface GeneratedProgram {
  /** Lines before the helpers: typedefs, enums, constants, assertions. */
  readonly head: readonly string[];
  /** Other kernels of the file. */
  readonly neighbours: readonly string[];
  /** Pragmas of the kernel besides the ones below. */
  readonly pragmas: readonly string[];
  readonly buffers: readonly BufferSpec[];
  readonly scalars: readonly ScalarSpec[];
  /** Helper functions, as statements of the file. */
  readonly helpers: readonly Stmt[];
  readonly body: readonly Stmt[];
  readonly numWarps: number;
  /** Blocks of a program; more than one only without `@`, on targets that have clusters. */
  readonly numCtas: number;
  /** 0: the compiler chooses. */
  readonly numStages: number;
  readonly specialize: boolean;
  readonly grid: readonly [number, number, number];
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

/** Where an expression is in the text. */
export interface Location {
  readonly node: Node;
  readonly start: number;
  readonly end: number;
}

/** Text in the making. */
interface Page {
  text: string;
  readonly locations: Location[];
}

function printNode(page: Page, node: Node): void {
  const start = page.text.length;
  for (const part of node.parts) {
    if (typeof part === "string") page.text += part;
    else printNode(page, part);
  }
  page.locations.push({ node, start, end: page.text.length });
}

/** The text of one expression. */
export function renderNode(node: Node): string {
  const page: Page = { text: "", locations: [] };
  printNode(page, node);
  return page.text;
}

function isBlock(part: string | Node | readonly Stmt[]): part is readonly Stmt[] {
  return Array.isArray(part);
}

function printStmts(page: Page, stmts: readonly Stmt[], indent: string): void {
  for (const { parts } of stmts) {
    page.text += indent;
    for (const part of parts) {
      if (typeof part === "string") page.text += part;
      else if (isBlock(part)) {
        page.text += "{\n";
        printStmts(page, part, `${indent}  `);
        page.text += `${indent}}`;
      } else printNode(page, part);
    }
    page.text += "\n";
  }
}

/** The program as `.tc`, and where in it each expression stands. */
export function printProgram(program: GeneratedProgram): Readonly<Page> {
  const { buffers, scalars, numWarps, numCtas, numStages, specialize } = program;
  const isParameter = ({ constant }: BufferSpec): boolean => constant === undefined;
  const params = [
    ...buffers.filter(isParameter).map(({ name, type, written, attributes, qualifier }) => {
      const [before, after] = [
        qualifier === "volatile" ? "volatile " : "",
        qualifier === "restrict" ? "restrict " : "",
      ];
      return `${written ? "" : "const "}${before}${spell(type)} *${after}${name}${attributes}`;
    }),
    ...scalars.map(({ name, type, attributes }) => `${spell(type)} ${name}${attributes}`),
  ];
  const pragmas = [
    `num_warps=${numWarps}`,
    ...(numCtas === 1 ? [] : [`num_ctas=${numCtas}`]),
    ...(numStages === 0 ? [] : [`num_stages=${numStages}`]),
    ...(specialize ? [] : ["specialize(off)"]),
    ...program.pragmas,
  ].map((text) => `#pragma tri ${text}`);
  const constants = buffers.filter((buffer) => !isParameter(buffer)).map(({ name, type, length }) =>
    `${spell(type)} __constant__ *${name} = calloc(${length} * sizeof(${spell(type)}));`
  );
  const top = [...constants, ...program.neighbours, ...pragmas, ...program.head];
  const page: Page = { text: top.map((line) => `${line}\n`).join(""), locations: [] };
  printStmts(page, program.helpers, "");
  page.text += `__global__ void k(${params.join(", ")}) {\n`;
  printStmts(page, program.body, "  ");
  page.text += "}\n";
  return page;
}

/** The program as `.tc`. */
export function renderProgram(program: GeneratedProgram): string {
  return printProgram(program).text;
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
