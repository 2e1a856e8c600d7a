/** Find references: the words of a document, and of the header that declares it, that mean the same thing. */
import type { Location } from "vscode-languageserver-protocol";
import { lex } from "../../compiler/preprocess/lexer.ts";
import { Reporter } from "../../compiler/support/diagnostic.ts";
import type { SourceFile, Span } from "../../compiler/support/source.ts";
import { type Analysis, type Spot, spotAt } from "./analysis.ts";
import { type Entity, entityAt, isSame } from "./entity.ts";
import { locationOf } from "./locations.ts";

export function referencesAt(
  analysis: Analysis,
  spot: Spot,
  includeDeclaration: boolean,
): Location[] {
  const entity = entityAt(spot);
  if (entity === undefined) return [];
  const { prepared } = analysis;
  const { declaration } = entity;
  return [...new Set([prepared.file, declaration.file])]
    .flatMap((file) => occurrencesIn(file, analysis, entity))
    .filter(({ file, start }) =>
      includeDeclaration || file !== declaration.file || start !== declaration.start
    )
    .flatMap((span) => locationOf(span, prepared) ?? []);
}

/** The words of a file that refer to an entity. */
export function occurrencesIn(file: SourceFile, analysis: Analysis, entity: Entity): Span[] {
  const tokens = file === analysis.prepared.file
    ? analysis.tokens
    : lex(file, new Reporter()).tokens;
  const inFile = { ...analysis, prepared: { ...analysis.prepared, file }, tokens };
  return tokens.filter(({ kind, text }) => kind === "identifier" && text === entity.name)
    .map(({ span }) => span)
    .filter(({ start }) => isSame(entityAt(spotAt(inFile, start)), entity));
}
