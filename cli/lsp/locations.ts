/** Spans as the protocol says them: 0-based lines and UTF-16 columns. */
import type { Location, Position, Range } from "vscode-languageserver-protocol";
import { positionOf, type SourceFile, type Span, useSite } from "../../compiler/support/source.ts";
import type { Prepared } from "./workspace.ts";

/** The range of a span in the text where it was written. */
export function rangeOf({ file, start, end }: Span): Range {
  return { start: positionAt(file, start), end: positionAt(file, end) };
}

function positionAt(file: SourceFile, offset: number): Position {
  const { line, column } = positionOf(file, offset);
  return { line: line - 1, character: column - 1 };
}

/** Where a span was written, if that is a file: not a `-D` or another text of ours. */
export function locationOf(span: Span, { uriOf }: Prepared): Location | undefined {
  const uri = uriOf(span.file);
  return uri === undefined ? undefined : { uri, range: rangeOf(span) };
}

/** Where a person looks for it: the use of a macro rather than its body. */
export function useLocationOf(span: Span, prepared: Prepared): Location | undefined {
  return locationOf(useSite(span), prepared);
}
