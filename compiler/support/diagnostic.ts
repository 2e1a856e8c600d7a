/**
 * What the compiler says to the user about their text. Codes are stable (`E5010`, `W2015`); the list of
 * them with their meaning is `support/codes.ts`.
 */
import type { Span } from "./source.ts";
import type { Code } from "./codes.ts";

export type { Code };
export type Severity = "error" | "warning";

/** A further place or remark that belongs to a diagnostic. */
export interface Note {
  readonly message: string;
  readonly span?: Span;
}

/** A replacement that mends the text. */
export interface Fix {
  readonly span: Span;
  readonly replacement: string;
}

export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  readonly message: string;
  readonly span: Span;
  readonly notes: readonly Note[];
  /** One sentence on how to mend it. */
  readonly hint?: string;
  readonly fix?: Fix;
}

export interface DiagnosticDetails {
  readonly notes?: readonly Note[];
  readonly hint?: string;
  readonly fix?: Fix;
}

/** Collects diagnostics. Passed to every stage of the front end; no stage throws for user errors. */
export class Reporter {
  /** At most this many errors per file are kept (language.md, section 0). */
  static readonly MAX_ERRORS = 100;
  readonly diagnostics: Diagnostic[] = [];
  #errors = 0;

  get errorCount(): number {
    return this.#errors;
  }

  error(code: Code, span: Span, message: string, details: DiagnosticDetails = {}): void {
    this.#errors++;
    if (this.#errors > Reporter.MAX_ERRORS) return;
    this.diagnostics.push({ code, severity: "error", message, span, notes: [], ...details });
  }

  warn(code: Code, span: Span, message: string, details: DiagnosticDetails = {}): void {
    this.diagnostics.push({ code, severity: "warning", message, span, notes: [], ...details });
  }
}
