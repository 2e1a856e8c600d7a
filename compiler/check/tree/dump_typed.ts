/**
 * The typed tree as text that reads like the source, every type, conversion and mask spelled out, for
 * `tri inspect --stage types`. A prefix form shows what the checker added: `broadcast<int[16, 32]>(…)`.
 */
import { type OnHeap, runOnHeap } from "../../support/on_heap.ts";
import { SCALARS, spellType } from "./types.ts";
import type {
  TypedBinaryOperator,
  TypedExpr,
  TypedHelper,
  TypedKernel,
  TypedParam,
  TypedStmt,
  TypedUnit,
} from "./typed.ts";
import { forEachExprIn } from "./typed_walk.ts";

/** All kernels, and the helpers they call. */
export function dumpTyped(unit: TypedUnit): string {
  const parts = unit.kernels.map(dumpKernel);
  const helpers = new Set<TypedHelper>();
  for (const { body } of unit.kernels) runOnHeap(collectHelpers(body, helpers));
  return [...[...helpers].map(dumpHelper), ...parts].join("\n");
}

/** Helpers follow those that they call. Chains of calls may be long. */
function* collectHelpers(body: readonly TypedStmt[], found: Set<TypedHelper>): OnHeap<undefined> {
  const called: TypedHelper[] = [];
  forEachExprIn(body, (expr) => {
    if (expr.kind === "call") called.push(expr.helper);
  });
  for (const helper of called) {
    if (found.has(helper)) continue;
    yield collectHelpers(helper.body, found);
    found.add(helper);
  }
  return undefined;
}

/** With the values of constant parameters, by which instances differ. */
function nameOf({ name, constants }: TypedHelper): string {
  return constants === undefined ? name : `${name}<${constants.join(", ")}>`;
}

function dumpKernel({ name, params, body }: TypedKernel): string {
  return `kernel ${name}(${params.map(dumpParam).join(", ")}) ${dumpBlock(body, "")}\n`;
}

function dumpParam({ variable, attributes }: TypedParam): string {
  const { multipleof, aligned, noalias, readonly, writeonly, retune } = attributes;
  const words = [
    ...(multipleof === undefined ? [] : [`multipleof(${multipleof})`]),
    ...(aligned === undefined ? [] : [`aligned(${aligned})`]),
    ...Object.entries({ noalias, readonly, writeonly, retune })
      .flatMap(([word, holds]) => holds ? [word] : []),
  ];
  return [`${spellType(variable.type)} ${variable.name}`, ...words].join(" ");
}

function dumpHelper(helper: TypedHelper): string {
  const { params, result, body } = helper;
  const list = params.map((param) => `${spellType(param.type)} ${param.name}`).join(", ");
  const type = result === undefined ? "void" : spellType(result);
  return `helper ${type} ${nameOf(helper)}(${list}) ${dumpBlock(body, "")}\n`;
}

function dumpBlock(stmts: readonly TypedStmt[], indent: string): string {
  if (stmts.length === 0) return "{}";
  const inner = stmts.map((stmt) => `${indent}  ${dumpStmt(stmt, `${indent}  `)}\n`).join("");
  return `{\n${inner}${indent}}`;
}

function dumpStmt(stmt: TypedStmt, indent: string): string {
  switch (stmt.kind) {
    case "declare": {
      const { variable, value, multipleof, aligned } = stmt;
      const promise = multipleof === undefined ? "" : ` multipleof(${multipleof})`;
      const alignment = aligned === undefined ? "" : ` aligned(${aligned})`;
      const init = value === undefined ? "" : ` = ${dumpExpr(value)}`;
      return `${spellType(variable.type)} ${variable.name}${promise}${alignment}${init}`;
    }
    case "expression":
      return dumpExpr(stmt.expr);
    case "if": {
      const otherwise = stmt.else.length === 0 ? "" : ` else ${dumpBlock(stmt.else, indent)}`;
      return `if ${dumpExpr(stmt.condition)} ${dumpBlock(stmt.then, indent)}${otherwise}`;
    }
    case "loop":
      return dumpLoop(stmt, indent);
    case "break":
    case "continue":
      return stmt.kind;
    case "return":
      return stmt.value === undefined ? "return" : `return ${dumpExpr(stmt.value)}`;
  }
}

function dumpLoop(loop: Extract<TypedStmt, { kind: "loop" }>, indent: string): string {
  const init = loop.init.map((stmt) => dumpStmt(stmt, indent)).join(", ");
  const condition = loop.condition === undefined ? "" : dumpExpr(loop.condition);
  const step = loop.step === undefined ? "" : dumpExpr(loop.step);
  const hints = loop.hints.map(({ name, argument }) =>
    argument === undefined ? ` ${name}` : ` ${name}(${argument})`
  ).join("");
  const body = dumpBlock(loop.body, indent);
  return loop.testFirst
    ? `for (${init}; ${condition}; ${step})${hints} ${body}`
    : `do${hints} ${body} while (${condition})`;
}

const SIGNS: Readonly<Partial<Record<TypedBinaryOperator, string>>> = {
  add: "+",
  sub: "-",
  mul: "*",
  div: "/",
  rem: "%",
  shl: "<<",
  shr: ">>",
  and: "&",
  or: "|",
  xor: "^",
  lt: "<",
  le: "<=",
  gt: ">",
  ge: ">=",
  eq: "==",
  ne: "!=",
};

/** One expression on one line. */
export function dumpExpr(expr: TypedExpr): string {
  switch (expr.kind) {
    case "constant":
      return dumpConstant(expr);
    case "variable":
      return expr.variable.name;
    case "binary": {
      const sign = SIGNS[expr.operator];
      const [lhs, rhs] = [dumpExpr(expr.lhs), dumpExpr(expr.rhs)];
      return sign === undefined ? `${expr.operator}(${lhs}, ${rhs})` : `(${lhs} ${sign} ${rhs})`;
    }
    case "unary":
      return `${expr.operator === "neg" ? "-" : "~"}${dumpExpr(expr.operand)}`;
    case "offset":
      return `(${dumpExpr(expr.pointer)} + ${dumpExpr(expr.count)})`;
    case "difference":
      return `(${dumpExpr(expr.lhs)} - ${dumpExpr(expr.rhs)})`;
    case "convert":
    case "bitcast":
    case "broadcast":
    case "reshape":
      return `${expr.kind}<${spellType(expr.type)}>(${dumpExpr(expr.operand)})`;
    case "permute":
      return `permute<${expr.order.join(", ")}>(${dumpExpr(expr.operand)})`;
    case "range":
      return `(${expr.lo} ... ${expr.hi})`;
    case "reduce":
      return `reduce_${expr.operator}(${dumpExpr(expr.operand)}, axis ${expr.axis})`;
    case "dot": {
      const mode = expr.mode === "ieee" ? "" : ` ${expr.mode}`;
      return `(${dumpExpr(expr.lhs)} @${mode} ${dumpExpr(expr.rhs)})`;
    }
    case "load": {
      const other = expr.other === undefined ? "" : ` else ${dumpExpr(expr.other)}`;
      return `${dumpAccess(expr)}${other}${dumpModifiers(expr.modifiers)}`;
    }
    case "store":
      return `${dumpAccess(expr)}${dumpModifiers(expr.modifiers)} = ${dumpExpr(expr.value)}`;
    case "select":
      return `select(${[expr.condition, expr.then, expr.else].map(dumpExpr).join(", ")})`;
    case "conditional": {
      const [condition, then, otherwise] = [expr.condition, expr.then, expr.else].map(dumpExpr);
      return `(${condition} ? ${then} : ${otherwise})`;
    }
    case "assign":
      return `${expr.variable.name} = ${dumpExpr(expr.value)}`;
    case "let":
      return `(let ${expr.variable.name} = ${dumpExpr(expr.value)} in ${dumpExpr(expr.body)})`;
    case "comma":
      return `(${dumpExpr(expr.first)}, ${dumpExpr(expr.then)})`;
    case "program-id":
      return `program_id(${expr.axis})`;
    case "num-programs":
      return `num_programs(${expr.axis})`;
    case "builtin": {
      const options = expr.options.map((option) => JSON.stringify(option));
      return `${expr.name}(${[...expr.args.map(dumpExpr), ...options].join(", ")})`;
    }
    case "call":
      return `${nameOf(expr.helper)}(${expr.args.map(dumpExpr).join(", ")})`;
  }
}

function dumpAccess(
  { pointer, mask }: { readonly pointer: TypedExpr; readonly mask?: TypedExpr },
): string {
  const guard = mask === undefined ? "" : `?(${dumpExpr(mask)}) `;
  return `*${guard}${dumpExpr(pointer)}`;
}

function dumpModifiers(modifiers: readonly string[]): string {
  return modifiers.length === 0 ? "" : ` ${modifiers.map((word) => `"${word}"`).join(" ")}`;
}

/** `16`, `0.5half`, `0float[16, 32]`: plain `int` and `float` scalars need no type. */
function dumpConstant({ value, type }: Extract<TypedExpr, { kind: "constant" }>): string {
  const element = type.kind === "tile" ? type.element : type;
  const isFloat = element.kind === "scalar" && SCALARS[element.name].class === "float";
  const number = Object.is(value, -0) ? "-0" : String(value);
  const text = isFloat && /^-?[0-9]+$/.test(number) ? `${number}.0` : number;
  if (element.kind === "scalar" && element.name === "bool" && type.kind !== "tile") {
    return value === 0n ? "false" : "true";
  }
  const spelled = spellType(type);
  return spelled === "int" || spelled === "float" ? text : `${spelled}(${text})`;
}
