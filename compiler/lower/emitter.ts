/**
 * Emits PTX instructions into a body and remembers pure ones: the same operation on the same operands is
 * emitted once. Address arithmetic written out per register collapses to its distinct parts that way, so the
 * lowering rules can be naive. Constants fold on the way.
 */
import type { Instruction, Item, Operand, Register } from "../ptx/func.ts";
import { splitSpelling } from "../ptx/match.ts";
import { printOperand } from "../ptx/print.ts";
import type { Span } from "../support/source.ts";
import type { Target } from "../targets.ts";
import { type FileTable, placeOf } from "./places.ts";

/** Storage classes of registers; all arithmetic types share them (PTX ISA 9.0, 5.2.2 operand type checking). */
export type Bank = "pred" | "b16" | "b32" | "b64";
const PREFIX: Readonly<Record<Bank, string>> = { pred: "p", b16: "h", b32: "r", b64: "rd" };

export const int = (value: number | bigint): Operand => ({ kind: "integer", value: BigInt(value) });

export function isInteger(operand: Operand): operand is Extract<Operand, { kind: "integer" }> {
  return operand.kind === "integer";
}

/** Equal for equal operands. */
export function operandKey(operand: Operand): string {
  return printOperand(operand);
}

export class Emitter {
  readonly body: Item[] = [];
  readonly #counts: Record<Bank, number> = { pred: 0, b16: 0, b32: 0, b64: 0 };
  /** What has been computed, by its spelling and operands. */
  readonly #known = new Map<string, Operand>();
  /** Spellings taken apart: the same few come again and again. */
  readonly #spellings = new Map<string, ReturnType<typeof splitSpelling>>();
  /** register -> base and constant, for `r = base + constant`. */
  readonly #sums = new Map<string, { base: Operand; constant: bigint }>();

  #place: Item | undefined;

  /** Without a table of files, no places are noted. */
  constructor(readonly target: Target, readonly files?: FileTable) {}

  /** Notes where the instructions that follow come from. */
  from(span: Span): void {
    if (this.files !== undefined) this.#place = placeOf(span, this.files);
  }

  register(bank: Bank): Register {
    return { kind: "register", type: bank, name: `${PREFIX[bank]}${this.#counts[bank]++}` };
  }

  /** Appends an instruction: `emit("ld.global.v4.b32", […])`. */
  emit(spelling: string, operands: readonly Operand[], guard?: Instruction["guard"]): void {
    let parts = this.#spellings.get(spelling);
    if (parts === undefined) {
      parts = splitSpelling(spelling);
      this.#spellings.set(spelling, parts);
    }
    if (this.#place !== undefined) {
      this.body.push(this.#place);
      this.#place = undefined;
    }
    const instruction: Instruction = { kind: "instruction", ...parts, operands };
    this.body.push(guard === undefined ? instruction : { ...instruction, guard });
  }

  /** The result of a pure instruction, emitted once. */
  pure(spelling: string, bank: Bank, sources: readonly Operand[]): Operand {
    const key = `${spelling} ${sources.map(operandKey).join()}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const result = this.register(bank);
    this.emit(spelling, [result, ...sources]);
    this.#known.set(key, result);
    return result;
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
