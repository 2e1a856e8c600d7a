/**
 * Unusual texts: a few pieces of Triton-C repeated until the text is as long as it may be, beside one
 * another and within one another. Long chains, deep nesting, macros and helpers that double, lists and products in
 * pragmas: what is quadratic, exponential or recursive in the compiler shows here.
 */
import fc from "../property.ts";

/** What is repeated and what closes it; `#` is the number of the repetition, `@` the number before. */
type Piece = readonly [open: string, close: string];

interface Pieces {
  readonly right: readonly Piece[];
  /** What ends in an error, mostly. */
  readonly wrong: readonly Piece[];
}

/** Pieces without anything to close. */
const open = (...texts: readonly string[]): Piece[] => texts.map((text) => [text, ""]);

/** Each is closed by what follows the `…`. */
const closed = (...texts: readonly string[]): Piece[] =>
  texts.map((text) => {
    const [before = "", after = ""] = text.split("…");
    return [before, after];
  });

const EXPRESSIONS: Pieces = {
  right: [
    ...closed("(…)", "abs(…)", "min(n, …)", "f0(…)", "n + (…)", "(a + n) * (…)", "(n ? a : …)"),
    ...closed("F(…)", "TWICE(…)", "LASTM(…)", "LASTF(…)", "-(…)", "(n + …)", "(… / 3)", "(a = …)"),
    ...open("n + ", "n * ", "a % # + ", "n && ", "n, ", "n ? a : ", "- ", "~ ", "(int) ", "n == "),
    ...open("(float) ", "a = ", "x[+] + ", "# + ", "1.#f * ", "get_program_id(0) / # + ", "n / "),
    ...open(
      "sizeof(int) + ",
      "TWICE(n) + ",
      "LASTM(n) + ",
      "LASTF(n) + ",
      "\\\n",
      "/* */ ",
      "*X + ",
    ),
  ],
  wrong: [
    ...closed("[…]", "{…}", "sum(…)", "n[…]"),
    ...open(
      "(int *) ",
      "*",
      "^",
      "u# + ",
      "F",
      "a##",
      "'aa' + ",
      "9",
      "a",
      "n.",
      "n[:, newaxis] + ",
      "sizeof ",
    ),
  ],
};

const STATEMENTS: Pieces = {
  right: [
    ...closed("{ … }", "if (n > #) { … }", "if (n) a = 1; else …a = 2;", "if (m[any]) { a++; …} "),
    ...closed("for (int i# = 0; i# < n; i#++) { … }", "while (a < n) { a++; … a = a * 3; }"),
    ...closed("do { a--; … } while (a > n);", "for (int i = 0; i < 4; i++) { …*X = a; }"),
    ...closed("\n#pragma unroll\nfor (int i# = 0; i# < 4; i#++) { … }", "for (;;) { …break; }"),
    ...closed("for (int i# = 0; i# < n; i#++) { if (n > #) break; … s += i#; }"),
    ...closed("for (int i# = 0; i# < n; i#++) { if (n > #) continue; p += n; … }"),
    ...closed("for (int i# = 0; i# < n; i#++) { x += *p; … *p = x; p += 1; }"),
    ...open(
      "if (n == #) return;\n",
      "a = a * n + #;\n",
      "x = x * x + a;\n",
      "s += a;\n",
      "*X = a;\n",
    ),
    ...open("*(X + n * #) = 1;\n", "*(X + r) = x;\n", "x += *(X + # + r);\n", "int b# = n;\n", ";"),
    ...open(
      "int b# = a; a = b# + 1;\n",
      "float y#[16] = x;\n",
      "a = LASTF(a);\n",
      "x = x * x[+];\n",
    ),
    ...open(
      "a = LASTF(a) + LASTF(n);\n",
      "a = x[+];\n",
      "atomic_add(X, 1.0f);\n",
      "a = TWICE(a);\n",
    ),
    ...open('printf("%d", n);\n', "static_print(n);\n", "if (a > #) a += 1;\n", "a = LASTM(a);\n"),
    ...open(
      "x = m ? x : *(X + r);\n",
      "x = m ? *(X + r) : x;\n",
      "m = m && x < #;\n",
      "w = w @ w;\n",
    ),
    ...open(
      "const int c# = n + #; ",
      "w = w + ^w;\n",
      "x = sort(x);\n",
      "a = (a + n) * (a + #);\n",
    ),
    ...open("for (int i = 0; i < n; i++) { a += i; }\n", "if (n > #) { x += 1; *(X + r) = x; }\n"),
    ...open(
      "p += n; *p = x;\n",
      "x += *?(m) p;\n",
      "*X += *(X + n / #);\n",
      '_Static_assert(1, "");\n',
    ),
  ],
  wrong: [
    ...closed("l#: …a = 1;", "switch (n) {…}", "if (x) {…}"),
    ...open(
      "u#;\n",
      "{ ",
      "a",
      "int a;\n",
      "return 1;\n",
      "case #:",
      "goto a;",
      "x = a[#];\n",
      "int **",
      "}",
    ),
  ],
};

const ITEMS: Pieces = {
  right: [
    ...open(
      "typedef int t#;\n",
      "const int C# = C@ + 1;\n",
      ";",
      "enum { E# = # };\n",
      "int g#(int a);\n",
    ),
    ...open('_Static_assert(1, "");\n', "static int f#(int a) { return f@(a) + f@(a + 1); }\n"),
    ...open(
      "static int f#(int a) { return f@(a); }\n",
      "#define M#(x) M@(x)\n",
      "#define M#(x) M@((x))\n",
    ),
    ...open("static int f#(int a) { if (a > #) return f@(a); return f@(a) + 1; }\n"),
    ...open("static int f#(int a) { for (int i = 0; i < a; i++) a += f@(i); return a; }\n"),
    ...open(
      "__global__ void k#(float *X) { *X = #; }\n",
      "/** About # */\n__global__ void k#(int n) {}\n",
    ),
    ...open(
      "#define M#(x) M@(x) + 1\n",
      "#define M#(x) M@(x) + M@(x)\n",
      "#define M#(x) M@(x - 1) + M@(x - 1)\n",
    ),
    ...open(
      "#define M#(x) DROP(M@(x) M@(x)) x\n",
      "#define N# N@\n",
      "#ifdef M#\n#endif\n",
      "#undef N#\n",
    ),
    ...closed("#if 1\n…#endif\n", "#if n#\n#else\n…#endif\n"),
    ...open(
      "#line #\n",
      "// line\n",
      "/* */",
      "__constant__ float *table# = calloc(4);\n",
      "\\\n",
      "\n",
      " ",
    ),
  ],
  wrong: [
    ...open(
      "typedef t@ *t#;\n",
      "int h;\n",
      "static int f#(int a);\n",
      "#define M#(x) M@(x##x)\n",
      "@",
      '"',
    ),
    ...open(
      "#define M#(x) STRING(M@(x) x)\n",
      "#define M#(...) M@(__VA_ARGS__, __VA_ARGS__)\n",
      "#elif 0\n",
    ),
    ...open(
      "#error #\n",
      "#warning #\n",
      '#include "a#.h"\n',
      '#include "self.h"\n',
      '_Pragma("#")\n',
    ),
    ...open(
      "'",
      "\0",
      "é",
      "{",
      "}",
      "(",
      "/*",
      "#if 1\n",
      "#if (",
      "__attribute__((unused)) ",
      "int ",
    ),
  ],
};

const PRAGMAS: Pieces = {
  right: [
    ...open(
      "require(n > #)",
      "require(n > 0)",
      "noalias(X)",
      "variants A# in {1, 2}",
      "variant v#: A = #",
    ),
    ...open(
      "configs B# in {1, 2}",
      "config B = #",
      "configs B in {1, 2, 3, 4} if B > 0",
      "specialize(n == #)",
    ),
    ...open(
      "specialize(n % 1# == 0, n == #)",
      "key(n)",
      "grid(n)",
      "num_warps = 4",
      "variants A in {#, 1}",
    ),
  ],
  wrong: open(
    "grid(n + #)",
    "tensor X: [n + #]",
    "kernel k#",
    "unknown #",
    "configs B in {1} if B > #",
  ),
};

/** Pieces within the parentheses of one pragma. */
const PRAGMA_TEXTS: Pieces = {
  right: [
    ...closed("(…)", "cdiv(…, 2)", "max(n, …)"),
    ...open(
      "n + ",
      "!",
      "- ",
      "n ? 1 : ",
      "n && ",
      "TWICE(n) + ",
      "(n + 1) * ",
      "n, ",
      "# + ",
      "LASTM(n) + ",
    ),
  ],
  wrong: open("u# + ", "(", ")", "n "),
};

const LISTS: readonly ((list: string) => string)[] = [
  (list) => `#pragma tri require(${list} n)`,
  (list) => `#pragma tri grid(${list} n)`,
  (list) => `#pragma tri tensor X: [${list} n]`,
  (list) => `#pragma tri specialize(${list} n)`,
  (list) => `#pragma tri variants A in {${list} n}`,
  (list) => `#pragma tri configs B in {1, 2, 3, 4}, C in {1, 2, 3, 4} if ${list} B`,
];

const AXES: readonly ((index: number) => string)[] = [
  (i) => `A${i} in {1, 2, 3, 4}`,
  (i) => `A${i} in {float, half}`,
  (i) => `A${i} in {1}`,
];

/** The opening of a piece `count` times, then `inside`, then the closings. */
function nest([open, close]: Piece, count: number, inside: string): string {
  const at = (text: string, i: number): string =>
    text.replaceAll("#define", "\u0001define").replaceAll("##", "\u0002")
      .replace(/^(\s*)#(?=[a-z])/gm, "$1\u0001").replaceAll("#", `${i + 1}`).replaceAll("@", `${i}`)
      .replaceAll("\u0001", "#").replaceAll("\u0002", "##");
  const opens = Array.from({ length: count }, (_, i) => at(open, i));
  const closes = Array.from(
    { length: close === "" ? 0 : count },
    (_, i) => at(close, count - 1 - i),
  );
  return `${opens.join("")}${inside}${closes.join("")}`;
}

interface Layers {
  readonly items: readonly (readonly [Piece, number])[];
  readonly pragmas: readonly (readonly [Piece, number])[];
  readonly list: readonly [(list: string) => string, Piece, number] | undefined;
  readonly axes: readonly ["variants" | "configs", (index: number) => string, number] | undefined;
  readonly statements: readonly (readonly [Piece, number])[];
  readonly expressions: readonly (readonly [Piece, number])[];
  readonly copies: number;
}

/** A text of about `size` characters; repetitions are shares of it. */
function textOf(layers: Layers, size: number): string {
  const times = ([open, close]: Piece, share: number): number =>
    Math.max(1, Math.floor(share * size / (open.length + close.length + 1)));
  const within = (pieces: readonly (readonly [Piece, number])[], inside: string): string =>
    pieces.reduceRight((text, [piece, share]) => nest(piece, times(piece, share), text), inside);
  const { items, pragmas, list, axes, statements, expressions, copies } = layers;
  const expression = within(expressions, "n");
  // The last of the helpers and of the macros.
  const last = (beginning: string): number => {
    const counts = items.map(([piece, share]) =>
      piece[0].startsWith(beginning) && !piece[0].endsWith(");\n") ? times(piece, share) : 0
    );
    return Math.max(0, ...counts);
  };
  const room = Math.max(1, Math.floor(size / (expression.length + 10)));
  const stores = `*X = ${expression};\n`.repeat(Math.min(room, copies));
  return [
    "#define F(x) x\n#define TWICE(x) x + x\n#define STRING(x) #x\n#define M0(x) x\n#define DROP(x)",
    "typedef int t0;\nconst int C0 = 0;\nstatic int f0(int a) { return a; }",
    ...items.map(([piece, share]) => nest(piece, times(piece, share), "")),
    `#define LASTF(x) f${last("static int f#")}(x)\n#define LASTM(x) M${last("#define M#(x)")}(x)`,
    ...pragmas.map(([piece, share]) =>
      nest([`#pragma tri ${piece[0]}\n`, ""], times(piece, share / 3), "")
    ),
    ...list === undefined ? [] : [list[0](nest(list[1], times(list[1], list[2]), ""))],
    ...axes === undefined ? [] : [
      `#pragma tri ${axes[0]} ${
        Array.from({ length: Math.max(1, Math.floor(axes[2] * 30)) }, (_, i) => axes[1](i)).join(
          ", ",
        )
      }`,
    ],
    "__global__ void k(float *X, int n) {",
    "int a = n; float s = 0; float *p[16] = X + (0 ... 16); int r[16] = 0 ... 16;",
    "float x[16] = *(X + r); bool m[16] = r < n; float w[16, 16] = x[:, newaxis];",
    within(statements, stores),
    "*X = a + s; *(X + r) = x; *p = x; *(X + r) = w[+, :];\n}\n",
  ].join("\n");
}

/** @param most characters of a text, about */
export function anyGrownText(most: number): fc.Arbitrary<string> {
  // Mostly small: what exceeds a limit at once is refused before it gets far.
  const share = fc.double({ min: 0, max: 1, noNaN: true }).map((x) => x ** 6);
  const one = ({ right, wrong }: Pieces): fc.Arbitrary<Piece> =>
    fc.oneof(
      { arbitrary: fc.constantFrom(...right), weight: 15 },
      { arbitrary: fc.constantFrom(...wrong), weight: 1 },
    );
  const some = (pieces: Pieces, maxLength: number): fc.Arbitrary<(readonly [Piece, number])[]> =>
    fc.array(fc.tuple(one(pieces), share), { maxLength });
  const layers = fc.record({
    items: some(ITEMS, 2),
    pragmas: some(PRAGMAS, 2),
    list: fc.option(
      fc.tuple(fc.constantFrom(...LISTS), one(PRAGMA_TEXTS), share),
      { nil: undefined, freq: 6 },
    ),
    axes: fc.option(
      fc.tuple(
        fc.constantFrom("variants" as const, "configs" as const),
        fc.constantFrom(...AXES),
        share,
      ),
      { nil: undefined, freq: 12 },
    ),
    statements: some(STATEMENTS, 3),
    expressions: some(EXPRESSIONS, 2),
    copies: fc.constantFrom(1, 1, 3, 100, 10_000),
  });
  const size = fc.double({ min: 0, max: 1, noNaN: true }).map((x) => Math.ceil(most ** x));
  return fc.tuple(layers, size).map(([one, length]) => textOf(one, length).slice(0, 2 * most));
}
