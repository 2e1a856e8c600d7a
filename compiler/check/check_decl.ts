/** Declarations: variables, typedefs, constants, buffers (language.md, 4.1 to 4.3, 7.2). */
import type * as ast from "../parse/ast.ts";
import { spellType, type Type } from "./tree/types.ts";
import type { TypedStmt, ValueType } from "./tree/typed.ts";
import type { Context } from "./check_context.ts";
import type { Entry } from "./scope.ts";
import { resolveAttributes } from "./check_attributes.ts";
import { checkConstant, isConstObject, resolveDeclarator, resolveSpec } from "./check_type.ts";
import { checkExpr, checkValue } from "./expressions/check_expr.ts";
import { checkPrototype } from "./functions/function_head.ts";
import { convertTo } from "./expressions/convert.ts";
import type { Value } from "./tree/nodes.ts";
import { sameType } from "./tree/value_types.ts";
import { CONSTANT_BYTES, constantSpace } from "../support/constants.ts";

/** A declaration at file scope or in a block. */
export function checkDeclaration(cx: Context, decl: ast.Declaration): readonly TypedStmt[] {
  const { specs } = decl;
  const words = specs.storage.map(({ word }) => word);
  const isTypedef = words.includes("typedef");
  const base = resolveSpec(cx, specs.type);
  const isLocal = cx.scope !== cx.file;
  const stmts: TypedStmt[] = [];
  for (const init of decl.inits) {
    const { declarator } = init;
    const { name } = declarator;
    if (declarator.params !== undefined && !isTypedef) {
      checkPrototype(cx, specs, declarator, base);
      continue;
    }
    const type = declarator.params === undefined
      ? resolveDeclarator(cx, base, specs, declarator)
      : rejectFunctionType(cx, declarator);
    if (name === undefined) continue;
    if (isTypedef) {
      declareTypedef(cx, name, type);
      continue;
    }
    if (isLocal) {
      rejectStorage(cx, specs);
      stmts.push(...declareLocal(cx, specs, init, name, type));
    } else {
      declareGlobal(cx, specs, init, name, type);
    }
  }
  return stmts;
}

function rejectFunctionType(cx: Context, { span }: ast.Declarator): Type {
  cx.reporter.error("E3010", span, "function types are not supported");
  return { kind: "poison" };
}

/** E4006. */
function rejectStorage(cx: Context, specs: ast.Specs): void {
  for (const { word, span } of specs.storage) {
    cx.reporter.error("E4006", span, `a local variable cannot be \`${word}\``, {
      hint: "every program runs the body once; remove the keyword",
    });
  }
}

function declareTypedef(cx: Context, name: ast.Name, type: Type): void {
  const earlier = cx.scope.own(name.text);
  const same = earlier?.kind === "typedef" && isValueType(earlier.type) && isValueType(type) &&
    sameType(earlier.type, type);
  // C11 allows a typedef to be repeated as it is.
  if (!same) cx.declare(name.text, { kind: "typedef", type, span: name.span });
}

function isValueType(type: Type): type is ValueType {
  return type.kind !== "void" && type.kind !== "poison";
}

/** The type of a variable; undefined after reporting what cannot be one. */
function variableType(cx: Context, name: ast.Name, type: Type): ValueType | undefined {
  if (isValueType(type)) return type;
  if (type.kind === "void") {
    cx.reporter.error(
      "E3002",
      name.span,
      `\`${name.text}\` cannot be void: a variable has a value`,
    );
  }
  return undefined;
}

function declareLocal(
  cx: Context,
  specs: ast.Specs,
  init: ast.InitDeclarator,
  name: ast.Name,
  given: Type,
): readonly TypedStmt[] {
  const type = variableType(cx, name, given);
  if (type === undefined) {
    cx.declare(name.text, { kind: "poison", span: name.span });
    init.initializer?.forEach((expr) => checkExpr(cx, expr));
    return [];
  }
  const { declarator } = init;
  const attributes = resolveAttributes(cx, specs, declarator, type, false);
  const variable = cx.newVariable(name.text, type, name.span);
  const isConst = isConstObject(specs, declarator.pointers);
  const entry: Entry = {
    kind: "variable",
    variable,
    const: isConst,
    initialising: true,
    span: name.span,
  };
  cx.declare(name.text, entry);
  const value = checkInitializer(cx, init, type, name);
  entry.initialising = false;
  if (isConst && type.kind === "scalar" && value?.kind === "constant") entry.value = value;
  const { multipleof, aligned } = attributes;
  if (init.initializer === undefined && (multipleof !== undefined || aligned !== undefined)) {
    cx.reporter.warn("W4016", init.span, `\`${name.text}\` has an attribute but no initialiser`, {
      hint: "on a local variable the attribute applies to its initialiser",
    });
    return [{ kind: "declare", variable, span: init.span }];
  }
  // A wrong initialiser is one all the same: what reads the variable has no other mistake.
  if (init.initializer !== undefined && value === undefined) return [];
  return [{
    kind: "declare",
    variable,
    ...(value === undefined ? {} : { value }),
    ...(multipleof === undefined ? {} : { multipleof }),
    ...(aligned === undefined ? {} : { aligned }),
    span: init.span,
  }];
}

/** The initialiser as a value of the type; undefined if there is none or it is wrong. */
function checkInitializer(
  cx: Context,
  { initializer }: ast.InitDeclarator,
  type: ValueType,
  name: ast.Name,
): Value | undefined {
  const [first, second] = initializer ?? [];
  if (first === undefined) return undefined;
  if (second !== undefined) {
    cx.reporter.error("E4003", second.span, "a tile cannot be initialised element by element", {
      hint: "fill it with one value, or build it from ranges and `?:`",
    });
    return undefined;
  }
  const value = checkValue(cx, first);
  return value && convertTo(cx, value, type, {
    notes: [{ message: `\`${name.text}\` is ${spellType(type)}`, span: name.span }],
    declared: name.text,
  });
}

/** A `const` scalar, or a `__constant__` buffer; else E4001. */
function declareGlobal(
  cx: Context,
  specs: ast.Specs,
  init: ast.InitDeclarator,
  name: ast.Name,
  given: Type,
): void {
  const type = variableType(cx, name, given);
  const poison: Entry = { kind: "poison", span: name.span };
  if (type === undefined) {
    cx.declare(name.text, poison);
    return;
  }
  if (type.kind === "pointer" && type.space === "constant") {
    const buffer = checkBuffer(cx, init, name, type);
    cx.declare(
      name.text,
      buffer === undefined ? poison : { kind: "buffer", value: buffer, span: name.span },
    );
    return;
  }
  const errors = cx.reporter.errorCount;
  const value = checkInitializer(cx, init, type, name);
  const isConst = isConstObject(specs, init.declarator.pointers);
  if (isConst && type.kind === "scalar" && value?.kind === "constant") {
    cx.declare(name.text, { kind: "constant", value, span: name.span });
    return;
  }
  cx.declare(name.text, poison);
  if (cx.reporter.errorCount > errors) return;
  cx.reporter.error("E4001", init.span, `\`${name.text}\` cannot be a variable at file scope`, {
    hint: "file scope has only `const` scalars with constant values, and `__constant__` buffers",
  });
}

/** `char __constant__ *AD = calloc(256);` */
function checkBuffer(
  cx: Context,
  { initializer, span }: ast.InitDeclarator,
  name: ast.Name,
  type: Extract<Type, { kind: "pointer" }>,
): Value | undefined {
  const [call] = initializer ?? [];
  const [argument, ...more] = call?.kind === "call" ? call.args : [];
  const isCalloc = call?.kind === "call" && call.callee.kind === "name" &&
    call.callee.name === "calloc" && cx.scope.lookup("calloc") === undefined;
  if (!isCalloc || argument?.kind !== "expr" || more.length > 0) {
    cx.reporter.error("E7006", call?.span ?? span, "constant memory comes from `calloc(bytes)`", {
      hint: `write \`char __constant__ *${name.text} = calloc(256);\``,
    });
    return undefined;
  }
  const bytes = checkConstant(cx, argument.expr, "the size of a constant buffer", "E7005");
  if (bytes === undefined) return undefined;
  if (bytes <= 0n) {
    const message = `a constant buffer cannot have ${bytes} bytes`;
    cx.reporter.error("E7005", argument.expr.span, message);
    return undefined;
  }
  cx.constantBytes += constantSpace(bytes);
  if (cx.constantBytes > CONSTANT_BYTES) {
    const message =
      `the constant buffers take ${cx.constantBytes} bytes; the limit is ${CONSTANT_BYTES}`;
    cx.reporter.error("E7005", argument.expr.span, message, {
      hint: "pass larger tables by pointer",
    });
    return undefined;
  }
  const options = [name.text, `${bytes}`];
  return { kind: "builtin", name: "constant-buffer", args: [], options, type, span: name.span };
}
