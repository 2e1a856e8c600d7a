/** Built-in functions as operations of tile IR, by the canonical names of check/builtins.ts. */
import type { Span } from "../support/source.ts";
import type { Value } from "../ir/func.ts";
import { isPointer } from "../ir/types.ts";
import { must } from "../support/bug.ts";
import { isMathName, type MathName, operationOf } from "../support/math_functions.ts";
import { append, type Context, emit, emitConstant } from "./context.ts";
import { buildAssert, buildAssume, buildMultiple, buildPrintf } from "./debug.ts";
import { buildReshape } from "./shape.ts";
import { buildExchange, buildHalf, buildMerge, buildPair, buildSort, type Order } from "./tiles.ts";
import { type BuiltinCall, irType } from "./types.ts";

/** Builds a call of a built-in function from the values of its arguments; undefined: it has no value. */
type Emit = (cx: Context, call: BuiltinCall, args: readonly Value[]) => Value | undefined;

const OPERAND: Emit = (_cx, _call, [operand]) => operand;

/** `cumsum` and its like; the one option is the axis. */
const scan = (operator: string): Emit => (cx, call, [operand]) =>
  operand &&
  emit(cx, "scan", [operand], operand.type, call.span, { axis: Number(call.options[0]), operator });

/** Scalar atomics order everything the program does around them, those on tiles nothing (language.md 8.4). */
const atomic = (operator: string): Emit => (cx, call, [pointer, ...rest]) => {
  if (pointer === undefined) return undefined;
  const { element, shape } = pointer.type;
  if (!isPointer(element) || element.pointee === "void") return undefined;
  const named = (names: readonly string[]): string | undefined =>
    call.options.find((option) => names.includes(option));
  const attrs = {
    order: named(["relaxed", "acquire", "release", "acq_rel"]) ??
      (shape.length === 0 ? "acq_rel" : "relaxed"),
    scope: named(["cta", "sys"]) ?? "gpu",
  };
  const type = { element: element.pointee, shape };
  return operator === "cas"
    ? emit(cx, "atomic_cas", [pointer, ...rest], type, call.span, attrs)
    : emit(cx, "atomic", [pointer, ...rest], type, call.span, { operator, ...attrs });
};

/** A word of Philox as `math`, by name. */
const philox = (cx: Context, call: BuiltinCall, args: readonly Value[], word: number): Value => {
  const shape = args[0]?.type.shape ?? [];
  const type = { element: "uint32" as const, shape };
  return emit(cx, "math", args, type, call.span, { function: `philox${word}` });
};

/** `a * b` as the value of a built-in, with which no sum of the program is fused: it is always rounded. */
function roundedProduct(cx: Context, a: Value, b: Value, span: Span): Value {
  const { type } = a;
  const nothing = emitConstant(cx, -0, type, span);
  return emit(cx, "math", [a, b, nothing], type, span, { function: "fma" });
}

/** Word 0 in [0, 1): as a signed number, complemented if negative, times 2^-31 less a little. */
function uniform(cx: Context, call: BuiltinCall, word: Value): Value {
  const { shape } = word.type;
  const { span } = call;
  const type = { element: "int32" as const, shape };
  const signed = emit(cx, "bitcast", [word], type, span);
  const zero = emitConstant(cx, 0n, type, span);
  const negative = emit(cx, "lt", [signed, zero], { element: "bool", shape }, span);
  const inverted = emit(cx, "not", [signed], type, span);
  const size = emit(cx, "select", [negative, inverted, signed], type, span);
  const float = { element: "float32" as const, shape };
  const converted = emit(cx, "convert", [size], float, span);
  const scale = emitConstant(cx, Math.fround(4.6566127342e-10), float, span);
  return roundedProduct(cx, converted, scale, span);
}

/** √(-2 ln max(1e-7, u0)) · cos(2π u1) (Box and Muller, 1958). */
const normal: Emit = (cx, call, args) => {
  const [first, second] = [0, 1].map((word) => uniform(cx, call, philox(cx, call, args, word)));
  if (first === undefined || second === undefined) return undefined;
  const { span } = call;
  const { type } = first;
  const constant = (value: number): Value => emitConstant(cx, Math.fround(value), type, span);
  const math = (name: string, operand: Value): Value =>
    emit(cx, "math", [operand], type, span, { function: name });
  const times = (a: Value, b: Value): Value => emit(cx, "mul", [a, b], type, span);
  const limited = emit(cx, "max", [first, constant(1e-7)], type, span);
  const radius = math("sqrt", times(constant(-2), math("log", limited)));
  const angle = times(constant(2 * Math.PI), second);
  return roundedProduct(cx, radius, math("cos", angle), span);
};

/** The shape of a call's result. */
const extentsOf = (call: BuiltinCall): readonly number[] =>
  call.type.kind === "tile" ? call.type.shape : [];

/** By which axis and which way a call sorts. */
const orderOf = ({ options }: BuiltinCall): Order => ({
  axis: Number(options[0]),
  descending: options[1] === "down",
});

const pair = (
  build: (cx: Context, call: BuiltinCall, a: Value, b: Value) => Value,
): Emit =>
(cx, call, [a, b]) => a && b && build(cx, call, a, b);

const OTHERS: ReadonlyMap<string, Emit> = new Map<string, Emit>([
  ["atomic_add", atomic("add")],
  ["atomic_sub", atomic("sub")],
  ["atomic_min", atomic("min")],
  ["atomic_max", atomic("max")],
  ["atomic_and", atomic("and")],
  ["atomic_or", atomic("or")],
  ["atomic_xor", atomic("xor")],
  ["atomic_xchg", atomic("xchg")],
  ["atomic_cas", atomic("cas")],
  ["philox", (cx, call, args) => philox(cx, call, args, Number(call.options[0]))],
  ["randint", (cx, call, args) => philox(cx, call, args, 0)],
  ["rand", (cx, call, args) => uniform(cx, call, philox(cx, call, args, 0))],
  ["randn", normal],
  ["threadfence", (cx, call) => {
    append(cx, "fence", [], [], call.span);
    return undefined;
  }],
  ["flip", (cx, call, [value]) => {
    if (value === undefined) return undefined;
    const axis = Number(call.options[0]);
    return buildExchange(cx, value, axis, (value.type.shape[axis] ?? 1) - 1, call.span);
  }],
  [
    "cat",
    pair((cx, call, a, b) =>
      buildReshape(cx, buildPair(cx, a, b, 0, call.span), extentsOf(call), call.span)
    ),
  ],
  ["join", pair((cx, call, a, b) => buildPair(cx, a, b, a.type.shape.length, call.span))],
  [
    "interleave",
    pair((cx, call, a, b) =>
      buildReshape(
        cx,
        buildPair(cx, a, b, a.type.shape.length, call.span),
        extentsOf(call),
        call.span,
      )
    ),
  ],
  ["split0", (cx, call, [value]) => value && buildHalf(cx, value, 0, call.span)],
  ["split1", (cx, call, [value]) => value && buildHalf(cx, value, 1, call.span)],
  [
    "sort",
    (cx, call, [value]) => value && buildSort(cx, value, orderOf(call), call.span),
  ],
  [
    "bitonic_merge",
    (cx, call, [value]) => value && buildMerge(cx, value, orderOf(call), call.span),
  ],
  [
    "gather",
    (cx, call, [value, index]) =>
      value && index && call.type.kind !== "void"
        ? emit(cx, "gather", [value, index], irType(call.type), call.span, {
          axis: Number(call.options[0]),
        })
        : undefined,
  ],
  [
    "histogram",
    (cx, call, [value]) =>
      value && call.type.kind !== "void"
        ? emit(cx, "histogram", [value], irType(call.type), call.span)
        : undefined,
  ],
  ["cumsum", scan("add")],
  ["cumprod", scan("mul")],
  ["cummax", scan("max")],
  ["cummin", scan("min")],
  ["__debug_barrier", (cx, call) => {
    append(cx, "barrier", [], [], call.span);
    return undefined;
  }],
  [
    "multiple_of",
    (cx, call, [operand]) =>
      operand &&
      buildMultiple(cx, operand, Number(call.options[0]), call.args[0]?.span ?? call.span),
  ],
  ["constant-buffer", (cx, call) => {
    const [buffer = "", bytes] = call.options;
    if (call.type.kind === "void") return undefined;
    return emit(cx, "constant_buffer", [], irType(call.type), call.span, {
      buffer,
      bytes: Number(bytes),
    });
  }],
  // Hints that nothing reads.
  ["max_contiguous", OPERAND],
  ["max_constancy", OPERAND],
  ["assume", buildAssume],
  ["assert", buildAssert],
  ["printf", buildPrintf],
  // The checker has shown it.
  ["static_print", () => undefined],
  ["prefetch", (cx, call, operands) => {
    append(cx, "prefetch", operands, [], call.span);
    return undefined;
  }],
]);

/** What a call becomes, from its arguments. */
export function builtinRule(name: string): Emit {
  return isMathName(name) ? emitMath(name) : must(OTHERS.get(name), `rule for ${name}`);
}

/** An element-wise function as `math`. */
const emitMath = (name: MathName): Emit => (cx, call, args) =>
  call.type.kind === "void"
    ? undefined
    : emit(cx, "math", args, irType(call.type), call.span, { function: operationOf(name) });
