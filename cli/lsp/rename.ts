/**
 * Rename: every word that means the same, or a refusal that says why. A name is renamed only where the document shows
 * all of its uses, and the new one must not mean anything there.
 */
import {
  LSPErrorCodes,
  type Range,
  ResponseError,
  type WorkspaceEdit,
} from "vscode-languageserver-protocol";
import { BUILTIN_CONSTANTS, BUILTINS } from "../../compiler/check/builtins/builtins.ts";
import { keywordGroup } from "../../compiler/preprocess/keywords.ts";
import type { PpToken } from "../../compiler/preprocess/lexer.ts";
import { DIRECTIONS, PRAGMA_WORDS, TENSOR_WORDS } from "../../compiler/pragma/pragma_items.ts";
import { PREDEFINED_NAMES } from "../../compiler/preprocess/predefined.ts";
import { scalarOfWords } from "../../compiler/preprocess/type_spelling.ts";
import type { Survey, SurveyedKernel } from "../../compiler/driver/survey.ts";
import type { SourceFile, Span } from "../../compiler/support/source.ts";
import { type Analysis, type Spot, spotAt } from "./analysis.ts";
import { type Entity, entityAt } from "./entity.ts";
import { rangeOf } from "./locations.ts";
import { occurrencesIn } from "./references.ts";

/** The range and the present name for a rename at a location. Throws where nothing can be renamed. */
export function prepareRename(
  analysis: Analysis,
  spot: Spot,
): { readonly range: Range; readonly placeholder: string } {
  const { name, span } = renamable(analysis, spot);
  return { range: rangeOf(span), placeholder: name };
}

/** The changes. Throws, with the reason, rather than change what the program means. */
export function renameAt(analysis: Analysis, spot: Spot, newName: string): WorkspaceEdit {
  const { prepared: { file, uriOf } } = analysis;
  const { entity, name } = renamable(analysis, spot);
  if (newName !== name) checkNewName(analysis, spot, entity, newName);
  const edits = occurrencesIn(file, analysis, entity)
    .map((span) => ({ range: rangeOf(span), newText: newName }));
  return { changes: { [uriOf(file) ?? ""]: edits } };
}

function refuse(message: string): never {
  throw new ResponseError(LSPErrorCodes.RequestFailed, message);
}

interface Renamable {
  readonly entity: Entity;
  readonly name: string;
  /** The word at the cursor. */
  readonly span: Span;
}

function renamable(analysis: Analysis, spot: Spot): Renamable {
  const { token, kernel: { plan } } = spot;
  const { prepared: { file } } = analysis;
  if (token?.kind !== "identifier") return refuse("There is no name here.");
  const { text: name, span } = token;
  const entity = entityAt(spot);
  if (entity === undefined) return refuse(whatIsNoEntity(spot, name));
  const { declaration, isGlobal, kind } = entity;
  if (declaration.file !== file) {
    return refuse(
      `\`${name}\` is declared in ${declaration.file.name}, which other files may use.`,
    );
  }
  if (isGlobal && !file.name.endsWith(".tc")) {
    return refuse(`Files that include ${file.name} may use \`${name}\`.`);
  }
  const overriding = plan?.items.find(({ item, origin }) =>
    origin !== undefined && wordsIn(item.span.file.text).includes(name)
  );
  if (overriding !== undefined) {
    return refuse(
      `${overriding.origin} speaks of \`${name}\`, and is not changed by renaming here.`,
    );
  }
  const header = headersOf(analysis, spot, entity).find((one) => wordsIn(one.text).includes(name));
  if (header !== undefined) {
    return refuse(`\`${name}\` also occurs in ${header.name}, which other files may use.`);
  }
  if (kind === "textual") checkTextual(analysis, name);
  if (kind === "declared") checkDeclared(analysis, spot, entity);
  return { entity, name, span };
}

/** Why there is nothing to rename. */
function whatIsNoEntity({ view: { parsed } }: Spot, name: string): string {
  const word = wordOfLanguage(name);
  if (word !== undefined) return `\`${name}\` is ${word}.`;
  const macro = parsed.preprocessed.macros.get(name);
  return macro?.origin === "define"
    ? `\`${name}\` is given by the build: by deno.json or -D.`
    : `\`${name}\` is not declared here.`;
}

/** What a word is that no program may declare. */
function wordOfLanguage(name: string): string | undefined {
  if (keywordGroup(name) !== undefined || scalarOfWords([name]) !== undefined) return "a keyword";
  if (BUILTINS.has(name)) return "a built-in function";
  if (Object.hasOwn(BUILTIN_CONSTANTS, name)) return "a built-in constant";
  return PREDEFINED_NAMES.has(name) ? "defined by the compiler" : undefined;
}

/** Every word of the name is replaced, so none may be something else. */
function checkTextual(analysis: Analysis, name: string): void {
  const other = analysis.tokens.find(({ kind, text, span }) =>
    kind === "identifier" && text === name &&
    entityAt(spotAt(analysis, span.start))?.kind !== "textual"
  );
  if (other !== undefined) {
    const { start: { line } } = rangeOf(other.span);
    refuse(`The macro \`${name}\` is something else in line ${line + 1}.`);
  }
}

/** A macro that names a variable means whatever has that name where the macro is used. */
function checkDeclared({ survey }: Analysis, spot: Spot, entity: Entity): void {
  const { view: { facts } } = spot;
  const { name, declaration } = entity;
  const macro = macroNaming(spot, name);
  if (macro !== undefined) refuse(`The macro \`${macro}\` names \`${name}\`: rename both by hand.`);
  const pasted = facts.uses.find(({ span, entry }) => {
    const own = entry.kind === "variable" ? entry.variable.span : entry.span;
    return own.file === declaration.file && own.start === declaration.start &&
      span.file.text.slice(span.start, span.end).replace(/\\\r?\n/g, "") !== name;
  });
  if (pasted !== undefined) refuse(`A macro puts the name \`${name}\` together.`);
  if (entity.isGlobal) return;
  const others = isParameter(spot, entity) ? othersNaming(survey, spot.kernel, name) : [];
  if (others[0] !== undefined) {
    refuse(`A pragma that names \`${name}\` is also for \`${others[0]}\`: rename it by hand.`);
  }
  if ([...PRAGMA_WORDS, ...DIRECTIONS, ...TENSOR_WORDS].includes(name)) {
    refuse(`\`${name}\` is also a word of pragmas: rename it by hand.`);
  }
}

/** Whether it is one of the kernel's, which pragmas may name. */
function isParameter({ kernel: { definition } }: Spot, { declaration }: Entity): boolean {
  const { params = [] } = definition?.declarator.params ?? {};
  return params.some(({ declarator: { name } }) => name?.span.start === declaration.start);
}

/** The other kernels of pragmas that say a word. */
function othersNaming({ kernels }: Survey, { plan }: SurveyedKernel, word: string): string[] {
  const naming =
    plan?.items.map(({ item }) => item).filter(({ span: { file, start, end } }) =>
      wordsIn(file.text.slice(start, end)).includes(word)
    ) ?? [];
  return kernels.flatMap(({ plan: other }) =>
    other !== plan && other?.items.some(({ item }) => naming.includes(item)) === true
      ? [other.kernel]
      : []
  );
}

/** A macro, of this file or of a header, that says a word in its body. */
function macroNaming(
  { view: { parsed: { preprocessed } } }: Spot,
  word: string,
): string | undefined {
  return [...preprocessed.macros.values()].find(({ origin, body, params = [] }) =>
    origin === "file" && !params.includes(word) &&
    body.some(({ kind, text }) => kind === "identifier" && text === word)
  )?.name;
}

/** The new name must not be found where the old one was, nor find anything else. */
function checkNewName(analysis: Analysis, spot: Spot, entity: Entity, newName: string): void {
  if (!/^[A-Za-z_]\w*$/.test(newName)) refuse(`\`${newName}\` is not a name.`);
  const word = wordOfLanguage(newName);
  if (word !== undefined) refuse(`\`${newName}\` is ${word}.`);
  const { macros } = spot.view.parsed.preprocessed;
  if (macros.has(newName)) refuse(`\`${newName}\` is a macro.`);
  const macro = entity.kind === "declared" ? macroNaming(spot, newName) : undefined;
  if (macro !== undefined) refuse(`The macro \`${macro}\` names \`${newName}\`.`);
  const taken = regionOf(analysis, spot, entity).find(({ kind, text }) =>
    kind === "identifier" && text === newName
  );
  if (taken !== undefined) {
    const { start: { line } } = rangeOf(taken.span);
    refuse(`\`${newName}\` is used in line ${line + 1} already.`);
  }
  const header = headersOf(analysis, spot, entity).find((file) =>
    wordsIn(file.text).includes(newName)
  );
  if (header !== undefined) refuse(`\`${newName}\` is used in ${header.name} already.`);
}

/** Where the new name could meet another: the function around the declaration, its pragmas included, or all. */
function regionOf(
  analysis: Analysis,
  { view: { parsed } }: Spot,
  entity: Entity,
): readonly PpToken[] {
  const { declaration: { start }, isGlobal } = entity;
  const around = parsed.unit.items.findLast(({ kind, span }) =>
    kind === "function" && span.file === entity.declaration.file && span.start <= start &&
    start <= span.end
  );
  if (isGlobal || around === undefined) return analysis.tokens;
  const before = parsed.unit.items.filter(({ span }) =>
    span.file === around.span.file && span.end <= around.span.start
  );
  const from = Math.max(0, ...before.map(({ span }) => span.end));
  return analysis.tokens.filter(({ span }) => from <= span.start && span.end <= around.span.end);
}

/** The files that a document includes and that may name an entity: those of pragmas name parameters of kernels too. */
function headersOf({ survey }: Analysis, spot: Spot, entity: Entity): SourceFile[] {
  const { file: own, kernel, view: { parsed: { preprocessed } } } = spot;
  const pragmas = ({ plan }: SurveyedKernel): readonly Span[] =>
    plan?.items.filter(({ origin }) => origin === undefined).map(({ item }) => item.span) ?? [];
  const macros = [...preprocessed.macros.values()].filter(({ origin }) => origin === "file");
  const spans = entity.isGlobal
    ? [...preprocessed.tokens, ...macros].map(({ span }) => span)
      .concat(survey.kernels.flatMap(pragmas))
    : isParameter(spot, entity)
    ? pragmas(kernel)
    : [];
  return [...new Set(spans.map(({ file }) => file))]
    .filter((file) => file !== own && !file.name.startsWith("<"));
}

function wordsIn(text: string): readonly string[] {
  return text.match(/[A-Za-z_]\w*/g) ?? [];
}
