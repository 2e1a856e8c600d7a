/**
 * Atomics: once per element of the tile, or once per program for a scalar, even if several threads have copies of it. The owner's
 * result, if anything needs it, reaches the others through shared memory. What no instruction does is done by comparing and swapping.
 */
import type { Instruction, Operand, Register } from "../../ptx/func.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { type Element, isPointer } from "../../ir/types.ts";
import { freeMask } from "../../linear/linear.ts";
import { bug } from "../../support/bug.ts";
import { SCALARS } from "../../support/scalar.ts";
import { kindOf, lowerBinary, lowerUnary } from "../arithmetic.ts";
import type { LowerContext } from "../context.ts";
import { atRegister, blockRank, ownerPredicate, scalarCopies } from "../addresses.ts";
import { lowered, setElements } from "../values.ts";
import { copyBits, threadBases } from "../../linear/threads.ts";
import { registerCount } from "../../layout/tiles.ts";
import { bankOf, whole } from "../element.ts";
import type { Bank } from "../body_register.ts";
import { type Emitter, int } from "../emitter.ts";
import { beginExchange, inBlock, programBarrier } from "./shared.ts";
import { fromWord, toWord, wordBank } from "../convert/words.ts";
import { threadLoop } from "../thread_loop.ts";

type Guard = Instruction["guard"];

/** One element's atomic: operands in registers, the result in a register. */
interface Access {
  readonly element: Element;
  readonly address: Operand;
  /** What memory must equal, of `atomic_cas`. */
  readonly expected: Operand | undefined;
  readonly value: Operand;
  readonly guard: Guard;
  /** `.acq_rel.gpu.global` */
  readonly scope: string;
}

type AtomicOp = OpOf<"atomic" | "atomic_cas">;

function isReleasing(op: AtomicOp): boolean {
  return ["release", "acq_rel"].includes(op.attrs.order);
}

function isAcquiring(op: AtomicOp): boolean {
  return ["acquire", "acq_rel"].includes(op.attrs.order);
}

export function lowerAtomic(cx: LowerContext, op: OpOf<"atomic">): void {
  const { operator } = op.attrs;
  atomics(cx, op, (e, access) => {
    const { element, value } = access;
    const spelling = instructionFor(e, operator, element);
    return spelling === undefined
      ? swapLoop(e, access, (old) => lowerBinary(e, operatorOf(operator), element, old, value))
      : single(e, spelling, operator === "sub" ? negated(e, access) : access, isReduction(op));
  });
}

export function lowerAtomicCas(cx: LowerContext, op: OpOf<"atomic_cas">): void {
  atomics(
    cx,
    op,
    (e, access) => single(e, `cas.b${bitsOf(access.element)}`, access, false),
  );
}

/** Whether `red` does it, which returns nothing, so nothing waits for it (PTX ISA 9.0, red). */
function isReduction(op: OpOf<"atomic">): boolean {
  return op.attrs.unused === true && op.attrs.operator !== "xchg" && !isAcquiring(op);
}

function negated(e: Emitter, access: Access): Access {
  return { ...access, value: lowerUnary(e, "neg", access.element, access.value) };
}

function operatorOf(name: string): "add" | "min" | "max" {
  if (name === "add" || name === "min" || name === "max") return name;
  return bug(`an atomic ${name} of floats`);
}

function bitsOf(element: Element): number {
  return isPointer(element) ? 64 : SCALARS[element].bits;
}

/** What `atom` does itself (PTX ISA 9.0, atom); undefined: nothing. */
function instructionFor(e: Emitter, operator: string, element: Element): string | undefined {
  const bits = bitsOf(element);
  const kind = kindOf(element);
  if (operator === "xchg") return `exch.b${bits}`;
  if (["and", "or", "xor"].includes(operator)) return `${operator}.b${bits}`;
  if (kind === "f16") return operator === "add" ? "add.noftz.f16" : undefined;
  if (kind === "bf16") {
    return operator === "add" && e.target.bfloat16Atomics ? "add.noftz.bf16" : undefined;
  }
  if (kind === "f32" || kind === "f64") return operator === "add" ? `add.${kind}` : undefined;
  // Sums wrap alike; `add.s64` does not exist.
  if (operator === "add" || operator === "sub") return `add.u${bits}`;
  return `${operator}.${kind}`;
}

function elementOf(pointer: Value): Element {
  const { element } = pointer.type;
  if (!isPointer(element) || element.pointee === "void") bug("an atomic on what is no pointer");
  return element.pointee;
}

/** All elements of an atomic operation. */
function atomics(
  cx: LowerContext,
  op: AtomicOp,
  run: (e: Emitter, access: Access) => Operand,
): void {
  const e = cx.emitter;
  const { pointer, value } = operandsOf(op);
  const mask = op.name === "atomic" ? operandsOf(op).mask : undefined;
  const expected = op.name === "atomic_cas" ? operandsOf(op).expected : undefined;
  const { layout } = pointer.type;
  const element = elementOf(pointer);
  const copies = layout === undefined ? scalarCopies(cx) : copyBits(layout);
  const owner = ownerPredicate(cx, copies);
  const scope = `.${op.attrs.order}.${op.attrs.scope}.global`;
  // Everything the program did comes before: its other threads have done it when this one continues.
  if (isReleasing(op)) programBarrier(cx);
  const free = layout === undefined ? 0 : freeMask(layout.register);
  const at = (value: Value, register: number): Operand =>
    e.inRegister(
      whole(e, lowered(cx, value)(register), value.type.element),
      bankOf(value.type.element),
    );
  const results: Operand[] = [];
  for (let register = 0; register < registerCount(pointer); register++) {
    if (register & free) continue;
    const masked = mask === undefined ? undefined : at(mask, register);
    const predicate = masked === undefined || owner === undefined
      ? masked ?? owner
      : e.pure("and.pred", "pred", [masked, owner]);
    results[register] = run(e, {
      element,
      address: e.address(at(pointer, register)),
      expected: expected === undefined ? undefined : at(expected, register),
      value: at(value, register),
      guard: predicate?.kind === "register" ? { register: predicate, negated: false } : undefined,
      scope,
    });
  }
  const isUsed = op.attrs.unused !== true;
  if (isUsed && copies !== 0) shareResults(cx, op, owner, results);
  else if (isAcquiring(op)) programBarrier(cx);
  setElements(cx, resultOf(op), results, free);
}

/** A result that is zero where the guard says no. */
function cleared(e: Emitter, bank: Bank, guard: Guard): Register {
  const result = e.register(bank);
  if (guard !== undefined) e.emit(`mov.${bank}`, [result, int(0)]);
  return result;
}

function single(e: Emitter, spelling: string, access: Access, isReduction: boolean): Operand {
  const { element, address, expected, value, guard, scope } = access;
  const values = expected === undefined ? [value] : [expected, value];
  if (isReduction) {
    e.emit(`red${scope}.${spelling}`, [address, ...values], guard);
    return int(0);
  }
  const result = cleared(e, bankOf(element), guard);
  e.emit(`atom${scope}.${spelling}`, [result, address, ...values], guard);
  return result;
}

/** Reads, computes and swaps until no other thread has written in between. */
function swapLoop(
  e: Emitter,
  { element, address, guard, scope }: Access,
  compute: (old: Operand) => Operand,
): Operand {
  const bits = bitsOf(element);
  const bank = bankOf(element);
  const spaces = scope.split(".").slice(2).join(".");
  return threadLoop(e, {
    bank,
    enter: (result, end) => {
      if (guard !== undefined) {
        e.emit(`mov.b${bits}`, [result, int(0)]);
        e.emit("bra", [end], { ...guard, negated: true });
      }
      e.emit(`ld.relaxed.${spaces}.b${bits}`, [result, address]);
    },
    iterate: (old) => {
      const next = e.inRegister(compute(old), bank);
      const found = e.register(bank);
      e.emit(`atom${scope}.cas.b${bits}`, [found, address, old, next]);
      const again = e.register("pred");
      e.emit(`setp.ne.b${bits}`, [again, found, old]);
      e.emit(`mov.b${bits}`, [old, found]);
      return again;
    },
  });
}

/** Gives every thread the results of its elements; leaves words of shared memory read in `results`. */
function shareResults(
  cx: LowerContext,
  op: AtomicOp,
  owner: Operand | undefined,
  results: Operand[],
): void {
  const e = cx.emitter;
  const { pointer } = operandsOf(op);
  const { layout } = pointer.type;
  const element = elementOf(pointer);
  const bank = wordBank(element);
  const size = bank === "b64" ? 8 : 4;
  const start = beginExchange(cx, op);
  const scaled = (bases: readonly number[]): number[] => bases.map((basis) => basis * size);
  // Of blocks that have copies of an element, the first one has its result.
  const copies = layout === undefined ? cx.numCtas - 1 : freeMask(layout.block);
  const ownerBlock = (): Operand =>
    e.pure("and.b32", "b32", [blockRank(cx), int(cx.numCtas - 1 & ~copies)]);
  const addressOf = (register: number, isOwn: boolean): Operand => {
    const { base, constant } = layout === undefined
      ? { base: int(0), constant: 0 }
      : atRegister(cx, {
        register: scaled(layout.register),
        thread: scaled(threadBases(layout)),
      }, register);
    const own = e.add("b32", start, base);
    return {
      kind: "address",
      base: isOwn ? own : inBlock(cx, own, ownerBlock()),
      offset: BigInt(constant),
    };
  };
  const guard: Guard = owner?.kind === "register" ? { register: owner, negated: false } : undefined;
  results.forEach((result, register) => {
    const word = e.inRegister(toWord(e, result, element), bank);
    e.emit(`st.shared.${bank}`, [addressOf(register, true), word], guard);
  });
  programBarrier(cx);
  results.forEach((_, register) => {
    const word = e.register(bank);
    e.emit(`ld.shared${copies === 0 ? "" : "::cluster"}.${bank}`, [
      word,
      addressOf(register, copies === 0),
    ]);
    results[register] = fromWord(e, word, element);
  });
}
