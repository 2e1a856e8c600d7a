/** The compiler's diagnostics as the protocol's. */
import {
  type Diagnostic as LspDiagnostic,
  type DiagnosticRelatedInformation,
  DiagnosticSeverity,
  type TextEdit,
} from "vscode-languageserver-protocol";
import type { Diagnostic } from "../../compiler/support/diagnostic.ts";
import { useSite } from "../../compiler/support/source.ts";
import { locationOf, rangeOf, useLocationOf } from "./locations.ts";
import type { Prepared } from "./workspace.ts";

/** What a diagnostic carries for code actions; comes back with their request. */
export interface DiagnosticData {
  readonly title: string;
  readonly uri: string;
  readonly edit: TextEdit;
}

/** A diagnostic and the document it is shown in. */
export interface LocatedDiagnostic {
  readonly uri: string;
  readonly diagnostic: LspDiagnostic;
}

const SEVERITY = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
} as const;

/** `owner` is the document that was checked; what lies in no file is shown at its start. */
export function locateDiagnostic(
  diagnostic: Diagnostic,
  owner: string,
  prepared: Prepared,
): LocatedDiagnostic {
  const { code, severity, message, span, hint } = diagnostic;
  const location = useLocationOf(span, prepared) ??
    { uri: owner, range: rangeOf({ file: prepared.file, start: 0, end: 0 }) };
  const data = fixOf(diagnostic, prepared);
  return {
    uri: location.uri,
    diagnostic: {
      range: location.range,
      severity: SEVERITY[severity],
      code,
      source: "tri",
      message: hint === undefined ? message : `${message}\n${hint}`,
      relatedInformation: relatedTo(diagnostic, location, prepared),
      ...(data === undefined ? {} : { data }),
    },
  };
}

/** Notes and the macros it was expanded from; notes without a location get that of the diagnostic. */
function relatedTo(
  { span, notes }: Diagnostic,
  here: { readonly uri: string; readonly range: LspDiagnostic["range"] },
  prepared: Prepared,
): DiagnosticRelatedInformation[] {
  const expansions: DiagnosticRelatedInformation[] = [];
  for (let at = span; at.expansion !== undefined; at = at.expansion.use) {
    const location = locationOf(at, prepared);
    if (location === undefined) continue;
    expansions.push({ location, message: `in expansion of macro \`${at.expansion.macro}\`` });
  }
  const said = notes.map((note): DiagnosticRelatedInformation => ({
    location: note.span === undefined ? here : useLocationOf(note.span, prepared) ?? here,
    message: note.message,
  }));
  return [...expansions, ...said];
}

function fixOf({ fix }: Diagnostic, prepared: Prepared): DiagnosticData | undefined {
  // Text from a macro expansion cannot be replaced for this use alone.
  if (fix === undefined || useSite(fix.span) !== fix.span) return undefined;
  const location = locationOf(fix.span, prepared);
  if (location === undefined) return undefined;
  const { start, end, file } = fix.span;
  const old = file.text.slice(start, end);
  const title = fix.replacement === ""
    ? `Remove ${old}`
    : old === ""
    ? `Insert ${fix.replacement.trim()}`
    : `Replace ${old} with ${fix.replacement}`;
  const edit = { range: location.range, newText: fix.replacement };
  return { title, uri: location.uri, edit };
}
