/** Where instructions come from: `.loc` lines, for profilers, debuggers and the emulator's messages. */
import type { Item } from "../ptx/func.ts";
import { positionOf, type SourceFile, type Span, useSite } from "../support/source.ts";

/** The source files of a module, numbered from 1 in the order of their first use. */
export class FileTable {
  readonly #numbers = new Map<SourceFile, number>();

  /** Their names; quotes cannot be written in PTX strings. */
  get names(): string[] {
    return [...this.#numbers.keys()].map(({ name }) => name.replaceAll('"', "'"));
  }

  numberOf(file: SourceFile): number {
    const known = this.#numbers.get(file) ?? this.#numbers.size + 1;
    this.#numbers.set(file, known);
    return known;
  }
}

/** The location of a span; text from a macro has the location where the macro was used. */
export function locationOf(span: Span, files: FileTable): Item & { readonly kind: "loc" } {
  const { file, start } = useSite(span);
  const { line, column } = positionOf(file, start);
  return { kind: "loc", file: files.numberOf(file), line, column };
}

/** Leaves out locations that no instruction follows, and those that repeat the one before. */
export function dropIdleLocations(body: readonly Item[]): Item[] {
  const kept: Item[] = [];
  let current = "";
  let pending: Item | undefined;
  for (const item of body) {
    if (item.kind === "loc") {
      pending = item;
      continue;
    }
    if (pending?.kind === "loc" && item.kind === "instruction") {
      const text = `${pending.file} ${pending.line} ${pending.column}`;
      if (text !== current) kept.push(pending);
      current = text;
      pending = undefined;
    }
    kept.push(item);
  }
  return kept;
}
