/** Go to definition: of variables, functions, typedefs, macros, compile-time parameters and included files. */
import type { Location } from "vscode-languageserver-protocol";
import { entryAt, nameSpan } from "../../compiler/check/facts.ts";
import type { Entry } from "../../compiler/check/scope.ts";
import type { Span } from "../../compiler/support/source.ts";
import type { Analysis, Spot } from "./analysis.ts";
import { locationOf, useLocationOf } from "./locations.ts";

export function definitionAt({ prepared }: Analysis, spot: Spot): Location | undefined {
  const included = includedAt(spot, prepared.options.include);
  if (included !== undefined) {
    return locationOf({ file: included, start: 0, end: 0 }, prepared);
  }
  const span = macroSpan(spot) ?? entrySpan(spot) ?? parameterSpan(spot) ??
    macroParameterAt(spot)?.span;
  return span === undefined ? undefined : useLocationOf(span, prepared);
}

/** The file that the directive at a location includes. */
export function includedAt(
  { file, directive }: Spot,
  include: Analysis["prepared"]["options"]["include"],
): Span["file"] | undefined {
  const isPragma = directive?.[0]?.text === "pragma" && directive[1]?.text === "tri";
  const [word, first] = (isPragma ? directive.slice(2) : directive) ?? [];
  if (word?.text !== "include" || first === undefined) return undefined;
  const end = directive?.at(-1)?.span.end ?? first.span.end;
  const [, quoted, angled] = /^(?:"([^"]*)"|<([^>]*)>)/.exec(
    file.text.slice(first.span.start, end),
  ) ?? [];
  const name = quoted ?? angled;
  const found = name && include?.(name, quoted === undefined ? "angled" : "quoted", file);
  return typeof found === "object" && !("refused" in found) ? found : undefined;
}

/** Where a macro, or a compile-time parameter that a pragma declares, gets its meaning. */
function macroSpan({ token, kernel, view }: Spot): Span | undefined {
  if (token?.kind !== "identifier") return undefined;
  const macro = view.parsed.preprocessed.macros.get(token.text);
  if (macro === undefined || macro.origin === "file") return macro?.span;
  return kernel.plan?.parameters.find(({ name }) => name === token.text)?.span;
}

function entrySpan(spot: Spot): Span | undefined {
  const entry = entryAt(spot.view.facts, spot.file, spot.offset);
  return entry === undefined ? undefined : declarationSpan(spot, entry);
}

/** Of a function its definition rather than its prototype. */
function declarationSpan({ view: { parsed } }: Spot, entry: Entry): Span {
  const declared = nameSpan(entry);
  if (entry.kind !== "helper" && entry.kind !== "kernel") return declared;
  const name = entry.kind === "helper" ? entry.helper.name : textOf(declared);
  const definition = parsed.unit.items.find((item) =>
    item.kind === "function" && item.declarator.name?.text === name
  );
  return (definition?.kind === "function" ? definition.declarator.name?.span : undefined) ??
    declared;
}

const textOf = ({ file, start, end }: Span): string => file.text.slice(start, end);

/** The macro parameter that the body uses at a location. */
export function macroParameterAt(
  { token, directive, view }: Spot,
): { readonly macro: string; readonly span: Span } | undefined {
  const [define, name, open] = directive ?? [];
  if (define?.text !== "define" || name === undefined || open?.text !== "(") return undefined;
  const { params } = view.parsed.preprocessed.macros.get(name.text) ?? {};
  const declared = directive?.find(({ text }, at) => at > 2 && text === token?.text);
  if (declared === undefined || params?.includes(declared.text) !== true) return undefined;
  return { macro: name.text, span: declared.span };
}

/** In pragmas, names are parameters of the kernel. */
function parameterSpan({ token, directive, kernel }: Spot): Span | undefined {
  if (directive?.[0]?.text !== "pragma" || token?.kind !== "identifier") return undefined;
  const { params } = kernel.definition?.declarator.params ?? {};
  return params?.find(({ declarator: { name } }) => name?.text === token.text)?.declarator.name
    ?.span;
}
