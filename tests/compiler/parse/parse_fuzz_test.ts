import fc from "../../support/property.ts";
import type { Token, TokenKind } from "../../../compiler/preprocess/token.ts";
import { dumpAst } from "../../../compiler/parse/dump_ast.ts";
import { keywordGroup, KEYWORDS } from "../../../compiler/preprocess/keywords.ts";
import { parse, parseExpression, parseTypeName } from "../../../compiler/parse/parser.ts";
import { printAst } from "../../support/compiler/print_ast.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { codesOf, parseText } from "../../support/compiler/parse.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

const CLEAN = new URL("../../golden/parse/clean/", import.meta.url);
const KERNELS = ["transpose", "dot", "wild"].map((name) =>
  Deno.readTextFileSync(new URL(`${name}.tc`, CLEAN))
);

const PUNCTUATORS =
  "[ ] ( ) { } , ; : ? . -> ... + - * / % @ & | ^ ~ ! < > <= >= == != << >> && || ++ -- = += -= *= ^= # ##"
    .split(" ");
const NAMES = ["a", "TYPE", "int32", "atomic_add", "T"];
const WORDS = [
  ...Object.values(KEYWORDS).flat(),
  ...PUNCTUATORS,
  ...PUNCTUATORS,
  ...NAMES,
  "0",
  "1.5f",
  '"s"',
  "'c'",
];

function kindOf(text: string): TokenKind {
  if (PUNCTUATORS.includes(text)) return "punctuator";
  if (keywordGroup(text) !== undefined) return "keyword";
  if (/^\d/.test(text)) return "number";
  return text.startsWith('"') ? "string" : text.startsWith("'") ? "char" : "identifier";
}

/** Tokens on lines of seven, with a loop pragma now and then. */
function tokensOf(words: readonly string[]): Token[] {
  const text = words.map((word, i) => word + (i % 7 === 6 ? "\n" : " ")).join("");
  const file = { name: "fuzz", text };
  let start = 0;
  return words.map((word) => {
    const span = { file, start, end: start + word.length };
    start = span.end + 1;
    return {
      kind: word === "#" ? "loop-pragma" : kindOf(word),
      text: word,
      span,
      spaceBefore: true,
    };
  });
}

/** Every consumer of the tree must take what comes out of an erroneous text. */
function parseAll(tokens: readonly Token[]): void {
  const reporter = new Reporter();
  const unit = parse(tokens, [], reporter);
  printAst(unit);
  dumpAst(unit);
  parseExpression(tokens, reporter);
  parseTypeName(tokens, reporter);
  for (const { span, message } of reporter.diagnostics) {
    assert(span.start >= 0 && span.start <= span.end && span.end <= span.file.text.length, message);
  }
}

const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 60 });

Deno.test("parse() takes any tokens, alone and inside a function", () => {
  fc.assert(
    fc.property(words, fc.boolean(), (body, inside) => {
      parseAll(tokensOf(inside ? ["void", "f", "(", ")", "{", ...body] : body));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("parse() takes kernels with words left out, doubled, swapped or replaced", () => {
  const edit = fc.record({
    at: fc.nat(),
    action: fc.constantFrom("drop", "double", "swap", "replace"),
    word: fc.constantFrom(...WORDS),
  });
  const edits = fc.array(edit, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.constantFrom(...KERNELS), edits, (text, list) => {
      const tokens = text.match(/\/\/.*|\w+|\.\.\.|[<>=!&|+*-]=|&&|\|\||\s+|./g) ?? [];
      for (const { at, action, word } of list) {
        const i = at % tokens.length;
        const [here, next] = [tokens[i] ?? "", tokens[i + 1] ?? ""];
        if (action === "drop") tokens.splice(i, 1);
        else if (action === "double") tokens.splice(i, 0, here, " ");
        else if (action === "swap") tokens.splice(i, 2, next, " ", here);
        else tokens.splice(i, 1, ` ${word} `);
      }
      const { unit, diagnostics } = parseText(tokens.join(""), { TYPE: "float" });
      dumpAst(unit);
      assert(
        diagnostics.length <= 4 * list.length + 12,
        "one slip of the pen has few consequences",
      );
    }),
    { numRuns: 500 },
  );
});

/** One of each recursive rule, open to the left. */
const NESTED = [
  ...[
    "(",
    "(int) (",
    "a[b + ",
    "a(b, ",
    "*?(",
    "- ",
    "* ",
    "(int) ",
    "sizeof ",
    "bitcast<int[",
    "a ? b : ",
    "a ? ",
    "a = ",
  ],
  ...[
    "a=b?c||d&&e|f^g&h==i<j<<k+l*m@(int)-(",
    "sizeof(int[",
    "sizeof(enum { a = ",
    "++",
    "f(float[",
    "a[^",
    "a(a[(b",
  ],
];
const NESTED_STATEMENTS = [
  "{ ",
  "if (a) ",
  "if (a) ; else ",
  "for (int i = 0;;) {",
  "do ",
  "while (a) ",
  "switch (a) { case 1: ",
];
const CHAINS = ["a + ", "a , ", "a @ ", "a = b, ", "a && ", "a[b][c](d)++ + ", "int i; "];
const ODD = [
  "}",
  ")",
  "(",
  "]",
  "{ ( [ ",
  "} ) ] ",
  "a b ",
  "a * ",
  "else ",
  "; ",
  "a: ",
  "case a: ",
  "\n#pragma unroll\n",
  "int (",
  "int f(int (*g)(",
];

test("parse() answers endless nesting with one message", () => {
  for (const piece of NESTED) {
    assertEquals(codesOf(`void f() { x = ${piece.repeat(5000)}`), ["E5003"], piece);
  }
  for (const piece of NESTED_STATEMENTS) {
    const [first, ...others] = codesOf(`void f() { ${piece.repeat(5000)}`);
    // Every `switch` on the way in is reported for itself.
    assertEquals(
      [first, new Set(others)],
      piece.startsWith("switch") ? ["E2002", new Set(["E2002"])] : ["E5003", new Set()],
    );
  }
});

test("parse() gives trees that can be walked, however long the text", () => {
  for (const piece of [...NESTED, ...NESTED_STATEMENTS, ...CHAINS, ...ODD]) {
    for (const count of [60, 250, 1500]) {
      for (const head of ["", "void f() { ", "void f() { x = ", "int x = "]) {
        const { unit } = parseText(head + piece.repeat(count));
        printAst(unit);
        dumpAst(unit);
      }
    }
  }
});

Deno.test("parse() reads long chains up to a limit that it names", () => {
  assertEquals(codesOf(`int x = ${"1 + ".repeat(800)} 1;`), []);
  const { diagnostics } = parseText(`int x = ${"1 + ".repeat(1200)} 1;\nint y = +;`);
  assertEquals(diagnostics.map(({ message }) => message), [
    "the longest chain of operators has more than 1000 links",
    "expected an expression, found `;`",
  ]);
});
