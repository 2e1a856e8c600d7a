/**
 * Tokens to syntax tree: the entry points of the parser, and the items of a file. Recursive descent; one function
 * per rule of language.md, Appendix A, with the rule above it:
 *
 *   parse_expr.ts   expressions, driven by the levels in operators.ts
 *   parse_specs.ts  declaration specifiers, attributes, type names
 *   parse_decl.ts   declarators, parameters, declarations
 *   parse_stmt.ts   statements
 *
 * Every function returns a node, whatever the text: `token_cursor.ts` says how errors pass through.
 */
import type { Reporter } from "../support/diagnostic.ts";
import { type Span, useSite } from "../support/source.ts";
import type { Expr, TopItem, TypeName, Unit } from "./ast.ts";
import { type Comment, docAbove } from "../preprocess/comments.ts";
import {
  declaredName,
  finishDeclaration,
  parseDeclaredDeclarator,
  parseInits,
  parseStaticAssert,
} from "./parse_decl.ts";
import { FOREIGN_DECLARATIONS } from "./foreign_words.ts";
import { parseExpr } from "./parse_expr.ts";
import { parseSpecs, parseTypeNameHere, startsDeclaration } from "./parse_specs.ts";
import { parseBody } from "./parse_stmt.ts";
import { newParseContext, type ParseContext } from "./parse_context.ts";
import { isWord, type Token } from "../preprocess/token.ts";
import { heightExceeds, MAX_TREE_HEIGHT } from "./tree_height.ts";

/**
 * Reads a whole file.
 * @param comments those of the file; the one right above a function is its documentation
 */
export function parse(
  tokens: readonly Token[],
  comments: readonly Comment[],
  reporter: Reporter,
): Unit {
  const p = newParseContext(tokens, reporter, "file");
  const items: TopItem[] = [];
  while (!p.cursor.atEnd()) {
    const before = p.cursor.index;
    p.cursor.beginItem();
    const item = parseTopItem(p, comments);
    if (item !== undefined && !isTooTall(p, item)) items.push(item);
    if (p.cursor.index === before) p.cursor.next(); // always progress
  }
  return { items };
}

/** Whether an item is too tall for later phases, which recurse over the tree; reported. */
function isTooTall(
  { cursor, reporter }: ParseContext,
  item: object & { readonly span: Span },
): boolean {
  if (cursor.heightBound <= MAX_TREE_HEIGHT || !heightExceeds(item, MAX_TREE_HEIGHT)) return false;
  if (!cursor.gaveUp) {
    const message = `the longest chain of operators has more than ${MAX_TREE_HEIGHT} links`;
    reporter.error("E5003", item.span, message, { hint: "split it into several statements" });
  }
  return true;
}

/** Reads tokens that must be one expression, as in pragmas. */
export function parseExpression(tokens: readonly Token[], reporter: Reporter): Expr {
  return parseWhole(tokens, reporter, "expression", parseExpr, (span) => ({ kind: "error", span }));
}

/** Reads tokens that must be one type name. */
export function parseTypeName(tokens: readonly Token[], reporter: Reporter): TypeName {
  return parseWhole(tokens, reporter, "type", parseTypeNameHere, missingTypeName);
}

function missingTypeName(span: Span): TypeName {
  const type = { kind: "missing", span } as const;
  return { specs: { storage: [], qualifiers: [], attributes: [], type, span }, pointers: [], span };
}

/** @param instead replaces a tree that is too tall for the phases after */
function parseWhole<Node extends object & { readonly span: Span }>(
  tokens: readonly Token[],
  reporter: Reporter,
  whole: string,
  parsePart: (p: ParseContext) => Node,
  instead: (span: Span) => Node,
): Node {
  const p = newParseContext(tokens, reporter, whole);
  const start = p.cursor.token.span;
  const node = parsePart(p);
  if (!p.cursor.atEnd()) p.cursor.fail(`the end of the ${whole}`);
  return isTooTall(p, node) ? instead(start) : node;
}

/**
 * unit     = { function | declaration | static-assert | ';' }
 * function = specs declarator block
 */
function parseTopItem(p: ParseContext, comments: readonly Comment[]): TopItem | undefined {
  const { cursor, scopes } = p;
  if (cursor.accept(";")) return undefined;
  const start = cursor.token.span;
  if (cursor.at("_Static_assert") || cursor.at("static_assert")) {
    const item = parseStaticAssert(p);
    if (cursor.stuck) cursor.recoverTopLevel(true);
    return item;
  }
  // `f(…)` without a type is a function all the same; the missing type is reported later.
  const isUntypedFunction = cursor.token.kind === "identifier" && isWord(cursor.ahead(1), "(");
  if (!startsDeclaration(p) && !isUntypedFunction) {
    reportNoDeclaration(p);
    cursor.recoverTopLevel(false);
    return undefined;
  }

  const specs = parseSpecs(p, "declaration");
  if (cursor.at(";")) return finishDeclaration(p, specs, []);
  const declarator = parseDeclaredDeclarator(p, specs);
  const { params } = declarator;
  if (params !== undefined && cursor.at("{")) {
    scopes.open();
    for (const param of params.params) {
      const name = declaredName(param.declarator);
      if (name !== undefined) scopes.declare(name.text, "other");
    }
    const body = parseBody(p);
    scopes.close();
    const { file, start: offset } = useSite(start);
    const doc = docAbove(comments, file, offset);
    return { kind: "function", specs, declarator, body, span: cursor.spanFrom(start), doc };
  }
  const item = finishDeclaration(p, specs, parseInits(p, specs, declarator));
  if (cursor.stuck) cursor.recoverTopLevel(true);
  return item;
}

function reportNoDeclaration({ cursor }: ParseContext): void {
  if (cursor.token.kind === "loop-pragma") {
    cursor.fail("a declaration", {
      hint: "a loop pragma must be directly before a loop, inside a function",
    });
  } else if (cursor.at("}")) {
    cursor.fail("a declaration", {
      hint: "this bracket closes nothing; a `}` before it may be one too many",
    });
  } else {
    const { text } = cursor.token;
    const foreign = Object.hasOwn(FOREIGN_DECLARATIONS, text)
      ? FOREIGN_DECLARATIONS[text]
      : undefined;
    cursor.fail("a declaration", {
      hint: foreign ?? "statements are allowed only inside functions",
    });
  }
}
