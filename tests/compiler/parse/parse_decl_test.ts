import { assertEquals } from "../../support/assert.ts";
import {
  codesOf,
  codesOfBody,
  listDiagnostics,
  parseClean,
  parseCleanTypeName,
  parseText,
  withoutSpans,
} from "../../support/compiler/parse.ts";
import { printTypeName } from "../../../compiler/parse/print_expr.ts";
import { printAst } from "../../support/compiler/print_ast.ts";
import { PREDECLARED_TYPES } from "../../../compiler/parse/typedef_scopes.ts";
import { scalarOfWords } from "../../../compiler/preprocess/type_spelling.ts";

const INT = { kind: "words", words: [{ text: "int" }] };
const PLAIN = { storage: [], qualifiers: [], attributes: [], type: INT };

function one(value: string): unknown {
  return { kind: "number", text: value };
}

Deno.test("parse() gives pointers, shape and attributes to each declarator", () => {
  assertEquals(withoutSpans(parseClean("int a[16], *b[32, 16] __aligned(4), c = 0;").items), [{
    kind: "declaration",
    specs: PLAIN,
    inits: [
      {
        declarator: {
          pointers: [],
          name: { text: "a" },
          shape: { dims: [one("16")], brackets: 1 },
          attributes: [],
        },
      },
      {
        declarator: {
          pointers: [{ qualifiers: [] }],
          name: { text: "b" },
          shape: { dims: [one("32"), one("16")], brackets: 1 },
          attributes: [{ name: "aligned", argument: one("4") }],
        },
      },
      {
        declarator: { pointers: [], name: { text: "c" }, attributes: [] },
        initializer: [one("0")],
      },
    ],
  }]);
});

Deno.test("parse() collects specifiers in any order", () => {
  const text = "long static const unsigned __multipleof(8) volatile long extern x;";
  assertEquals(withoutSpans(parseClean(text).items), [{
    kind: "declaration",
    specs: {
      storage: [{ word: "static" }, { word: "extern" }],
      qualifiers: [{ word: "const" }, { word: "volatile" }],
      attributes: [{ name: "multipleof", argument: one("8") }],
      type: { kind: "words", words: [{ text: "long" }, { text: "unsigned" }, { text: "long" }] },
    },
    inits: [{ declarator: { pointers: [], name: { text: "x" }, attributes: [] } }],
  }]);
});

Deno.test("parse() keeps a function's parameters, attributes, body and the comment above it", () => {
  const text = `// Adds.
#pragma tri grid(1)
__global__ void add(float *restrict x __readonly, int n __retune __multipleof(16), ...) {}`;
  assertEquals(withoutSpans(parseClean(text).items), [{
    kind: "function",
    specs: {
      storage: [{ word: "__global__" }],
      qualifiers: [],
      attributes: [],
      type: { kind: "words", words: [{ text: "void" }] },
    },
    declarator: {
      pointers: [],
      name: { text: "add" },
      params: {
        params: [
          {
            specs: { ...PLAIN, type: { kind: "words", words: [{ text: "float" }] } },
            declarator: {
              pointers: [{ qualifiers: [{ word: "restrict" }] }],
              name: { text: "x" },
              attributes: [{ name: "readonly" }],
            },
          },
          {
            specs: PLAIN,
            declarator: {
              pointers: [],
              name: { text: "n" },
              attributes: [{ name: "retune" }, { name: "multipleof", argument: one("16") }],
            },
          },
        ],
        variadic: true,
      },
      attributes: [],
    },
    body: { kind: "block", items: [] },
    doc: "Adds.",
  }]);
});

/** Every production of a declaration, as the printer writes it. */
const FORMS: readonly (readonly [string, string])[] = [
  [";;int x;;", "int x;"],
  ["int;", "int;"],
  ["static x = 1;", "static x = 1;"],
  ["const*p;", "const *p;"],
  ["f(int a) {}", "f(int a) {}"],
  ["int f(void);", "int f();"],
  ["int f(void) { return 1; }", "int f() {\n  return 1;\n}"],
  ["extern int get_program_id(int);", "extern int get_program_id(int);"],
  [
    "void f(int *, float *const [4], float[2], half x[8]);",
    "void f(int *, float *const [4], float[2], half x[8]);",
  ],
  ["void f(...);", "void f(...);"],
  ["float[TM, TN] f(float[TM, TN] x) { }", "float[TM, TN] f(float[TM, TN] x) {}"],
  ["int __constant__ *p;", "__constant__ int *p;"],
  ["char __constant__ *AD = calloc(256);", "__constant__ char *AD = calloc(256);"],
  [
    "int x __noalias __readonly __writeonly __retune;",
    "int x __noalias __readonly __writeonly __retune;",
  ],
  ["int x __aligned(4)[8] __multipleof(2);", "int x[8] __aligned(4) __multipleof(2);"],
  ["int *__noalias const *p;", "int *const *p __noalias;"],
  [
    "__attribute__((aligned(16), noalias, const, hot(1))) int x;",
    "int __aligned(16) __noalias __attribute__((const)) __attribute__((hot(1))) x;",
  ],
  ["int x __attribute__((multipleof));", "int x __attribute__((multipleof));"],
  ["int *__restrict a, *__restrict__ b;", "int *restrict a, *restrict b;"],
  ["enum E { A, B = 1 + 2, C, };", "enum E { A, B = 1 + 2, C };"],
  ["enum { A } x = A;", "enum { A } x = A;"],
  ["enum E x;", "enum E x;"],
  ["typedef float acc_t[TM, TN]; acc_t x;", "typedef float acc_t[TM, TN];\n\nacc_t x;"],
  ["typedef int T; T T;", "typedef int T;\n\nT T;"],
  ["float[4, 2] a, b[8];", "float[4, 2] a, b[8];"],
  ["int32_t x; size_t y;", "int32_t x;\n\nsize_t y;"],
  ["int a[A][B], b[], c[1][2, 3];", "int a[A][B], b[], c[1][2, 3];"],
  ["int (*f)(int), (x), ((*y))[4];", "int (*f)(int), (x), ((*y))[4];"],
  ["int x = { 1 }, y = { 1, 2, }, z = (1, 2);", "int x = 1, y = { 1, 2 }, z = (1, 2);"],
  [
    '_Static_assert(A == 1, "text"); static_assert(1);',
    '_Static_assert(A == 1, "text");\n\n_Static_assert(1);',
  ],
];

for (const [text, printed] of FORMS) {
  Deno.test(`parse() reads \`${text}\``, () =>
    assertEquals(printAst(parseClean(text)), printed + "\n"));
}

const TYPE_NAMES: readonly (readonly [string, string])[] = [
  ["float", "float"],
  ["float * *", "float **"],
  ["const float * restrict", "const float *restrict"],
  ["float[16, 2]", "float[16, 2]"],
  ["float*[16]", "float *[16]"],
  ["unsigned", "unsigned"],
  ["enum E", "enum E"],
  ["size_t", "size_t"],
];

for (const [text, printed] of TYPE_NAMES) {
  Deno.test(`parseTypeName() reads \`${text}\``, () =>
    assertEquals(printTypeName(parseCleanTypeName(text)), printed));
}

Deno.test("parse() accepts the predeclared type names, which can be hidden", () => {
  for (const name of PREDECLARED_TYPES) {
    assertEquals(codesOf(`${name} x;`), [], name);
    assertEquals(scalarOfWords([name]) === undefined, false, name);
    assertEquals(codesOf(`void f(int ${name}, int x) { ${name} * x; x = (${name}) * x; }`), []);
  }
});

Deno.test("parse() ends the scope of a typedef with its block, its parameters, its loop", () => {
  const unknown = (text: string): string[] =>
    parseText(text).diagnostics.map(({ code, message }) => `${code} ${message}`);
  assertEquals(unknown("void f() { { typedef int t; t x; } t y; }"), ["E2001 unknown type `t`"]);
  assertEquals(unknown("typedef int t; void f() { { int t = 1; t * t; } t y; }"), []);
  assertEquals(unknown("typedef int t; void f(int t) { t * t; } t y;"), []);
  assertEquals(unknown("typedef int t; int g(int t); t y;"), []);
  assertEquals(unknown("typedef int t; void f() { for (int t = 0; t < 1; t++) t * t; t y; }"), []);
  assertEquals(unknown("typedef int t; void f() { t t = t * 2; }"), []);
  assertEquals(unknown("typedef int t; void f() { enum { t }; t * t; }"), []);
});

Deno.test("parse() reports an unknown type once, with the nearest known one, and continues", () => {
  const { diagnostics } = parseText(
    "void f(TYPE *p, TYPE q) { TYPE r[4] = *p; TYPE[4] s; flaot x; x = (TYPE) r; }",
  );
  assertEquals(diagnostics.map(({ message, hint }) => [message, hint]), [
    ["unknown type `TYPE`; pass `-DTYPE=…` or declare it with `#pragma tri`", undefined],
    ["unknown type `flaot`", "did you mean `float`?"],
  ]);
});

Deno.test("parse() takes an undeclared name for a type where a statement or parameter begins with one", () => {
  for (
    const text of [
      "T x;",
      "T *x;",
      "T **x = 0;",
      "T[4] x;",
      "const T x;",
      "T const *x;",
      "T int x;",
    ]
  ) {
    assertEquals(codesOfBody(text), ["E2001"], text);
    assertEquals(codesOf(text), ["E2001"], text);
  }
  for (const text of ["T x", "T *x", "T", "T *", "T[4] x", "const T x", "int a, T b"]) {
    assertEquals(codesOf(`void f(${text});`), ["E2001"], text);
  }
  assertEquals(codesOfBody("a * b; T(x); T[a]; T = 1; T; T - a; T * 3;"), []);
  assertEquals(codesOf("void f() { for (T i = 0; i < 1; i++) ; }"), ["E2001"]);
});

Deno.test("parse() rejects words of C that are not in the language with E2002, one per use", () => {
  const words = [
    "auto x = 1;",
    "register int x;",
    "_Complex float x;",
    "_Imaginary float x;",
    "_Atomic int x;",
  ];
  for (
    const text of [
      ...words,
      "_Atomic(int) x;",
      "_Alignas(16) int x;",
      "_Noreturn void g();",
      "_Thread_local int x;",
    ]
  ) {
    assertEquals(codesOf(text), ["E2002"], text);
    assertEquals(codesOfBody(text), ["E2002"], text);
  }
  for (
    const text of [
      "struct s x;",
      "struct s { int a; float b; } x;",
      "union { int a; };",
      "struct s *p, q;",
    ]
  ) {
    assertEquals(codesOf(text), ["E2002"], text);
  }
  assertEquals(codesOf("void f(struct s *p, union u q, register int r) {}"), [
    "E2002",
    "E2002",
    "E2002",
  ]);
});

Deno.test("parse() reports a second type with E3002", () => {
  for (const text of ["int32 int x;", "enum E int x;", "int enum E x;", "float[4] int x;"]) {
    assertEquals(codesOf(text), ["E3002"], text);
  }
});

const BROKEN = [
  ...[
    "int = 3;",
    "int *;",
    "int x y;",
    "int x[;",
    "int x[4;",
    "int x[4,];",
    "int x 3;",
    "int if;",
    "int half = 3;",
  ],
  ...[
    "int x = {};",
    "int x = {1;",
    "int x = {1, {2}};",
    "int f(int x;",
    "int f(int,);",
    "int f(3);",
    "int f(int x y);",
  ],
  ...[
    "enum;",
    "enum { };",
    "enum { A B };",
    "enum { 3 };",
    "enum { A = };",
    "int x __multipleof;",
    "int x __aligned();",
  ],
  ...[
    "int x __attribute__(noalias);",
    "int x __attribute__((3));",
    "static_assert(1;",
    "_Static_assert(1, 2);",
  ],
  ...[
    "int x, ;",
    "int (x;",
    "int x : 3;",
    "int x = 1 = ;",
    "int f(static int x);",
    "float y[16] 16];",
  ],
];

for (const text of BROKEN) {
  Deno.test(`parse() reports \`${text}\` once and reads the next declaration`, () => {
    assertEquals(codesOf(`${text}\nint z = +;`), ["E5003", "E5003"]);
    assertEquals(codesOfBody(`${text}\nint z = +;`), ["E5003", "E5003"]);
  });
}

Deno.test("parse() puts a missing `;` directly after the token before it, also after a macro", () => {
  const { diagnostics } = parseText("int x = TM\nint y = 2;", { TM: "64 * 2" });
  assertEquals(
    listDiagnostics(diagnostics),
    "1:11: error E5003: expected `;` after the declaration, found `int`\n" +
      '  | int x = TM\n  |           ^\n  fix: 1:11 ";"\n',
  );
});

Deno.test("parse() passes over what an early `}` left outside a function", () => {
  assertEquals(
    codesOf("void f() {\n  if (1) }\n  x = 3;\n  int y = 4;\n}\nvoid g() { int x = +; }"),
    [
      "E5003", // a statement before `}`
      "E5003", // what follows
      "E5003", // in g
    ],
  );
});

Deno.test("parse() ends open blocks before the next kernel", () => {
  const { unit, diagnostics } = parseText(
    "void f() {\n  if (1) {\n    {\n__global__ void g() {}\nint x = +;",
  );
  assertEquals(diagnostics.map(({ message }) => message), [
    "expected `}`, found `__global__`",
    "expected an expression, found `;`",
  ]);
  assertEquals(unit.items.map(({ kind }) => kind), ["function", "function", "declaration"]);
});

Deno.test("parse() reports a function inside a function once", () => {
  assertEquals(codesOfBody("int g(int k) { return k; }\nx = 1;"), ["E5003"]);
});
