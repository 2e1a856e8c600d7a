/** Statements (language.md 6 and Appendix A). */
import type { Span } from "../support/source.ts";
import type { Block, BlockItem, Expr, LoopHint, Stmt } from "./ast.ts";
import { parseLoopHints } from "./loop_hints.ts";
import { parseDeclaration, parseStaticAssert } from "./parse_decl.ts";
import { parseConditional, parseExpr } from "./parse_expr.ts";
import { startsDeclaration } from "./parse_specs.ts";
import type { ParseContext } from "./parse_context.ts";
import { isWord } from "../preprocess/token.ts";

/** The block of a function, whose scope is that of the parameters and is the caller's to open. */
export function parseBody(p: ParseContext): Block {
  const { cursor } = p;
  const open = cursor.expect("{");
  const start = open?.span ?? cursor.token.span;
  const items: BlockItem[] = [];
  if (open === undefined) return { kind: "block", items, span: start };
  // A function contains no `__global__`: the `}` before it was forgotten.
  while (!cursor.at("}") && !cursor.atEnd() && !cursor.at("__global__")) {
    const { index: before, links } = cursor;
    items.push(parseBlockItem(p));
    cursor.endBranch(links);
    if (cursor.index === before) cursor.next(); // always progress
  }
  if (!cursor.accept("}")) {
    cursor.complain("`}`", { notes: [{ message: "this block is still open", span: open.span }] });
  }
  return { kind: "block", items, span: cursor.spanFrom(start) };
}

/** block = '{' { declaration | static-assert | statement } '}' */
function parseBlock(p: ParseContext): Block {
  p.scopes.open();
  const block = parseBody(p);
  p.scopes.close();
  return block;
}

function parseBlockItem(p: ParseContext): BlockItem {
  const { cursor } = p;
  let item: BlockItem;
  if (cursor.at("_Static_assert") || cursor.at("static_assert")) item = parseStaticAssert(p);
  else if (startsDeclaration(p)) item = parseDeclaration(p);
  else return parseStatement(p);
  cursor.recoverStatement();
  return item;
}

type StatementParser = (p: ParseContext, start: Span, hints: readonly LoopHint[]) => Stmt;

/** The statements that begin with a word or a sign of their own. */
const STATEMENTS: ReadonlyMap<string, StatementParser> = new Map<string, StatementParser>([
  ["{", parseBlock],
  [";", parseEmpty],
  ["if", parseIf],
  ["for", parseFor],
  ["while", parseWhile],
  ["do", parseDo],
  ["break", parseJump("break")],
  ["continue", parseJump("continue")],
  ["return", parseReturn],
  ["else", parseStrayElse],
  ["switch", parseSwitch],
  ["case", parseCaseLabel],
  ["default", parseCaseLabel],
  ["goto", parseGoto],
]);

const LOOPS: ReadonlySet<string> = new Set(["for", "while", "do"]);

/**
 * statement = block | [ expr ] ';' | 'if' … | 'for' … | 'while' … | 'do' … | 'break' ';' | 'continue' ';'
 *           | 'return' [ expr ] ';' | loop-pragma statement
 */
function parseStatement(p: ParseContext): Stmt {
  const { cursor } = p;
  cursor.enter();
  if (cursor.at(")") || cursor.at("]")) {
    cursor.complain("a statement", { hint: "this bracket closes nothing" });
    while (cursor.at(")") || cursor.at("]")) cursor.next();
  }
  const { kind, text, span } = cursor.token;
  const parse = kind === "punctuator" || kind === "keyword" ? STATEMENTS.get(text) : undefined;
  const stmt = kind === "loop-pragma"
    ? parseAfterLoopPragma(p)
    : parse !== undefined
    ? parse(p, span, [])
    : parseOther(p, span);
  cursor.recoverStatement();
  cursor.leave();
  return stmt;
}

/** loop-pragma statement; the statement must be a loop. */
function parseAfterLoopPragma(p: ParseContext): Stmt {
  const { cursor } = p;
  const { span: start } = cursor.token;
  const hints: LoopHint[] = [];
  while (cursor.token.kind === "loop-pragma") {
    hints.push(...parseLoopHints(cursor.next(), p.reporter));
  }
  const { text, span } = cursor.token;
  const parse = STATEMENTS.get(text);
  if (LOOPS.has(text) && parse !== undefined) return parse(p, span, hints);
  cursor.complain("a loop after the loop pragma", {
    notes: [{ message: "the pragma", span: start }],
    hint: "a loop pragma must be directly before `for`, `while` or `do`",
  });
  const isOther = cursor.at("}") || cursor.atEnd() || startsDeclaration(p);
  return isOther ? { kind: "empty", span: start } : parseStatement(p);
}

/** Expression statements, and what is written instead of them by mistake. */
function parseOther(p: ParseContext, start: Span): Stmt {
  const { cursor, scopes, reporter } = p;
  if (cursor.at("}") || cursor.atEnd() || cursor.at("__global__")) {
    cursor.fail("a statement");
    return { kind: "error", span: start };
  }
  if (cursor.token.kind === "identifier" && isWord(cursor.ahead(1), ":")) {
    reporter.error("E2002", start, `the label \`${cursor.token.text}\` is not supported`, {
      hint: "use `if`, loops, `break` and `continue`",
    });
    cursor.next();
    cursor.next();
    return { kind: "error", span: cursor.spanFrom(start) };
  }
  if (startsDeclaration(p)) {
    cursor.complain("a statement", { hint: "a declaration here needs `{ }` around it" });
    scopes.open();
    const items = [parseDeclaration(p)];
    scopes.close();
    return { kind: "block", items, span: cursor.spanFrom(start) };
  }
  const expr = parseExpr(p);
  cursor.expectSemicolon({}, "`;` after the expression");
  return { kind: "expression", expr, span: cursor.spanFrom(start) };
}

function parseEmpty({ cursor }: ParseContext, span: Span): Stmt {
  cursor.next();
  return { kind: "empty", span };
}

/** '(' expr ')'. After an error inside, parsing continues after the parenthesis. */
function parseCondition(p: ParseContext): Expr {
  const { cursor } = p;
  const openIndex = cursor.index;
  const open = cursor.expect("(");
  const condition = parseExpr(p);
  cursor.expectClose(")", open);
  cursor.recoverAfter(openIndex);
  return condition;
}

/** 'if' '(' expr ')' statement [ 'else' statement ]; `else` belongs to the nearest `if` (note 5). */
function parseIf(p: ParseContext, start: Span): Stmt {
  const { cursor } = p;
  cursor.next();
  const condition = parseCondition(p);
  const then = parseStatement(p);
  const otherwise = cursor.accept("else") && parseStatement(p);
  return {
    kind: "if",
    condition,
    then,
    ...(otherwise && { else: otherwise }),
    span: cursor.spanFrom(start),
  };
}

/** 'for' '(' ( declaration | [ expr ] ';' ) [ expr ] ';' [ expr ] ')' statement */
function parseFor(p: ParseContext, start: Span, hints: readonly LoopHint[]): Stmt {
  const { cursor, scopes } = p;
  cursor.next();
  scopes.open();
  const openIndex = cursor.index;
  const open = cursor.expect("(");
  const isDeclaration = startsDeclaration(p);
  const init = isDeclaration ? parseDeclaration(p) : cursor.at(";") ? undefined : parseExpr(p);
  if (!isDeclaration) cursor.expect(";");
  const condition = cursor.at(";") ? undefined : parseExpr(p);
  cursor.expect(";", { hint: "a loop is `for (init; condition; step)`" });
  const step = cursor.at(")") ? undefined : parseExpr(p);
  cursor.expectClose(")", open);
  cursor.recoverAfter(openIndex);
  const body = parseStatement(p);
  scopes.close();
  return {
    kind: "for",
    ...(init && { init }),
    ...(condition && { condition }),
    ...(step && { step }),
    body,
    hints,
    span: cursor.spanFrom(start),
  };
}

/** 'while' '(' expr ')' statement */
function parseWhile(p: ParseContext, start: Span, hints: readonly LoopHint[]): Stmt {
  p.cursor.next();
  const condition = parseCondition(p);
  const body = parseStatement(p);
  return { kind: "while", condition, body, hints, span: p.cursor.spanFrom(start) };
}

/** 'do' statement 'while' '(' expr ')' ';' */
function parseDo(p: ParseContext, start: Span, hints: readonly LoopHint[]): Stmt {
  const { cursor } = p;
  cursor.next();
  const body = parseStatement(p);
  cursor.expect("while", { notes: [{ message: "to end this `do`", span: start }] });
  const condition = parseCondition(p);
  cursor.expectSemicolon({}, "`;` after the condition");
  return { kind: "do", body, condition, hints, span: cursor.spanFrom(start) };
}

/** 'break' ';' | 'continue' ';' */
function parseJump(kind: "break" | "continue"): StatementParser {
  return ({ cursor }, start) => {
    cursor.next();
    cursor.expectSemicolon({}, `\`;\` after \`${kind}\``);
    return { kind, span: cursor.spanFrom(start) };
  };
}

/** 'return' [ expr ] ';' */
function parseReturn(p: ParseContext, start: Span): Stmt {
  const { cursor } = p;
  cursor.next();
  const value = cursor.at(";") || cursor.at("}") ? undefined : parseExpr(p);
  cursor.expectSemicolon({}, "`;` after `return`");
  return { kind: "return", ...(value && { value }), span: cursor.spanFrom(start) };
}

function parseStrayElse(p: ParseContext, start: Span): Stmt {
  p.cursor.complain("a statement", { hint: "no `if` directly before it is open" });
  p.cursor.next();
  parseStatement(p);
  return { kind: "error", span: p.cursor.spanFrom(start) };
}

function reportUnsupported(p: ParseContext, hint: string): void {
  const { text, span } = p.cursor.next();
  p.reporter.error("E2002", span, `\`${text}\` is not supported`, { hint });
}

/** Not in the language. The whole statement is read, so that errors in it are found, and dropped. */
function parseSwitch(p: ParseContext, start: Span): Stmt {
  reportUnsupported(p, "use `if` and `else if`");
  parseCondition(p);
  p.openSwitches++;
  parseStatement(p);
  p.openSwitches--;
  return { kind: "error", span: p.cursor.spanFrom(start) };
}

function parseCaseLabel(p: ParseContext, start: Span): Stmt {
  const { cursor } = p;
  const hasValue = cursor.at("case");
  if (p.openSwitches === 0) reportUnsupported(p, "use `if` and `else if`");
  else cursor.next();
  if (hasValue) parseConditional(p);
  cursor.expect(":");
  return { kind: "error", span: cursor.spanFrom(start) };
}

function parseGoto(p: ParseContext, start: Span): Stmt {
  const { cursor } = p;
  reportUnsupported(p, "use `if`, loops, `break` and `continue`");
  if (cursor.token.kind === "identifier") cursor.next();
  cursor.expectSemicolon();
  return { kind: "error", span: cursor.spanFrom(start) };
}
