/** What a word refers to, so that two words can be compared by meaning. */
import type { Name, Unit } from "../../compiler/parse/ast.ts";
import type { PpToken } from "../../compiler/preprocess/lexer.ts";
import { visibleNames } from "../../compiler/check/visible.ts";
import type { Span } from "../../compiler/support/source.ts";
import type { Spot } from "./analysis.ts";
import { macroParameterAt } from "./definition.ts";

/**
 * What decides whether a word with the same name means the same: scoping; nothing, because macros and compile-time
 * parameters replace words in any context; or the directive, for a parameter of a macro.
 */
export type EntityKind = "declared" | "textual" | "macro parameter";

export interface Entity {
  readonly kind: EntityKind;
  readonly name: string;
  /** Where the name is declared first; two words with one declaration mean the same. */
  readonly declaration: Span;
  /** Known outside of functions and directives. */
  readonly isGlobal: boolean;
}

/** The entity of the word at a location; undefined for words of the language, and for names that no file declares. */
export function entityAt(spot: Spot): Entity | undefined {
  const { token, directive, view: { parsed } } = spot;
  if (token?.kind !== "identifier") return undefined;
  const name = token.text;
  const parameter = macroParameterAt(spot);
  if (parameter !== undefined) {
    return { kind: "macro parameter", name, declaration: parameter.span, isGlobal: false };
  }
  const macro = parsed.preprocessed.macros.get(name);
  if (macro !== undefined) {
    const declaration = macro.origin === "file" ? macro.span : compileTimeParameter(spot, name);
    return declaration && { kind: "textual", name, declaration, isGlobal: true };
  }
  const declared = directive === undefined
    ? visibleNames(parsed.unit, spot.file, token.span.end).findLast(({ text }) => text === name)
    : kernelParameter(spot, token, directive);
  if (declared === undefined) return undefined;
  const first = globalsOf(parsed.unit).find((global) => global.text === name);
  const isGlobal = globalsOf(parsed.unit).includes(declared);
  // A prototype and the definition are one function.
  return {
    kind: "declared",
    name,
    declaration: (isGlobal ? first ?? declared : declared).span,
    isGlobal,
  };
}

export function isSame(a: Entity | undefined, { declaration: { file, start } }: Entity): boolean {
  return a !== undefined && a.declaration.file === file && a.declaration.start === start;
}

/** Where a pragma declares a compile-time parameter: of the file, or of one that it includes; others are given by the build. */
function compileTimeParameter({ kernel: { plan } }: Spot, name: string): Span | undefined {
  const span = plan?.parameters.find((parameter) => parameter.name === name)?.span;
  const isOfFile = plan?.items.some(({ item, origin }) =>
    origin === undefined && item.span.file === span?.file
  );
  return isOfFile === true ? span : undefined;
}

/** In pragmas, names are parameters of the kernel; the first words say what the pragma is. */
function kernelParameter(
  { kernel }: Spot,
  token: PpToken,
  [word, , ...rest]: readonly PpToken[],
): Name | undefined {
  if (word?.text !== "pragma" || !rest.slice(1).includes(token)) return undefined;
  const { params = [] } = kernel.definition?.declarator.params ?? {};
  return params.find(({ declarator: { name } }) => name?.text === token.text)?.declarator.name;
}

function globalsOf({ items }: Unit): readonly Name[] {
  return items.flatMap((item) => {
    const declarators = item.kind === "function"
      ? [item.declarator]
      : item.kind === "declaration"
      ? item.inits.map(({ declarator }) => declarator)
      : [];
    const constants = item.kind === "declaration" && item.specs.type.kind === "enum"
      ? item.specs.type.enumerators?.map(({ name }) => name) ?? []
      : [];
    return [...constants, ...declarators.flatMap(({ name }) => name === undefined ? [] : [name])];
  });
}
