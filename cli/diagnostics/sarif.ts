/**
 * Diagnostics as SARIF 2.1.0 (OASIS standard, 27 March 2020), which code scanners and editors read. Section
 * numbers are those of the standard.
 */
import { type Code, CODES } from "../../compiler/support/codes.ts";
import type { Diagnostic, Fix } from "../../compiler/support/diagnostic.ts";
import type { Expansion, Span } from "../../compiler/support/source.ts";
import { type FileLocation, fileLocationOf } from "./file_location.ts";
import { EXPLANATIONS, sectionText } from "../explain/mod.ts";
import { VERSION } from "../version.ts";

type Rename = (name: string) => string;

interface Message {
  readonly text: string;
}

interface Region {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

interface ArtifactLocation {
  readonly uri: string;
  readonly uriBaseId: "%SRCROOT%";
}

interface Location {
  readonly physicalLocation: {
    readonly artifactLocation: ArtifactLocation;
    readonly region: Region;
  };
  readonly message?: Message;
}

interface Replacements {
  readonly description: Message;
  readonly artifactChanges: readonly {
    readonly artifactLocation: ArtifactLocation;
    readonly replacements: readonly {
      readonly deletedRegion: Region;
      readonly insertedContent: Message;
    }[];
  }[];
}

interface Rule {
  readonly id: Code;
  readonly shortDescription: Message;
  readonly help: Message;
  readonly defaultConfiguration: { readonly level: "error" | "warning" };
}

interface Result {
  readonly ruleId: Code;
  readonly ruleIndex: number;
  readonly level: "error" | "warning";
  readonly message: Message;
  readonly locations: readonly Location[];
  readonly relatedLocations?: readonly Location[];
  readonly fixes?: readonly Replacements[];
}

/** The whole file (section 3.13). */
export interface SarifLog {
  readonly $schema: string;
  readonly version: "2.1.0";
  readonly runs: readonly {
    readonly tool: {
      readonly driver: {
        readonly name: string;
        readonly semanticVersion: string;
        readonly rules: readonly Rule[];
      };
    };
    readonly columnKind: "utf16CodeUnits";
    readonly results: readonly Result[];
  }[];
}

/** One run with all diagnostics; `rename` makes names relative to the top of the repository. */
export function sarifLog(diagnostics: readonly Diagnostic[], rename: Rename): SarifLog {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      tool: { driver: { name: "tri", semanticVersion: VERSION, rules: codes.map(ruleOf) } },
      columnKind: "utf16CodeUnits",
      results: diagnostics.map((one) => resultOf(one, codes.indexOf(one.code), rename)),
    }],
  };
}

function ruleOf(code: Code): Rule {
  return {
    id: code,
    shortDescription: { text: CODES[code] },
    help: { text: `${EXPLANATIONS[code].text} ${sectionText(code)}` },
    defaultConfiguration: { level: code.startsWith("W") ? "warning" : "error" },
  };
}

function resultOf(diagnostic: Diagnostic, ruleIndex: number, rename: Rename): Result {
  const { code, severity, message, span, notes, hint, fix } = diagnostic;
  const located = notes.flatMap((note) =>
    note.span === undefined ? [] : locationOf(note.span, rename, note.message)
  );
  const related = [...expansionsOf(span, rename), ...located];
  const remarks = notes.filter((note) => note.span === undefined).map((note) => note.message);
  const text = [message, ...(hint === undefined ? [] : [hint]), ...remarks].join("\n");
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: { text },
    locations: locationOf(span, rename),
    ...(related.length === 0 ? {} : { relatedLocations: related }),
    ...(fix === undefined ? {} : { fixes: fixesOf(fix, rename) }),
  };
}

/** One location, or none for text that lies in no file. */
function locationOf(span: Span, rename: Rename, message?: string): Location[] {
  const location = fileLocationOf(span, rename);
  if (location === undefined) return [];
  return [{
    physicalLocation: { artifactLocation: artifactOf(location), region: regionOf(location) },
    ...(message === undefined ? {} : { message: { text: message } }),
  }];
}

function expansionsOf({ expansion }: Span, rename: Rename): Location[] {
  const chain: Expansion[] = [];
  for (let at = expansion; at !== undefined; at = at.use.expansion) chain.push(at);
  return chain.flatMap(({ macro, use }) => locationOf(use, rename, `in expansion of ${macro}`));
}

function fixesOf({ span, replacement }: Fix, rename: Rename): Replacements[] {
  const location = fileLocationOf(span, rename);
  if (location === undefined) return [];
  return [{
    description: { text: replacement === "" ? "remove it" : `replace with ${replacement}` },
    artifactChanges: [{
      artifactLocation: artifactOf(location),
      replacements: [{ deletedRegion: regionOf(location), insertedContent: { text: replacement } }],
    }],
  }];
}

/** Section 3.4: a URI reference relative to what the reader takes for the top of the repository. */
function artifactOf({ file }: FileLocation): ArtifactLocation {
  return { uri: file.split("/").map(encodeURIComponent).join("/"), uriBaseId: "%SRCROOT%" };
}

function regionOf({ line, column, endLine, endColumn }: FileLocation): Region {
  return { startLine: line, startColumn: column, endLine, endColumn };
}
