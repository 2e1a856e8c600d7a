/** The outline of a document: macros, constants, helpers and kernels. */
import { type DocumentSymbol, SymbolKind } from "vscode-languageserver-protocol";
import type { Name, TopItem } from "../../compiler/parse/ast.ts";
import { type SourceFile, type Span, useSite } from "../../compiler/support/source.ts";
import type { Analysis } from "./analysis.ts";
import { headOf } from "./functions.ts";
import { definitionOf } from "./macro_hover.ts";
import { rangeOf } from "./locations.ts";

export function symbolsOf({ survey: { file, kernels } }: Analysis): DocumentSymbol[] {
  const { parsed: { preprocessed, unit } } = kernels[0].views[0]();
  const macros = [...preprocessed.macros.values()].filter(({ span }) => span.file === file)
    .map((macro): DocumentSymbol => ({
      ...symbol(macro.name, SymbolKind.Constant, macro.span, macro.span),
      detail: definitionOf(macro),
    }));
  return [...macros, ...unit.items.flatMap((item) => symbolsOfItem(item, file))]
    .sort((a, b) => a.range.start.line - b.range.start.line);
}

function symbolsOfItem(item: TopItem, file: SourceFile): DocumentSymbol[] {
  switch (item.kind) {
    case "static-assert":
      return [];
    case "function": {
      const { name } = item.declarator;
      if (name === undefined || !isIn(name, file)) return [];
      return [{
        ...symbol(name.text, SymbolKind.Function, item.span, name.span),
        detail: headOf(item),
      }];
    }
    case "declaration":
      return item.inits.flatMap(({ declarator: { name, params } }) => {
        if (name === undefined || params !== undefined || !isIn(name, file)) return [];
        const isType = item.specs.storage.some(({ word }) => word === "typedef");
        return [
          symbol(
            name.text,
            isType ? SymbolKind.TypeParameter : SymbolKind.Constant,
            item.span,
            name.span,
          ),
        ];
      });
  }
}

/** Names from headers are in the outlines of these. */
const isIn = ({ span }: Name, file: SourceFile): boolean => useSite(span).file === file;

/** The protocol requires the name within the whole. */
function symbol(name: string, kind: SymbolKind, whole: Span, own: Span): DocumentSymbol {
  const selection = useSite(own);
  const { start, end } = useSite(whole);
  const range = {
    file: selection.file,
    start: Math.min(start, selection.start),
    end: Math.max(end, selection.end),
  };
  return { name, kind, range: rangeOf(range), selectionRange: rangeOf(selection) };
}
