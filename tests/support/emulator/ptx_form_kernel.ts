/**
 * Kernels that execute one instruction, so that the same text can be run with many operands on the emulator and on a
 * GPU.
 *
 * `form(in, out, n)`: thread i takes the operands of case i. Sources and results are columns, one after the other:
 * column k begins n times the bytes of the columns before it, and case i is element i of each. Values lie at the start
 * of their 8 or 16 bytes; of results the rest is left as it was. Predicates are words of 0 or 1.
 */
import type { Operand, Register } from "../../../compiler/ptx/func.ts";
import type { Match } from "../../../compiler/ptx/match.ts";
import { forEachRegister } from "../../../compiler/ptx/operand.ts";
import { printInstruction, printOperand } from "../../../compiler/ptx/print.ts";
import { isTypeName, type TypeName, TYPES } from "../../../compiler/ptx/types.ts";
import { TARGETS } from "../../../compiler/targets.ts";
import { scalarDestinations, scalarSources, widthOf } from "../../../emulator/lanes/shape.ts";
import { type Spelling, usesCarry } from "./ptx_forms.ts";
import { operandSource } from "./ptx_operands.ts";
import type { Random } from "../random.ts";

/** One source or result of all cases. */
export interface Column {
  /** What its bits mean: the type of the value even where the register is untyped. */
  readonly type: TypeName;
  /** Bits of its register. */
  readonly bits: number;
  /** Bytes of an element. */
  readonly bytes: 8 | 16;
}

/** A kernel with its columns. */
export interface FormKernel {
  readonly name: string;
  readonly spelling: Spelling;
  readonly sources: readonly Column[];
  readonly results: readonly Column[];
  /** From `.visible .entry` to the closing brace. */
  readonly entry: string;
  /** What its module must have at least. */
  readonly target: string;
  readonly version: number;
}

/** The condition code as a register: what goes into it before the instruction and comes out after it. */
const CARRY_IN: Register = { kind: "register", type: "pred", name: "p_carry_in" };
const CARRY_OUT: Register = { kind: "register", type: "pred", name: "p_carry_out" };

const readsCarry = (match: Match): boolean => /^(?:add|sub|mad)c$/.test(match.opcode);
const writesCarry = (match: Match): boolean =>
  usesCarry(match.opcode) && (match.opcode.endsWith(".cc") || match.modifiers.includes("cc"));

/** What untyped operands of a conversion hold: the types among its modifiers, the destination's first. */
function meaning(match: Match, type: TypeName, isResult: boolean): TypeName {
  if (match.opcode !== "cvt" || TYPES[type].class !== "bits") return type;
  const types = match.modifiers.filter(isTypeName);
  return (isResult ? types.at(-2) : types.at(-1)) ?? type;
}

function columnOf(type: TypeName, bits: number): Column {
  return { type, bits, bytes: bits === 128 ? 16 : 8 };
}

interface Argument {
  readonly register: string;
  readonly column: Column;
}

function argumentsOf(match: Match, isResult: boolean): Argument[] {
  const scalars = isResult ? scalarDestinations(match) : scalarSources(match);
  const carry = isResult
    ? writesCarry(match) ? [CARRY_OUT] : []
    : readsCarry(match)
    ? [CARRY_IN]
    : [];
  return [
    ...scalars.map((scalar): Argument => {
      // A negated predicate is loaded as it is.
      const { operand } = scalar;
      const register: Operand = operand.kind === "negated" ? operand.operand : operand;
      const column = columnOf(meaning(match, scalar.type, isResult), widthOf(scalar));
      return { register: printOperand(register), column };
    }),
    ...carry.map((register): Argument => ({
      register: printOperand(register),
      column: columnOf("pred", 1),
    })),
  ];
}

/** Leaves the address of the case's element in %at, and moves on to the next column. */
function advance(base: string, bytes: number): string[] {
  return [
    `mad.wide.u32 %at, %i, ${bytes}, ${base};`,
    `mad.wide.u32 ${base}, %count, ${bytes}, ${base};`,
  ];
}

function loadLines({ register, column: { bits, bytes } }: Argument): string[] {
  const load = bits === 1
    ? ["ld.global.u32 %word, [%at];", `setp.ne.u32 ${register}, %word, 0;`]
    : [`ld.global.b${bits} ${register}, [%at];`];
  return [...advance("%in", bytes), ...load];
}

function storeLines({ register, column: { bits, bytes } }: Argument): string[] {
  const store = bits === 1
    ? [`selp.u32 %word, 1, 0, ${register};`, "st.global.u32 [%at], %word;"]
    : [`st.global.b${bits} [%at], ${register};`];
  return [...advance("%out", bytes), ...store];
}

function declarations(spelling: Spelling): string[] {
  const found = new Map<string, string>();
  const visit = ({ name, type }: Register): void => {
    found.set(name, type);
  };
  spelling.instruction.operands.forEach((operand) => forEachRegister(operand, visit));
  if (readsCarry(spelling.match)) visit(CARRY_IN);
  if (writesCarry(spelling.match)) visit(CARRY_OUT);
  return [...found].map(([name, type]) => `.reg .${type} %${name};`);
}

/** The oldest target that ptxas still knows and the form allows, and the oldest PTX version for both. */
function requirements({ since }: Match): { target: string; version: number } {
  const sm = Math.max(since.sm, 75);
  const target = `sm_${sm}${since.suffix ?? ""}`;
  const known = Object.values(TARGETS).find((each) => each.sm >= sm);
  return { target, version: Math.max(since.ptx, known?.ptx ?? 90) };
}

/** A kernel for a spelling of a form that acts on lanes alone. */
export function formKernel(spelling: Spelling, name = "form"): FormKernel {
  const { match, instruction } = spelling;
  const sources = argumentsOf(match, false);
  const results = argumentsOf(match, true);
  const body = [
    ".reg .pred %done;",
    ".reg .b32 %i, %block, %threads, %count, %word;",
    ".reg .b64 %in, %out, %at;",
    ...declarations(spelling),
    "mov.u32 %block, %ctaid.x;",
    "mov.u32 %threads, %ntid.x;",
    "mov.u32 %i, %tid.x;",
    "mad.lo.u32 %i, %block, %threads, %i;",
    "ld.param.u32 %count, [n];",
    "setp.ge.u32 %done, %i, %count;",
    "@%done exit;",
    "ld.param.u64 %in, [in];",
    "ld.param.u64 %out, [out];",
    "cvta.to.global.u64 %in, %in;",
    "cvta.to.global.u64 %out, %out;",
    ...sources.flatMap(loadLines),
    ...readsCarry(match) ? carryIn : [],
    printInstruction(instruction),
    ...writesCarry(match) ? carryOut : [],
    ...results.flatMap(storeLines),
    "exit;",
  ];
  const entry = [
    `.visible .entry ${name}(`,
    "  .param .u64 in,",
    "  .param .u64 out,",
    "  .param .u32 n",
    ")",
    "{",
    ...body.map((line) => `  ${line}`),
    "}",
  ].join("\n");
  return {
    name,
    spelling,
    sources: sources.map(({ column }) => column),
    results: results.map(({ column }) => column),
    entry,
    ...requirements(match),
  };
}

/** 1 - 1 = 0 carries, 0 - 1 does not. */
const carryIn: readonly string[] = [
  `selp.u32 %word, 1, 0, ${printOperand(CARRY_IN)};`,
  "add.cc.u32 %word, %word, 0xffffffff;",
];
const carryOut: readonly string[] = [
  "addc.u32 %word, 0, 0;",
  `setp.ne.u32 ${printOperand(CARRY_OUT)}, %word, 0;`,
];

/** The text of a module of kernels for one target. */
export function formModule(kernels: readonly FormKernel[], target: string): string {
  const oldest = Object.values(TARGETS).find(({ name }) => name === target)?.ptx ?? 0;
  const version = Math.max(oldest, ...kernels.map((kernel) => kernel.version));
  return [
    `.version ${Math.floor(version / 10)}.${version % 10}`,
    `.target ${target}`,
    ".address_size 64",
    ...kernels.map(({ entry }) => `\n${entry}`),
    "",
  ].join("\n");
}

/** Bytes of columns of n cases. */
export function columnBytes(columns: readonly Column[], n: number): number {
  return columns.reduce((total, { bytes }) => total + n * bytes, 0);
}

/** The values of columns: case by case, in the order of the columns. */
export function readColumns(
  columns: readonly Column[],
  bytes: Uint8Array,
  n: number,
): (i: number) => bigint[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const starts = columns.map((_, k) => columnBytes(columns.slice(0, k), n));
  return (i) =>
    columns.map(({ bits, bytes: size }, k) => {
      const at = (starts[k] ?? 0) + i * size;
      const low = view.getBigUint64(at, true);
      const value = bits > 64 ? low | (view.getBigUint64(at + 8, true) << 64n) : low;
      return BigInt.asUintN(bits, value);
    });
}

/** Operands of n cases: special and random values; sources of one type are equal or close now and then. */
export function operandColumns(
  kernel: FormKernel,
  n: number,
  random: Random,
): Uint8Array<ArrayBuffer> {
  const { sources } = kernel;
  const bytes = new Uint8Array(columnBytes(sources, n));
  const view = new DataView(bytes.buffer);
  const makers = sources.map(({ type, bits }) => operandSource(type, bits));
  const starts = sources.map((_, k) => columnBytes(sources.slice(0, k), n));
  for (let i = 0; i < n; i++) {
    let near: bigint | undefined;
    for (const [k, column] of sources.entries()) {
      const sameType = column.type === sources[0]?.type && column.bits === sources[0].bits;
      const value = makers[k]?.(random, sameType ? near : undefined) ?? 0n;
      if (k === 0) near = value;
      const at = (starts[k] ?? 0) + i * column.bytes;
      view.setBigUint64(at, BigInt.asUintN(64, value), true);
      if (column.bytes === 16) view.setBigUint64(at + 8, value >> 64n, true);
    }
  }
  return bytes;
}
