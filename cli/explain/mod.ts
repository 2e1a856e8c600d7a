/** EXPLANATIONS: a text for every code of the table in compiler/support/codes.ts. */
import type { Code } from "../../compiler/support/codes.ts";
import { DECLARATIONS } from "./declarations.ts";
import type { Explanation } from "./example.ts";
import { EXPRESSIONS } from "./expressions.ts";
import { NAMES_AND_TYPES } from "./names_and_types.ts";
import { PRAGMAS } from "./pragmas.ts";
import { PREPROCESSOR } from "./preprocessor.ts";
import { STATEMENTS } from "./statements.ts";

export type { Example, Explanation } from "./example.ts";
export { SECTIONS, sectionText } from "./sections.ts";

export const EXPLANATIONS: Readonly<Record<Code, Explanation>> = {
  ...PREPROCESSOR,
  ...NAMES_AND_TYPES,
  ...DECLARATIONS,
  ...EXPRESSIONS,
  ...STATEMENTS,
  ...PRAGMAS,
};
