/**
 * Emits PTX instructions into a body and remembers pure ones: the same operation on the same operands is
 * emitted once. Address arithmetic written out per register collapses to its distinct parts that way, so the
 * lowering rules can be naive. Constants fold on the way.
 *
 * Branches and loops are *scopes*: lists of instructions of their own, appended when they are complete. What was
 * computed in a scope is forgotten with it. A pure instruction inside loops whose operands all come from outside is
 * emitted before the outermost such loop; its result may then be unused, but it cannot fail. Out of a mere branch
 * nothing is moved.
 */
import type { Instruction, Item, Operand, Register } from "../ptx/func.ts";
import { splitSpelling } from "../ptx/match.ts";
import { forEachRegister } from "../ptx/operand.ts";
import { printOperand } from "../ptx/print.ts";
import { bug } from "../support/bug.ts";
import { DEFAULT_FLOATS, type FloatOptions } from "../support/float_options.ts";
import type { Span } from "../support/source.ts";
import type { Target } from "../targets.ts";
import { type Bank, BodyRegister, type HalfName, PREFIX, type Sum } from "./body_register.ts";
import { Unsupported } from "./unsupported.ts";
import { PairTable } from "./pair_table.ts";
import { type FileTable, locationOf } from "./source_locations.ts";

export const int = (value: number | bigint): Operand => ({ kind: "integer", value: BigInt(value) });

export function isInteger(operand: Operand): operand is Extract<Operand, { kind: "integer" }> {
  return operand.kind === "integer";
}

/** Equal for equal operands. A symbol with an offset, be it 0, is another one than the symbol alone. */
export function operandKey(operand: Operand): string {
  const printed = printOperand(operand);
  return operand.kind === "symbol" && operand.offset === 0n ? `${printed}+0` : printed;
}

/** A list of instructions that run together. */
export interface Scope {
  readonly kind: "body" | "branch" | "loop";
  readonly items: Item[];
  /** The source location of the instruction before. */
  location: Item | undefined;
  /** Still being filled, so what it computed is available. */
  open: boolean;
}

const newScope = (kind: Scope["kind"]): Scope => ({
  kind,
  items: [],
  location: undefined,
  open: true,
});

/** A spelling taken apart: the same few come again and again. */
interface Spelling {
  readonly parts: ReturnType<typeof splitSpelling>;
  /** The beginning of {@linkcode Emitter.pure}'s keys. */
  readonly number: number;
}

/** Spellings that come all the time: a template would make a new text for each instruction. */
const ADD = { b32: "add.s32", b64: "add.s64" } as const;
const SHIFT = { b32: "shl.b32", b64: "shl.b64" } as const;
const MULTIPLY = { b32: "mul.lo.s32", b64: "mul.lo.s64" } as const;
const ROUND = { float16: "cvt.rn.f16.f32", bfloat16: "cvt.rn.bf16.f32" } as const;
export const MOVE = { pred: "mov.pred", b16: "mov.b16", b32: "mov.b32", b64: "mov.b64" } as const;

/** Left of the pairs that number spellings; no pair has this number. */
const SPELLING = -1;

/**
 * Arithmetic of single floats, with what comes before `.ftz` (PTX ISA 9.0, 9.7.3); minima have more modifiers after it.
 */
const FLUSHABLE =
  /^(?:(?:add|sub|mul|fma|div|abs|neg|sqrt|rsqrt|rcp|ex2|lg2|setp)(?:\.\w+)*?|min|max|cvt\.r[mnpz]i)(?=(?:\.NaN)?(?:\.f32)+$)/;

/** The instruction that takes and gives zeros for subnormal numbers, where there is one. */
function flushing(spelling: string): string {
  return spelling.replace(FLUSHABLE, "$&.ftz");
}

/** Of all entries: rules have some hundred spellings, and what is found of one is found by its list of modifiers. */
const PARTS = new Map<string, Spelling["parts"]>();

function partsOf(spelling: string): Spelling["parts"] {
  let parts = PARTS.get(spelling);
  if (parts === undefined) PARTS.set(spelling, parts = splitSpelling(spelling));
  return parts;
}

/** Instructions of an entry. An assembler takes minutes for that many. */
const MAX_INSTRUCTIONS = 250_000;

/** Ends {@linkcode Emitter.peek}: one object, for it is thrown often. */
const NOT_EMITTED = new Error("this has not been emitted");

export class Emitter {
  readonly #body = newScope("body");
  /** From the body to the innermost scope. */
  readonly #scopes: Scope[] = [this.#body];
  readonly #counts: Record<Bank, number> = { pred: 0, b16: 0, b32: 0, b64: 0 };
  #labels = 0;
  readonly #spellings = new Map<string, Spelling>();
  readonly #pairs = new PairTable();
  /** Numbers of operands that are no registers; `#operands` counts those of both. */
  readonly #integers = new Map<bigint, number>();
  /** Of those that a number holds, which maps find sooner. */
  readonly #small = new Map<number, number>();
  readonly #others = new Map<string, number>();
  #operands = 0;
  /** By the numbers of their spelling and operands: what pure instructions gave, and the scope that it was in. */
  readonly #known: ({ readonly result: Operand; readonly scope: Scope } | undefined)[] = [];

  #location: Item | undefined;
  #span: Span | undefined;
  #instructions = 0;
  #isPeeking = false;
  /** Called before what a scope computed is forgotten. */
  onEnd: ((scope: Scope) => void) | undefined;
  /** Where locations come from. */
  readonly spans = new Map<Item, Span>();

  /** Without a table of files, no source locations are recorded. */
  constructor(
    readonly target: Target,
    readonly files?: FileTable,
    readonly floats: FloatOptions = DEFAULT_FLOATS,
  ) {}

  /** The instructions of the whole body. */
  get body(): readonly Item[] {
    return this.#body.items;
  }

  /** The innermost scope. */
  get scope(): Scope {
    return this.#scopes.at(-1) ?? this.#body;
  }

  /** Whether what is emitted now may be done several times. */
  get isInLoop(): boolean {
    return this.#scopes.some(({ kind }) => kind === "loop");
  }

  /** Notes where the instructions that follow come from. */
  from(span: Span): void {
    this.#span = span;
    if (this.files === undefined) return;
    const location = locationOf(span, this.files);
    this.#location = location;
    if (this.onEnd !== undefined) this.spans.set(location, span);
  }

  /** What `look` gives if all that it needs has been emitted; undefined otherwise. Nothing is emitted. */
  peek<T>(look: () => T): T | undefined {
    this.#isPeeking = true;
    try {
      return look();
    } catch (error) {
      if (error === NOT_EMITTED) return undefined;
      throw error;
    } finally {
      this.#isPeeking = false;
    }
  }

  #changes(): void {
    if (this.#isPeeking) throw NOT_EMITTED;
  }

  register(bank: Bank): Register {
    return this.#register(bank, this.#scopes.length - 1);
  }

  #register(bank: Bank, depth: number): Register {
    this.#changes();
    const name = `${PREFIX[bank]}${this.#counts[bank]++}`;
    return new BodyRegister(bank, name, this.#operands++, depth);
  }

  #own(register: Operand): BodyRegister {
    // `#register` makes all registers of the body.
    return register instanceof BodyRegister ? register : bug("a register of another body");
  }

  #numberOf(operand: Operand): number {
    if (operand instanceof BodyRegister) return operand.index;
    if (operand.kind !== "integer") return this.#numberIn(this.#others, operandKey(operand));
    const small = Number(operand.value);
    return Number.isSafeInteger(small)
      ? this.#numberIn(this.#small, small)
      : this.#numberIn(this.#integers, operand.value);
  }

  #numberIn<Key>(numbers: Map<Key, number>, key: Key): number {
    let number = numbers.get(key);
    if (number === undefined) numbers.set(key, number = this.#operands++);
    return number;
  }

  #spelling(spelling: string): Spelling {
    let found = this.#spellings.get(spelling);
    if (found === undefined) {
      const number = this.#pairs.numberOf(SPELLING, this.#spellings.size);
      found = { parts: partsOf(this.floats.flush ? flushing(spelling) : spelling), number };
      this.#spellings.set(spelling, found);
    }
    return found;
  }

  /** Registers get a value in the scope that is being filled: those of a loop change there. */
  settle(registers: readonly Register[]): void {
    for (const register of registers) this.#own(register).depth = this.#scopes.length - 1;
  }

  /** The instructions that `build` emits, to be appended; what moves out of a loop is emitted before them. */
  nested(kind: "branch" | "loop", build: () => void): readonly Item[] {
    return this.nestedWith(kind, build).items;
  }

  /** As `nested`, with what `build` gives. */
  nestedWith<T>(
    kind: "branch" | "loop",
    build: () => T,
  ): { readonly items: readonly Item[]; readonly built: T } {
    this.#changes();
    const scope = newScope(kind);
    this.#scopes.push(scope);
    const built = build();
    this.onEnd?.(scope);
    this.#scopes.pop();
    scope.open = false;
    return { items: scope.items, built };
  }

  append(items: readonly Item[]): void {
    this.#changes();
    for (const item of items) this.scope.items.push(item);
    this.scope.location = undefined;
  }

  newLabel(): string {
    this.#changes();
    return `L${this.#labels++}`;
  }

  label(name: string): void {
    this.append([{ kind: "label", name }]);
  }

  /** Continues at a label, if the condition is `expected`; all threads agree about it. */
  branch(label: string, condition?: Operand, expected = true): void {
    const target: Operand = { kind: "symbol", name: label };
    if (condition === undefined) return this.emit("bra.uni", [target]);
    if (isInteger(condition)) {
      if ((condition.value !== 0n) === expected) this.emit("bra.uni", [target]);
    } else if (condition.kind === "register") {
      this.emit("bra.uni", [target], { register: condition, negated: !expected });
    }
  }

  /** Appends an instruction: `emit("ld.global.v4.b32", […])`. */
  emit(spelling: string, operands: readonly Operand[], guard?: Instruction["guard"]): void {
    this.#emit(this.scope, this.#spelling(spelling), operands, guard);
  }

  #emit(
    scope: Scope,
    { parts: { opcode, modifiers } }: Spelling,
    operands: readonly Operand[],
    guard?: Instruction["guard"],
  ): void {
    this.#changes();
    if (this.#location !== scope.location) {
      if (this.#location !== undefined) scope.items.push(this.#location);
      scope.location = this.#location;
    }
    if (++this.#instructions > MAX_INSTRUCTIONS && this.#span !== undefined) {
      throw new Unsupported({
        code: "E7011",
        what: `the code up to here has more than ${MAX_INSTRUCTIONS} instructions per thread`,
        span: this.#span,
        hint:
          "make tiles smaller, give the kernel more warps, or write a loop in place of repeated code",
      });
    }
    scope.items.push(
      guard === undefined
        ? { kind: "instruction", opcode, modifiers, operands }
        : { kind: "instruction", opcode, modifiers, operands, guard },
    );
  }

  /** The result of a pure instruction, emitted once. */
  pure(spelling: string, bank: Bank, sources: readonly Operand[]): Operand {
    const spelled = this.#spelling(spelling);
    let key = spelled.number;
    for (const source of sources) key = this.#pairs.numberOf(key, this.#numberOf(source));
    const known = this.#known[key];
    if (known?.scope.open === true) return known.result;
    const depth = this.#depthFor(sources);
    const scope = this.#scopes[depth] ?? this.scope;
    const result = this.#register(bank, depth);
    this.#emit(scope, spelled, [result, ...sources]);
    this.#known[key] = { result, scope };
    return result;
  }

  /** A float rounded to 16 bits; two of these may be rounded together. */
  rounded(to: HalfName, from: Operand): Operand {
    const result = this.pure(ROUND[to], "b16", [from]);
    this.#own(result).rounded = { from, to };
    return result;
  }

  /** The float that a register was rounded from to this type: its bits may be read as another. */
  unrounded(operand: Operand, to: HalfName): Operand | undefined {
    const rounded = operand.kind === "register" ? this.#own(operand).rounded : undefined;
    return rounded?.to === to ? rounded.from : undefined;
  }

  /** Whether a pure instruction with these operands is moved out of a loop. */
  isMovable(sources: readonly Operand[]): boolean {
    return this.#depthFor(sources) < this.#scopes.length - 1;
  }

  /** Index of the scope where an instruction with these operands belongs. */
  #depthFor(sources: readonly Operand[]): number {
    let needed = 0;
    for (const source of sources) needed = Math.max(needed, this.#depthOf(source));
    const innermost = this.#scopes.length - 1;
    let depth = innermost;
    for (let i = innermost; i > needed; i--) if (this.#scopes[i]?.kind === "loop") depth = i - 1;
    return depth;
  }

  /** Index of the innermost scope where a register of the operand gets its value. */
  #depthOf(operand: Operand): number {
    // Most are one of these, for which no function need be made.
    if (operand.kind === "register") return this.#own(operand).depth;
    if (operand.kind === "integer") return 0;
    let depth = 0;
    forEachRegister(operand, (register) => {
      depth = Math.max(depth, this.#own(register).depth);
    });
    return depth;
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
      const sum = this.pure(ADD[bank], bank, [left.base, int(constant)]);
      this.#own(sum).sum ??= { base: left.base, constant };
      return sum;
    }
    const right = this.sumOf(b);
    const base = this.pure(ADD[bank], bank, [left.base, right.base]);
    if (left.constant === 0n && right.constant === 0n) return base;
    return this.add(bank, base, int(left.constant + right.constant));
  }

  /** What is known of a register as base plus constant. */
  sumOf(operand: Operand): Sum {
    return (operand.kind === "register" ? this.#own(operand).sum : undefined) ??
      { base: operand, constant: 0n };
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
      if (shift >= 0) return this.pure(SHIFT[bank], bank, [a, int(shift)]);
    }
    return this.pure(MULTIPLY[bank], bank, [a, b]);
  }

  /** Loads a constant into a register where an instruction takes no immediate. */
  inRegister(operand: Operand, bank: Bank): Operand {
    if (operand.kind === "register") return operand;
    if (bank === "pred") return this.pure("setp.ne.b32", "pred", [operand, int(0)]);
    return this.pure(MOVE[bank], bank, [operand]);
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
