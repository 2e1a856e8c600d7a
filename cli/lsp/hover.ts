/** Hover: what the thing under the cursor is, as Markdown. */
import { type Hover, MarkupKind } from "vscode-languageserver-protocol";
import type { InstancePlan } from "../../compiler/instances/instances.ts";
import { BUILTIN_DOCS } from "../../compiler/check/language_docs.ts";
import { BUILTIN_CONSTANTS, BUILTINS } from "../../compiler/check/builtins/builtins.ts";
import { entryAt, type Facts, nameSpan, valueAt } from "../../compiler/check/facts.ts";
import type { Entry } from "../../compiler/check/scope.ts";
import { scalarOfWords } from "../../compiler/preprocess/type_spelling.ts";
import type { TypedExpr } from "../../compiler/check/tree/typed.ts";
import { spellType } from "../../compiler/check/tree/types.ts";
import { SCALARS } from "../../compiler/support/scalar.ts";
import type { Span } from "../../compiler/support/source.ts";
import type { View } from "../../compiler/driver/survey.ts";
import type { Analysis, Spot } from "./analysis.ts";
import { parameterFacts } from "./contract_facts.ts";
import { includedAt, macroParameterAt } from "./definition.ts";
import { describeFunction } from "./functions.ts";
import { describeMacro } from "./macro_hover.ts";
import { code } from "./markdown.ts";
import { rangeOf } from "./locations.ts";
import { ATTRIBUTES, HINTS, PRAGMAS } from "./words.ts";

/** A hover is read at a glance. */
const MAX_OTHERS = 6;

/** Paragraphs of Markdown about a piece of text. */
interface Description {
  readonly span: Span;
  readonly parts: readonly string[];
}

export function hoverAt(analysis: Analysis, spot: Spot): Hover | undefined {
  const found = describe(analysis, spot);
  if (found === undefined) return undefined;
  const value = found.parts.filter((part) => part !== "").join("\n\n");
  return { contents: { kind: MarkupKind.Markdown, value }, range: rangeOf(found.span) };
}

function describe(analysis: Analysis, spot: Spot): Description | undefined {
  const { token, directive } = spot;
  if (token === undefined || token.kind === "end") return undefined;
  const { span } = token;
  const included = includedAt(spot, analysis.prepared.options.include);
  if (included !== undefined) return { span, parts: [`\`${included.name}\``] };
  if (token.kind !== "identifier") return directive === undefined ? describeValue(spot) : undefined;
  const parts = describeMacro(spot) ??
    (directive === undefined ? undefined : describePragmaWord(spot)) ??
    describeMacroParameter(spot) ??
    describeName(analysis, spot) ??
    describeWord(spot);
  return parts === undefined ? undefined : { span, parts };
}

/** A word that a pragma begins with, or an option. */
function describePragmaWord({ token, directive }: Spot): readonly string[] | undefined {
  const [pragma, tri, first] = directive ?? [];
  const word = token?.text ?? "";
  if (pragma?.text !== "pragma" || tri?.text !== "tri") return undefined;
  const docs = first?.text === "loop" && first !== token ? HINTS : PRAGMAS;
  return Object.hasOwn(docs, word) ? [docs[word] ?? ""] : undefined;
}

function describeMacroParameter(spot: Spot): readonly string[] | undefined {
  const parameter = macroParameterAt(spot);
  return parameter && [`A parameter of the macro \`${parameter.macro}\`.`];
}

/** A declared name, where it is used or declared; in pragmas, a parameter. */
function describeName(analysis: Analysis, spot: Spot): readonly string[] | undefined {
  const { file, offset, view: { facts } } = spot;
  const entry = entryAt(facts, file, offset) ?? parameterEntry(spot);
  switch (entry?.kind) {
    case undefined:
    case "poison":
      return undefined;
    case "variable": {
      const { name } = entry.variable;
      const types = typesOf(spot, (view) => variableLike(view.facts, entry)?.variable.type);
      return [
        code(`${types.first} ${name}`),
        types.others,
        describeKnown(entry.value),
        parameterFacts(analysis, spot, name),
      ];
    }
    case "constant":
      return [code(`const ${spellType(entry.value.type)}`), describeKnown(entry.value)];
    case "buffer":
      return [code(spellType(entry.value.type)), describeBuffer(entry.value)];
    case "typedef":
      return [code(`typedef ${spellType(entry.type)}`)];
    case "kernel":
    case "helper":
      return describeFunction(analysis, spot, entry);
  }
}

/** The entry of a parameter that a pragma names. */
function parameterEntry({ token, directive, kernel, view }: Spot): Entry | undefined {
  const params = kernel.definition?.declarator.params?.params ?? [];
  const named = directive === undefined
    ? undefined
    : params.find(({ declarator }) => declarator.name?.text === token?.text)?.declarator.name;
  return view.facts.declarations.find(({ entry }) =>
    named !== undefined && nameSpan(entry) === named.span
  )?.entry;
}

/** The same variable in another instance. */
function variableLike(
  { declarations }: Facts,
  { variable: { name, span } }: Extract<Entry, { kind: "variable" }>,
): Extract<Entry, { kind: "variable" }> | undefined {
  const found = declarations.find(({ entry }) =>
    entry.kind === "variable" && entry.variable.name === name &&
    entry.variable.span.file === span.file && entry.variable.span.start === span.start
  )?.entry;
  return found?.kind === "variable" ? found : undefined;
}

/** The type in the first instance, and a list of the instances that have others. */
function typesOf(
  { kernel }: Spot,
  typeIn: (view: View) => TypedExpr["type"] | undefined,
): { readonly first: string; readonly others: string } {
  const labels = new Map<string, string[]>();
  for (const [index, view] of kernel.views.entries()) {
    const type = typeIn(view());
    if (type === undefined) continue;
    const spelt = spellType(type);
    labels.set(spelt, [...labels.get(spelt) ?? [], labelOf(kernel.plan?.instances[index])]);
  }
  const [first = ["", []], ...others] = [...labels];
  const lines = others.slice(0, MAX_OTHERS).map(([type, [label = "", ...more]]) =>
    `- \`${type}\` for ${label}${more.length === 0 ? "" : ` and ${more.length} more`}`
  );
  const left = others.length - lines.length;
  if (left > 0) lines.push(`- and ${left} more types`);
  return { first: first[0], others: lines.join("\n") };
}

/** What distinguishes an instance: its variant and its configuration. */
function labelOf(instance: InstancePlan | undefined): string {
  const config = Object.entries(instance?.config ?? {});
  return [instance?.variant.name ?? "", ...config.map(([name, value]) => `${name}=${value}`)]
    .filter((part) => part !== "").join(", ");
}

function describeKnown(value: TypedExpr | undefined): string {
  return value?.kind === "constant" ? `Value: \`${value.value}\`` : "";
}

/** What the checker notes of a constant buffer: its name, and its size. */
function describeBuffer(value: TypedExpr): string {
  const [, bytes = "0"] = value.kind === "builtin" ? value.options : [];
  return `${bytes} bytes of constant memory, zeros until the host fills them`;
}

/** Built-in functions, constants and words of the language. */
function describeWord(spot: Spot): readonly string[] | undefined {
  const { token, directive } = spot;
  const word = token?.text ?? "";
  const builtin = BUILTINS.get(word);
  if (builtin !== undefined) {
    const { canonical, signature } = builtin;
    const synonym = canonical === word ? "" : `The same as \`${canonical}\`.`;
    const result = directive === undefined ? callResult(spot) : "";
    return [code(signature), BUILTIN_DOCS[canonical] ?? "", synonym, result];
  }
  if (Object.hasOwn(BUILTIN_CONSTANTS, word)) return [`The constant \`${word}\`.`];
  if (Object.hasOwn(ATTRIBUTES, word)) return [ATTRIBUTES[word] ?? ""];
  const scalar = scalarOfWords([word]);
  if (scalar === undefined) return undefined;
  const { bits, signed, class: kind } = SCALARS[scalar];
  const what = kind === "float" ? "floating point" : signed ? "integer" : "unsigned integer";
  return [scalar === "bool" ? "`bool`: 0 or 1." : `\`${scalar}\`: ${bits}-bit ${what}.`];
}

/** The type of the call whose function is named here. */
function callResult(spot: Spot): string {
  const isCall = ({ syntax }: Facts["values"][number]): boolean =>
    syntax.kind === "call" && syntax.callee.span.start === spot.token?.span.start &&
    syntax.callee.span.file === spot.file;
  const { first, others } = typesOf(
    spot,
    (view) => view.facts.values.find(isCall)?.typed.type,
  );
  return first === "" ? "" : `Here: \`${first}\`${others === "" ? "" : `\n${others}`}`;
}

/** The smallest expression around an operator, a bracket or a literal. */
function describeValue(spot: Spot): Description | undefined {
  const { file, offset, view } = spot;
  const found = valueAt(view.facts, file, offset);
  if (found === undefined) return undefined;
  const { syntax: { span, kind }, typed } = found;
  const types = typesOf(
    spot,
    ({ facts }) =>
      facts.values.find(({ syntax }) =>
        syntax.kind === kind && syntax.span.file === file && syntax.span.start === span.start &&
        syntax.span.end === span.end
      )?.typed.type,
  );
  return { span, parts: [code(types.first), types.others, describeKnown(typed)] };
}
