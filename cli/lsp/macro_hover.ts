/** Macros and compile-time parameters: how they are defined, and what they become where the cursor is. */
import { spans } from "../../compiler/check/facts.ts";
import type { Macro } from "../../compiler/preprocess/macros.ts";
import { PREDEFINED_NAMES } from "../../compiler/preprocess/predefined.ts";
import { spell } from "../../compiler/preprocess/spell.ts";
import type { Expansion, Span } from "../../compiler/support/source.ts";
import type { Spot } from "./analysis.ts";
import { code } from "./markdown.ts";
import { PREDEFINED } from "./words.ts";

/** Paragraphs about the macro named by the word at a location. */
export function describeMacro(spot: Spot): readonly string[] | undefined {
  const { token, view } = spot;
  const macro = view.parsed.preprocessed.macros.get(token?.text ?? "");
  if (macro === undefined || token?.kind !== "identifier") return undefined;
  const values = macro.origin === "define" ? valuesOf(spot, macro.name) : [];
  return [
    code(definitionOf(macro)),
    PREDEFINED[macro.name] ?? ORIGINS[macro.origin],
    values.length > 1
      ? `In the instances: ${values.map((value) => `\`${value}\``).join(", ")}`
      : "",
    expansionAt(spot, macro),
  ];
}

const ORIGINS: Readonly<Record<Macro["origin"], string>> = {
  file: "",
  define: "Given by the build: a pragma, `-D` or deno.json.",
  predefined: "Defined by the compiler.",
};

/** The directive that would define it. */
export function definitionOf({ name, params, variadic, body }: Macro): string {
  const shown = params?.map((param, at) => variadic && at === params.length - 1 ? "..." : param);
  return `#define ${name}${shown === undefined ? "" : `(${shown.join(", ")})`} ${spell(body)}`
    .trimEnd();
}

/** The values of a compile-time parameter, each once. */
function valuesOf({ kernel: { plan } }: Spot, name: string): readonly string[] {
  const all = plan?.instances.flatMap(({ defines }) =>
    defines.flatMap((define) => define.name === name ? [define.value ?? ""] : [])
  );
  return [...new Set(all)];
}

/** The expansion of the use at the cursor, if it is not just the body. */
function expansionAt({ file, offset, view: { parsed } }: Spot, { name, body }: Macro): string {
  if (PREDEFINED_NAMES.has(name)) return "";
  const made = parsed.preprocessed.tokens.filter(({ span }) =>
    expansionsOf(span).some(({ macro, use }) => macro === name && spans(use, file, offset))
  );
  const text = spell(made);
  return made.length === 0 || text === spell(body) ? "" : `Expands to \`${text}\``;
}

/** The macros whose expansion contains a piece of text, innermost first. */
function expansionsOf({ expansion }: Span): Expansion[] {
  return expansion === undefined ? [] : [expansion, ...expansionsOf(expansion.use)];
}
