/** What the checker found for each piece of a text, in the order of checking; for editors. */
import type { SourceFile, Span } from "../support/source.ts";
import type * as ast from "../parse/ast.ts";
import type { Watch } from "./check_context.ts";
import type { Entry } from "./scope.ts";
import type { TypedExpr } from "./tree/typed.ts";

export interface Facts {
  /** Expressions without errors. */
  readonly values: readonly { readonly syntax: ast.Expr; readonly typed: TypedExpr }[];
  /** Names that are used, and what they mean. */
  readonly uses: readonly { readonly span: Span; readonly entry: Entry }[];
  readonly declarations: readonly { readonly name: string; readonly entry: Entry }[];
}

/** Facts, and the watch that fills them. They start with those of the text around, if that was checked before. */
export function collectFacts(outer?: Facts): { readonly facts: Facts; readonly watch: Watch } {
  const values = [...outer?.values ?? []];
  const uses = [...outer?.uses ?? []];
  const declarations = [...outer?.declarations ?? []];
  const watch: Watch = {
    expr: (syntax, typed) => {
      if (typed !== undefined) values.push({ syntax, typed });
    },
    use: (span, entry) => uses.push({ span, entry }),
    declare: (name, entry) => declarations.push({ name, entry }),
  };
  return { facts: { values, uses, declarations }, watch };
}

/** Whether a span contains an offset; the offset after its last character counts, as a cursor may be there. */
export function spans(span: Span, file: SourceFile, offset: number): boolean {
  return span.file === file && span.start <= offset && offset <= span.end;
}

/** The entry of the name at an offset, used or declared there. */
export function entryAt(facts: Facts, file: SourceFile, offset: number): Entry | undefined {
  const used = facts.uses.find(({ span }) => spans(span, file, offset));
  return used?.entry ??
    facts.declarations.find(({ entry }) => spans(nameSpan(entry), file, offset))?.entry;
}

/** The smallest expression around an offset. */
export function valueAt(
  facts: Facts,
  file: SourceFile,
  offset: number,
): Facts["values"][number] | undefined {
  const around = facts.values.filter(({ syntax: { span } }) => spans(span, file, offset));
  const length = ({ syntax: { span } }: Facts["values"][number]): number => span.end - span.start;
  return around.reduce<Facts["values"][number] | undefined>(
    (best, value) => best === undefined || length(value) < length(best) ? value : best,
    undefined,
  );
}

/** Where a name is declared. */
export function nameSpan(entry: Entry): Span {
  return entry.kind === "variable" ? entry.variable.span : entry.span;
}
