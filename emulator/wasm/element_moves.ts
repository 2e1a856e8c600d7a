/** The part of loads and stores that moves elements between rows and memory, once addresses are known to be good. */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { TypeName } from "../../compiler/ptx/types.ts";
import { HEADER, LANES } from "../register_file.ts";
import type { Code } from "./code.ts";
import { type Expr, i32, local, op, opWith } from "./expr.ts";
import { eachLane, elementAddress } from "./lane.ts";

export type Space = "global" | "shared" | "local" | "generic" | "uniform";

/** A load or store, as its code needs to know it. */
export interface Access {
  readonly name: string;
  readonly stores: boolean;
  readonly space: Space;
  readonly bits: number;
  readonly signed: boolean;
  /** Widths of the registers, one for each element. */
  readonly registers: readonly number[];
  /** Width of the base register; 0 if there is none. */
  readonly base: 0 | 32 | 64;
  readonly operands: readonly Operand[];
  readonly type: TypeName;
  readonly address: Operand;
}

/** Loads of elements, by their width and that of the word that gets them; with and without sign. */
const LOADS = {
  i32: {
    8: ["i32.load8_u", "i32.load8_s"],
    16: ["i32.load16_u", "i32.load16_s"],
    32: ["i32.load", "i32.load"],
    64: ["i32.load", "i32.load"],
  },
  i64: {
    8: ["i64.load8_u", "i64.load8_s"],
    16: ["i64.load16_u", "i64.load16_s"],
    32: ["i64.load32_u", "i64.load32_s"],
    64: ["i64.load", "i64.load"],
  },
} as const;
const STORES = { 8: "i32.store8", 16: "i32.store16", 32: "i32.store", 64: "i64.store" } as const;

type ElementBits = keyof typeof STORES;

function elementBits(bits: number): ElementBits {
  return bits === 8 || bits === 16 || bits === 64 ? bits : 32;
}

export const wordOf = (register: number): "i32" | "i64" => register > 32 ? "i64" : "i32";

/** Element `at` in memory, as the register has it. */
export function loaded(access: Access, at: number, location: Expr): Expr {
  const bits = elementBits(access.bits);
  const register = access.registers[at] ?? 32;
  const extends_ = access.signed && register > bits;
  const value = opWith(
    LOADS[wordOf(register)][bits][extends_ ? 1 : 0],
    [at * bits / 8],
    location,
  );
  return extends_ && register < 32 ? op("i32.and", value, i32(2 ** register - 1)) : value;
}

/** Parameters: rows of the elements, then the base if there is one, the offset, the register file, the mask. */
export function parametersOf({ registers, base }: Access): {
  readonly base: number;
  readonly offset: number;
  readonly registerFile: number;
  readonly mask: number;
} {
  const offset = registers.length + (base === 0 ? 0 : 1);
  return { base: registers.length, offset, registerFile: offset + 1, mask: offset + 2 };
}

/** Moves one lane's elements, whose rows are at `element(i)`, between registers and memory. */
function moveLane(
  access: Access,
  code: Code,
  location: Expr,
  element: (i: number) => { readonly at: Expr; readonly offset: number },
): void {
  const bits = elementBits(access.bits);
  for (const [i, register] of access.registers.entries()) {
    const { at, offset } = element(i);
    if (access.stores) {
      location(code);
      opWith(bits === 64 ? "i64.load" : "i32.load", [offset], at)(code);
      code.op(STORES[bits], i * bits / 8);
    } else {
      at(code);
      loaded(access, i, location)(code);
      code.op(register > 32 ? "i64.store" : "i32.store", offset);
    }
  }
}

/** How a lane's location follows from the lower word of its address; `extra` is the lane's own local memory. */
type LocationOf = (low: Expr, extra: Expr) => Expr;

/** Lanes of one round where all take part. */
const ROUND = 4;

/** All lanes, a few at a time. */
function moveAll(access: Access, code: Code, locationOf: LocationOf): void {
  const { registers, base } = access;
  const { base: baseRow, offset, registerFile } = parametersOf(access);
  const location = code.local("i32");
  const round = code.local("i32");
  const own = code.local("i32");
  const isLocal = access.space === "local";
  if (isLocal) {
    opWith("i32.load", [HEADER.local], local(registerFile))(code);
    code.op("local.set", own);
  }
  const rows = registers.map((_, i) => {
    const row = code.local("i32");
    code.op("local.get", i).op("local.set", row);
    return row;
  });
  const baseAt = code.local("i32");
  if (base !== 0) code.op("local.get", baseRow).op("local.set", baseAt);
  code.op("i32.const", LANES / ROUND).op("local.set", round).op("loop");
  for (let lane = 0; lane < ROUND; lane++) {
    const low = base === 0
      ? local(offset)
      : op("i32.add", opWith("i32.load", [lane * base / 8], local(baseAt)), local(offset));
    locationOf(low, local(own))(code);
    code.op("local.set", location);
    moveLane(access, code, local(location), (i) => ({
      at: local(rows[i] ?? 0),
      offset: lane * ((registers[i] ?? 32) > 32 ? 8 : 4),
    }));
    if (isLocal) advance(code, own, opWith("i32.load", [HEADER.localBytes], local(registerFile)));
  }
  for (const [i, row] of rows.entries()) {
    advance(code, row, i32(ROUND * ((registers[i] ?? 32) > 32 ? 8 : 4)));
  }
  if (base !== 0) advance(code, baseAt, i32(ROUND * base / 8));
  op("i32.sub", local(round), i32(1))(code);
  code.op("local.tee", round).op("br_if", 0).op("end");
}

export function advance(code: Code, index: number, by: Expr): void {
  op("i32.add", local(index), by)(code);
  code.op("local.set", index);
}

/** Where a lane's local memory is. */
export const ownMemory = (registerFile: number, lane: number): Expr =>
  op(
    "i32.add",
    opWith("i32.load", [HEADER.local], local(registerFile)),
    op("i32.mul", local(lane), opWith("i32.load", [HEADER.localBytes], local(registerFile))),
  );

/** The lanes of the mask, one after the other. */
export function moveSome(
  access: Access,
  code: Code,
  locationOf: (low: Expr, lane: number) => Expr,
): void {
  const { registers, base } = access;
  const { base: baseRow, offset, mask } = parametersOf(access);
  const location = code.local("i32");
  eachLane(code, mask, (lane) => {
    const low = base === 0 ? local(offset) : op(
      "i32.add",
      opWith("i32.load", [0], elementAddress(baseRow, lane, base)),
      local(offset),
    );
    locationOf(low, lane)(code);
    code.op("local.set", location);
    moveLane(access, code, local(location), (i) => ({
      at: elementAddress(i, lane, registers[i] ?? 32),
      offset: 0,
    }));
  });
}

export function move(access: Access, code: Code, locationOf: LocationOf): void {
  const { registerFile, mask } = parametersOf(access);
  code.op("local.get", mask).op("i32.const", -1).op("i32.eq").op("if");
  moveAll(access, code, locationOf);
  code.op("else");
  moveSome(
    access,
    code,
    (low, lane) =>
      locationOf(low, access.space === "local" ? ownMemory(registerFile, lane) : i32(0)),
  );
  code.op("end");
}
