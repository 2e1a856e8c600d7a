/** Options whose values are expressions of an instance's parameters: `num_warps=max(2, COLS / 512)`. */
import { ArithmeticError, evaluate } from "../contract/expr.ts";
import { parseUnnamedExpr } from "../contract/parse_expr.ts";
import type { OptionSetting } from "../pragma/pragma.ts";
import { acceptsValue, isOptionName, optionUsage } from "../pragma/pragma_options.ts";
import { textMacro } from "../preprocess/macros.ts";
import { Reporter } from "../support/diagnostic.ts";

/** The settings with a value each; undefined after an error, which is reported. */
export function computedOptions(
  settings: readonly OptionSetting[],
  bindings: ReadonlyMap<string, string>,
  reporter: Reporter,
): readonly OptionSetting[] | undefined {
  const computed = settings.map((setting) => computedOption(setting, bindings, reporter));
  const known = computed.filter((setting) => setting !== undefined);
  return known.length < computed.length ? undefined : known;
}

function computedOption(
  setting: OptionSetting,
  bindings: ReadonlyMap<string, string>,
  reporter: Reporter,
): OptionSetting | undefined {
  const { name, span, expression } = setting;
  if (expression === undefined || !isOptionName(name)) return setting;
  const silent = new Reporter(); // bad text is reported where the file is preprocessed
  const macros = new Map(
    [...bindings].map(([macro, value]) => [macro, textMacro(macro, value, "define", silent)]),
  );
  const scope = { macros, params: new Set<string>(), what: "parameters given by the build" };
  const expr = parseUnnamedExpr(expression, scope, reporter);
  if (expr === undefined) return undefined;
  try {
    const value = `${evaluate(expr)}`;
    if (acceptsValue(name, value)) return { name, span, value };
    const message =
      `\`${expression.text.trim()}\` is ${value}, which is not a value of option \`${name}\``;
    reporter.error("E9014", expression.span, message, { hint: optionUsage(name) });
  } catch (error) {
    if (!(error instanceof ArithmeticError)) throw error;
    reporter.error("E5171", expression.span, `this cannot be evaluated: ${error.message}`);
  }
  return undefined;
}
