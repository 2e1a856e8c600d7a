/** The location of a diagnostic for other tools. */
import { positionOf, type Span, useSite } from "../../compiler/support/source.ts";

/** A range in a file, 1-based, in UTF-16 units; the end is after the last character. */
export interface FileLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/**
 * The range of a span in a file on disk. Text that came from the command line has none of its own: then it is
 * where it was used, and nothing for what was used nowhere.
 */
export function fileLocationOf(
  span: Span,
  rename: (name: string) => string,
): FileLocation | undefined {
  const shown = isOnDisk(span) ? span : useSite(span);
  if (!isOnDisk(shown)) return undefined;
  const first = positionOf(shown.file, shown.start);
  const last = positionOf(shown.file, shown.end);
  return {
    file: rename(shown.file.name),
    line: first.line,
    column: first.column,
    endLine: last.line,
    endColumn: last.column,
  };
}

/** `<-D TM>` and `<--grid>` are no files. */
function isOnDisk({ file }: Span): boolean {
  return !file.name.startsWith("<");
}
