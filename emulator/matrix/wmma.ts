/**
 * wmma: matrices across a warp in a layout of ours, as the manual leaves it open. Programs that take fragments apart by
 * the layout of some hardware do not work here.
 * Source: PTX ISA 9.0, 9.7.14.4 "Matrix multiply-accumulate operation using wmma instructions".
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { bug, must } from "../../compiler/support/bug.ts";
import { Fault } from "../fault.ts";
import { LANES } from "../register_file.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import { wholeWarp } from "./aligned.ts";
import { type Format, FORMATS, isFormatName } from "./formats.ts";
import { plainFragment } from "./fragments.ts";
import { carryMatrixLoad, carryMatrixStore, type ForEachByte } from "../shadow/matrix_memory.ts";
import { canCarry } from "../shadow/memory.ts";
import { type LineLocations, matrixLines } from "./matrix_lines.ts";
import { multiplyAcross, type Product, type ProductRows, productRows } from "./product.ts";
import { isSumFormatName, SUM_FORMATS } from "./sums.ts";

type Extents = Readonly<Record<"m" | "n" | "k", number>>;

function extentsOf({ modifiers }: Match): Extents {
  const shape = modifiers.find((name) => /^m\d+n\d+k\d+$/.test(name)) ?? bug("wmma without shape");
  const [m = 0, n = 0, k = 0] = shape.slice(1).split(/[nk]/).map(Number);
  return { m, n, k };
}

function bitsOf(type: string | undefined): number {
  if (type === "f32" || type === "s32") return 32;
  return isFormatName(type) ? FORMATS[type].bits : bug(`type of wmma: ${type}`);
}

/** Rows and columns of the matrix that is loaded or stored. */
function shapeOf(match: Match): readonly [rows: number, columns: number] {
  const { m, n, k } = extentsOf(match);
  switch (match.modifiers[0]) {
    case "a":
      return [m, k];
    case "b":
      return [k, n];
    default:
      return [m, n];
  }
}

/** Moves a matrix between registers and memory. */
function move(match: Match, context: HandlerContext, verb: "load" | "store"): WarpFunction {
  const { machine } = context;
  const bits = bitsOf(match.modifiers.at(-1));
  const [rows, columns] = shapeOf(match);
  const byRows = match.modifiers.includes("row");
  const [lines, length] = byRows ? [rows, columns] : [columns, rows];
  const registers = must(
    match.operands.find(({ name }) => name === (verb === "load" ? "d" : "b")),
    "registers of wmma",
  );
  const registerRows = context.rows(registers.operand, registers.type);
  const parts = Math.max(1, 32 / bits);
  const { slots } = plainFragment(registerRows.length, parts, rows * columns);
  const carries = verb === "load" && canCarry(registers.operand, context);
  const find = matrixLines(match, context, { verb, lines, length, bits, carries });
  const words = bits / 32;
  const elements = LANES * parts;
  /** Where an element is, from the first one on. */
  const offsetOf = (element: number, pitch: number): number => {
    const [r, c] = [Math.floor(element / columns), element % columns];
    return (byRows ? r : c) * pitch + (((byRows ? c : r) * bits) >> 3);
  };
  const found: { locations: LineLocations } = {
    locations: { base: 0, pitch: 0, unwritten: false },
  };
  const forEachByte: ForEachByte = (register, visit) => {
    const { base, pitch } = found.locations;
    const bytes = Math.max(1, bits / 8);
    for (let i = 0; i < elements; i++) {
      const location = base + offsetOf(slots[register * elements + i] ?? 0, pitch);
      for (let b = 0; b < bytes; b++) {
        visit({ offset: Math.floor(i * bits / 8) + b, lane: 0, location: location + b });
      }
    }
  };
  const carryLoad = carryMatrixLoad(context, registers.operand, "load of a matrix", forEachByte);
  const carryStore = verb === "store" && machine.checks
    ? carryMatrixStore(context, registers.operand, forEachByte)
    : undefined;
  const low = bits >= 32 ? -1 : 2 ** bits - 1;
  return wholeWarp(match.opcode, context, (w) => {
    const { base, pitch, unwritten } = found.locations = find(w);
    carryStore?.(w);
    const { i32, u8, u16 } = machine.views;
    let at = 0;
    for (const row of registerRows) {
      const first = (w + row) >>> 2;
      for (let lane = 0; lane < LANES; lane++) {
        let word = 0;
        for (let part = 0; part < parts; part++) {
          const element = slots[at++] ?? 0;
          const location = base + offsetOf(element, pitch);
          if (words >= 1) {
            for (let i = 0; i < words; i++) {
              const [inFrame, inMemory] = [first + words * lane + i, (location >>> 2) + i];
              if (verb === "load") i32[inFrame] = i32[inMemory] ?? 0;
              else i32[inMemory] = i32[inFrame] ?? 0;
            }
          } else if (verb === "store") {
            u16[location >>> 1] = (i32[first + lane] ?? 0) >>> (16 * part);
          } else {
            const shift = ((byRows ? element % columns : Math.floor(element / columns)) * bits) & 7;
            const value = bits === 16 ? u16[location >>> 1] ?? 0 : (u8[location] ?? 0) >>> shift;
            word |= (value & low) << (bits * part);
          }
        }
        if (verb === "load" && words < 1) i32[first + lane] = word;
      }
    }
    if (unwritten) carryLoad(w);
  });
}

export function wmmaLoad(match: Match, context: HandlerContext): WarpFunction {
  return move(match, context, "load");
}

export function wmmaStore(match: Match, context: HandlerContext): WarpFunction {
  return move(match, context, "store");
}

/** Types after the shape: d and c of f16 products, else d, a, b, c. */
function typesOf({ modifiers }: Match, context: HandlerContext): readonly string[] {
  const shape = modifiers.findIndex((name) => /^m\d+n\d+k\d+$/.test(name));
  const names = modifiers.slice(shape + 1).filter((name) => name !== "satfinite");
  const [rounding = "", ...types] = names;
  if (rounding === "rn") return types;
  if (["rz", "rm", "rp"].includes(rounding)) {
    throw new Fault("unsupported instruction", `wmma.mma.${rounding}`, undefined, context.site);
  }
  return names.length === 2 ? [rounding, "f16", "f16", ...types] : names;
}

export function readProduct(match: Match, context: HandlerContext, rows: ProductRows): Product {
  const { m, n, k } = extentsOf(match);
  const [dType, aType, bType, cType] = typesOf(match, context);
  const saturates = match.modifiers.includes("satfinite");
  const [dName, cName] = saturates ? ["satfinite", "satfinite"] : [dType, cType];
  if (
    !isFormatName(aType) || !isFormatName(bType) || !isSumFormatName(dName) ||
    !isSumFormatName(cName)
  ) {
    return bug(`types of wmma: ${match.modifiers.join(".")}`);
  }
  const xor = match.modifiers.includes("xor");
  const a = FORMATS[xor ? "b1 xor a" : aType];
  const b = FORMATS[xor ? "b1 xor b" : bType];
  const [c, d] = [SUM_FORMATS[cName], SUM_FORMATS[dName]];
  const partsOf = ({ bits }: Format): number => Math.max(1, 32 / bits);
  const fragments = {
    a: plainFragment(rows.a.length, partsOf(a), m * k),
    b: plainFragment(rows.b.length, partsOf(b), k * n),
    c: plainFragment(rows.c.length, c.parts, m * n),
    d: plainFragment(rows.d.length, d.parts, m * n),
  };
  return { m, n, k, count: 1, a, b, c, d, fragments };
}

export function wmmaMultiply(match: Match, context: HandlerContext): WarpFunction {
  const rows = productRows(match, context);
  return multiplyAcross("wmma.mma", readProduct(match, context, rows), rows, context);
}
