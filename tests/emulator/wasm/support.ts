/** Primitives in a module of their own, and rows for their operands. */
import type { Operand } from "../../../compiler/ptx/func.ts";
import { type TypeName, TYPES } from "../../../compiler/ptx/types.ts";
import { bug, must } from "../../../compiler/support/bug.ts";
import { LANES, rowBytes } from "../../../emulator/register_file.ts";
import type { HandlerContext, Machine } from "../../../emulator/machine.ts";
import { newMemory, viewsOf } from "../../../emulator/memory.ts";
import type { Argument, Primitive } from "../../../emulator/wasm/mod.ts";
import type { ValueType } from "../../../emulator/wasm/code.ts";
import { WasmModule } from "../../../emulator/wasm/module.ts";
import { operandSource } from "../../support/emulator/ptx_operands.ts";
import type { Random } from "../../support/random.ts";
import { newBlockStub } from "../../support/emulator/warp_stub.ts";

export type Called = (...args: number[]) => number | undefined;

/** The functions of primitives by name. */
export function compilePrimitives(
  primitives: readonly Primitive[],
  memory: WebAssembly.Memory,
): ReadonlyMap<string, Called> {
  const module = new WasmModule();
  module.importMemory("env", "memory");
  const names = new Set(primitives.map(({ name }) => name));
  for (const primitive of primitives) {
    if (!names.delete(primitive.name)) continue;
    const params = [...primitive.arguments, "mask"].map((): ValueType => "i32");
    const { index, code } = module.function(params, primitive.declines ? ["i32"] : []);
    primitive.emit(code);
    module.export(primitive.name, "function", index);
  }
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.encode()), {
    env: { memory },
  });
  return new Map(
    Object.entries(instance.exports).map(([name, value]): [string, Called] => [
      name,
      typeof value === "function" ? (...args): number | undefined => value(...args) : bug(name),
    ]),
  );
}

/** A machine over a memory, with one block of one warp. */
function machineOf(memory: WebAssembly.Memory): Machine {
  const block = newBlockStub();
  return {
    memory,
    views: viewsOf(memory),
    warp: { block, index: 0, registerFile: 0, phase: 0, async: undefined },
    block,
    checks: false,
    profile: false,
    yield: () => {},
  };
}

/** Where the operands of an instruction are: a row for each register by name, one for each literal. */
export class Layout {
  readonly #rows = new Map<string, number>();
  end: number;

  constructor(start: number, readonly alias: ReadonlyMap<string, string> = new Map()) {
    this.end = start;
  }

  row(operand: Operand, type: TypeName): number {
    const register = operand.kind === "negated" ? operand.operand : operand;
    const name = register.kind === "register"
      ? this.alias.get(register.name) ?? register.name
      : JSON.stringify(operand, (_, value) => typeof value === "bigint" ? `${value}` : value);
    const known = this.#rows.get(name);
    if (known !== undefined) return known;
    const row = this.end;
    this.end += rowBytes(TYPES[register.kind === "register" ? register.type : type].bits);
    this.#rows.set(name, row);
    return row;
  }
}

export function contextOf(machine: Machine, layout: Layout): HandlerContext {
  return {
    machine,
    site: { kernel: "test", text: "test;" },
    sm: 90,
    row: (operand, type) => layout.row(operand, type),
    rows: (operand, type) =>
      operand.kind === "vector"
        ? operand.elements.map((element) => layout.row(element, type))
        : [layout.row(operand, type)],
    predicate: (operand) => ({
      row: layout.row(operand, "pred"),
      invert: operand.kind === "negated" ? -1 : 0,
    }),
    shadow: () => undefined,
    literal: (operand) => operand.kind === "integer" ? operand.value : bug("no literal"),
    address: (operand) => {
      if (operand.kind !== "address") return bug("no address");
      const { base, offset } = operand;
      if (base?.kind !== "register") {
        return { row: undefined, bits: 64, offset: Number(offset), symbol: undefined };
      }
      const bits = TYPES[base.type].bits === 64 ? 64 : 32;
      const row = layout.row(base, base.type);
      return { row, bits, offset: Number(offset), symbol: undefined };
    },
  };
}

/** What the compiler of kernels passes for an argument, the register file at w. */
export function argumentValue(argument: Argument, context: HandlerContext, w: number): number {
  switch (argument.kind) {
    case "row":
      return w + context.row(argument.operand, argument.type);
    case "predicate":
      return w + context.predicate(argument.operand).row;
    case "invert":
      return context.predicate(argument.operand).invert;
    case "base":
      return w + must(context.address(argument.operand).row, "a base");
    case "offset":
      return context.address(argument.operand).offset;
    case "register file":
      return w;
  }
}

/** Fills the row of a source with values of its type, zeros above what is narrower than 32 bits. */
export function fillRow(
  machine: Machine,
  at: number,
  operand: Operand,
  type: TypeName,
  random: Random,
): void {
  const { i32, u32, u64 } = machine.views;
  if (type === "pred") {
    i32[at >> 2] = (random.below(0x10000) << 16) | random.below(0x10000);
    return;
  }
  const bits = TYPES[operand.kind === "register" ? operand.type : type].bits;
  const make = operandSource(type, bits);
  let near: bigint | undefined;
  for (let lane = 0; lane < LANES; lane++) {
    const value = operand.kind === "integer" ? operand.value : make(random, near);
    near = random.below(4) === 0 ? value : near;
    if (bits > 32) u64[(at >> 3) + lane] = value;
    else u32[(at >> 2) + lane] = Number(BigInt.asUintN(bits, value));
  }
}

export interface Scene {
  readonly memory: WebAssembly.Memory;
  readonly machine: Machine;
}

export function newScene(bytes = 1 << 16): Scene {
  const memory = newMemory(bytes);
  return { memory, machine: machineOf(memory) };
}
