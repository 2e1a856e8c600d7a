/** Types from syntax: specifiers, declarators, shapes, typedef names and enums (language.md, section 3). */
import type { Code } from "../support/codes.ts";
import type { Span } from "../support/source.ts";
import { wrapInt } from "../support/arith.ts";
import type * as ast from "../parse/ast.ts";
import {
  type ElementType,
  type PointerType,
  spellType,
  type TileType,
  type Type,
} from "./tree/types.ts";
import type { TypedExpr } from "./tree/typed.ts";
import { scalarOfWords } from "../preprocess/type_spelling.ts";
import type { Context } from "./check_context.ts";
import type { Value } from "./tree/nodes.ts";
import { scalarType } from "./tree/value_types.ts";
import { isInteger } from "./expressions/convert.ts";
import { checkValue } from "./expressions/check_expr.ts";
import { declarationNote } from "./analysis/origin.ts";
import { someExpr } from "./tree/typed_walk.ts";

const POISON: Type = { kind: "poison" };
const MAX_RANK = 5;
/** C11 5.2.4.1 asks for 12; phases recurse over types, and types are compared by their parts. */
const MAX_POINTER_LEVELS = 64;

/** A type before shape and pointers: what the specifiers say. */
export function resolveSpec(cx: Context, spec: ast.TypeSpec): Type {
  switch (spec.kind) {
    case "words":
      return resolveWords(cx, spec.words, spec.span);
    case "typedef-name":
      return resolveName(cx, spec.name);
    case "enum":
      declareEnumerators(cx, spec.enumerators ?? []);
      return scalarType("int32");
    case "shaped":
      return makeTile(cx, resolveSpec(cx, spec.element), spec.shape);
    case "unknown":
      return POISON;
    case "missing":
      cx.reporter.error("E3003", spec.span, "this declaration has no type", {
        hint: "write one, for example `int`; C's implicit int is not accepted",
      });
      return POISON;
  }
}

function resolveWords(cx: Context, words: readonly ast.Name[], span: Span): Type {
  const texts = words.map((word) => word.text);
  if (texts.join() === "void") return { kind: "void" };
  const name = scalarOfWords(texts);
  if (name !== undefined) return scalarType(name);
  const written = texts.join(" ");
  if ([...texts].sort().join() === "double,long") {
    cx.reporter.error("E3001", span, `there is no type \`${written}\` on the GPU`, {
      hint: "use `double`",
    });
  } else {
    cx.reporter.error("E3002", span, `\`${written}\` is not a type`);
  }
  return POISON;
}

function resolveName(cx: Context, name: ast.Name): Type {
  const entry = cx.meaning(name.text, name.span);
  if (entry?.kind === "typedef") return entry.type;
  const predeclared = entry === undefined ? scalarOfWords([name.text]) : undefined;
  if (predeclared !== undefined) return scalarType(predeclared);
  // The parser takes a name for a type only where a typedef declares it, so that one was wrong.
  return POISON;
}

function declareEnumerators(cx: Context, enumerators: readonly ast.Enumerator[]): void {
  let next = 0n;
  for (const { name, value } of enumerators) {
    const given = value === undefined
      ? next
      : checkConstant(cx, value, `the value of \`${name.text}\``);
    if (given === undefined) {
      cx.declare(name.text, { kind: "poison", span: name.span });
      continue;
    }
    const constant: Value = {
      kind: "constant",
      value: wrapInt(given, "int32"),
      type: scalarType("int32"),
      span: name.span,
    };
    cx.declare(name.text, { kind: "constant", value: constant, span: name.span });
    next = given + 1n;
  }
}

type Qualifiers = readonly { readonly word: ast.Qualifier }[];

function hasQualifier(qualifiers: Qualifiers, word: ast.Qualifier): boolean {
  return qualifiers.some((qualifier) => qualifier.word === word);
}

/** `type` with the stars of a declarator applied. */
export function applyPointers(
  cx: Context,
  base: Type,
  specs: ast.Specs,
  pointers: readonly ast.PointerLevel[],
): Type {
  let type = base;
  let qualifiers: Qualifiers = specs.qualifiers;
  let levels = pointerLevels(base);
  for (const level of pointers) {
    if (type.kind === "tile") {
      cx.reporter.error("E3010", level.span, `there is no pointer to the tile ${spellType(type)}`, {
        hint: "a tile of pointers has its shape after the name: `float *p[16]`",
      });
      return POISON;
    }
    if (type.kind === "poison") return POISON;
    if (++levels > MAX_POINTER_LEVELS) {
      const message = `a pointer has at most ${MAX_POINTER_LEVELS} levels`;
      cx.reporter.error("E3027", level.span, message, { hint: "remove some of the `*`" });
      return POISON;
    }
    const pointer: PointerType = {
      kind: "pointer",
      pointee: type,
      const: hasQualifier(qualifiers, "const"),
      volatile: hasQualifier(qualifiers, "volatile"),
      space: hasQualifier(qualifiers, "__constant__") ? "constant" : "global",
    };
    type = pointer;
    qualifiers = level.qualifiers;
  }
  return type;
}

function pointerLevels(type: Type): number {
  let levels = 0;
  for (let at = type; at.kind === "pointer"; at = at.pointee) levels++;
  return levels;
}

/** Whether the declared thing itself is const: by the last star, or without stars by the specifiers. */
export function isConstObject(specs: ast.Specs, pointers: readonly ast.PointerLevel[]): boolean {
  return hasQualifier((pointers.at(-1) ?? specs).qualifiers, "const");
}

/** The type a declarator gives its name; `base` is resolved once for all declarators. */
export function resolveDeclarator(
  cx: Context,
  base: Type,
  specs: ast.Specs,
  declarator: ast.Declarator,
): Type {
  if (declarator.nested !== undefined) {
    cx.reporter.error(
      "E3010",
      declarator.span,
      "pointers to functions and tiles are not supported",
      {
        hint: "remove the parentheses around the name",
      },
    );
    return POISON;
  }
  const type = applyPointers(cx, base, specs, declarator.pointers);
  return declarator.shape === undefined ? type : makeTile(cx, type, declarator.shape);
}

/** The type in a cast, `sizeof`, `bitcast` or an argument. */
export function resolveTypeName(cx: Context, name: ast.TypeName): Type {
  const base = resolveSpec(cx, name.specs.type);
  const type = applyPointers(cx, base, name.specs, name.pointers);
  return name.shape === undefined ? type : makeTile(cx, type, name.shape);
}

/** A tile of `element` with the extents of a shape: all of E3020 to E3025. */
function makeTile(cx: Context, element: Type, shape: ast.Shape): Type {
  if (shape.dims.length === 0 || shape.brackets > 1) {
    const dims = shape.dims.map((dim) => dim.span.file.text.slice(dim.span.start, dim.span.end))
      .join(", ");
    const message = shape.dims.length === 0
      ? "a tile needs its extents"
      : "C arrays are not supported; a tile lists its extents in one pair of brackets";
    cx.reporter.error("E3025", shape.span, message, {
      hint: shape.dims.length === 0 ? "write them: `[16]` or `[TM, TN]`" : `write \`[${dims}]\``,
      ...(shape.dims.length === 0 ? {} : { fix: { span: shape.span, replacement: `[${dims}]` } }),
    });
    return POISON;
  }
  const extents = shape.dims.map((dim) => checkExtent(cx, dim));
  if (element.kind === "poison") return POISON;
  if (element.kind === "void" || element.kind === "tile") {
    const message = element.kind === "void"
      ? "a tile of void has no elements"
      : `a tile of tiles is not supported: its element would be ${spellType(element)}`;
    cx.reporter.error("E3024", shape.span, message, {
      ...(element.kind === "tile" ? { hint: "list all extents in one shape" } : {}),
    });
    return POISON;
  }
  const known: number[] = [];
  for (const extent of extents) {
    if (extent === undefined) return POISON;
    known.push(extent);
  }
  return checkTile(cx, element, known, shape.span) ?? POISON;
}

/** A tile type within the limits of rank and size (E3022, E3023). */
export function checkTile(
  cx: Context,
  element: ElementType,
  shape: readonly number[],
  span: Span,
): TileType | undefined {
  if (shape.length > MAX_RANK) {
    const message = `a tile has at most ${MAX_RANK} axes, not ${shape.length}`;
    cx.reporter.error("E3022", span, message);
    return undefined;
  }
  const count = shape.reduce((product, extent) => product * extent, 1);
  if (count > cx.maxTileElements) {
    const message = `the tile [${
      shape.join(", ")
    }] has ${count} elements; the limit is ${cx.maxTileElements}`;
    cx.reporter.error("E3023", span, message, {
      hint: "make the tile smaller and loop, or raise `--max-tile-elements`",
    });
    return undefined;
  }
  return { kind: "tile", element, shape };
}

function checkExtent(cx: Context, dim: ast.Expr): number | undefined {
  const extent = checkConstant(cx, dim, "a tile dimension", "E3020");
  return extent === undefined
    ? undefined
    : checkPowerOfTwo(cx, extent, "the tile dimension is", dim.span);
}

/** E3021; `what` is the start of the message, for example "the tile dimension is". */
export function checkPowerOfTwo(
  cx: Context,
  extent: bigint,
  what: string,
  span: Span,
): number | undefined {
  if (extent >= 1n && (extent & (extent - 1n)) === 0n) return Number(extent);
  const next = 1n << BigInt(extent.toString(2).length);
  const hint = extent < 1n
    ? {}
    : { hint: `use ${next} and mask the excess: \`*?(i < ${extent}) p\`` };
  cx.reporter.error("E3021", span, `${what} ${extent}, not a power of two`, hint);
  return undefined;
}

/** What a missing constant is reported as: by what needs it. */
type ConstantCode = Extract<
  Code,
  "E3020" | "E4010" | "E4033" | "E5103" | "E5112" | "E6006" | "E7003" | "E7005"
>;

/** An integer constant expression; `code` is reported with what is not constant in it. */
export function checkConstant(
  cx: Context,
  expr: ast.Expr,
  what: string,
  code: ConstantCode = "E3020",
): bigint | undefined {
  const value = checkValue(cx, expr);
  return value === undefined ? undefined : constantInteger(cx, value, expr.span, what, code);
}

/** The same for a value that is checked already. @param remedy what else helps, after a comma */
export function constantInteger(
  cx: Context,
  value: Value,
  span: Span,
  what: string,
  code: ConstantCode,
  remedy = "",
): bigint | undefined {
  if (value.type.kind === "tile" || !isInteger(value)) {
    const message = `${what} must be an integer constant, not ${spellType(value.type)}`;
    cx.reporter.error(code, span, message);
    return undefined;
  }
  if (value.kind === "constant" && typeof value.value === "bigint") {
    return BigInt(value.value);
  }
  // A division by zero was reported when it was folded.
  if (someExpr(value, isZeroDivision)) return undefined;
  const part = nonConstantPart(value);
  const message = part.kind === "variable"
    ? `${what} must be constant; \`${part.variable.name}\` is a variable`
    : `${what} must be constant; this part of it is not`;
  cx.reporter.error(code, part.kind === "variable" ? part.span : span, message, {
    ...(part.kind === "variable" ? { notes: [declarationNote(part.variable)] } : {}),
    hint: `use a literal, a \`-D\` parameter or a \`const\` with a constant value${remedy}`,
  });
  return undefined;
}

function isZeroDivision(expr: TypedExpr): boolean {
  return expr.kind === "binary" && (expr.operator === "div" || expr.operator === "rem") &&
    expr.lhs.kind === "constant" && expr.rhs.kind === "constant";
}

/** The first leaf that is not constant. */
function nonConstantPart(expr: TypedExpr): TypedExpr {
  switch (expr.kind) {
    case "binary":
      return nonConstantPart(expr.lhs.kind === "constant" ? expr.rhs : expr.lhs);
    case "unary":
    case "convert":
    case "broadcast":
    case "reshape":
      return nonConstantPart(expr.operand);
    default:
      return expr;
  }
}
