/** Built-in functions as operations of tile IR, by the canonical names of front/builtins.ts. */
import type { TypedExpr } from "../front/typed.ts";
import type { Value } from "../ir/func.ts";
import { append, type Context, emit } from "./context.ts";
import { irType } from "./types.ts";

type BuiltinCall = Extract<TypedExpr, { kind: "builtin" }>;
type Emit = (cx: Context, call: BuiltinCall, args: readonly Value[]) => Value | undefined;

/** Element-wise functions: they become `math` under the same name. */
// deno-fmt-ignore
const MATH: ReadonlySet<string> = new Set([
  "exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "rsqrt", "div_rn", "pow", "fma", "fmod",
  "sin", "cos", "tan", "tanh", "sigmoid", "erf", "floor", "ceil", "round", "trunc", "copysign", "abs",
  "isnan", "isinf", "isfinite", "minimum", "maximum", "mulhi", "popc", "clz", "ffs", "brev",
]);

/** Two names for one function: `sqrt` is correctly rounded anyway, signedness is in the type. */
const SAME: ReadonlyMap<string, string> = new Map([["sqrt_rn", "sqrt"], ["umulhi", "mulhi"]]);

const mathName = (name: string): string => SAME.get(name) ?? name;

export function isMath(name: string): boolean {
  return MATH.has(mathName(name));
}

const OPERAND: Emit = (_cx, _call, [operand]) => operand;
const NOTHING: Emit = () => undefined;

/** `cumsum` and its like; the one option is the axis. */
const scan = (operator: string): Emit => (cx, call, [operand]) =>
  operand &&
  emit(cx, "scan", [operand], operand.type, call.span, { axis: Number(call.options[0]), operator });

const OTHERS: ReadonlyMap<string, Emit> = new Map<string, Emit>([
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
      emit(cx, "assume_multiple", [operand], operand.type, call.span, {
        n: Number(call.options[0]),
      }),
  ],
  // Promises and hints that nothing reads yet, and what only debug builds check.
  ["max_contiguous", OPERAND],
  ["max_constancy", OPERAND],
  ["assume", NOTHING],
  ["prefetch", NOTHING],
  ["assert", NOTHING],
]);

/** What a call becomes, given its arguments; undefined when it cannot be built yet. */
export function builtinRule(name: string): Emit | undefined {
  return isMath(name) ? emitMath : OTHERS.get(name);
}

const emitMath: Emit = (cx, call, args) =>
  call.type.kind === "void"
    ? undefined
    : emit(cx, "math", args, irType(call.type), call.span, { function: mathName(call.name) });
