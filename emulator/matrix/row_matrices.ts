/**
 * ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit elements. In registers, lane 4r + c holds elements 2c and
 * 2c + 1 of row r; in memory, a row is 16 bytes, and lanes 8j to 8j + 7 give the addresses of the rows of matrix j.
 * `.trans` takes the matrix in memory for its transpose.
 * Source: PTX ISA 9.0, 9.7.14.5 "ldmatrix", "stmatrix", "movmatrix".
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { must } from "../../compiler/support/bug.ts";
import { prepareAccess } from "../access/lanes.ts";
import { KIND } from "../access/reach.ts";
import { addressSpace, orderingOf } from "../access/spelling.ts";
import { Fault } from "../fault.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import type { Access } from "../access/state.ts";
import type { Views } from "../memory.ts";
import { carryMatrixLoad, carryMatrixStore, type ForEachByte } from "../shadow/matrix_memory.ts";
import { canCarry } from "../shadow/memory.ts";
import { wholeWarp } from "./aligned.ts";

const ROWS = 8;
const ROW_BYTES = 16;
const ROW_WORDS = ROW_BYTES / 4;

/** Rows of matrices in shared memory. */
interface MatrixRows {
  /** Finds all rows, before any is read or written: registers of the result may hold the addresses. */
  readonly find: (w: number) => void;
  /** Their locations in the memory. */
  readonly locations: Uint32Array;
  readonly access: Access;
}

/** The bytes of a matrix' register, and where they are in memory. */
function matrixBytes(locations: Uint32Array, transposed: boolean): ForEachByte {
  return (matrix, visit) => {
    for (let row = 0; row < ROWS; row++) {
      const lane = ROWS * matrix + row;
      for (let i = 0; i < ROW_BYTES; i++) {
        const offset = transposed ? 2 * (ROWS * (i >> 1) + row) + (i & 1) : ROW_BYTES * row + i;
        visit({ offset, lane, location: (locations[lane] ?? 0) + i });
      }
    }
  };
}

function matrixRows(
  match: Match,
  context: HandlerContext,
  matrices: number,
  verb: "load" | "store",
  carries: boolean,
): MatrixRows {
  if (!match.modifiers.includes("m8n8")) {
    throw new Fault(
      "unsupported instruction",
      `${match.opcode} of other matrices than m8n8 (PTX ISA 9.0, section ${match.row.isa})`,
      undefined,
      context.site,
    );
  }
  const address = match.operands.find(({ name }) => name === "a");
  const ref = context.address(must(address, "address of matrices").operand);
  const { access, before } = prepareAccess(context, {
    verb,
    bytes: ROW_BYTES,
    align: ROW_BYTES,
    reads: verb === "load",
    writes: verb === "store",
    strong: false,
    ref,
    space: addressSpace(match, ref),
    ordering: orderingOf(match),
    atomic: false,
    carries,
  });
  const { reach } = access;
  const mask = -1 >>> (32 - ROWS * matrices) | 0;
  const find = (w: number): void => {
    before(w, mask);
    if (reach.kind === KIND.shared) return;
    throw new Fault(
      "out of bounds",
      `${match.opcode} of memory that is not shared`,
      undefined,
      context.site,
    );
  };
  return { find, locations: reach.locations, access };
}

export function ldmatrix(match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const target = must(match.operands[0], "destination of ldmatrix");
  const registers = context.rows(target.operand, target.type);
  const carries = canCarry(target.operand, context);
  const { find, locations, access } = matrixRows(match, context, registers.length, "load", carries);
  const transposed = match.modifiers.includes("trans");
  const carry = carryMatrixLoad(
    context,
    target.operand,
    "load of a matrix",
    matrixBytes(locations, transposed),
  );
  const move = transposed ? loadTransposed : loadRows;
  return wholeWarp("ldmatrix", context, (w) => {
    find(w);
    move(machine.views, w, registers, locations);
    if (machine.checks && access.unwritten !== 0) carry(w);
  });
}

type LoadMatrices = (
  views: Views,
  w: number,
  registers: readonly number[],
  locations: Uint32Array,
) => void;

const loadTransposed: LoadMatrices = ({ u16 }, w, registers, locations) => {
  for (const [matrix, register] of registers.entries()) {
    const to = (w + register) >>> 1;
    for (let row = 0; row < ROWS; row++) {
      const from = (locations[ROWS * matrix + row] ?? 0) >>> 1;
      // Element (row, column) in memory is (column, row) of the matrix.
      for (let column = 0; column < ROWS; column++) {
        u16[to + ROWS * column + row] = u16[from + column] ?? 0;
      }
    }
  }
};

const loadRows: LoadMatrices = ({ i32 }, w, registers, locations) => {
  for (const [matrix, register] of registers.entries()) {
    const to = (w + register) >>> 2;
    for (let row = 0; row < ROWS; row++) {
      const from = (locations[ROWS * matrix + row] ?? 0) >>> 2;
      for (let word = 0; word < ROW_WORDS; word++) {
        i32[to + ROW_WORDS * row + word] = i32[from + word] ?? 0;
      }
    }
  }
};

export function stmatrix(match: Match, context: HandlerContext): WarpFunction {
  const { machine } = context;
  const source = must(match.operands[1], "source of stmatrix");
  const registers = context.rows(source.operand, source.type);
  const { find, locations } = matrixRows(match, context, registers.length, "store", false);
  const transposed = match.modifiers.includes("trans");
  const carry = machine.checks
    ? carryMatrixStore(context, source.operand, matrixBytes(locations, transposed))
    : undefined;
  return wholeWarp("stmatrix", context, (w) => {
    find(w);
    carry?.(w);
    const { u16 } = machine.views;
    for (const [matrix, register] of registers.entries()) {
      const from = (w + register) >>> 1;
      for (let row = 0; row < ROWS; row++) {
        const to = (locations[ROWS * matrix + row] ?? 0) >>> 1;
        for (let column = 0; column < ROWS; column++) {
          const element = transposed ? ROWS * column + row : ROWS * row + column;
          u16[to + column] = u16[from + element] ?? 0;
        }
      }
    }
  });
}

export function movmatrix(
  { operands: [d, a] }: Match,
  context: HandlerContext,
): WarpFunction {
  const { machine } = context;
  const target = must(d, "destination of movmatrix");
  const source = must(a, "source of movmatrix");
  const to = context.row(target.operand, target.type);
  const from = context.row(source.operand, source.type);
  const matrix = new Uint16Array(ROWS * ROWS);
  return wholeWarp("movmatrix", context, (w) => {
    const { u16 } = machine.views;
    const first = (w + from) >>> 1;
    matrix.set(u16.subarray(first, first + ROWS * ROWS));
    const result = (w + to) >>> 1;
    for (let row = 0; row < ROWS; row++) {
      for (let column = 0; column < ROWS; column++) {
        u16[result + ROWS * row + column] = matrix[ROWS * column + row] ?? 0;
      }
    }
  });
}
