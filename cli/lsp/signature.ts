/** Signature help: the function around the cursor, and the argument that the cursor is in. */
import { MarkupKind, type SignatureHelp } from "vscode-languageserver-protocol";
import { BUILTIN_DOCS } from "../../compiler/check/language_docs.ts";
import { BUILTINS } from "../../compiler/check/builtins/builtins.ts";
import type { PpToken } from "../../compiler/preprocess/lexer.ts";
import type { Analysis, Spot } from "./analysis.ts";
import { helperParameters, helperSignature } from "./functions.ts";

/** A call that is not finished yet. */
interface OpenCall {
  readonly name: string;
  /** Commas before the cursor. */
  readonly argument: number;
}

export function signatureAt({ tokens }: Analysis, spot: Spot): SignatureHelp | undefined {
  const call = openCall(tokens.filter(({ span }) => span.end <= spot.offset));
  if (call === undefined) return undefined;
  const found = signatureOf(spot, call.name);
  if (found === undefined) return undefined;
  const { label, parameters, documentation = "" } = found;
  return {
    signatures: [{
      label,
      parameters: parameters.map((parameter) => ({ label: parameter })),
      documentation: { kind: MarkupKind.Markdown, value: documentation },
    }],
    activeSignature: 0,
    activeParameter: Math.min(call.argument, Math.max(0, parameters.length - 1)),
  };
}

const OPENING = ["(", "[", "{"];
const CLOSING = [")", "]", "}"];

/** The innermost call whose parenthesis is still open after the tokens. */
function openCall(tokens: readonly PpToken[]): OpenCall | undefined {
  let depth = 0;
  let argument = 0;
  for (let at = tokens.length - 1; at >= 0; at--) {
    const { text, kind } = tokens[at] ?? {};
    if (kind !== "punctuator" || text === undefined) continue;
    if (text === ";") return undefined;
    if (CLOSING.includes(text)) depth++;
    else if (text === "," && depth === 0) argument++;
    else if (OPENING.includes(text) && depth-- === 0) {
      const before = tokens[at - 1];
      if (text === "(" && before?.kind === "identifier") return { name: before.text, argument };
      [depth, argument] = [0, 0];
    }
  }
  return undefined;
}

interface Signature {
  readonly label: string;
  /** Each as it is written in the label. */
  readonly parameters: readonly string[];
  readonly documentation?: string;
}

function signatureOf({ view: { parsed, facts } }: Spot, name: string): Signature | undefined {
  const macro = parsed.preprocessed.macros.get(name);
  if (macro?.params !== undefined) {
    return { label: `${name}(${macro.params.join(", ")})`, parameters: macro.params };
  }
  const entry = facts.declarations.find((declared) =>
    declared.name === name && declared.entry.kind === "helper"
  )?.entry;
  if (entry?.kind === "helper") {
    return { label: helperSignature(entry), parameters: helperParameters(entry) };
  }
  const builtin = BUILTINS.get(name);
  if (builtin === undefined) return undefined;
  const { signature: label, canonical } = builtin;
  const inside = label.slice(label.indexOf("(") + 1, -1);
  const parameters = inside.split(",").map((text) => text.replace(/[[\]\s]/g, ""));
  return { label, parameters, documentation: BUILTIN_DOCS[canonical] ?? "" };
}
