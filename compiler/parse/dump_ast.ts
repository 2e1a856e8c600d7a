/** Syntax tree as an indented outline, for `tri inspect --stage ast`. */
import { positionOf, type Span, useSite } from "../support/source.ts";
import type {
  Argument,
  Block,
  BlockItem,
  Declaration,
  Expr,
  Item,
  Stmt,
  TopItem,
  Unit,
} from "./ast.ts";
import { printDeclarator, printSpecs, printTypeName } from "./print_expr.ts";

/** One line of the outline and the lines below it. */
interface Entry {
  readonly text: string;
  readonly children?: readonly Entry[];
}

/**
 * One line per node: statements with their line and column, the parts of a node two blanks further in.
 * Types and declarators are on the line of their declaration, as they were written.
 */
export function dumpAst(unit: Unit): string {
  const lines: string[] = [];
  for (const item of unit.items) draw(topEntry(item), "", lines);
  return lines.join("");
}

function draw({ text, children = [] }: Entry, indent: string, lines: string[]): void {
  lines.push(`${indent}${text}\n`);
  for (const child of children) draw(child, indent + "  ", lines);
}

function location(span: Span): string {
  const { file, start } = useSite(span);
  const { line, column } = positionOf(file, start);
  return `@${line}:${column}`;
}

function topEntry(item: TopItem): Entry {
  if (item.kind !== "function") return blockItemEntry(item);
  const text = `function \`${printSpecs(item.specs)} ${printDeclarator(item.declarator)}\` ${
    location(item.span)
  }`;
  const doc = item.doc === ""
    ? []
    : [{ text: "doc", children: item.doc.split("\n").map((line) => ({ text: line })) }];
  return { text, children: [...doc, ...item.body.items.map(blockItemEntry)] };
}

function blockItemEntry(item: BlockItem): Entry {
  if (item.kind === "declaration") return declarationEntry(item);
  if (item.kind !== "static-assert") return stmtEntry(item);
  const message = item.message === undefined ? "" : ` ${item.message}`;
  return {
    text: `static-assert${message} ${location(item.span)}`,
    children: [exprEntry(item.condition)],
  };
}

function declarationEntry({ specs, inits, span }: Declaration): Entry {
  const text = `declaration \`${printSpecs(specs)}\` ${location(span)}`;
  const children = inits.map(({ declarator, initializer }) => ({
    text: `\`${printDeclarator(declarator)}\``,
    children: (initializer ?? []).map(exprEntry),
  }));
  return { text, children };
}

function blockEntry({ items, span }: Block): Entry {
  return { text: `block ${location(span)}`, children: items.map(blockItemEntry) };
}

function part(label: string, entry: Entry | undefined): Entry[] {
  return entry === undefined
    ? []
    : [{ text: `${label}: ${entry.text}`, ...(entry.children && { children: entry.children }) }];
}

function exprPart(label: string, expr: Expr | undefined): Entry[] {
  return part(label, expr && exprEntry(expr));
}

function stmtEntry(stmt: Stmt): Entry {
  const { kind } = stmt;
  const text = `${kind} ${location(stmt.span)}`;
  switch (kind) {
    case "block":
      return blockEntry(stmt);
    case "expression":
      return { text, children: [exprEntry(stmt.expr)] };
    case "if":
      return {
        text,
        children: [
          ...exprPart("condition", stmt.condition),
          ...part("then", stmtEntry(stmt.then)),
          ...part("else", stmt.else && stmtEntry(stmt.else)),
        ],
      };
    case "for":
    case "while":
    case "do": {
      const init = kind === "for" ? stmt.init : undefined;
      return {
        text,
        children: [
          ...stmt.hints.map(({ name, argument }) => ({
            text: `hint: ${name}${argument === undefined ? "" : `(${argument})`}`,
          })),
          ...part(
            "init",
            init && (init.kind === "declaration" ? declarationEntry(init) : exprEntry(init)),
          ),
          ...exprPart("condition", stmt.condition),
          ...exprPart("step", kind === "for" ? stmt.step : undefined),
          ...part("body", stmtEntry(stmt.body)),
        ],
      };
    }
    case "return":
      return { text, children: stmt.value === undefined ? [] : [exprEntry(stmt.value)] };
    default:
      return { text };
  }
}

function exprEntry(expr: Expr): Entry {
  const { kind } = expr;
  switch (kind) {
    case "number":
    case "char":
    case "string":
      return { text: `${kind} ${expr.text}` };
    case "bool":
      return { text: `${kind} ${expr.value}` };
    case "name":
      return { text: `${kind} ${expr.name}` };
    case "paren":
      return { text: kind, children: [exprEntry(expr.inner)] };
    case "call":
      return { text: kind, children: [exprEntry(expr.callee), ...expr.args.map(argumentEntry)] };
    case "subscript":
      return { text: kind, children: [exprEntry(expr.base), ...expr.items.map(itemEntry)] };
    case "member":
      return {
        text: `${kind} ${expr.arrow ? "->" : "."}${expr.name.text}`,
        children: [exprEntry(expr.base)],
      };
    case "step":
      return {
        text: `${expr.prefix ? "prefix" : "postfix"} ${expr.operator}`,
        children: [exprEntry(expr.operand)],
      };
    case "unary":
      return { text: `${kind} ${expr.operator}`, children: [exprEntry(expr.operand)] };
    case "deref":
      return { text: kind, children: [...exprPart("mask", expr.mask), exprEntry(expr.pointer)] };
    case "cast":
    case "bitcast":
      return {
        text: `${kind} \`${printTypeName(expr.type)}\``,
        children: [exprEntry(expr.operand)],
      };
    case "sizeof-type":
      return { text: `${expr.operator} \`${printTypeName(expr.type)}\`` };
    case "sizeof-expr":
      return { text: "sizeof", children: [exprEntry(expr.operand)] };
    case "range":
      return { text: kind, children: [exprEntry(expr.lo), exprEntry(expr.hi)] };
    case "binary":
      return {
        text: `${kind} ${expr.operator}`,
        children: [exprEntry(expr.lhs), exprEntry(expr.rhs)],
      };
    case "conditional":
      return {
        text: kind,
        children: [
          ...exprPart("condition", expr.condition),
          ...exprPart("then", expr.then),
          ...exprPart("else", expr.else),
        ],
      };
    case "assign":
      return {
        text: `${kind} ${expr.operator}`,
        children: [exprEntry(expr.target), exprEntry(expr.value)],
      };
    case "comma":
      return { text: kind, children: [exprEntry(expr.lhs), exprEntry(expr.rhs)] };
    case "compound-literal":
    case "error":
      return { text: kind };
  }
}

function argumentEntry(argument: Argument): Entry {
  return argument.kind === "type"
    ? { text: `type \`${printTypeName(argument.type)}\`` }
    : exprEntry(argument.expr);
}

function itemEntry(item: Item): Entry {
  switch (item.kind) {
    case "all":
      return { text: "item :" };
    case "newaxis":
      return { text: "item newaxis" };
    case "reduce":
      return { text: `item reduce ${item.operator}` };
    case "axis":
      return { text: "item axis", children: [exprEntry(item.axis)] };
    case "index":
      return { text: "item index", children: [exprEntry(item.index)] };
  }
}
