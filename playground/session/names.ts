/** The variables of the kernel that is looked at; kept from step to step. */
import { namesOf } from "../../compiler/driver/names_of.ts";
import type { SourceNames } from "../../compiler/support/variables.ts";
import type { CompileOptions } from "../../compiler/options.ts";
import { type Program, targetOf } from "./program.ts";

let last: { readonly key: string; readonly names: SourceNames | undefined } | undefined;

/** The variables of an entry, as the options compile it. */
export function namesFor(
  program: Program,
  options: CompileOptions,
  symbol: string,
): SourceNames | undefined {
  const key = JSON.stringify([program, options.configurations, symbol]);
  if (last?.key !== key) {
    const file = { name: program.name, text: program.text };
    last = { key, names: namesOf(file, options, targetOf(program), symbol) };
  }
  return last.names;
}
