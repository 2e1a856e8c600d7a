/** Which `#if` groups are open and whether their text counts (language.md, 1.2). */
import type { Reporter } from "../support/diagnostic.ts";
import type { Span } from "../support/source.ts";

interface Group {
  /** The opening directive. */
  readonly span: Span;
  /** Whether the text around the group counts. */
  readonly enclosing: boolean;
  /** Whether a branch was taken already. */
  taken: boolean;
  active: boolean;
  sawElse: boolean;
}

export class Conditions {
  readonly #reporter: Reporter;
  #groups: Group[] = [];
  /** Number of groups that were open when each file began; these are not the file's to close. */
  readonly #bases: number[] = [];

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  /** Whether the text here counts. */
  get active(): boolean {
    return this.#groups.at(-1)?.active ?? true;
  }

  /** Whether the innermost group's directives count, whichever branch is read. */
  get counts(): boolean {
    return this.#groups.at(-1)?.enclosing ?? true;
  }

  enterFile(): void {
    this.#bases.push(this.#groups.length);
  }

  /** Reports the groups that the file left open. */
  leaveFile(): void {
    const base = this.#bases.pop() ?? 0;
    for (const { span } of this.#groups.slice(base)) {
      this.#reporter.error("E1014", span, "this conditional is never closed", {
        hint: "close it with `#endif`",
      });
    }
    this.#groups = this.#groups.slice(0, base);
  }

  /** `#if` and its kin; the condition is asked only where the text counts. */
  open(span: Span, holds: () => boolean): void {
    const enclosing = this.active;
    const active = enclosing && holds();
    this.#groups.push({ span, enclosing, taken: active, active, sawElse: false });
  }

  /** `#elif` and its kin, and `#else` with a condition that always holds. */
  alternative(span: Span, word: string, holds: () => boolean): void {
    const group = this.#current(span, word);
    if (group === undefined) return;
    if (group.sawElse) {
      const notes = [{ message: "the conditional begins here", span: group.span }];
      this.#reporter.error("E1014", span, `\`#${word}\` after \`#else\``, { notes });
    }
    group.active = group.enclosing && !group.taken && !group.sawElse && holds();
    group.taken ||= group.active;
    group.sawElse ||= word === "else";
  }

  close(span: Span): void {
    if (this.#current(span, "endif") !== undefined) this.#groups.pop();
  }

  #current(span: Span, word: string): Group | undefined {
    const base = this.#bases.at(-1) ?? 0;
    if (this.#groups.length > base) return this.#groups.at(-1);
    this.#reporter.error("E1014", span, `\`#${word}\` without \`#if\``);
    return undefined;
  }
}
