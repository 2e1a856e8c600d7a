/** Built-ins for random numbers, hints and debugging (language.md, 7.4). */
import type { Code } from "../../support/codes.ts";
import { type ScalarName, SCALARS, spellType } from "../tree/types.ts";
import type { TypedExpr } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { constantArgument, reportArgument, valuesOf } from "../expressions/check_argument.ts";
import type { BuiltinCall } from "./builtins.ts";
import { builtinNode, effectNode, elementwise, stretchAll } from "./builtin_node.ts";
import { checkString } from "../expressions/check_expr.ts";
import {
  convertElement,
  isArithmetic,
  isFloat,
  isInteger,
  pointerOf,
  toBool,
  toScalar,
} from "../expressions/convert.ts";
import type { Value } from "../tree/nodes.ts";
import { elementOf, scalarType } from "../tree/value_types.ts";

/** `philox(seed, offset, word)`: one of four 32-bit words. */
export function checkPhilox(
  cx: Context,
  call: BuiltinCall,
  [seed, offset, word]: readonly Value[],
): Value | undefined {
  const index = word && constantArgument(cx, word, "the word of `philox`", 0, 3);
  if (index === undefined || seed === undefined || offset === undefined) return undefined;
  return randomNode(cx, call, seed, offset, "uint32", [`${index}`]);
}

/** `randint`, `rand`, `randn` of a seed and an offset. */
export function checkRandom(
  cx: Context,
  call: BuiltinCall,
  [seed, offset]: readonly Value[],
): Value | undefined {
  if (seed === undefined || offset === undefined) return undefined;
  const result = call.builtin.canonical === "randint" ? "uint32" : "float32";
  return randomNode(cx, call, seed, offset, result, []);
}

function randomNode(
  cx: Context,
  call: BuiltinCall,
  seed: Value,
  offset: Value,
  result: ScalarName,
  options: readonly string[],
): Value | undefined {
  if (!isInteger(seed)) return reportArgument(cx, call, seed.span, "an integer seed", seed);
  if (!isInteger(offset)) return reportArgument(cx, call, offset.span, "an integer offset", offset);
  const scalar = toScalar(cx, seed);
  if (scalar === undefined) return undefined;
  const key = convertElement(cx, scalar, scalarType("uint64"));
  const counter = convertElement(cx, offset, scalarType("int32"));
  return elementwise(cx, call, [key, counter], result, options);
}

/** `multiple_of(x, n)` and its like return x. */
export function checkHint(
  cx: Context,
  call: BuiltinCall,
  [x, n]: readonly Value[],
): Value | undefined {
  if (x === undefined || n === undefined) return undefined;
  if (!isInteger(x) && pointerOf(x) === undefined) {
    return reportArgument(cx, call, x.span, "integers or pointers", x);
  }
  const count = constantArgument(cx, n, `the number of \`${call.builtin.name}\``, 1, 2 ** 31);
  return count === undefined ? undefined : builtinNode(call, [x], x.type, [`${count}`]);
}

/** `assume(c)`. */
export function checkAssume(
  cx: Context,
  call: BuiltinCall,
  [condition]: readonly Value[],
): TypedExpr | undefined {
  const test = condition && toScalar(cx, toBool(condition));
  return test && effectNode(call, [test]);
}

/** `assert(c [, "text"])`. */
export function checkAssertCall(
  _: Context,
  call: BuiltinCall,
  [condition]: readonly Value[],
): TypedExpr | undefined {
  return condition && effectNode(call, [toBool(condition)], call.strings.map(({ text }) => text));
}

/** What a conversion of `printf` takes and what its argument is converted to. */
const CONVERSIONS: Readonly<Record<string, ScalarName | "float" | "pointer">> = {
  d: "int32",
  u: "uint32",
  x: "uint32",
  ld: "int64",
  lu: "uint64",
  f: "float",
  g: "float",
  p: "pointer",
};

/** `printf("fmt", …)`. */
export function checkPrintf(cx: Context, call: BuiltinCall): TypedExpr | undefined {
  const [first, ...rest] = call.args;
  const values = valuesOf(cx, { ...call, args: rest });
  if (first?.kind !== "expr" || first.expr.kind !== "string") {
    const span = first?.kind === "expr" ? first.expr.span : call.span;
    return reportArgument(cx, call, span, "a string as its first argument");
  }
  const { span } = first.expr;
  const format = checkString(cx, first.expr);
  if (format === undefined || values === undefined) return undefined;
  const conversions = [...format.matchAll(/%(?:%|(l?[a-zA-Z])?)/g)]
    .filter(([whole]) => whole !== "%%")
    .map(([, conversion]) => conversion ?? "");
  const error = (code: Code, message: string): undefined => {
    cx.reporter.error(code, span, message, {
      hint: `the conversions are ${Object.keys(CONVERSIONS).map((name) => `%${name}`).join(" ")}`,
    });
    return undefined;
  };
  const unknown = conversions.find((conversion) => !Object.hasOwn(CONVERSIONS, conversion));
  if (unknown !== undefined) return error("E7002", `\`printf\` has no conversion \`%${unknown}\``);
  if (conversions.length !== values.length) {
    const message = `the format has ${conversions.length} conversions for ${values.length} values`;
    return error("E7001", message);
  }
  const args: Value[] = [];
  for (const [index, value] of values.entries()) {
    const printed = printable(cx, value, CONVERSIONS[conversions[index] ?? ""] ?? "int32");
    if (printed === undefined) {
      const wanted = `a value that fits \`%${conversions[index]}\``;
      return reportArgument(cx, call, value.span, wanted, value);
    }
    args.push(printed);
  }
  const stretched = args.length === 0 ? args : stretchAll(cx, call, args);
  return stretched && effectNode(call, stretched, [format]);
}

function printable(
  cx: Context,
  value: Value,
  wanted: ScalarName | "float" | "pointer",
): Value | undefined {
  if (wanted === "pointer") return pointerOf(value) === undefined ? undefined : value;
  if (!isArithmetic(value)) return undefined;
  if (wanted === "float") {
    if (!isFloat(value)) return undefined;
    const element = elementOf(value.type);
    const isDouble = element.kind === "scalar" && element.name === "float64";
    return isDouble ? value : convertElement(cx, value, scalarType("float32"));
  }
  const element = elementOf(value.type);
  const fits = isInteger(value) && element.kind === "scalar" &&
    SCALARS[element.name].bits <= SCALARS[wanted].bits;
  return fits ? convertElement(cx, value, scalarType(wanted)) : undefined;
}

/** `static_print(…)`: constants by value, all else by type, as a warning (W7009). Nothing of it is left at run time. */
export function checkStaticPrint(cx: Context, call: BuiltinCall): TypedExpr | undefined {
  const shown: string[] = [];
  for (const arg of call.args) {
    if (arg.kind === "expr" && arg.expr.kind === "string") {
      shown.push(checkString(cx, arg.expr) ?? "");
      continue;
    }
    const [value] = valuesOf(cx, { ...call, args: [arg] }) ?? [];
    if (value === undefined) return undefined;
    shown.push(value.kind === "constant" ? `${value.value}` : spellType(value.type));
  }
  cx.reporter.warn("W7009", call.span, shown.join(" "));
  return effectNode(call, []);
}
