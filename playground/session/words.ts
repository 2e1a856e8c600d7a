/** The words of the language by class, for highlighting. */
import { BUILTIN_CONSTANTS, BUILTINS } from "../../compiler/check/builtins/builtins.ts";
import { KEYWORDS } from "../../compiler/preprocess/keywords.ts";
import { TYPE_NAMES } from "../../compiler/preprocess/type_spelling.ts";

/** Words by class. */
export interface Words {
  readonly keyword: readonly string[];
  readonly type: readonly string[];
  readonly builtin: readonly string[];
}

/** From the compiler's tables. */
export function wordsOfLanguage(): Words {
  return {
    keyword: [...KEYWORDS.declaration, ...KEYWORDS.statement, ...KEYWORDS.expression],
    type: [...KEYWORDS.type, ...TYPE_NAMES],
    builtin: [...BUILTINS.keys(), ...Object.keys(BUILTIN_CONSTANTS)],
  };
}
