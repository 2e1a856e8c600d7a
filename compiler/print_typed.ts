/**
 * The typed tree as text: a statement per line, expressions as calls. A node shows its type where it is not
 * that of its first operand.
 *
 *     declare rm: int[64] = add(broadcast<int[64]>(mul(program-id<int>(0), 64)), range<int[64]>(0, 64))
 */
import { operandsOf } from "./front/typed_walk.ts";
import { spellType } from "./front/types.ts";
import type { TypedExpr, TypedKernel, TypedParam, TypedStmt, Variable } from "./front/typed.ts";

/** A kernel with everything that the checker made explicit. */
export function printTyped(kernel: TypedKernel): string {
  const params = kernel.params.map(printParam).join(", ");
  return [`kernel ${kernel.name}(${params}) {`, ...printBlock(kernel.body, "  "), "}", ""].join(
    "\n",
  );
}

const declared = ({ name, type }: Variable): string => `${name}: ${spellType(type)}`;

function printParam({ variable, attributes }: TypedParam): string {
  const words = Object.entries(attributes).flatMap(([name, value]) =>
    value === true ? [`__${name}`] : typeof value === "number" ? [`__${name}(${value})`] : []
  );
  return [declared(variable), ...words].join(" ");
}

function printBlock(stmts: readonly TypedStmt[], indent: string): readonly string[] {
  return stmts.flatMap((stmt) => printStmt(stmt).map((line) => indent + line));
}

function printStmt(stmt: TypedStmt): readonly string[] {
  switch (stmt.kind) {
    case "declare":
      return [
        `declare ${declared(stmt.variable)}${
          stmt.value === undefined ? "" : ` = ${printTypedExpr(stmt.value)}`
        }`,
      ];
    case "expression":
      return [printTypedExpr(stmt.expr)];
    case "if": {
      const otherwise = stmt.else.length === 0 ? [] : ["} else {", ...printBlock(stmt.else, "  ")];
      return [
        `if ${printTypedExpr(stmt.condition)} {`,
        ...printBlock(stmt.then, "  "),
        ...otherwise,
        "}",
      ];
    }
    case "loop": {
      const test = stmt.condition === undefined ? "true" : printTypedExpr(stmt.condition);
      const step = stmt.step === undefined ? [] : [`step ${printTypedExpr(stmt.step)}`];
      const body = [
        ...stmt.testFirst ? [`while ${test}`] : [],
        ...printBlock(stmt.body, ""),
        ...step,
      ];
      if (!stmt.testFirst) body.push(`while ${test}`);
      return [...printBlock(stmt.init, ""), "loop {", ...body.map((line) => `  ${line}`), "}"];
    }
    case "return":
      return [stmt.value === undefined ? "return" : `return ${printTypedExpr(stmt.value)}`];
    case "break":
    case "continue":
      return [stmt.kind];
  }
}

/** An expression on one line. */
export function printTypedExpr(expr: TypedExpr): string {
  if (expr.kind === "constant") {
    return expr.type.kind === "tile" ? `${expr.value}<${spellType(expr.type)}>` : `${expr.value}`;
  }
  if (expr.kind === "variable") return expr.variable.name;
  const operands = operandsOf(expr);
  const [first] = operands;
  const type = spellType(expr.type);
  const shownType = first !== undefined && spellType(first.type) === type ? "" : `<${type}>`;
  return `${headOf(expr)}${shownType}(${
    [...operands.map(printTypedExpr), ...detailsOf(expr)].join(", ")
  })`;
}

function headOf(expr: TypedExpr): string {
  switch (expr.kind) {
    case "binary":
    case "unary":
      return expr.operator;
    case "reduce":
      return `reduce-${expr.operator}`;
    case "assign":
      return `set ${expr.variable.name} = `;
    case "let":
      return `let ${expr.variable.name} = `;
    case "builtin":
      return expr.name;
    case "call":
      return expr.helper.name;
    default:
      return expr.kind;
  }
}

/** What a node holds besides operands. */
function detailsOf(expr: TypedExpr): readonly string[] {
  switch (expr.kind) {
    case "program-id":
    case "num-programs":
    case "reduce":
      return [`${expr.axis}`];
    case "permute":
      return [`[${expr.order.join(", ")}]`];
    case "range":
      return [`${expr.lo}`, `${expr.hi}`];
    case "load":
    case "store":
      return expr.modifiers.map((modifier) => JSON.stringify(modifier));
    case "builtin":
      return expr.options.map((option) => JSON.stringify(option));
    default:
      return [];
  }
}
