/** Elements of values that have been lowered, and what waits to be emitted between the instructions of dots. */
import type { Value } from "../ir/func.ts";
import { bug } from "../support/bug.ts";
import type { LowerContext, Lowered } from "./context.ts";
import type { Ref } from "./element.ts";
import type { Scope } from "./emitter.ts";

/** Operations are lowered in their order, and the verifier says that a value comes before its uses. */
export function lowered(cx: LowerContext, value: Value): Lowered {
  return cx.values.get(value) ??
    bug(`no lowering of a value made by ${value.def?.name ?? "a parameter"}`);
}

/** Gives a value its elements, by register; `free` are the register bits that make copies. */
export function setElements(
  cx: LowerContext,
  value: Value,
  elements: readonly Ref[],
  free = 0,
): void {
  cx.values.set(value, (register) => ofRegister(elements, register & ~free));
}

/** What a thread holds in a register. How many a layout has is known when the program is compiled, and not to types. */
export function ofRegister<T>(elements: readonly T[], register: number): T {
  return elements[register] ?? bug(`${elements.length} registers, and none is ${register}`);
}

/** The same of registers that do not follow each other. */
export function byRegister<T>(
  entries: Iterable<readonly [register: number, held: T]>,
): (register: number) => T {
  const known = new Map(entries);
  return (register) =>
    known.get(register) ?? bug(`register ${register} is not among ${known.size}`);
}

/**
 * Remembers each register's element once it has been computed, as long as the scope in which it was computed is open.
 */
export function memo(cx: LowerContext, compute: Lowered): Lowered {
  const known = new Map<number, { readonly ref: Ref; readonly scope: Scope }>();
  return (register) => {
    const found = known.get(register);
    if (found?.scope.open === true) return found.ref;
    const ref = compute(register);
    known.set(register, { ref, scope: cx.emitter.scope });
    return ref;
  };
}

/** Emits at most so many of the deferred accesses; all by default. */
export function emitDeferred(cx: LowerContext, count = cx.deferred.length): void {
  for (const emit of cx.deferred.splice(0, count)) emit();
}
