import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";
import { BUILTIN_CONSTANTS, BUILTINS } from "../../compiler/check/builtins/builtins.ts";
import { KEYWORDS } from "../../compiler/preprocess/keywords.ts";
import { PRAGMA_WORDS } from "../../compiler/pragma/pragma_items.ts";
import { TYPE_NAMES } from "../../compiler/preprocess/type_spelling.ts";
import { must } from "../../compiler/support/bug.ts";
import { GRAMMAR, grammarText } from "../../scripts/vscode_grammar.ts";
import { assertEquals } from "../support/assert.ts";

const WASM = new URL(import.meta.resolve("vscode-oniguruma/release/onig.wasm"));
await oniguruma.loadWASM(Deno.readFileSync(WASM).buffer);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: () =>
    Promise.resolve(textmate.parseRawGrammar(Deno.readTextFileSync(GRAMMAR), GRAMMAR)),
});
const grammar = must(await registry.loadGrammar("source.triton-c"), "the grammar");

/** Each piece of a text that is no blank, with its innermost scope. */
function tokenize(text: string): [piece: string, scope: string][] {
  let state = textmate.INITIAL;
  return text.split("\n").flatMap((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens.flatMap(({ startIndex, endIndex, scopes }): [string, string][] => {
      const piece = line.slice(startIndex, endIndex).trim();
      return piece === "" ? [] : [[piece, (scopes.at(-1) ?? "").replace(".triton-c", "")]];
    });
  });
}

/** The scope of a piece of one line. */
function scopeOf(text: string, piece: string): string | undefined {
  return tokenize(text).find(([found]) => found === piece)?.[1];
}

Deno.test("the TextMate grammar is what scripts/vscode_grammar.ts makes of the compiler's tables", () => {
  assertEquals(Deno.readTextFileSync(GRAMMAR), grammarText());
});

Deno.test("the TextMate grammar has every word of the compiler's tables", () => {
  const groups: readonly (readonly [Iterable<string>, string])[] = [
    [KEYWORDS.type, "storage.type"],
    [KEYWORDS.declaration, "storage.modifier"],
    [KEYWORDS.statement, "keyword.control"],
    [KEYWORDS.rejected, "invalid.illegal"],
    [TYPE_NAMES, "support.type"],
    [Object.keys(BUILTIN_CONSTANTS), "support.constant"],
  ];
  for (const [words, scope] of groups) {
    for (const word of words) assertEquals(tokenize(` ${word} `), [[word, scope]]);
  }
  for (const word of KEYWORDS.expression) {
    const isConstant = word === "true" || word === "false";
    assertEquals(scopeOf(word, word), isConstant ? "constant.language" : "keyword.operator.word");
  }
  for (const name of BUILTINS.keys()) {
    assertEquals(scopeOf(`${name}(x)`, name), "support.function");
  }
  for (const word of PRAGMA_WORDS) {
    assertEquals(scopeOf(`#pragma tri ${word}`, word), "keyword.other.pragma");
  }
});

Deno.test("the TextMate grammar distinguishes the parts of a kernel", () => {
  const text = `#pragma tri configs TM in {32}; num_warps in {4} if TM <= 64
#include "rows.h"
#define TWICE(x) (2 * (x)) // twice
/* A
   kernel. */
__global__ void rows(TYPE *X __readonly, int n) {
  int i[TM] = 0 ... TM;
  float a[TM, 0x10] = *?(i < n) (X + i);
  *X = helper(max(a[max, +], 1.5e-3f), "text\\n") @ b;
}`;
  const coloured = tokenize(text).filter(([, scope]) => !/^(?:source|meta)/.test(scope));
  assertEquals(
    coloured.map((token) => token.join("  ")).join("\n"),
    `#pragma  keyword.control.directive.pragma
tri  entity.name.namespace
configs  keyword.other.pragma
in  storage.modifier
32  constant.numeric
num_warps  keyword.other.pragma
in  storage.modifier
4  constant.numeric
if  keyword.control
<=  keyword.operator
64  constant.numeric
#include  keyword.control.directive.include
"rows.h"  string.quoted.other.include
#define  keyword.control.directive.define
TWICE  entity.name.function.preprocessor
2  constant.numeric
*  keyword.operator
//  comment.line.double-slash
twice  comment.line.double-slash
/*  comment.block
A  comment.block
kernel.  comment.block
*/  comment.block
__global__  storage.modifier
void  storage.type
rows  entity.name.function
*  keyword.operator
__readonly  storage.modifier
int  storage.type
int  storage.type
=  keyword.operator
0  constant.numeric
...  keyword.operator.range
float  storage.type
0x10  constant.numeric
=  keyword.operator
*?  keyword.operator.masked
<  keyword.operator
+  keyword.operator
*  keyword.operator
=  keyword.operator
helper  entity.name.function
max  support.function
max  keyword.operator.reduction
+  keyword.operator
1.5e-3f  constant.numeric
"  string.quoted.double
text  string.quoted.double
\\n  constant.character.escape
"  string.quoted.double
@  keyword.operator`,
  );
});

Deno.test("the TextMate grammar leaves comments, strings and directives where the compiler does", () => {
  assertEquals(scopeOf("int x; /* int y;", "int y;"), "comment.block");
  assertEquals(scopeOf("// one \\\nint two\nint x", "int two"), "comment.line.double-slash");
  assertEquals(tokenize("#define A 1 + \\\n  exp(2)\nint x").at(-2), ["int", "storage.type"]);
  assertEquals(scopeOf("#define A 1 + \\\n  exp(2)", "exp"), "support.function");
  assertEquals(scopeOf('printf("int // %d", x);', "int // %d"), "string.quoted.double");
  assertEquals(scopeOf("0 ... 64", "..."), "keyword.operator.range");
  assertEquals(scopeOf("0...64", "..."), "keyword.operator.range");
});
