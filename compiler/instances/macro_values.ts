/** The integer values of compile-time parameters. */
import type { Define } from "../options.ts";
import { Reporter } from "../support/diagnostic.ts";
import { constantValue } from "../contract/expr.ts";
import { parseUnnamedExpr } from "../contract/parse_expr.ts";

/** Name to value, of those definitions that are integer constant expressions. */
export function integerValues(defines: readonly Define[]): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const { name, value } of defines) {
    const number = value === null ? undefined : integerValue(value);
    if (number !== undefined) values.set(name, number);
  }
  return values;
}

function integerValue(text: string): number | undefined {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  if (!/^[0-9(]/.test(text)) return undefined; // types, names: no need to look closer
  const file = { name: "<-D>", text };
  const scope = { macros: new Map(), params: new Set<string>(), what: "parameters" };
  const expr = parseUnnamedExpr(
    { text, span: { file, start: 0, end: text.length } },
    scope,
    new Reporter(),
  );
  return expr && constantValue(expr);
}
