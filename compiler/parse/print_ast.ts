/**
 * Syntax tree to Triton-C text that parses back to the same tree. Parentheses that the tree does not hold are
 * added where the levels of `operators.ts` demand them.
 */
import { assertNever } from "../support/bug.ts";
import type {
  Argument,
  Attribute,
  Block,
  BlockItem,
  Declaration,
  Declarator,
  Expr,
  InitDeclarator,
  Item,
  LoopHint,
  Params,
  PointerLevel,
  Shape,
  Specs,
  StaticAssert,
  Stmt,
  TopItem,
  TypeName,
  TypeSpec,
  Unit,
} from "./ast.ts";
import { LEVEL, levelOf } from "./operators.ts";

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

// ---- declarations -----------------------------------------------------------------------------------

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

function printSpecsAnd(specs: Specs, rest: string): string {
  const head = printSpecs(specs);
  return head === "" || rest === "" ? head + rest : `${head} ${rest}`;
}

/** Specifiers: storage, qualifiers, type, attributes. */
export function printSpecs({ storage, qualifiers, type, attributes }: Specs): string {
  const words = [...storage, ...qualifiers].map(({ word }) => word);
  return [...words, printTypeSpec(type), ...attributes.map(printAttribute)].filter((text) =>
    text !== ""
  ).join(" ");
}

function printTypeSpec(type: TypeSpec): string {
  switch (type.kind) {
    case "words":
      return type.words.map(({ text }) => text).join(" ");
    case "typedef-name":
    case "unknown":
      return type.name.text;
    case "enum": {
      const names = type.enumerators?.map(({ name, value }) =>
        value === undefined ? name.text : `${name.text} = ${printAt(value, LEVEL.conditional)}`
      );
      return ["enum", type.tag?.text, names && `{ ${names.join(", ")} }`].filter(Boolean).join(" ");
    }
    case "shaped":
      return printTypeSpec(type.element) + printShape(type.shape);
    case "missing":
      return "";
    default:
      return assertNever(type);
  }
}

const SHORT_ATTRIBUTES: ReadonlySet<string> = new Set([
  "noalias",
  "readonly",
  "writeonly",
  "retune",
]);
const SHORT_WITH_ARGUMENT: ReadonlySet<string> = new Set(["multipleof", "aligned"]);

function printAttribute({ name, argument }: Attribute): string {
  const call = argument === undefined ? name : `${name}(${printAt(argument, LEVEL.conditional)})`;
  const isShort = (argument === undefined ? SHORT_ATTRIBUTES : SHORT_WITH_ARGUMENT).has(name);
  return isShort ? `__${call}` : `__attribute__((${call}))`;
}

/** A declarator: `*p[16] __aligned(16)`, `f(int n)`. */
export function printDeclarator(declarator: Declarator): string {
  const { pointers, name, nested, shape, params, attributes } = declarator;
  const direct = nested === undefined ? name?.text ?? "" : `(${printDeclarator(nested)})`;
  const suffix = (shape === undefined ? "" : printShape(shape)) +
    (params === undefined ? "" : printParams(params));
  return [printPointers(pointers) + direct + suffix, ...attributes.map(printAttribute)]
    .filter((text) => text !== "").join(" ");
}

function printPointers(pointers: readonly PointerLevel[]): string {
  return pointers.map(({ qualifiers }) => `*${qualifiers.map(({ word }) => `${word} `).join("")}`)
    .join("");
}

/** `[A, B]`; several pairs take one extent each, the last the rest. */
function printShape({ dims, brackets }: Shape): string {
  const texts = dims.map((dim) => printAt(dim, LEVEL.conditional));
  return Array.from({ length: brackets }, (_, i) => {
    const end = i === brackets - 1 ? texts.length : i + 1;
    return `[${texts.slice(i, end).join(", ")}]`;
  }).join("");
}

function printParams({ params, variadic }: Params): string {
  const texts = params.map(({ specs, declarator }) =>
    printSpecsAnd(specs, printDeclarator(declarator))
  );
  return `(${[...texts, ...(variadic === undefined ? [] : ["..."])].join(", ")})`;
}

/** A type name: `float *[16]`. */
export function printTypeName({ specs, pointers, shape }: TypeName): string {
  const rest = printPointers(pointers).trimEnd() + (shape === undefined ? "" : printShape(shape));
  return pointers.length > 0 ? printSpecsAnd(specs, rest) : printSpecs(specs) + rest;
}

function printStaticAssert({ condition, message }: StaticAssert): string {
  const text = message === undefined ? "" : `, ${message}`;
  return `_Static_assert(${printAt(condition, LEVEL.conditional)}${text});`;
}

// ---- statements -------------------------------------------------------------------------------------

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

// ---- expressions ------------------------------------------------------------------------------------

/** An expression as text. */
export function printExpr(expr: Expr): string {
  switch (expr.kind) {
    case "number":
    case "char":
    case "string":
      return expr.text;
    case "bool":
      return String(expr.value);
    case "name":
      return expr.name;
    case "paren":
      return `(${printExpr(expr.inner)})`;
    case "call":
      return `${printAt(expr.callee, LEVEL.postfix)}(${expr.args.map(printArgument).join(", ")})`;
    case "subscript":
      return `${printAt(expr.base, LEVEL.postfix)}[${
        expr.items.map(printSubscriptItem).join(", ")
      }]`;
    case "member": {
      // `1.x` would be read as one number.
      const base = expr.base.kind === "number"
        ? `(${expr.base.text})`
        : printAt(expr.base, LEVEL.postfix);
      return `${base}${expr.arrow ? "->" : "."}${expr.name.text}`;
    }
    case "step":
      return expr.prefix
        ? prefixed(expr.operator, printAt(expr.operand, LEVEL.unary))
        : printAt(expr.operand, LEVEL.postfix) + expr.operator;
    case "unary":
      return prefixed(expr.operator, printAt(expr.operand, LEVEL.cast));
    case "deref": {
      const pointer = printAt(expr.pointer, LEVEL.cast);
      return expr.mask === undefined ? `*${pointer}` : `*?(${printExpr(expr.mask)}) ${pointer}`;
    }
    case "cast":
      return `(${printTypeName(expr.type)}) ${printAt(expr.operand, LEVEL.cast)}`;
    case "compound-literal":
      return `(${printTypeName(expr.type)}){}`;
    case "sizeof-type":
      return `${expr.operator}(${printTypeName(expr.type)})`;
    case "sizeof-expr":
      return `sizeof ${printAt(expr.operand, LEVEL.unary)}`;
    case "bitcast":
      return `bitcast<${printTypeName(expr.type)}>(${printExpr(expr.operand)})`;
    case "range":
      return `${printAt(expr.lo, LEVEL.cast)} ... ${printAt(expr.hi, LEVEL.cast)}`;
    case "binary": {
      const level = levelOf(expr);
      return `${printAt(expr.lhs, level)} ${expr.operator} ${printAt(expr.rhs, level - 1)}`;
    }
    case "conditional": {
      const condition = printAt(expr.condition, LEVEL.conditional - 1);
      const then = expr.then === undefined ? "" : ` ${printExpr(expr.then)} `;
      return `${condition} ?${then}: ${printAt(expr.else, LEVEL.conditional)}`;
    }
    case "assign":
      return `${printAt(expr.target, LEVEL.conditional)} ${expr.operator} ${
        printAt(expr.value, LEVEL.assign)
      }`;
    case "comma":
      return `${printAt(expr.lhs, LEVEL.comma)}, ${printAt(expr.rhs, LEVEL.assign)}`;
    case "error":
      return "/* not understood */";
    default:
      return assertNever(expr);
  }
}

/** The expression, in parentheses if its operator binds looser than `loosest`. */
function printAt(expr: Expr, loosest: number): string {
  const text = printExpr(expr);
  return levelOf(expr) > loosest ? `(${text})` : text;
}

/** Keeps `- -x` two signs. */
function prefixed(operator: string, operand: string): string {
  return operand.startsWith(operator.charAt(0)) ? `${operator} ${operand}` : operator + operand;
}

function printArgument(argument: Argument): string {
  return argument.kind === "type"
    ? printTypeName(argument.type)
    : printAt(argument.expr, LEVEL.assign);
}

function printSubscriptItem(item: Item): string {
  switch (item.kind) {
    case "all":
      return ":";
    case "newaxis":
      return "newaxis";
    case "reduce":
      return item.operator;
    case "axis":
      return prefixed("^", printAt(item.axis, LEVEL.conditional));
    case "index": {
      const text = printAt(item.index, LEVEL.conditional);
      // A bare name would be a reduction, a leading `^` the number of an axis.
      return item.index.kind === "name" || text.startsWith("^") ? `(${text})` : text;
    }
    default:
      return assertNever(item);
  }
}
