/** Finds a file that a text includes; reports one that is not there. */
import type { IncludeResolver } from "../options.ts";
import type { Reporter } from "../support/diagnostic.ts";
import type { SourceFile, Span } from "../support/source.ts";

/** What a text asks for, and where. */
export interface Inclusion {
  readonly name: string;
  readonly kind: "quoted" | "angled";
  readonly span: Span;
  /** Where a missing file does no harm. */
  readonly isOptional?: boolean;
}

export function findIncluded(
  { name, kind, span, isOptional = false }: Inclusion,
  from: SourceFile,
  resolver: IncludeResolver | undefined,
  reporter: Reporter,
): SourceFile | undefined {
  const found = resolver?.(name, kind, from);
  if (found === "outside") {
    reporter.error("E1031", span, `\`${name}\` lies outside the project`);
  } else if (found === undefined) {
    if (isOptional) return undefined;
    const where = kind === "quoted"
      ? `beside \`${from.name}\` or in the \`-I\` folders`
      : "in the `-I` folders";
    reporter.error("E1030", span, `\`${name}\` was not found ${where}`);
  } else if ("refused" in found) {
    reporter.error("E1033", span, `\`${name}\` is not included because ${found.refused}`);
  } else return found;
  return undefined;
}
