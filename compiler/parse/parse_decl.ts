/** Declarations, declarators and parameters (language.md, Appendix A). */
import type {
  Attribute,
  Declaration,
  Declarator,
  Expr,
  InitDeclarator,
  Name,
  Param,
  Params,
  Specs,
  StaticAssert,
} from "./ast.ts";
import { parseAssign, parseConditional } from "./parse_expr.ts";
import { parsePointers, parseShape, parseSpecs, startsType } from "./parse_specs.ts";
import { parseName } from "./parse_name.ts";
import { parseAttributes } from "./parse_attributes.ts";
import type { ParseContext } from "./parse_context.ts";

/** The name a declarator declares, through the parentheses of C. */
export function declaredName(declarator: Declarator): Name | undefined {
  let at = declarator;
  while (at.nested !== undefined) at = at.nested;
  return at.name;
}

/**
 * declarator = { '*' { qualifier | attribute } } direct
 * direct     = ( name | '(' declarator ')' ) { attribute } [ shape | params ] { attribute }
 */
function parseDeclarator(p: ParseContext, what: string): Declarator {
  return parseDeclaratorOr(p, what, false);
}

/** A declarator, or, if `abstract`, also the form without a name: { '*' { qualifier } } [ shape ]. */
function parseDeclaratorOr(p: ParseContext, what: string, abstract: boolean): Declarator {
  const { cursor } = p;
  cursor.enter();
  const start = cursor.token.span;
  const attributes: Attribute[] = [];
  const pointers = parsePointers(p, attributes);
  const open = cursor.accept("(");
  let name: Name | undefined;
  let nested: Declarator | undefined;
  if (open !== undefined) {
    nested = parseDeclarator(p, what);
    cursor.expectClose(")", open);
  } else if (!(abstract && (cursor.at("[") || cursor.at(",") || cursor.at(")")))) {
    name = parseName(p, what);
  }
  attributes.push(...parseAttributes(p));
  const shape = cursor.at("[") ? parseShape(p) : undefined;
  const params = shape === undefined && cursor.at("(") && (name ?? nested) !== undefined
    ? parseParams(p)
    : undefined;
  attributes.push(...parseAttributes(p));
  cursor.leave();
  return {
    pointers,
    ...(name && { name }),
    ...(nested && { nested }),
    ...(shape && { shape }),
    ...(params && { params }),
    attributes,
    span: cursor.spanFrom(start),
  };
}

/** params = '(' [ 'void' | param { ',' param } ] ')'; a final `...` is kept for E4023. */
function parseParams(p: ParseContext): Params {
  const { cursor, scopes } = p;
  const openIndex = cursor.index;
  const open = cursor.next();
  const params: Param[] = [];
  let variadic: Params["variadic"];
  scopes.open();
  if (cursor.at("void") && cursor.ahead(1).text === ")") cursor.next();
  else if (!cursor.at(")")) {
    do {
      const dots = cursor.accept("...");
      if (dots !== undefined) {
        variadic = dots.span;
        break;
      }
      params.push(parseParam(p));
    } while (cursor.accept(","));
  }
  scopes.close();
  cursor.expectClose(")", open);
  cursor.recoverAfter(openIndex);
  return { params, ...(variadic && { variadic }), span: cursor.spanFrom(open.span) };
}

/** param = specs ( declarator | { '*' { qualifier } } [ shape ] ) */
function parseParam(p: ParseContext): Param {
  const { cursor, scopes } = p;
  const start = cursor.token.span;
  if (!startsType(p, cursor.token) && cursor.token.kind !== "identifier") {
    cursor.fail("a parameter", cursor.at(")") ? { hint: "remove the `,` before it" } : {});
  }
  const specs = parseSpecs(p, "parameter");
  const declarator = parseDeclaratorOr(p, "the name of a parameter", true);
  const name = declaredName(declarator);
  if (name !== undefined) scopes.declare(name.text, "other");
  return { specs, declarator, span: cursor.spanFrom(start) };
}

/** declaration = specs [ init { ',' init } ] ';' */
export function parseDeclaration(p: ParseContext): Declaration {
  const { cursor } = p;
  const specs = parseSpecs(p, "declaration");
  const inits: InitDeclarator[] = [];
  if (!cursor.at(";")) inits.push(...parseInits(p, specs, parseDeclaredDeclarator(p, specs)));
  return finishDeclaration(p, specs, inits);
}

/** The `;` of a declaration. */
export function finishDeclaration(
  p: ParseContext,
  specs: Specs,
  inits: readonly InitDeclarator[],
): Declaration {
  const { cursor } = p;
  const isPrototype = inits.at(-1)?.declarator.params !== undefined;
  if (isPrototype && cursor.at("{")) {
    cursor.complain("`;`", { hint: "functions are defined at file scope, one declarator each" });
    cursor.skipPair();
    return { kind: "declaration", specs, inits, span: cursor.spanFrom(specs.span) };
  }
  cursor.expectSemicolon(
    {},
    isPrototype ? "`;` or the body of the function" : "`;` after the declaration",
  );
  return { kind: "declaration", specs, inits, span: cursor.spanFrom(specs.span) };
}

/** A declarator, whose name is in scope from here on. */
export function parseDeclaredDeclarator(p: ParseContext, specs: Specs): Declarator {
  const declarator = parseDeclarator(p, "a name to declare");
  const name = declaredName(declarator);
  const isTypedef = specs.storage.some(({ word }) => word === "typedef");
  if (name !== undefined) p.scopes.declare(name.text, isTypedef ? "typedef" : "other");
  return declarator;
}

/** init { ',' init }, the first declarator being read already. */
export function parseInits(p: ParseContext, specs: Specs, first: Declarator): InitDeclarator[] {
  const { cursor } = p;
  const inits = [parseInit(p, first)];
  while (cursor.accept(",")) inits.push(parseInit(p, parseDeclaredDeclarator(p, specs)));
  return inits;
}

/** init = declarator [ '=' ( assign | '{' assign [ ',' ] '}' ) ]; longer lists are kept for E4003. */
function parseInit(p: ParseContext, declarator: Declarator): InitDeclarator {
  const { cursor } = p;
  if (cursor.accept("=") === undefined) return { declarator, span: declarator.span };
  const initializer: Expr[] = [];
  const openIndex = cursor.index;
  const open = cursor.accept("{");
  if (open === undefined) initializer.push(parseAssign(p));
  else {
    do {
      if (initializer.length > 0 && cursor.at("}")) break;
      initializer.push(parseAssign(p));
    } while (cursor.accept(","));
    cursor.expectClose("}", open);
    cursor.recoverAfter(openIndex);
  }
  return { declarator, initializer, span: cursor.spanFrom(declarator.span) };
}

/** static-assert = ( '_Static_assert' | 'static_assert' ) '(' cond [ ',' string ] ')' ';' */
export function parseStaticAssert(p: ParseContext): StaticAssert {
  const { cursor } = p;
  const { span: start } = cursor.next();
  const open = cursor.expect("(");
  const condition = parseConditional(p);
  let message: string | undefined;
  if (cursor.accept(",")) {
    if (cursor.token.kind === "string") message = cursor.next().text;
    else cursor.fail("the text of the assertion", { hint: 'a string is in quotes: `"…"`' });
  }
  cursor.expectClose(")", open);
  cursor.expectSemicolon({}, "`;` after the assertion");
  return {
    kind: "static-assert",
    condition,
    ...(message !== undefined && { message }),
    span: cursor.spanFrom(start),
  };
}
