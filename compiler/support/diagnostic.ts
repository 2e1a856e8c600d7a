/**
 * What the compiler says to the user about their text. Codes are stable (`E5010`, `W2015`); the list of
 * them with their meaning is `support/codes.ts`.
 */
import type { Span } from "./source.ts";
import type { Code } from "./codes.ts";

export type { Code };
/** An error means that there is no output. */
export type Severity = "error" | "warning";

/** A further location or remark that belongs to a diagnostic. */
export interface Note {
  /** What it says. */
  readonly message: string;
  /** What it is about. */
  readonly span?: Span;
}

/** A replacement that corrects the text. */
export interface Fix {
  /** What to replace; empty to insert. */
  readonly span: Span;
  /** What to put there. */
  readonly replacement: string;
}

/** One thing the compiler has to say about a text. */
export interface Diagnostic {
  /** What kind of thing; {@linkcode CODES} lists them. */
  readonly code: Code;
  /** Whether there is output all the same. */
  readonly severity: Severity;
  /** One sentence on what is wrong. */
  readonly message: string;
  /** Where. */
  readonly span: Span;
  /** What helps to understand it. */
  readonly notes: readonly Note[];
  /** One sentence on how to fix it. */
  readonly hint?: string;
  /** The change that fixes it, where there is only one. */
  readonly fix?: Fix;
}

export interface DiagnosticDetails {
  readonly notes?: readonly Note[];
  readonly hint?: string;
  readonly fix?: Fix;
}

/** Collects diagnostics. Passed to every phase of the front end; no phase throws for user errors. */
export class Reporter {
  /** At most this many errors per file are kept (language.md, section 0). */
  static readonly MAX_ERRORS = 100;
  readonly diagnostics: Diagnostic[] = [];
  #errors = 0;

  get errorCount(): number {
    return this.#errors;
  }

  /** Whether further errors are dropped, so that hints for them need not be computed. */
  get isFull(): boolean {
    return this.#errors >= Reporter.MAX_ERRORS;
  }

  error(code: Code, span: Span, message: string, details: DiagnosticDetails = {}): void {
    this.#errors++;
    if (this.#errors > Reporter.MAX_ERRORS) return;
    this.diagnostics.push({ code, severity: "error", message, span, notes: [], ...details });
  }

  /** What another reporter has collected. */
  add({ code, severity, span, message, ...details }: Diagnostic): void {
    if (severity === "error") this.error(code, span, message, details);
    else this.warn(code, span, message, details);
  }

  warn(code: Code, span: Span, message: string, details: DiagnosticDetails = {}): void {
    this.diagnostics.push({ code, severity: "warning", message, span, notes: [], ...details });
  }
}
