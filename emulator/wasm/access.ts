/**
 * Loads and stores without checks: of global, shared, local and generic addresses, and loads of what all lanes share.
 * Addresses are looked at first; where one is not in the memory that its window says, the primitive declines, and what
 * handles the instruction otherwise gives the reason, or has a better one.
 */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { Match } from "../../compiler/ptx/match.ts";
import { TYPES } from "../../compiler/ptx/types.ts";
import { HEADER, LANES } from "../register_file.ts";
import { SHARED_OFFSET_MASK, WINDOW } from "../memory.ts";
import type { Code } from "./code.ts";
import { type Expr, i32, local, op, opWith } from "./expr.ts";
import {
  type Access,
  advance,
  loaded,
  move,
  moveSome,
  ownMemory,
  parametersOf,
  type Space,
  wordOf,
} from "./element_moves.ts";
import { eachLane, elementAddress } from "./lane.ts";
import { type Argument, operandBits, type Primitive } from "./primitive.ts";
import { parts, typesOf } from "./shape.ts";

const SPACES: Readonly<Record<string, Space>> = {
  "global": "global",
  "shared": "shared",
  "shared::cta": "shared",
  "local": "local",
  "param": "uniform",
  "param::entry": "uniform",
  "const": "uniform",
};

/** Widths of base registers. */
const BASES: Readonly<Record<Space, readonly number[]>> = {
  global: [64],
  shared: [32, 64],
  local: [32, 64],
  generic: [64],
  uniform: [],
};

/** Accesses that order others, or reach other blocks. */
const OTHERS: ReadonlySet<string> = new Set(["acquire", "release", "mmio", "shared::cluster"]);

function baseBits(address: Operand): 0 | 32 | 64 {
  if (address.kind !== "address" || address.base?.kind !== "register") return 0;
  return TYPES[address.base.type].bits === 64 ? 64 : 32;
}

function readAccess(match: Match): Access | undefined {
  const modifiers = [...match.bound.values()];
  const type = typesOf(match)[0];
  const address = match.operands.find(({ operand }) => operand.kind === "address")?.operand;
  const value = match.operands.find(({ operand }) => operand.kind !== "address")?.operand;
  if (type === undefined || address === undefined || value === undefined) return undefined;
  if (type === "b128" || modifiers.some((modifier) => OTHERS.has(modifier))) return undefined;
  const space = modifiers.map((name) => SPACES[name]).find((it) => it !== undefined) ?? "generic";
  const base = baseBits(address);
  const stores = match.opcode === "st";
  if (!(base === 0 ? space !== "generic" : BASES[space].includes(base))) return undefined;
  if (space === "uniform" && stores) return undefined;
  const { bits } = TYPES[type];
  const signed = type.startsWith("s");
  const operands = parts(value);
  const registers = operands.map((operand) => operandBits(operand, type));
  const name = [match.opcode, space, base, `${signed ? "s" : "b"}${bits}`, ...registers].join(" ");
  return { name, stores, space, bits, signed, registers, base, operands, type, address };
}

/** The address of a lane as 64 bits. */
function wholeAddress({ base, ...access }: Access, lane: number): Expr {
  const parameters = parametersOf({ base, ...access });
  const row = elementAddress(parameters.base, lane, base);
  const offset = op("i64.extend_i32_s", local(parameters.offset));
  if (base === 0) return offset;
  return op(
    "i64.add",
    base === 64 ? opWith("i64.load", [0], row) : opWith("i64.load32_u", [0], row),
    offset,
  );
}

/** Returns from the primitive without having done anything. */
const decline = (code: Code): void => {
  code.op("i32.const", 1).op("return");
};

/** Declines unless the address of each lane is below a bound. */
function checkBelow(access: Access, code: Code, bound: Expr): void {
  const { mask } = parametersOf(access);
  eachLane(code, mask, (lane) => {
    op("i64.ge_u", wholeAddress(access, lane), bound)(code);
    code.op("if");
    decline(code);
    code.op("end");
  });
}

/** Leaves whether any lane of the mask has an address outside of the window of global memory. */
function hasForeign(access: Access, code: Code): void {
  const { base, offset, mask } = parametersOf(access);
  const [found, rest, at, round, by] = [
    code.local("v128"),
    code.local("i32"),
    code.local("i32"),
    code.local("i32"),
    code.local("v128"),
  ];
  op("i64x2.splat", op("i64.extend_i32_s", local(offset)))(code);
  code.op("local.set", by);
  code.op("local.get", mask).op("local.set", rest).op("local.get", base).op("local.set", at);
  code.op("i32.const", LANES / 4).op("local.set", round).op("loop");
  const lanes = (code: Code): void => {
    code.op("v128.const", [1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0]);
  };
  const upper = (code: Code): void => {
    for (const step of [0, 16]) {
      op("i64x2.add", opWith("v128.load", [step], local(at)), local(by))(code);
    }
    code.op(
      "i8x16.shuffle",
      [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31],
    );
  };
  const active = op("i32x4.ne", op("v128.and", op("i32x4.splat", local(rest)), lanes), ZERO);
  const foreign = op("i32x4.ne", upper, op("i32x4.splat", i32(WINDOW.global)));
  op("v128.or", local(found), op("v128.and", foreign, active))(code);
  code.op("local.set", found);
  op("i32.shr_u", local(rest), i32(4))(code);
  code.op("local.set", rest);
  advance(code, at, i32(32));
  op("i32.sub", local(round), i32(1))(code);
  code.op("local.tee", round).op("br_if", 0).op("end");
  op("v128.any_true", local(found))(code);
}

const ZERO: Expr = (code) => code.op("v128.const", Array.from({ length: 16 }, () => 0));

function emitGlobal(access: Access, code: Code): void {
  if (access.base !== 0) {
    hasForeign(access, code);
    code.op("if");
    decline(code);
    code.op("end");
  }
  move(access, code, (low) => low);
}

const sharedStart = (registerFile: number): Expr =>
  opWith("i32.load", [HEADER.shared], local(registerFile));

function emitShared(access: Access, code: Code): void {
  const { registerFile } = parametersOf(access);
  const start = code.local("i32");
  sharedStart(registerFile)(code);
  code.op("local.set", start);
  checkBelow(access, code, (code) => code.op("i64.const", SHARED_OFFSET_MASK + 1));
  move(access, code, (low) => op("i32.add", local(start), low));
}

function emitLocal(access: Access, code: Code): void {
  const { registerFile } = parametersOf(access);
  checkBelow(access, code, opWith("i64.load32_u", [HEADER.localBytes], local(registerFile)));
  move(access, code, (low, own) => op("i32.add", own, low));
}

/** If all are global, as those; else each lane by its window. */
function emitGeneric(access: Access, code: Code): void {
  const { registerFile, mask } = parametersOf(access);
  hasForeign(access, code);
  code.op("if");
  const [address, window] = [code.local("i64"), code.local("i32")];
  const inWindow = (name: "global" | "shared" | "local"): Expr =>
    op("i32.eq", local(window), i32(WINDOW[name]));
  const low = op("i32.wrap_i64", local(address));
  const resolve = (lane: number): void => {
    wholeAddress(access, lane)(code);
    code.op("local.set", address);
    op("i32.wrap_i64", op("i64.shr_u", local(address), (c) => c.op("i64.const", 32)))(code);
    code.op("local.set", window);
  };
  eachLane(code, mask, (lane) => {
    resolve(lane);
    const inShared = op(
      "i32.and",
      inWindow("shared"),
      op("i32.le_u", low, i32(SHARED_OFFSET_MASK)),
    );
    const inLocal = op(
      "i32.and",
      inWindow("local"),
      op("i32.lt_u", low, opWith("i32.load", [HEADER.localBytes], local(registerFile))),
    );
    op("i32.eqz", op("i32.or", inWindow("global"), op("i32.or", inShared, inLocal)))(code);
    code.op("if");
    decline(code);
    code.op("end");
  });
  moveSome(access, code, (_, lane) => (c) => {
    resolve(lane);
    const elsewhere = op(
      "select",
      sharedStart(registerFile),
      ownMemory(registerFile, lane),
      inWindow("shared"),
    );
    op("i32.add", low, op("select", i32(0), elsewhere, inWindow("global")))(c);
  });
  code.op("else");
  move(access, code, (low) => low);
  code.op("end");
}

/** Loads once, stores into all lanes. */
function emitUniform(access: Access, code: Code): void {
  const { registers } = access;
  const [offset, mask] = [registers.length, registers.length + 1];
  for (const [i, register] of registers.entries()) {
    const word = wordOf(register);
    const value = code.local(word);
    const vector = code.local("v128");
    loaded(access, i, local(offset))(code);
    code.op("local.tee", value).op(word === "i64" ? "i64x2.splat" : "i32x4.splat");
    code.op("local.set", vector);
    code.op("local.get", mask).op("i32.const", -1).op("i32.eq").op("if");
    for (let at = 0; at < LANES * (word === "i64" ? 8 : 4); at += 16) {
      code.op("local.get", i).op("local.get", vector).op("v128.store", at);
    }
    code.op("else");
    eachLane(code, mask, (lane) => {
      elementAddress(i, lane, register)(code);
      code.op("local.get", value).op(word === "i64" ? "i64.store" : "i32.store");
    });
    code.op("end");
  }
}

const EMIT: Readonly<Record<Space, (access: Access, code: Code) => void>> = {
  global: emitGlobal,
  shared: emitShared,
  local: emitLocal,
  generic: emitGeneric,
  uniform: emitUniform,
};

/** Loads and stores. */
export function accessForm(match: Match): Primitive | undefined {
  const access = readAccess(match);
  if (access === undefined) return undefined;
  const { space, address } = access;
  const declines = space !== "uniform";
  const rows = access.operands.map((operand): Argument => ({
    kind: "row",
    operand,
    type: access.type,
  }));
  const base: readonly Argument[] = access.base === 0 ? [] : [{ kind: "base", operand: address }];
  const registerFile: readonly Argument[] = declines ? [{ kind: "register file" }] : [];
  return {
    name: access.name,
    arguments: [...rows, ...base, { kind: "offset", operand: address }, ...registerFile],
    declines,
    emit: (code): void => {
      EMIT[space](access, code);
      if (declines) code.op("i32.const", 0);
    },
  };
}
