/**
 * Arguments and results of a call that is expanded. Registers are moved. What is passed in memory needs no copy, as the
 * caller's variable can replace the function's parameter, unless the function could observe it: by taking the
 * parameter's address, or because the caller gives one variable twice.
 */
import { bug } from "../../support/bug.ts";
import type {
  Instruction,
  Operand,
  PtxFormal,
  PtxFunction,
  PtxVariable,
  Register,
} from "../func.ts";
import type { KernelDraft } from "./draft.ts";
import { forEachSymbol } from "../operand.ts";
import { isTypeName, TYPES } from "../types.ts";

/** What the names of a function mean during one call, and what comes before and after its body. */
export interface Binding {
  readonly symbols: Map<string, string>;
  readonly registers: Map<string, Register>;
  readonly before: Instruction[];
  readonly after: Instruction[];
}

type FormalParam = Extract<PtxFormal, { kind: "param" }>;

/** An instruction by its spelling. */
export function instruction(spelling: string, ...operands: readonly Operand[]): Instruction {
  const [opcode = "", ...modifiers] = spelling.split(".");
  return { kind: "instruction", opcode, modifiers, operands };
}

const addressOf = (name: string, offset = 0): Operand => ({
  kind: "address",
  base: { kind: "symbol", name },
  offset: BigInt(offset),
});

function bitsOf(type: string): number {
  return isTypeName(type) ? TYPES[type].bits : bug(`parameter of type ${type}`);
}

/** `mov` for registers of a type; bytes have none. */
function moveSpelling(type: Register["type"]): string {
  if (type === "pred" || type === "f32" || type === "f64") return `mov.${type}`;
  const bits = bitsOf(type);
  return bits === 8 ? "cvt.u8.u8" : `mov.b${bits}`;
}

/** Bytes of a parameter, and what its address is a multiple of. */
function sizeOf({ type, bytes, align }: FormalParam): { bytes: number; align: number } {
  const element = bitsOf(type) / 8;
  return { bytes: bytes ?? element, align: align ?? element };
}

const TAKEN = new WeakMap<PtxFunction, ReadonlySet<string>>();

/** Formals whose address a function takes, which it may therefore write through pointers. */
function addressTaken(fn: PtxFunction): ReadonlySet<string> {
  const known = TAKEN.get(fn);
  if (known !== undefined) return known;
  const taken = new Set<string>();
  TAKEN.set(fn, taken);
  for (const item of fn.code?.body ?? []) {
    if (item.kind !== "instruction") continue;
    for (const operand of item.operands) {
      const isAccess = operand.kind === "address" && operand.base?.kind === "symbol";
      if (!isAccess) forEachSymbol(operand, (name) => taken.add(name));
    }
  }
  return taken;
}

class Binder implements Binding {
  readonly registers = new Map<string, Register>();
  readonly before: Instruction[] = [];
  readonly after: Instruction[] = [];
  readonly #taken: ReadonlySet<string>;
  readonly #uses = new Map<string, number>();

  constructor(
    readonly draft: KernelDraft,
    readonly fn: PtxFunction,
    readonly symbols: Map<string, string>,
    actuals: readonly Operand[],
  ) {
    this.#taken = addressTaken(fn);
    for (const actual of actuals) {
      forEachSymbol(actual, (name) => this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1));
    }
  }

  argument(formal: PtxFormal, actual: Operand | undefined): void {
    if (formal.kind === "register") {
      const register = this.#register(formal);
      if (actual?.kind === "symbol") {
        this.before.push(this.#load(formal.type, register, actual.name));
      } else if (actual !== undefined) {
        this.before.push(instruction(moveSpelling(formal.type), register, actual));
      }
    } else if (!this.#aliased(formal, actual)) {
      const variable = this.#variable(formal);
      if (actual?.kind === "symbol") this.#copy(this.before, formal, actual.name, variable);
      else if (actual !== undefined) {
        this.before.push(instruction(`st.local.${formal.type}`, addressOf(variable), actual));
      }
    }
  }

  result(formal: PtxFormal, actual: Operand | undefined): void {
    if (formal.kind === "register") {
      const register = this.#register(formal);
      if (actual?.kind === "register") {
        this.after.push(instruction(moveSpelling(formal.type), actual, register));
      } else if (actual?.kind === "symbol") {
        this.after.push(
          instruction(`st.local.b${bitsOf(formal.type)}`, addressOf(actual.name), register),
        );
      }
    } else if (!this.#aliased(formal, actual)) {
      const variable = this.#variable(formal);
      if (actual?.kind === "symbol") this.#copy(this.after, formal, variable, actual.name);
      else if (actual?.kind === "register") {
        this.after.push(this.#load(formal.type, actual, variable));
      }
    }
  }

  #register({ type, name }: Register): Register {
    const register = this.draft.register(type, name);
    this.registers.set(name, register);
    return register;
  }

  /** Parameters of the kernel are in another space than its variables. */
  #load(type: string, to: Operand, name: string): Instruction {
    const space = this.draft.hasVariable(name) ? "local" : "param";
    const memory = type === "f32" || type === "f64" ? type : `b${bitsOf(type)}`;
    return instruction(`ld.${space}.${memory}`, to, addressOf(name));
  }

  /**
   * Uses the caller's variable as the formal, if no access can observe it. An array without size has no other memory.
   */
  #aliased(formal: FormalParam, actual: Operand | undefined): boolean {
    if (actual?.kind !== "symbol" || !this.draft.hasVariable(actual.name)) return false;
    const isSafe = !this.#taken.has(formal.name) && this.#uses.get(actual.name) === 1;
    if (!isSafe && formal.bytes !== 0) return false;
    this.symbols.set(formal.name, actual.name);
    return true;
  }

  /** A variable of its own for a formal. */
  #variable(formal: FormalParam): string {
    const { name, type, bytes, align } = formal;
    const variable: PtxVariable = {
      space: "local",
      name,
      type,
      ...(align === undefined ? {} : { align }),
      ...(bytes === undefined ? {} : { count: Math.max(1, bytes) }),
    };
    const own = this.draft.local(this.fn, variable);
    this.symbols.set(name, own);
    return own;
  }

  /** Copies a formal's bytes in the largest pieces that are aligned. */
  #copy(copies: Instruction[], formal: FormalParam, from: string, to: string): void {
    const { bytes, align } = sizeOf(formal);
    const space = this.draft.hasVariable(from) ? "local" : "param";
    for (let at = 0; at < bytes;) {
      let size = 8;
      while (align % size !== 0 || size > bytes - at) size /= 2;
      const type = `b${8 * size}`;
      const register = this.draft.register(
        size === 8 ? "b64" : size === 4 ? "b32" : "b16",
        "copied",
      );
      copies.push(instruction(`ld.${space}.${type}`, register, addressOf(from, at)));
      copies.push(instruction(`st.local.${type}`, addressOf(to, at), register));
      at += size;
    }
  }
}

/** Binds the formals of a function to what a call gives and takes; `symbols` may have names already. */
export function bindCall(
  draft: KernelDraft,
  fn: PtxFunction,
  call: Instruction,
  symbols: Map<string, string>,
): Binding {
  const [first] = call.operands;
  const lists = call.operands.flatMap((operand) =>
    operand.kind === "list" ? [operand.elements] : []
  );
  const [results = [], args = []] = first?.kind === "list" ? lists : [[], ...lists];
  const binder = new Binder(draft, fn, symbols, [...results, ...args]);
  fn.params.forEach((formal, i) => binder.argument(formal, args[i]));
  fn.returns.forEach((formal, i) => binder.result(formal, results[i]));
  return binder;
}
