/** Functions: kernels, helpers and prototypes (language.md, 4.4). */
import type { Span } from "../../support/source.ts";
import type * as ast from "../../parse/ast.ts";
import { spellType } from "../tree/types.ts";
import type { ParamAttributes, TypedKernel, ValueType, Variable } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { resolveAttributes } from "../check_attributes.ts";
import { isConstObject, resolveSpec } from "../check_type.ts";
import { checkItems } from "../check_stmt.ts";
import type { Value } from "../tree/nodes.ts";
import type { HelperEntry, HelperInstance } from "../scope.ts";
import { instanceNote, unseen } from "./helper_instances.ts";
import { helperEntry, readHead, rejectVariadic } from "./function_head.ts";
import type { Head, Param } from "./head.ts";

/** A definition. A kernel is returned; a helper becomes known by its name. */
export function checkFunction(
  cx: Context,
  definition: ast.FunctionDefinition,
  fileHasGlobal: boolean,
): TypedKernel | undefined {
  const { specs, declarator, body, span } = definition;
  const head = readHead(cx, specs, declarator, resolveSpec(cx, specs.type));
  if (head === undefined) return undefined;
  const isLegacy = isLegacyKernel(head, fileHasGlobal);
  if (isLegacy) {
    cx.reporter.warn("W4028", head.name.span, `\`${head.name.text}\` is compiled as a kernel`, {
      hint: "write `__global__` before it, or `static` if it is a helper",
      fix: { span: { ...specs.span, end: specs.span.start }, replacement: "__global__ " },
    });
  }
  const isKernel = head.isGlobal || isLegacy;
  if (head.variadic !== undefined) rejectVariadic(cx, head.variadic, isKernel);
  if (isKernel) {
    checkKernelHead(cx, head);
    return checkKernelBody(cx, head, definition);
  }
  checkHelper(cx, head, body, span);
  return undefined;
}

/** Makes a kernel's name known and checks the words before it; parameters and body wait. */
export function checkKernelName(
  cx: Context,
  definition: ast.FunctionDefinition,
  fileHasGlobal: boolean,
): void {
  const { declarator, body } = definition;
  const params = declarator.params === undefined
    ? {}
    : { params: { params: [], span: declarator.params.span } };
  checkFunction(cx, {
    ...definition,
    declarator: { ...declarator, ...params },
    body: { ...body, items: [] },
  }, fileHasGlobal);
}

/** Checks parameters and body of a kernel whose name is declared; undefined when it is no kernel. */
export function checkNamedKernel(
  cx: Context,
  definition: ast.FunctionDefinition,
  fileHasGlobal: boolean,
): TypedKernel | undefined {
  const { specs, declarator } = definition;
  const head = readHead(cx, specs, declarator, resolveSpec(cx, specs.type));
  if (head === undefined || !(head.isGlobal || isLegacyKernel(head, fileHasGlobal))) {
    return undefined;
  }
  if (head.variadic !== undefined) rejectVariadic(cx, head.variadic, true);
  return checkKernelBody(cx, head, definition);
}

/** Whether a function of a file without any `__global__` is one of the kernels it must have. */
function isLegacyKernel({ isStatic, result, params }: Head, fileHasGlobal: boolean): boolean {
  return !fileHasGlobal && !isStatic && result.kind === "void" &&
    params.every(({ type }) => type?.kind !== "tile");
}

function checkKernelHead(cx: Context, { name, result, isStatic }: Head): void {
  if (result.kind !== "void" && result.kind !== "poison") {
    cx.reporter.error("E4020", name.span, `a kernel must return void, not ${spellType(result)}`, {
      hint: "store results through a pointer parameter",
    });
  }
  if (isStatic) {
    cx.reporter.error("E4026", name.span, `the kernel \`${name.text}\` cannot be static`, {
      hint: "the host launches it by name; remove the keyword",
    });
  }
  declareKernel(cx, name);
}

function checkKernelBody(
  cx: Context,
  head: Head,
  { body, span, doc }: ast.FunctionDefinition,
): TypedKernel {
  const params: { variable: Variable; attributes: ParamAttributes }[] = [];
  const stmts = inBody(cx, head, true, undefined, (declared) => {
    params.push(...declared);
    return checkItems(cx, body.items).stmts;
  });
  return { name: head.name.text, doc, params, body: stmts, span };
}

function declareKernel(cx: Context, name: ast.Name): void {
  const earlier = cx.file.own(name.text);
  if (earlier?.kind === "kernel") {
    if (earlier.defined) {
      cx.reporter.error("E4021", name.span, `there are two kernels \`${name.text}\``, {
        notes: [{ message: "the first one", span: earlier.span }],
      });
    }
    earlier.defined = true;
    return;
  }
  cx.declare(name.text, { kind: "kernel", span: name.span, defined: true });
}

function checkHelper(cx: Context, head: Head, body: ast.Block, span: Span): void {
  const { name } = head;
  const entry = helperEntry(cx, head, span);
  const isNew = entry?.defined === false;
  if (entry?.defined === true) {
    cx.reporter.error("E6020", name.span, `\`${name.text}\` is defined twice`, {
      notes: [{ message: "the first definition", span: entry.span }],
    });
  }
  if (entry !== undefined) entry.defined = true;
  if (entry?.constants.includes(true) === true) {
    if (!isNew) return;
    entry.source = { head, body, seen: cx.file.size };
    for (const param of head.params) {
      if (param.name === undefined || param.type === undefined) continue;
      entry.params.push(cx.newVariable(param.name.text, param.type, param.name.span));
    }
    return;
  }
  checkHelperBody(cx, head, body, isNew ? entry : undefined);
}

/** Checks a body; parameters and statements are added to the lists of `filled`. */
function checkHelperBody(
  cx: Context,
  head: Head,
  body: ast.Block,
  filled: HelperEntry | HelperInstance | undefined,
): void {
  const result = inBody(cx, head, false, filled, (declared) => {
    const checked = checkItems(cx, body.items);
    filled?.params.push(...declared.map(({ variable }) => variable));
    filled?.body.push(...checked.stmts);
    return checked;
  });
  const { name } = head;
  const returnsValue = head.result.kind !== "void" && head.result.kind !== "poison";
  if (returnsValue && !result.ends) {
    cx.reporter.error("E4027", name.span, `\`${name.text}\` can end without returning a value`);
  }
}

/** Checks the bodies of all instances, also of those that these bodies call. */
export function checkInstances(cx: Context): void {
  const seen = new Set<string>();
  for (const instance of cx.uncheckedInstances) {
    const { source } = instance.entry;
    if (source === undefined) continue;
    const { head, body } = source;
    const found = cx.asideInFile(source.seen, () => checkHelperBody(cx, head, body, instance));
    const note = instanceNote(instance);
    for (const one of unseen(found, seen)) {
      cx.reporter.add({ ...one, notes: [...one.notes, note] });
    }
  }
}

interface DeclaredParam {
  readonly variable: Variable;
  readonly attributes: ParamAttributes;
}

/** Runs `check` in the scope of a body, parameters declared; it shares that scope with its outermost block. */
function inBody<T>(
  cx: Context,
  head: Head,
  isKernel: boolean,
  filled: HelperEntry | HelperInstance | undefined,
  check: (params: readonly DeclaredParam[]) => T,
): T {
  const { result } = head;
  const hasResult = result.kind !== "void" && result.kind !== "poison";
  return cx.inScope(() => {
    const instance = filled !== undefined && "values" in filled ? filled : undefined;
    const params = head.params.flatMap((param, at) =>
      declareParam(cx, param, isKernel, instance?.values[at])
    );
    cx.fn = {
      name: head.name.text,
      isKernel,
      result: hasResult && !isKernel ? result : undefined,
      poisonResult: result.kind === "poison" || (isKernel && hasResult),
      ...(filled === undefined ? {} : { helper: filled.helper }),
      ...(instance === undefined ? {} : { instance }),
      loops: [],
    };
    const checked = check(params);
    cx.fn = undefined;
    return checked;
  });
}

/** What to do instead where no caller can pass a value of the type. */
function remedyFor(type: ValueType): string | undefined {
  if (type.kind === "tile") return "pass a pointer and load from it";
  return type.kind === "pointer" && type.space === "constant"
    ? "constant memory is declared at file scope: `char __constant__ *table = calloc(256);` outside the kernel"
    : undefined;
}

/** @param value of a constant parameter, which no caller passes */
function declareParam(
  cx: Context,
  param: Param,
  isKernel: boolean,
  value: Value | undefined,
): readonly DeclaredParam[] {
  const { name, type, syntax, span } = param;
  if (name === undefined) {
    cx.reporter.error("E4024", span, "a parameter needs a name");
    return [];
  }
  const hint = type !== undefined && isKernel ? remedyFor(type) : undefined;
  if (type === undefined || hint !== undefined) {
    if (type !== undefined && hint !== undefined) {
      const message = `the kernel parameter \`${name.text}\` cannot be ${spellType(type)}`;
      cx.reporter.error("E3026", name.span, message, { hint });
    }
    cx.declare(name.text, { kind: "poison", span: name.span });
    return [];
  }
  const attributes = resolveAttributes(cx, syntax.specs, syntax.declarator, type, true);
  const variable = cx.newVariable(name.text, type, name.span);
  cx.declare(name.text, {
    kind: "variable",
    variable,
    const: isConstObject(syntax.specs, syntax.declarator.pointers),
    initialising: false,
    ...(value === undefined ? {} : { value }),
    span: name.span,
  });
  return value === undefined ? [{ variable, attributes }] : [];
}
