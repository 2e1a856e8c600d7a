/** Declaration specifiers, attributes and type names (language.md, Appendix A). */
import { joinSpans, type Span } from "../support/source.ts";
import type {
  Attribute,
  Enumerator,
  Name,
  PointerLevel,
  Qualifier,
  Shape,
  Specs,
  Storage,
  TypeName,
  TypeSpec,
} from "./ast.ts";
import { parseConditional } from "./parse_expr.ts";
import type { ParseContext } from "./parse_context.ts";
import { isWord, type Token } from "../preprocess/token.ts";
import { FOREIGN_SPECIFIERS } from "./foreign_words.ts";
import { reportUnknownType } from "./unknown_type.ts";
import { parseAttributes, startsAttribute } from "./parse_attributes.ts";
import { nameOf, parseName } from "./parse_name.ts";
import { specWord } from "./spec_words.ts";

/** Where specifiers occur. Storage words belong to declarations; `T[S] name` is no form of a bare type. */
type SpecsPosition = "declaration" | "parameter" | "type-name";

/** Whether a token begins a type name or a declaration, with the names in scope. */
export function startsType({ scopes }: ParseContext, token: Token): boolean {
  return token.kind === "identifier" ? scopes.isType(token.text) : specWord(token) !== undefined;
}

/**
 * Whether the name at the cursor, which nothing declares, must be meant as a type, being followed by a name,
 * by `*` and a name, or by a shape and a name (Appendix A, note 7).
 */
function looksLikeUnknownType({ cursor, scopes }: ParseContext): boolean {
  const { kind, text } = cursor.token;
  if (kind !== "identifier" || scopes.kindOf(text) !== undefined) return false;
  if (Object.hasOwn(FOREIGN_SPECIFIERS, text)) return true;
  let at = 1;
  if (isWord(cursor.ahead(1), "[")) {
    at += cursor.pastPair(1) - 1;
    return at > 1 && cursor.ahead(at).kind === "identifier";
  }
  while (isWord(cursor.ahead(at), "*") || specWord(cursor.ahead(at))?.role === "qualifier") at++;
  const after = cursor.ahead(at);
  return after.kind === "identifier" || specWord(after) !== undefined;
}

/** Whether the cursor is at a declaration (Appendix A, notes 4 and 7). */
export function startsDeclaration(p: ParseContext): boolean {
  return startsType(p, p.cursor.token) || looksLikeUnknownType(p);
}

/** What {@linkcode parseSpecs} has gathered so far. */
interface SpecsInProgress {
  readonly storage: { word: Storage; span: Span }[];
  readonly qualifiers: { word: Qualifier; span: Span }[];
  readonly attributes: Attribute[];
  /** Builtin type words; others may be between them, as in `unsigned const long`. */
  readonly words: Name[];
  type: TypeSpec | undefined;
  /** A word that was reported and may have been meant as the type. */
  poison: Name | undefined;
}

/** specs = { storage | qualifier | type | attribute }+ */
export function parseSpecs(p: ParseContext, position: SpecsPosition): Specs {
  const { cursor } = p;
  const start = cursor.token.span;
  const specs: SpecsInProgress = {
    storage: [],
    qualifiers: [],
    attributes: [],
    words: [],
    type: undefined,
    poison: undefined,
  };
  while (parseSpec(p, specs, position));
  const { storage, qualifiers, attributes } = specs;
  const span = cursor.spanFrom(start);
  const type: TypeSpec = typeSoFar(specs) ??
    (specs.poison === undefined
      ? { kind: "missing", span }
      : { kind: "unknown", name: specs.poison, span });
  return { storage, qualifiers, attributes, type, span };
}

/** Reads one specifier; false if none follows. */
function parseSpec(p: ParseContext, specs: SpecsInProgress, position: SpecsPosition): boolean {
  const { cursor } = p;
  const { token } = cursor;
  const { text, span } = token;
  const row = specWord(token);
  switch (row?.role) {
    case undefined:
      return skipForeign(p, token) || parseNamedType(p, specs, position) ||
        parseShapedType(p, specs, position);
    case "storage":
      if (position !== "declaration") cursor.complain("a type");
      cursor.next();
      specs.storage.push({ word: row.word, span });
      return true;
    case "qualifier":
      cursor.next();
      specs.qualifiers.push({ word: row.word, span });
      return true;
    case "attribute":
    case "attribute-list":
      specs.attributes.push(...parseAttributes(p));
      return true;
    case "type":
      cursor.next();
      if (specs.type === undefined) specs.words.push({ text, span });
      else reportMix(p, specs, token);
      return true;
    case "enum": {
      const type = parseEnum(p);
      if (typeSoFar(specs) === undefined) specs.type = type;
      else reportMix(p, specs, token);
      return true;
    }
    case "rejected":
      skipRejected(p, specs, row.isType, row.hint);
      return true;
  }
}

/** A specifier of CUDA's functions, such as `__launch_bounds__(128)`: one message, and the rest is read without it. */
function skipForeign({ cursor, scopes, reporter }: ParseContext, token: Token): boolean {
  const { kind, text, span } = token;
  if (kind !== "identifier" || scopes.kindOf(text) !== undefined) return false;
  const hint = Object.hasOwn(FOREIGN_SPECIFIERS, text) ? FOREIGN_SPECIFIERS[text] : undefined;
  if (hint === undefined) return false;
  cursor.next();
  reporter.error("E2001", span, `\`${text}\` is not a word of Triton-C`, { hint });
  if (cursor.at("(")) cursor.skipPair();
  return true;
}

function typeSoFar({ words, type }: SpecsInProgress): TypeSpec | undefined {
  const [first] = words;
  if (type !== undefined || first === undefined) return type;
  return { kind: "words", words, span: joinSpans(first.span, (words.at(-1) ?? first).span) };
}

/** type = … | TYPE-NAME; a name after a type is what is declared, whatever it stood for before. */
function parseNamedType(p: ParseContext, specs: SpecsInProgress, position: SpecsPosition): boolean {
  const { cursor, scopes } = p;
  const { token } = cursor;
  if (token.kind !== "identifier") return false;
  const name: Name = { text: token.text, span: token.span };
  if (typeSoFar(specs) !== undefined) {
    // After a word that was reported as unknown the type itself may still come: `tunable int32 n`.
    const mayBeType = startsType(p, token) || scopes.kindOf(token.text) === undefined;
    if (specs.type?.kind !== "unknown" || !mayBeType || !isNameOrStar(cursor.ahead(1))) {
      return false;
    }
    cursor.next();
    return true;
  }
  const kind = scopes.kindOf(token.text);
  const mustBeType = kind === undefined &&
    (looksLikeUnknownType(p) || position === "type-name" ||
      (position === "parameter" && !hasOtherSpecs(specs)));
  if (kind === "typedef") {
    specs.type = { kind: "typedef-name", name, span: token.span };
  } else if (kind === "unknown-type" || mustBeType) {
    if (mustBeType) reportUnknownType(p, token);
    specs.type = { kind: "unknown", name, span: token.span };
  } else return false;
  cursor.next();
  return true;
}

function isNameOrStar(token: Token): boolean {
  return token.kind === "identifier" || isWord(token, "*");
}

/** Whether there is a specifier that a name may follow even without a type: `const n`. */
function hasOtherSpecs({ storage, qualifiers, attributes }: Omit<Specs, "type" | "span">): boolean {
  return storage.length + qualifiers.length + attributes.length > 0;
}

/** type = type shape */
function parseShapedType(
  p: ParseContext,
  specs: SpecsInProgress,
  position: SpecsPosition,
): boolean {
  const element = typeSoFar(specs);
  if (
    position === "type-name" || element === undefined || element.kind === "shaped" ||
    !p.cursor.at("[")
  ) {
    return false;
  }
  const shape = parseShape(p);
  specs.type = { kind: "shaped", element, shape, span: p.cursor.spanFrom(element.span) };
  return true;
}

function reportMix({ reporter }: ParseContext, specs: SpecsInProgress, token: Token): void {
  if (typeSoFar(specs)?.kind === "unknown") return; // one message is enough
  reporter.error("E3002", token.span, `\`${token.text}\` cannot follow another type`, {
    notes: [{ message: "the type given before", span: typeSoFar(specs)?.span ?? token.span }],
    hint: "remove one of the two",
  });
}

/** Reports a word of C that Triton-C lacks and passes over what belongs to it. */
function skipRejected(
  p: ParseContext,
  specs: SpecsInProgress,
  isType: boolean,
  hint: string,
): void {
  const { cursor, reporter } = p;
  const { text, span } = cursor.next();
  reporter.error("E2002", span, `\`${text}\` is not supported`, { hint });
  let name: Name = { text, span };
  if (isType) {
    if (cursor.token.kind === "identifier") {
      const tag = cursor.next();
      name = { text: tag.text, span: tag.span };
    }
    if (cursor.at("{")) cursor.skipPair();
    specs.type ??= { kind: "unknown", name, span };
  } else if (cursor.at("(")) cursor.skipPair();
  specs.poison ??= name;
}

/** enum = 'enum' [ name ] [ '{' name [ '=' cond ] { ',' … } [ ',' ] '}' ] */
function parseEnum(p: ParseContext): TypeSpec {
  const { cursor } = p;
  const { span: start } = cursor.next();
  const tag = cursor.token.kind === "identifier" ? nameOf(cursor.next()) : undefined;
  const tagged = tag === undefined ? {} : { tag };
  const open = cursor.index;
  const brace = cursor.accept("{");
  if (brace === undefined) {
    if (tag === undefined) cursor.fail("a name or `{` after `enum`");
    return { kind: "enum", ...tagged, span: cursor.spanFrom(start) };
  }
  const enumerators: Enumerator[] = [];
  do {
    if (enumerators.length > 0 && cursor.at("}")) break;
    const name = parseName(p, "the name of an enumerator");
    if (name === undefined) break;
    const value = cursor.accept("=") && parseConditional(p);
    enumerators.push(value === undefined ? { name } : { name, value });
    p.scopes.declare(name.text, "other");
  } while (cursor.accept(","));
  cursor.expectClose("}", brace);
  cursor.recoverAfter(open);
  return { kind: "enum", ...tagged, enumerators, span: cursor.spanFrom(start) };
}

/** shape = '[' cond { ',' cond } ']'; also the forms of C that E3025 explains: `[]` and `[A][B]`. */
export function parseShape(p: ParseContext): Shape {
  const { cursor } = p;
  const start = cursor.token.span;
  const dims = [];
  let brackets = 0;
  for (let open = cursor.accept("["); open !== undefined; open = cursor.accept("[")) {
    brackets++;
    if (!cursor.at("]")) {
      do dims.push(parseConditional(p)); while (cursor.accept(","));
    }
    cursor.expectClose("]", open);
  }
  return { dims, span: cursor.spanFrom(start), brackets };
}

/** { '*' { qualifier | attribute } }; the attributes are collected in `attributes` where they are allowed. */
export function parsePointers(p: ParseContext, attributes?: Attribute[]): PointerLevel[] {
  const { cursor } = p;
  const levels: PointerLevel[] = [];
  for (let star = cursor.accept("*"); star !== undefined; star = cursor.accept("*")) {
    const qualifiers: { word: Qualifier; span: Span }[] = [];
    for (;;) {
      const { token } = cursor;
      const row = specWord(token);
      if (row?.role === "qualifier") {
        cursor.next();
        qualifiers.push({ word: row.word, span: token.span });
      } else if (attributes !== undefined && startsAttribute(p)) {
        attributes.push(...parseAttributes(p));
      } else break;
    }
    levels.push({ qualifiers, span: cursor.spanFrom(star.span) });
  }
  return levels;
}

/** type-name = specs { '*' { qualifier } } [ shape ] */
export function parseTypeNameHere(p: ParseContext): TypeName {
  const { cursor } = p;
  const start = cursor.token.span;
  cursor.enter();
  const specs = parseSpecs(p, "type-name");
  if (specs.type.kind === "missing" && !hasOtherSpecs(specs)) cursor.fail("a type");
  const pointers = parsePointers(p);
  const shape = cursor.at("[") ? parseShape(p) : undefined;
  cursor.leave();
  return { specs, pointers, ...(shape && { shape }), span: cursor.spanFrom(start) };
}
