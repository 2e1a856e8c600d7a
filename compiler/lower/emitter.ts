/**
 * Emits PTX instructions into a body and remembers pure ones: the same operation on the same operands is
 * emitted once. Address arithmetic written out per register collapses to its distinct parts that way, so the
 * lowering rules can be naive. Constants fold on the way.
 */
import type { Instruction, Item, Operand, PtxVariable, Register } from "../ptx/func.ts";
import type { Target } from "../targets.ts";
import { bug } from "../support/bug.ts";

/** Storage classes of registers; all arithmetic types share them (PTX ISA 9.0, 5.2.2 operand type checking). */
export type Bank = "pred" | "b16" | "b32" | "b64";
const PREFIX: Readonly<Record<Bank, string>> = { pred: "p", b16: "h", b32: "r", b64: "rd" };

export const int = (value: number | bigint): Operand => ({ kind: "integer", value: BigInt(value) });

export function isInteger(operand: Operand): operand is Extract<Operand, { kind: "integer" }> {
  return operand.kind === "integer";
}

export function operandKey(operand: Operand): string {
  switch (operand.kind) {
    case "register":
      return `%${operand.name}`;
    case "integer":
      return `${operand.value}`;
    case "float":
      return `${operand.type}:${operand.bits}`;
    case "special":
    case "symbol":
      return operand.name;
    case "vector":
      return `{${operand.elements.map(operandKey)}}`;
    case "address":
      return `[${operand.base === undefined ? "" : operandKey(operand.base)}+${operand.offset}]`;
    case "negated":
      return `!${operandKey(operand.operand)}`;
    case "pair":
      return `${operandKey(operand.first)}|${operandKey(operand.second)}`;
    case "sink":
      return "_";
  }
}

export class Emitter {
  readonly body: Item[] = [];
  readonly variables: PtxVariable[] = [];
  readonly #counts: Record<Bank, number> = { pred: 0, b16: 0, b32: 0, b64: 0 };
  /** Innermost last: what a region computed is known only inside it. */
  readonly #known: Map<string, Operand>[] = [new Map()];
  /** register -> base and constant, for `r = base + constant`. */
  readonly #sums = new Map<string, { base: Operand; constant: bigint }>();
  #labels = 0;

  constructor(readonly target: Target) {}

  register(bank: Bank): Register {
    const register: Register = {
      kind: "register",
      type: bank,
      name: `${PREFIX[bank]}${this.#counts[bank]++}`,
    };
    return register;
  }

  label(hint: string): string {
    return `L${this.#labels++}_${hint}`;
  }

  /** Appends an instruction: `emit("ld.global.v4.b32", […])`. */
  emit(spelling: string, operands: readonly Operand[], guard?: Instruction["guard"]): void {
    const [opcode, ...modifiers] = splitSpelling(spelling);
    const instruction: Instruction = {
      kind: "instruction",
      opcode: opcode ?? spelling,
      modifiers,
      operands,
    };
    this.body.push(guard === undefined ? instruction : { ...instruction, guard });
  }

  /** The result of a pure instruction, emitted at most once per scope. */
  pure(spelling: string, bank: Bank, sources: readonly Operand[]): Operand {
    const key = `${spelling} ${sources.map(operandKey).join()}`;
    for (const scope of this.#known) {
      const known = scope.get(key);
      if (known !== undefined) return known;
    }
    const result = this.register(bank);
    this.emit(spelling, [result, ...sources]);
    (this.#known[this.#known.length - 1] ?? bug("no scope")).set(key, result);
    return result;
  }

  /** Runs `body` in a scope of its own: values first computed inside are forgotten after. */
  scoped(body: () => void): void {
    this.#known.push(new Map());
    body();
    this.#known.pop();
  }

  /** Identity of the innermost scope, to ask later whether what was computed in it may still be used. */
  get scope(): object {
    return this.#known[this.#known.length - 1] ?? this.#known;
  }

  isOpen(scope: object): boolean {
    return this.#known.some((known) => known === scope);
  }

  /** a + b in 32 or 64 bits; constants gather at the end, so that equal bases are shared. */
  add(bank: "b32" | "b64", a: Operand, b: Operand): Operand {
    const bits = bank === "b32" ? 32 : 64;
    if (isInteger(a) && isInteger(b)) return int(BigInt.asIntN(bits, a.value + b.value));
    if (isInteger(a)) return this.add(bank, b, a);
    const left = this.sumOf(a);
    if (isInteger(b)) {
      const constant = BigInt.asIntN(bits, left.constant + b.value);
      if (constant === 0n) return left.base;
      return this.#remember(
        this.pure(`add.s${bits}`, bank, [left.base, int(constant)]),
        left.base,
        constant,
      );
    }
    const right = this.sumOf(b);
    const base = this.pure(`add.s${bits}`, bank, [left.base, right.base]);
    return this.add(bank, base, int(left.constant + right.constant));
  }

  /** What is known of a register as base plus constant. */
  sumOf(operand: Operand): { readonly base: Operand; readonly constant: bigint } {
    return this.#sums.get(operandKey(operand)) ?? { base: operand, constant: 0n };
  }

  #remember(sum: Operand, base: Operand, constant: bigint): Operand {
    this.#sums.set(operandKey(sum), { base, constant });
    return sum;
  }

  /** a * b, low half. */
  mul(bank: "b32" | "b64", a: Operand, b: Operand): Operand {
    const bits = bank === "b32" ? 32 : 64;
    if (isInteger(a) && isInteger(b)) return int(BigInt.asIntN(bits, a.value * b.value));
    if (isInteger(a)) return this.mul(bank, b, a);
    if (isInteger(b)) {
      if (b.value === 0n) return b;
      if (b.value === 1n) return a;
      const shift = b.value > 0n && (b.value & (b.value - 1n)) === 0n
        ? b.value.toString(2).length - 1
        : -1;
      if (shift >= 0) return this.pure(`shl.b${bits}`, bank, [a, int(shift)]);
    }
    return this.pure(`mul.lo.s${bits}`, bank, [a, b]);
  }

  /** Loads a constant into a register where an instruction takes no immediate. */
  inRegister(operand: Operand, bank: Bank): Operand {
    if (operand.kind === "register") return operand;
    if (bank === "pred") return this.pure("setp.ne.b32", "pred", [operand, int(0)]);
    return this.pure(`mov.${bank}`, bank, [operand]);
  }

  /** `[base + constant]`; the constant folds into the address. */
  address(pointer: Operand, extraBytes = 0n): Operand {
    const { base, constant } = this.sumOf(pointer);
    const offset = constant + extraBytes;
    // Immediates of loads and stores are signed 24 bits in SASS; beyond, ptxas would add instructions anyway.
    if (offset < -0x800000n || offset > 0x7fffffn) {
      return { kind: "address", base: pointer, offset: extraBytes };
    }
    return { kind: "address", base, offset };
  }
}

const spellings = new Map<string, readonly string[]>();

/** Splits at dots: the opcode is the first part, save for multi-part mnemonics like `cp.async`. */
function splitSpelling(spelling: string): readonly string[] {
  let parts = spellings.get(spelling);
  if (parts === undefined) {
    parts = spelling.split(".");
    spellings.set(spelling, parts);
  }
  return parts;
}
