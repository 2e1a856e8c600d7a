/**
 * When documents are checked and diagnostics published: a moment after the last keystroke, and never for a text that is no
 * longer there. What a document says about another file, such as a header, is shown there, beside what others say.
 */
import { distinctBy } from "@std/collections/distinct-by";
import type { Diagnostic } from "vscode-languageserver-protocol";
import type { LocatedDiagnostic } from "./diagnostics.ts";

/** Long enough for a word to be finished, short enough to feel immediate. */
const DELAY_MS = 150;
/** A text that takes long to check is checked in longer pauses, so that typing never waits for one check after another. */
const MAX_DELAY_MS = 1000;

export interface PublisherHost {
  /** Everything there is to say about a document. */
  readonly check: (uri: string) => readonly LocatedDiagnostic[];
  /** Replaces what is shown in a document. */
  readonly publish: (uri: string, diagnostics: Diagnostic[]) => void;
}

export class Publisher {
  readonly #host: PublisherHost;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** By the document that was checked. */
  readonly #found = new Map<string, readonly LocatedDiagnostic[]>();
  /** Milliseconds of the last check of each. */
  readonly #took = new Map<string, number>();

  constructor(host: PublisherHost) {
    this.#host = host;
  }

  /**
   * Checks a document soon; a further call begins the wait anew. std's `debounce` has one wait for all calls, and this one is
   * as long as the last check was.
   */
  schedule(uri: string, delay = this.#pauseFor(uri)): void {
    this.#cancel(uri);
    this.#timers.set(uri, setTimeout(() => this.#run(uri), delay));
  }

  #pauseFor(uri: string): number {
    return Math.min(Math.max(DELAY_MS, this.#took.get(uri) ?? 0), MAX_DELAY_MS);
  }

  /** The document was closed. */
  forget(uri: string): void {
    this.#cancel(uri);
    this.#replace(uri, []);
    this.#found.delete(uri);
    this.#took.delete(uri);
  }

  /** Nothing more is checked. */
  stop(): void {
    for (const uri of [...this.#timers.keys()]) this.#cancel(uri);
  }

  #cancel(uri: string): void {
    clearTimeout(this.#timers.get(uri));
    this.#timers.delete(uri);
  }

  #run(uri: string): void {
    this.#timers.delete(uri);
    const start = performance.now();
    this.#replace(uri, this.#host.check(uri));
    this.#took.set(uri, performance.now() - start);
  }

  #replace(owner: string, located: readonly LocatedDiagnostic[]): void {
    const before = this.#found.get(owner) ?? [];
    this.#found.set(owner, located);
    for (const uri of new Set([owner, ...before.map(uriOf), ...located.map(uriOf)])) {
      this.#host.publish(uri, this.shownIn(uri));
    }
  }

  /** What is shown in a document; documents that include the same header say the same about it. */
  shownIn(uri: string): Diagnostic[] {
    const all = [...this.#found.values()].flat().filter((located) => located.uri === uri);
    return distinctBy(all.map(({ diagnostic }) => diagnostic), (one) => JSON.stringify(one));
  }
}

const uriOf = ({ uri }: LocatedDiagnostic): string => uri;
