/** Heads of functions: names, results and parameters; prototypes (language.md, 4.4). */
import type { Span } from "../../support/source.ts";
import type * as ast from "../../parse/ast.ts";
import type { Type } from "../tree/types.ts";
import type { TypedHelper, ValueType } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { BUILTINS } from "../builtins/builtins.ts";
import { applyPointers, isConstObject, resolveDeclarator, resolveSpec } from "../check_type.ts";
import { OLD_ATOMIC } from "../builtins/check_atomic.ts";
import type { Head, Param } from "./head.ts";
import type { HelperEntry } from "../scope.ts";
import { sameType } from "../tree/value_types.ts";
import { must } from "../../support/bug.ts";
import { SCALARS } from "../../support/scalar.ts";

/** A declaration without body: of a built-in it is ignored, of a helper it makes the name known. */
export function checkPrototype(
  cx: Context,
  specs: ast.Specs,
  declarator: ast.Declarator,
  base: Type,
): void {
  const name = declarator.name?.text ?? "";
  if (BUILTINS.has(name) || OLD_ATOMIC.test(name)) return;
  const head = readHead(cx, specs, declarator, base);
  if (head === undefined) return;
  if (head.variadic !== undefined) rejectVariadic(cx, head.variadic, head.isGlobal);
  if (head.isGlobal) {
    const { span } = head.name;
    if (cx.scope.own(name)?.kind !== "kernel") {
      cx.declare(name, { kind: "kernel", span, defined: false });
    }
  } else {
    helperEntry(cx, head, head.name.span);
  }
}

export function rejectVariadic(cx: Context, span: Span, isKernel: boolean): void {
  const what = isKernel ? "kernels" : "functions";
  cx.reporter.error("E4023", span, `${what} with any number of arguments are not supported`);
}

export function readHead(
  cx: Context,
  specs: ast.Specs,
  declarator: ast.Declarator,
  base: Type,
): Head | undefined {
  const { name, params, nested } = declarator;
  if (nested !== undefined || name === undefined || params === undefined) {
    cx.reporter.error("E3010", declarator.span, "pointers to functions are not supported");
    return undefined;
  }
  const words = specs.storage.map(({ word }) => word);
  return {
    name,
    result: applyPointers(cx, base, specs, declarator.pointers),
    params: params.params.map((param) => readParam(cx, param)),
    isGlobal: words.includes("__global__"),
    isStatic: words.includes("static"),
    variadic: params.variadic,
  };
}

function readParam(cx: Context, syntax: ast.Param): Param {
  const { specs, declarator, span } = syntax;
  const base = resolveSpec(cx, specs.type);
  const { name } = declarator;
  const type = declarator.params === undefined
    ? resolveDeclarator(cx, base, specs, declarator)
    : undefined;
  if (type === undefined) {
    cx.reporter.error("E3010", span, "a function cannot be a parameter");
  } else if (type.kind === "void") {
    cx.reporter.error("E3002", span, "a parameter cannot be void");
  }
  const isValue = type !== undefined && type.kind !== "void" && type.kind !== "poison";
  return {
    name,
    type: isValue ? type : undefined,
    isConstant: isValue && isConstantType(type) && isConstObject(specs, declarator.pointers),
    syntax,
    span,
  };
}

function isConstantType(type: ValueType): boolean {
  return type.kind === "scalar" && SCALARS[type.name].class !== "float";
}

/** The entry of a helper, made by its first declaration; undefined when its types are wrong. */
export function helperEntry(cx: Context, head: Head, span: Span): HelperEntry | undefined {
  const { name, result, params } = head;
  const types = params.flatMap(({ type }) => type === undefined ? [] : [type]);
  if (types.length < params.length || result.kind === "poison" || head.variadic !== undefined) {
    cx.declare(name.text, { kind: "poison", span: name.span });
    return undefined;
  }
  const resultType = result.kind === "void" ? undefined : result;
  const earlier = cx.scope.own(name.text);
  if (earlier?.kind === "helper") {
    const same = earlier.paramTypes.length === types.length &&
      earlier.paramTypes.every((type, at) => sameType(type, must(types[at], "parameter type"))) &&
      earlier.constants.every((isConstant, at) => isConstant === params[at]?.isConstant) &&
      (resultType === undefined
        ? earlier.helper.result === undefined
        : earlier.helper.result !== undefined && sameType(resultType, earlier.helper.result));
    if (same) return earlier;
    cx.reporter.error(
      "E6020",
      name.span,
      `\`${name.text}\` has an earlier declaration with other types`,
      {
        notes: [{ message: "the earlier declaration", span: earlier.span }],
      },
    );
    return undefined;
  }
  const lists: Pick<HelperEntry, "params" | "body"> = { params: [], body: [] };
  const helper: TypedHelper = { name: name.text, result: resultType, span, ...lists };
  const entry: HelperEntry = {
    kind: "helper",
    helper,
    paramTypes: types,
    constants: params.map(({ isConstant }) => isConstant),
    ...lists,
    span: name.span,
    defined: false,
  };
  cx.declare(name.text, entry);
  return entry;
}
