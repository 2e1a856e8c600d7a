/** Built-ins that access memory or depend on the launch, and `dot` (language.md, 7.1, 7.3). */
import type { TypedExpr } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { computedAsIeee, isComputedAsIeee } from "../../support/dot_modes.ts";
import { constantArgument, reportArgument } from "../expressions/check_argument.ts";
import type { BuiltinCall } from "./builtins.ts";
import { effectNode } from "./builtin_node.ts";
import { store } from "../expressions/check_assign.ts";
import { hasEffect } from "../analysis/effects.ts";
import { applyBinary, checkSized } from "../expressions/check_operators.ts";
import {
  checkWritable,
  loadFrom,
  lvalueType,
  maskedLvalue,
  type MemoryLvalue,
} from "../expressions/check_lvalue.ts";
import { checkMatmul } from "../expressions/check_tile.ts";
import { convertTo, pointerOf } from "../expressions/convert.ts";
import type { Value } from "../tree/nodes.ts";
import { scalarType } from "../tree/value_types.ts";

/** Modifier strings by what they decide; one of each at most. */
type Modifiers = Readonly<Record<string, readonly string[]>>;

const EVICTION = ["evict_first", "evict_last", "evict_normal"];
const LOAD_MODIFIERS: Modifiers = {
  cache: ["ca", "cg", "cs", "cv", "nc", "volatile"],
  eviction: EVICTION,
};
const STORE_MODIFIERS: Modifiers = { cache: ["wb", "cg", "cs", "wt"], eviction: EVICTION };
const DOT_MODES: Modifiers = { mode: ["ieee", "tf32", "tf32x3", "bf16x3", "f32acc"] };

/**
 * An earlier modifier of the other group that does not go with this one: PTX has eviction priorities for plain and
 * for non-coherent accesses only (PTX ISA 9.0, ld and st).
 */
function clashing(
  text: string,
  group: string,
  taken: ReadonlyMap<string, string>,
): string | undefined {
  if (group === "eviction") {
    const cache = taken.get("cache");
    return cache === "nc" ? undefined : cache;
  }
  return group === "cache" && text !== "nc" ? taken.get("eviction") : undefined;
}

/** The modifier strings of a call; unknown and clashing ones are E7007. */
export function modifiersOf(
  cx: Context,
  call: BuiltinCall,
  known: Modifiers,
): readonly string[] | undefined {
  const taken = new Map<string, string>();
  for (const { text, span } of call.strings) {
    const group = Object.keys(known).find((name) => known[name]?.includes(text));
    const earlier = group === undefined
      ? undefined
      : taken.get(group) ?? clashing(text, group, taken);
    if (group !== undefined && earlier === undefined) {
      taken.set(group, text);
      continue;
    }
    const message = group === undefined
      ? `\`${call.builtin.name}\` has no modifier "${text}"`
      : `the modifiers "${earlier}" and "${text}" are mutually exclusive`;
    cx.reporter.error("E7007", span, message, {
      hint: `the modifiers are ${Object.values(known).flat().join(", ")}`,
    });
    return undefined;
  }
  return [...taken.values()];
}

/** Modifiers of an access; a volatile one has no way through the caches to choose (PTX ISA 9.0, ld.volatile). */
function accessModifiers(
  cx: Context,
  call: BuiltinCall,
  lvalue: MemoryLvalue | undefined,
  known: Modifiers,
): readonly string[] | undefined {
  const modifiers = modifiersOf(cx, call, known);
  const chosen = call.strings.find(({ text }) => text !== "volatile");
  const isVolatile = lvalue !== undefined && pointerOf(lvalue.pointer)?.volatile === true;
  if (modifiers === undefined || chosen === undefined || !isVolatile) return modifiers;
  const message = `"${chosen.text}" cannot be used with a pointer to volatile`;
  cx.reporter.error("E7007", chosen.span, message);
  return undefined;
}

/** The lvalue that a pointer argument and an optional mask give. */
export function lvalueArgument(
  cx: Context,
  call: BuiltinCall,
  pointer: Value | undefined,
  mask: Value | undefined,
): MemoryLvalue | undefined {
  if (pointer === undefined) return undefined;
  if (pointerOf(pointer) === undefined) {
    return reportArgument(cx, call, pointer.span, "a pointer", pointer);
  }
  if (!checkSized(cx, pointer, pointer.span)) return undefined;
  const { span } = call;
  if (mask === undefined) return { kind: "memory", pointer, span };
  return maskedLvalue(cx, pointer, mask, { span, operatorSpan: span }, call.builtin.name);
}

/** `load(p [, m [, other]] {, "modifier"})`. */
export function checkLoadCall(
  cx: Context,
  call: BuiltinCall,
  [pointer, mask, fill]: readonly Value[],
): Value | undefined {
  const lvalue = lvalueArgument(cx, call, pointer, mask);
  const modifiers = accessModifiers(cx, call, lvalue, LOAD_MODIFIERS);
  if (lvalue === undefined || modifiers === undefined) return undefined;
  const other = fill && convertTo(cx, fill, lvalueType(lvalue.pointer));
  if (fill !== undefined && other === undefined) return undefined;
  const loaded = loadFrom(lvalue, call.span);
  if (loaded.kind !== "load") return undefined;
  const filled = other === undefined || lvalue.mask === undefined ? {} : { other };
  return { ...loaded, ...filled, modifiers };
}

/** `store(p, v [, m] {, "modifier"})`. */
export function checkStoreCall(
  cx: Context,
  call: BuiltinCall,
  [pointer, value, mask]: readonly Value[],
): Value | undefined {
  const lvalue = checkWritable(cx, lvalueArgument(cx, call, pointer, mask));
  const modifiers = accessModifiers(cx, call, lvalue, STORE_MODIFIERS);
  if (lvalue === undefined || value === undefined || modifiers === undefined) return undefined;
  // An assignment begins with its right side, a call with its first argument.
  if (![lvalue.pointer, value].some(hasEffect)) {
    return store(cx, lvalue, value, call.span, modifiers);
  }
  return cx.tryOnce(
    lvalue.pointer,
    "lvalue",
    (pointer) =>
      cx.tryOnce(
        value,
        "value",
        (once) => store(cx, { ...lvalue, pointer }, once, call.span, modifiers),
      ),
  );
}

/** `prefetch(p [, m])`. */
export function checkPrefetch(
  cx: Context,
  call: BuiltinCall,
  [pointer, mask]: readonly Value[],
): TypedExpr | undefined {
  const lvalue = lvalueArgument(cx, call, pointer, mask);
  return lvalue &&
    effectNode(call, lvalue.mask === undefined ? [lvalue.pointer] : [lvalue.pointer, lvalue.mask]);
}

/** `__debug_barrier()`, `threadfence()`. */
export function checkBarrier(_: Context, call: BuiltinCall): TypedExpr {
  return effectNode(call, []);
}

/** `calloc` has a meaning in the initialiser of a file-scope buffer only (E7006). */
export function checkCalloc(cx: Context, call: BuiltinCall): undefined {
  cx.reporter.error("E7006", call.span, "`calloc` is allowed only at file scope", {
    hint: "write `char __constant__ *buffer = calloc(256);` outside the functions",
  });
  return undefined;
}

/** `get_program_id(axis)`, `get_num_programs(axis)`. */
export function checkProgram(
  cx: Context,
  call: BuiltinCall,
  [value]: readonly Value[],
): Value | undefined {
  const axis = value && constantArgument(cx, value, "the axis of the grid", 0, 2);
  if (axis !== 0 && axis !== 1 && axis !== 2) return undefined;
  const kind = call.builtin.canonical === "get_program_id" ? "program-id" : "num-programs";
  return { kind, axis, type: scalarType("int32"), span: call.span };
}

/** `dot(a, b [, acc] [, mode])` is `acc + a @ b`. */
export function checkDot(
  cx: Context,
  call: BuiltinCall,
  [a, b, acc]: readonly Value[],
): Value | undefined {
  const modes = modifiersOf(cx, call, DOT_MODES);
  for (const { text, span } of call.strings) {
    if (isComputedAsIeee(text)) cx.reporter.warn("W9017", span, ...computedAsIeee(text));
  }
  const at = { span: call.span, operatorSpan: call.span };
  if (modes === undefined || a === undefined || b === undefined) return undefined;
  if (acc === undefined) return checkMatmul(cx, a, b, at, modes[0]);
  const sum = (left: Value, right: Value): Value | undefined => {
    const product = checkMatmul(cx, left, right, at, modes[0]);
    return product && applyBinary(cx, "+", acc, product, at);
  };
  // The accumulator is the last argument, but the first operand.
  return [a, b, acc].some(hasEffect)
    ? cx.tryOnce(a, "left", (left) => cx.tryOnce(b, "right", (right) => sum(left, right)))
    : sum(a, b);
}
