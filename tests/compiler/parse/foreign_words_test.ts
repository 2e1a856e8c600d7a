import { BUILTIN_CONSTANTS, BUILTINS } from "../../../compiler/check/builtins/builtins.ts";
import {
  FOREIGN_DECLARATIONS,
  FOREIGN_NAMES,
  FOREIGN_SPECIFIERS,
  foreignNameHint,
} from "../../../compiler/parse/foreign_words.ts";
import { keywordGroup } from "../../../compiler/preprocess/keywords.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { checkText, codesIn } from "../../support/compiler/check.ts";

Deno.test("foreign_words holds no word of the language", () => {
  const words = [
    ...FOREIGN_NAMES,
    ...Object.keys(FOREIGN_SPECIFIERS),
    ...Object.keys(FOREIGN_DECLARATIONS),
  ];
  for (const word of words) {
    assert(!BUILTINS.has(word) && !Object.hasOwn(BUILTIN_CONSTANTS, word), word);
    assertEquals(keywordGroup(word), undefined, word);
  }
});

Deno.test("foreignNameHint() shows calls of functions that there are", () => {
  for (const name of FOREIGN_NAMES) {
    const hint = foreignNameHint(name) ?? "";
    for (const [, called = ""] of hint.matchAll(/\b([a-z_]\w*)\(/g)) {
      assert(BUILTINS.has(called), `${name}: ${hint}`);
    }
  }
});

Deno.test("check() takes each of these words as a name that the program declares", () => {
  for (const name of FOREIGN_NAMES) {
    const { diagnostics } = checkText(`__global__ void f(int *P, int ${name}) { *P = ${name}; }`);
    assertEquals(diagnostics.map(({ code }) => code), [], name);
    assertEquals(codesIn(`n = ${name}(1);`), ["E2001"], name);
  }
  for (const name of Object.keys(FOREIGN_SPECIFIERS)) {
    const text = `#define ${name}\n${name} static int g() { return 1; }\n` +
      "__global__ void f(int *P) { *P = g(); }";
    assertEquals(checkText(text).diagnostics.map(({ code }) => code), [], name);
  }
});
