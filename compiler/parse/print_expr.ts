/**
 * Types, declarators and expressions of the syntax tree as Triton-C text that parses back to the same tree. Parentheses
 * that the tree does not hold are added where the levels of `operators.ts` demand them.
 */
import { assertNever } from "../support/bug.ts";
import type {
  Argument,
  Attribute,
  Declarator,
  Expr,
  Item,
  Params,
  PointerLevel,
  Shape,
  Specs,
  TypeName,
  TypeSpec,
} from "./ast.ts";
import { LEVEL, levelOf } from "./operators.ts";
import { times } from "../support/times.ts";

/** Specifiers, then the rest of a declaration or of a type name. */
export function printSpecsAnd(specs: Specs, rest: string): string {
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
  return times(brackets, (i) => {
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
export function printAt(expr: Expr, loosest: number): string {
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
