import { assertEquals } from "../../support/assert.ts";
import {
  codesOf,
  codesOfBody,
  parseClean,
  parseText,
  withoutSpans,
} from "../../support/compiler/parse.ts";
import { printAst } from "../../support/compiler/print_ast.ts";

/** The only statement of `void f(…) { … }`, without positions. */
function statement(body: string): unknown {
  const [item] = parseClean(`void f(int a, int b) { ${body} }`).items;
  return withoutSpans(item?.kind === "function" ? item.body.items : item);
}

const A = { kind: "name", name: "a" };
const B = { kind: "name", name: "b" };
const CALL = (value: unknown): unknown => ({ kind: "expression", expr: value });

const TREES: readonly (readonly [string, unknown])[] = [
  [";", { kind: "empty" }],
  ["{ }", { kind: "block", items: [] }],
  ["{ a; {} }", { kind: "block", items: [CALL(A), { kind: "block", items: [] }] }],
  ["a;", CALL(A)],
  ["if (a) b;", { kind: "if", condition: A, then: CALL(B) }],
  ["if (a) b; else ;", { kind: "if", condition: A, then: CALL(B), else: { kind: "empty" } }],
  [
    "if (a) if (b) a; else b;",
    { kind: "if", condition: A, then: { kind: "if", condition: B, then: CALL(A), else: CALL(B) } },
  ],
  ["while (a) ;", { kind: "while", condition: A, body: { kind: "empty" }, hints: [] }],
  ["do a; while (b);", { kind: "do", body: CALL(A), condition: B, hints: [] }],
  ["for (;;) ;", { kind: "for", body: { kind: "empty" }, hints: [] }],
  ["for (a; b; a) b;", { kind: "for", init: A, condition: B, step: A, body: CALL(B), hints: [] }],
  ["for (a;; a, b) ;", {
    kind: "for",
    init: A,
    step: { kind: "comma", lhs: A, rhs: B },
    body: { kind: "empty" },
    hints: [],
  }],
  ["break;", { kind: "break" }],
  ["continue;", { kind: "continue" }],
  ["return;", { kind: "return" }],
  ["return a;", { kind: "return", value: A }],
  ['_Static_assert(a, "b");', { kind: "static-assert", condition: A, message: '"b"' }],
  ["\n#pragma tri loop unroll(4) num_stages( 2 ) flatten pipeline(off)\nwhile (a) ;", {
    kind: "while",
    condition: A,
    body: { kind: "empty" },
    hints: [
      { name: "unroll", argument: "4" },
      { name: "num_stages", argument: "2" },
      { name: "flatten" },
      { name: "pipeline", argument: "off" },
    ],
  }],
  ["\n#pragma unroll\n#pragma unroll 2\nfor (;;) ;", {
    kind: "for",
    body: { kind: "empty" },
    hints: [{ name: "unroll" }, { name: "unroll", argument: "2" }],
  }],
  ["\n#pragma unroll\ndo ; while (a);", {
    kind: "do",
    body: { kind: "empty" },
    condition: A,
    hints: [{ name: "unroll" }],
  }],
];

for (const [text, tree] of TREES) {
  Deno.test(`parse() reads the statement \`${text.trim()}\``, () =>
    assertEquals(statement(text), [tree]));
}

Deno.test("parse() takes the first part of `for` for a declaration where it begins with a type", () => {
  const text = "void f() {\n  for (int i = 0, j = 1; i < j; i++) {\n    float x;\n  }\n}\n";
  assertEquals(printAst(parseClean(text)), text);
});

Deno.test("parse() reports a pragma without a loop and continues", () => {
  for (const body of ["x = 1;", "int y = 1;", "{ x = 1; }", "if (a) x = 1;", ";", ""]) {
    assertEquals(codesOfBody(`\n#pragma tri loop unroll(2)\n${body}`), ["E5003"], body);
  }
  assertEquals(codesOfBody("if (a)\n#pragma unroll\nx = 1; else x = 2;"), ["E5003"]);
  assertEquals(codesOf("#pragma unroll\nvoid f() {}\nint x = +;"), ["E5003", "E5003"]);
  assertEquals(codesOfBody("x = 1 +\n#pragma unroll\nfor (;;) ;"), ["E5003"]);
});

Deno.test("parse() reports wrong loop hints and keeps the right ones", () => {
  const hints =
    "unroll(0) unroll(x) num_stages pipeline(maybe) flatten(1) vectorize(2) = num_stages(3)";
  const { unit, diagnostics } = parseText(`void f() {\n#pragma tri loop ${hints}\nfor (;;) ;\n}`);
  assertEquals(diagnostics.map(({ code, message }) => `${code} ${message}`), [
    "E9014 wrong value in loop hint `unroll(0)`",
    "E9014 wrong value in loop hint `unroll(x)`",
    "E9014 wrong value in loop hint `num_stages`",
    "E9014 wrong value in loop hint `pipeline(maybe)`",
    "E9014 wrong value in loop hint `flatten(1)`",
    "E9005 unknown loop hint `vectorize`",
    "E9005 unknown loop hint `=`",
  ]);
  assertEquals(printAst(unit), "void f() {\n#pragma tri loop num_stages(3)\n  for (;;) ;\n}\n");
});

Deno.test("parse() reports `switch` once and still reads what is in it", () => {
  const body = "switch (x) { case 1: x = 2; break; case 1 + 1: { x = ; } default: x = 4; } x = +;";
  assertEquals(codesOfBody(body), ["E2002", "E5003", "E5003"]);
});

Deno.test("parse() reports labels, `goto` and stray `case` with E2002", () => {
  assertEquals(codesOfBody("again: x = 1; goto again; case 3: x = 2; default: ; x = a ? b : c;"), [
    "E2002",
    "E2002",
    "E2002",
    "E2002",
  ]);
});

/** Each with its own number of errors: what is broken twice is reported twice. */
const BROKEN: readonly (readonly [string, number])[] = [
  ["if x < 3 { x = 1; }", 1],
  ["if (x < 3 { x = 1; }", 1],
  ["if (x < 3)) { x = 1; }", 1],
  ["if (f(a, b[3 +) ) { x = 1; } else x = 2;", 1],
  ["if () x = 1; else x = 2;", 1],
  ["if (a) x = ; else x = 2;", 1],
  ["if (a) x = 1 else x = 2;", 1],
  ["if (a) int y = 1; else x = 2;", 1],
  ["else x = 1;", 1],
  ["while () ;", 1],
  ["while (a { x = 1; }", 1],
  ["do x = 1; while (a)", 1],
  ["do x = 1; (a);", 1],
  ["for (int k = 0; k < 3, k++) { x = 1; }", 1],
  ["for (int k = 0; k < 3; k++ { x = 1; }", 1],
  ["for (int k = 0) { x = 1; }", 1],
  ["for (x) { x = 1; }", 1],
  ["for { x = 1; }", 1],
  ["for (int k = 0; k < ; k++) { x = ; }", 2],
  ["return", 1],
  ["return a b;", 1],
  ["break x;", 1],
  ["x = 1", 1],
  ["x = 1\nx = 2\nx = 3", 3],
  ["int y = 1\nint z = 2", 2],
  [") x = 1;", 1],
  ["] ] x = 1;", 1],
  ["@m *p = 1;", 1],
  ["x = a and b;", 1],
  ["whil (x) { x = 1; }", 1],
  ["x = 3 + { a; b; };", 1],
  ["(x = 1;", 1],
  ["x = f(1, 2; x = g(3;", 2],
];

for (const [text, errors] of BROKEN) {
  Deno.test(`parse() reports \`${text}\` without consequences`, () => {
    const codes = Array.from({ length: errors + 1 }, () => "E5003");
    assertEquals(codesOfBody(`${text}\nfor (;;) x = +;`), codes);
  });
}

Deno.test("parse() shows the block that is still open at the end of the file", () => {
  const { diagnostics } = parseText("void f() {\n  if (1) {\n    ;\n");
  assertEquals(
    diagnostics.map(({ message, notes }) => [message, notes.map(({ message }) => message)]),
    [
      ["expected `}`, found the end of the file", ["this block is still open"]],
    ],
  );
});
