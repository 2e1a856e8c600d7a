/** Built-in functions as operations of tile IR. */
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

/** Other spellings of the same functions (language.md, 7). */
// deno-fmt-ignore
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["sqrtf", "sqrt"], ["sqrt_rn", "sqrt"], ["umulhi", "mulhi"], ["fabs", "abs"],
]);

function mathName(name: string): string {
  const known = SYNONYMS.get(name);
  if (known !== undefined) return known;
  const short = name.slice(0, -1); // expf, logf, sinf …
  return name.endsWith("f") && !MATH.has(name) && MATH.has(short) ? short : name;
}

export function isMath(name: string): boolean {
  return MATH.has(mathName(name));
}

const OTHERS: ReadonlyMap<string, Emit> = new Map<string, Emit>([
  ["__debug_barrier", (cx, call) => {
    append(cx, "barrier", [], [], call.span);
    return undefined;
  }],
  ["multiple_of", (cx, call, [operand]) => {
    const n = call.args[1];
    if (operand === undefined || n?.kind !== "constant") return operand;
    return emit(cx, "assume_multiple", [operand], operand.type, call.span, { n: Number(n.value) });
  }],
  // Hints that nothing reads.
  ["max_contiguous", (_cx, _call, [operand]) => operand],
  ["max_constancy", (_cx, _call, [operand]) => operand],
  ["assume", () => undefined],
]);

/** What a call becomes, given its arguments; undefined when it cannot be built yet. */
export function builtinRule(name: string): Emit | undefined {
  if (!isMath(name)) return OTHERS.get(name);
  return (cx, call, args) =>
    call.type.kind === "void"
      ? undefined
      : emit(cx, "math", args, irType(call.type), call.span, { function: mathName(name) });
}
