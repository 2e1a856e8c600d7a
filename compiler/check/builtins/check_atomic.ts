/** Atomics, and the spellings that old kernels use for `atomic_add` (language.md, 7.1, 7.3). */
import type * as ast from "../../parse/ast.ts";
import { type ScalarName, spellType } from "../tree/types.ts";
import type { TypedExpr, ValueType } from "../tree/typed.ts";
import type { Context } from "../check_context.ts";
import { BUILTINS } from "./builtins.ts";
import { shapeText } from "../expressions/broadcast.ts";
import { constantArgument, reportArgument, valuesOf } from "../expressions/check_argument.ts";
import type { BuiltinCall } from "./builtins.ts";
import { builtinNode, effectNode } from "./builtin_node.ts";
import { lvalueArgument, modifiersOf } from "./check_builtin_memory.ts";
import { checkWritable, lvalueType } from "../expressions/check_lvalue.ts";
import { checkValue } from "../expressions/check_expr.ts";
import { convertTo, pointerOf } from "../expressions/convert.ts";
import { must } from "../../support/bug.ts";
import type { Value } from "../tree/nodes.ts";
import { elementOf, sameElement, scalarType, shapeOf } from "../tree/value_types.ts";

const INTEGERS: readonly ScalarName[] = ["int32", "uint32", "int64", "uint64"];
const FLOATS: readonly ScalarName[] = ["float32", "float64"];

/** Pointees that each atomic takes. */
const POINTEES: Readonly<Record<string, readonly ScalarName[]>> = {
  atomic_cas: [...INTEGERS, ...FLOATS],
  atomic_xchg: [...INTEGERS, ...FLOATS],
  atomic_add: [...INTEGERS, "float16", "bfloat16", ...FLOATS],
  f32_atomic_add: ["float32"],
  atomic_min: [...INTEGERS, ...FLOATS],
  atomic_max: [...INTEGERS, ...FLOATS],
  atomic_and: INTEGERS,
  atomic_or: INTEGERS,
  atomic_xor: INTEGERS,
  atomic_sub: INTEGERS,
};

const ORDERING = {
  order: ["relaxed", "acquire", "release", "acq_rel"],
  scope: ["cta", "gpu", "sys"],
} as const;

/** `atomic_…(p, val [, mask] {, "order"})`; arguments of the node: pointer, values, mask if there is one. */
export function checkAtomic(
  cx: Context,
  call: BuiltinCall,
  values: readonly Value[],
): TypedExpr | undefined {
  const args = checkOperands(cx, call, values);
  const options = modifiersOf(cx, call, ORDERING);
  if (args === undefined || options === undefined) return undefined;
  const isOld = call.builtin.canonical === "f32_atomic_add";
  const plain = { ...call, builtin: isOld ? atomicAdd() : call.builtin };
  return isOld
    ? effectNode(plain, args, options)
    : builtinNode(plain, args, resultOf(args), options);
}

function atomicAdd(): BuiltinCall["builtin"] {
  return must(BUILTINS.get("atomic_add"), "the row of atomic_add");
}

function resultOf([pointer]: readonly Value[]): ValueType {
  return lvalueType(must(pointer, "the pointer of an atomic"));
}

/** Pointer, values of the pointee's type, and mask, all of the shape of pointer and mask. */
function checkOperands(
  cx: Context,
  call: BuiltinCall,
  values: readonly Value[],
): readonly Value[] | undefined {
  const { canonical } = call.builtin;
  const count = canonical === "atomic_cas" ? 2 : 1;
  const [pointer, ...rest] = values;
  const lvalue = checkWritable(cx, lvalueArgument(cx, call, pointer, rest[count]));
  if (lvalue === undefined) return undefined;
  const type = lvalueType(lvalue.pointer);
  const element = elementOf(type);
  const known = POINTEES[canonical] ?? [];
  if (element.kind !== "scalar" || !known.includes(element.name)) {
    const names = known.map((name) => spellType(scalarType(name))).join(", ");
    return reportArgument(cx, call, lvalue.pointer.span, `a pointer to ${names}`, lvalue.pointer);
  }
  const operands: Value[] = [];
  for (const value of rest.slice(0, count)) {
    const converted = convertTo(cx, value, type);
    if (converted === undefined) return undefined;
    operands.push(converted);
  }
  return [lvalue.pointer, ...operands, ...(lvalue.mask === undefined ? [] : [lvalue.mask])];
}

/** `atomic_add_half_64x64`. */
export const OLD_ATOMIC = /^atomic_add_(half|float)_([0-9]+)x([0-9]+)$/;

/**
 * `atomic_add(T, M, N)(p, val, m)` or `atomic_add_T_MxN(p, val, m)`: `1x1` means scalars, and there is no
 * result. @param name the match of the second form
 */
export function checkOldAtomic(
  cx: Context,
  expr: Extract<ast.Expr, { kind: "call" }>,
  type: ValueType | undefined,
  extents: readonly ast.Expr[],
  name?: RegExpExecArray,
): TypedExpr | undefined {
  const call: BuiltinCall = {
    builtin: atomicAdd(),
    args: expr.args,
    strings: [],
    span: expr.span,
  };
  const values = valuesOf(cx, call);
  const wanted = name === undefined
    ? extents.map((extent) => {
      const value = checkValue(cx, extent);
      return value && constantArgument(cx, value, "the extent of an atomic", 1, 2 ** 20);
    })
    : [Number(name[2]), Number(name[3])];
  const [rows, columns] = wanted;
  const element = name === undefined
    ? type
    : scalarType(name[1] === "half" ? "float16" : "float32");
  if (values === undefined || element === undefined) return undefined;
  if (rows === undefined || columns === undefined) return undefined;
  if (values.length !== 2 && values.length !== 3) {
    const message = `this form of \`atomic_add\` takes 2 or 3 arguments, not ${values.length}`;
    cx.reporter.error("E7001", expr.span, message);
    return undefined;
  }
  const [pointer] = values;
  const pointee = pointer && pointerOf(pointer)?.pointee;
  if (
    pointer !== undefined && pointee !== undefined && pointee.kind !== "void" &&
    !sameElement(pointee, elementOf(element))
  ) {
    return reportArgument(cx, call, pointer.span, `a pointer to ${spellType(element)}`, pointer);
  }
  const shape = pointer && shapeOf(pointer.type);
  const isScalar = rows === 1 && columns === 1;
  const extent = shape?.join("x") ?? "1x1";
  if (!(isScalar && shape === undefined) && extent !== `${rows}x${columns}`) {
    const message = `this \`atomic_add\` is for ${rows}x${columns}, and its pointer is ${
      shapeText(shape)
    }`;
    cx.reporter.error("E7004", expr.span, message, {
      hint: "write `atomic_add(p, value, mask)`; it works for every shape",
    });
    return undefined;
  }
  const args = checkOperands(cx, call, values);
  return args && effectNode(call, args);
}
