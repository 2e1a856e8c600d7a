/**
 * The constructs of language.md, section by section, each with a small program (the folder constructs/).
 * `constructs_test.ts` runs them on all targets against the reference, and makes the table in
 * docs/language-coverage.md from this list.
 */
import type { Construct } from "./constructs/construct.ts";
import { MEMORY_AND_CASTS } from "./constructs/memory_and_casts.ts";
import { MEMORY_BUILT_INS } from "./constructs/memory_built_ins.ts";
import { NUMBERS } from "./constructs/numbers.ts";
import { OPERATORS } from "./constructs/operators.ts";
import { STATEMENTS } from "./constructs/statements.ts";
import { TEXT_AND_TYPES } from "./constructs/text_and_types.ts";
import { VALUES } from "./constructs/values.ts";

export const CONSTRUCTS: readonly Construct[] = [
  ...TEXT_AND_TYPES,
  ...OPERATORS,
  ...MEMORY_AND_CASTS,
  ...STATEMENTS,
  ...MEMORY_BUILT_INS,
  ...VALUES,
  ...NUMBERS,
];
