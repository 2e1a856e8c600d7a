/** Contract expressions from text, for tests. */
import { textMacro } from "../../../../compiler/preprocess/macros.ts";
import { parseContractExpr } from "../../../../compiler/contract/parse_expr.ts";
import type { ContractExpr } from "../../../../compiler/contract/types.ts";
import { type Diagnostic, Reporter } from "../../../../compiler/support/diagnostic.ts";

export interface ParsedExpr {
  readonly expr: ContractExpr | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads an expression over M, N, K, ldx with these macros. */
export function readExpr(text: string, macros: Readonly<Record<string, string>> = {}): ParsedExpr {
  const reporter = new Reporter();
  const file = { name: "<test>", text };
  const table = new Map(
    Object.entries(macros).map((
      [name, value],
    ) => [name, textMacro(name, value, "define", reporter)]),
  );
  const scope = { macros: table, params: new Set(["M", "N", "K", "ldx"]), what: "parameters" };
  const expr = parseContractExpr(
    { text, span: { file, start: 0, end: text.length } },
    scope,
    reporter,
  );
  return { expr, diagnostics: reporter.diagnostics };
}

/** The same for text without errors. */
export function mustRead(
  text: string,
  macros: Readonly<Record<string, string>> = {},
): ContractExpr {
  const { expr, diagnostics } = readExpr(text, macros);
  if (expr === undefined) {
    throw new Error(`${text}: ${diagnostics.map(({ message }) => message).join("; ")}`);
  }
  return expr;
}
