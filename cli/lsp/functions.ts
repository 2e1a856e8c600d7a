/** Functions of a file as hover and completion show them. */
import { printExpr } from "../../compiler/contract/expr.ts";
import type { FunctionDefinition } from "../../compiler/parse/ast.ts";
import type { Entry, HelperEntry } from "../../compiler/check/scope.ts";
import { spellType } from "../../compiler/check/tree/types.ts";
import { useSite } from "../../compiler/support/source.ts";
import type { Analysis, Spot } from "./analysis.ts";
import { code } from "./markdown.ts";

type FunctionEntry = Extract<Entry, { kind: "kernel" }> | HelperEntry;

/** The head of a function as it was written, on one line. */
export function headOf({ span, body }: FunctionDefinition): string {
  const { file, start } = useSite(span);
  const { start: end } = useSite(body.span);
  return file.text.slice(start, end).replace(/\s+/g, " ").trim();
}

/** `float[64] x` or `const int C` for each parameter. */
export function helperParameters(
  { params, paramTypes, constants }: HelperEntry,
): readonly string[] {
  return paramTypes.map((type, at) =>
    `${constants[at] ? "const " : ""}${spellType(type)} ${params[at]?.name ?? ""}`.trim()
  );
}

/** `float[64] twice(float[64] x)`. */
export function helperSignature(entry: HelperEntry): string {
  const { name, result } = entry.helper;
  const type = result === undefined ? "void" : spellType(result);
  return `${type} ${name}(${helperParameters(entry).join(", ")})`;
}

/** Paragraphs about a kernel or a helper. */
export function describeFunction(
  { compiled }: Analysis,
  { token, view: { parsed } }: Spot,
  entry: FunctionEntry,
): readonly string[] {
  const definition = parsed.unit.items.find((item): item is FunctionDefinition =>
    item.kind === "function" && item.declarator.name?.text === token?.text
  );
  const head = entry.kind === "helper"
    ? helperSignature(entry)
    : definition === undefined
    ? token?.text ?? ""
    : headOf(definition);
  const kernel = entry.kind === "kernel"
    ? compiled.find(({ name }) => name === token?.text)
    : undefined;
  const contract = kernel?.instances[0]?.contract;
  const count = kernel?.instances.length ?? 0;
  return [
    code(head),
    definition?.doc ?? "",
    contract?.grid == null
      ? ""
      : `Grid (${contract.gridOrigin}): \`${contract.grid.map(printExpr).join(", ")}\``,
    count === 0 ? "" : `${count} instance${count === 1 ? "" : "s"}`,
  ];
}
