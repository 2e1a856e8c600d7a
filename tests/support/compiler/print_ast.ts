/** The syntax tree of a file as Triton-C text that parses back to the same tree: the inverse of the parser, for its tests. */
import type {
  Block,
  BlockItem,
  Declaration,
  InitDeclarator,
  LoopHint,
  StaticAssert,
  Stmt,
  TopItem,
  Unit,
} from "../../../compiler/parse/ast.ts";
import { LEVEL } from "../../../compiler/parse/operators.ts";
import {
  printAt,
  printDeclarator,
  printExpr,
  printSpecsAnd,
} from "../../../compiler/parse/print_expr.ts";
import { assertNever } from "../../../compiler/support/bug.ts";

/** The whole file, two blanks per level. */
export function printAst(unit: Unit): string {
  return unit.items.map((item) => printTopItem(item) + "\n").join("\n");
}

function printTopItem(item: TopItem): string {
  if (item.kind !== "function") return printItem(item, "");
  const head = `${printSpecsAnd(item.specs, printDeclarator(item.declarator))} ${
    printBlock(item.body, "")
  }`;
  return printDoc(item.doc) + head;
}

/** A line that ended in a backslash would swallow the next one. */
function printDoc(doc: string): string {
  if (doc === "") return "";
  return doc.split("\n").map((line) => `// ${line}`.replace(/[\\\s]+$/, "") + "\n").join("");
}

/** `static const float x = 1` without the semicolon. */
function printDeclaration({ specs, inits }: Declaration): string {
  return printSpecsAnd(specs, inits.map(printInit).join(", "));
}

function printInit({ declarator, initializer }: InitDeclarator): string {
  const text = printDeclarator(declarator);
  if (initializer === undefined) return text;
  const values = initializer.map((value) => printAt(value, LEVEL.assign)).join(", ");
  return initializer.length === 1 ? `${text} = ${values}` : `${text} = { ${values} }`;
}

function printStaticAssert({ condition, message }: StaticAssert): string {
  const text = message === undefined ? "" : `, ${message}`;
  return `_Static_assert(${printAt(condition, LEVEL.conditional)}${text});`;
}

function printBlock({ items }: Block, indent: string): string {
  if (items.length === 0) return "{}";
  const inner = indent + "  ";
  const lines = items.map((item) => {
    const text = printItem(item, inner);
    return text.startsWith("\n") ? `${text.slice(1)}\n` : `${inner}${text}\n`; // a pragma begins its own line
  });
  return `{\n${lines.join("")}${indent}}`;
}

function printItem(item: BlockItem, indent: string): string {
  if (item.kind === "declaration") return `${printDeclaration(item)};`;
  if (item.kind === "static-assert") return printStaticAssert(item);
  return printStmt(item, indent);
}

function printStmt(stmt: Stmt, indent: string): string {
  switch (stmt.kind) {
    case "block":
      return printBlock(stmt, indent);
    case "empty":
      return ";";
    case "expression":
      return `${printExpr(stmt.expr)};`;
    case "if": {
      const then = stmt.else !== undefined && endsInOpenIf(stmt.then)
        ? `{\n${indent}  ${printStmt(stmt.then, indent + "  ")}\n${indent}}`
        : printStmt(stmt.then, indent);
      const otherwise = stmt.else === undefined ? "" : ` else ${printStmt(stmt.else, indent)}`;
      return `if (${printExpr(stmt.condition)}) ${then}${otherwise}`;
    }
    case "for": {
      const { init, condition, step } = stmt;
      const first = init === undefined
        ? ""
        : init.kind === "declaration"
        ? printDeclaration(init)
        : printExpr(init);
      const second = condition === undefined ? "" : ` ${printExpr(condition)}`;
      const third = step === undefined ? "" : ` ${printExpr(step)}`;
      return `${printHints(stmt.hints, indent)}for (${first};${second};${third}) ${
        printStmt(stmt.body, indent)
      }`;
    }
    case "while":
      return `${printHints(stmt.hints, indent)}while (${printExpr(stmt.condition)}) ${
        printStmt(stmt.body, indent)
      }`;
    case "do":
      return `${printHints(stmt.hints, indent)}do ${printStmt(stmt.body, indent)} while (${
        printExpr(stmt.condition)
      });`;
    case "break":
    case "continue":
      return `${stmt.kind};`;
    case "return":
      return stmt.value === undefined ? "return;" : `return ${printExpr(stmt.value)};`;
    case "error":
      return "; /* not understood */";
    default:
      return assertNever(stmt);
  }
}

/** Whether an `else` right after the statement would go to an `if` inside it. */
function endsInOpenIf(stmt: Stmt): boolean {
  switch (stmt.kind) {
    case "if":
      return stmt.else === undefined || endsInOpenIf(stmt.else);
    case "for":
    case "while":
      return endsInOpenIf(stmt.body);
    default:
      return false;
  }
}

/** A pragma takes a line of its own, also in the middle of `if (c) for …`. */
function printHints(hints: readonly LoopHint[], indent: string): string {
  if (hints.length === 0) return "";
  const texts = hints.map(({ name, argument }) =>
    argument === undefined ? name : `${name}(${argument})`
  );
  return `\n#pragma tri loop ${texts.join(" ")}\n${indent}`;
}
