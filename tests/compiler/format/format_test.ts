/**
 * formatFile(): only blanks and line breaks change, and once is enough. Shipped kernels, every other text of the
 * repository, random programs, and all of these with other blanks or with mistakes.
 */
import fc from "../../support/property.ts";
import { formatFile } from "../../../compiler/format/format.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { anyProgram } from "../../support/generate/arbitrary.ts";
import { FEATURES } from "../../support/generate/features.ts";
import { renderProgram } from "../../support/generate/tree.ts";
import { anyEditsFrom, mutate } from "../../support/compiler/mutate.ts";
import { run } from "../../support/compiler/preprocess.ts";

const COUNT = Number(Deno.env.get("TRI_FUZZ") ?? 200);
const ROOT = new URL("../../../", import.meta.url);

/** Texts of a folder and the folders in it. */
function textsIn(folder: string): string[] {
  const url = new URL(folder, ROOT);
  return [...Deno.readDirSync(url)].toSorted((a, b) => a.name < b.name ? -1 : 1)
    .flatMap(({ name, isDirectory }) =>
      isDirectory
        ? textsIn(`${folder}${name}/`)
        : /\.(?:tc|h)$/.test(name)
        ? [Deno.readTextFileSync(new URL(name, url))]
        : []
    );
}

const KERNELS = textsIn("kernels/");
const TEXTS = [...KERNELS, ...textsIn("tests/")];

function format(text: string): string {
  const result = formatFile({ name: "t.tc", text });
  assert(result.ok, result.ok ? "" : result.diagnostics.map(({ message }) => message).join("\n"));
  return result.text;
}

/** The formatted text; undefined where it cannot be. That tokens are the same, the formatter checks itself. */
function formatTwice(text: string): string | undefined {
  const once = formatFile({ name: "t.tc", text });
  if (!once.ok) {
    assert(once.diagnostics.length > 0, "a reason");
    return undefined;
  }
  assertEquals(format(once.text), once.text, text);
  return once.text;
}

/** Other blanks between the words of code lines; directives, comments and lines stay. */
function shaken(text: string, blanks: readonly number[]): string {
  let at = 0;
  const blank = (least: number): string =>
    " ".repeat(least + (blanks[at++ % blanks.length] ?? 0) % 3);
  let isContinued = false;
  return text.split("\n").map((line) => {
    const isDirective = isContinued || /^\s*#/.test(line);
    isContinued = isDirective && line.endsWith("\\");
    const [code = ""] = isDirective ? [""] : line.split(/\/\/|\/\*|\*\/|"/, 1);
    if (code.length !== line.length || code.includes("'")) return line;
    return blank(0) +
      code.trim().replace(/ +|(?<=[,;()[\]])(?=[\w(])/g, (gap) => gap === "" ? blank(0) : blank(1));
  }).join("\n");
}

Deno.test("formatFile() leaves the shipped kernels as they are", () => {
  for (const text of KERNELS) assertEquals(format(text), text);
});

Deno.test("formatFile() of a formatted text is the same text", () => {
  const formatted = TEXTS.filter((text) => formatTwice(text) !== undefined);
  assert(formatted.length > TEXTS.length * 0.9, `${formatted.length} of ${TEXTS.length}`);
});

Deno.test("formatFile() takes any text", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.string({ unit: "grapheme-ascii", maxLength: 300 }),
    fc.tuple(fc.constantFrom(...TEXTS), anyEditsFrom(TEXTS))
      .map(([source, edits]) => mutate(source, edits)),
  );
  fc.assert(fc.property(anyText, (text) => void formatTwice(text)), { numRuns: 3 * COUNT });
});

Deno.test("formatFile() gives texts that differ in blanks alone the same form", () => {
  const sources = fc.oneof(fc.constantFrom(...KERNELS), anyProgram(FEATURES).map(renderProgram));
  const property = fc.property(
    sources,
    fc.array(fc.nat(), { minLength: 1, maxLength: 50 }),
    (text, blanks) => {
      const other = shaken(text, blanks);
      assertEquals(run(format(other)).text, run(text).text);
      assertEquals(format(other), format(text));
    },
  );
  fc.assert(property, { numRuns: COUNT / 4 });
});

Deno.test("formatFile() changes nothing but line numbers in the code that a program compiles to", () => {
  const compiled = (text: string): readonly string[] => {
    const { kernels } = compileFile({ name: "t.tc", text }, { targets: ["sm_80"] });
    return kernels.flatMap(({ modules }) =>
      modules.map(({ ptx }) => ptx.replace(/^ *\.loc.*\n/gm, ""))
    );
  };
  const property = fc.property(anyProgram(FEATURES), (program) => {
    const text = renderProgram(program);
    // What fails says on which line.
    fc.pre(!/assert|assume/.test(text));
    assertEquals(compiled(format(text)), compiled(text));
  });
  fc.assert(property, { numRuns: Math.ceil(COUNT / 30) });
});

/** What is written, and what becomes of it. */
const STYLE: Readonly<Record<string, readonly [string, string]>> = {
  "spaces of operators, casts, pointers and subscripts": [
    "void f(float*x,int n){*?(n>0&&x!=0)x=(float)-n*(n+1);x[0:]=-x[ : ,newaxis]+ ^x[+ , : ];}",
    `void f(float *x, int n) {
  *?(n > 0 && x != 0) x = (float)-n * (n + 1);
  x[0:] = -x[:, newaxis] + ^x[+, :];
}
`,
  ],
  "statements without braces are indented or stay on the line": [
    "void f(int n) {\nif(n)\nif(n>1)\nn=1;\nelse\nn=2;\nelse if (n) n = 3;\nfor(;;)\n{\nn++;\n}\n}",
    `void f(int n) {
  if (n)
    if (n > 1)
      n = 1;
    else
      n = 2;
  else if (n) n = 3;
  for (;;) {
    n++;
  }
}
`,
  ],
  "comments keep their positions, and those after neighbouring statements are aligned": [
    "/* a\n * b */\nint x; // one\nint long_name; // two\n\n\n\n// own\nint f( /* in */ int y, // last\n int z);",
    `/* a
 * b */
int x;         // one
int long_name; // two

// own
int f(/* in */ int y, // last
      int z);
`,
  ],
  "directives keep their text": [
    '#  define  F(a,b)  a+b   \\\n   *2  \nvoid f(int n) {\n  #if A\nif (n) {\n#else\n{\n#endif\n#pragma unroll\nfor(;;) n=F(1,2);\n}}\n#if 0\n  don\'t  touch\n#endif\n#include "x.h" // why',
    `#define  F(a,b)  a+b \\
   *2
void f(int n) {
#if A
  if (n) {
#else
  {
#endif
    #pragma unroll
    for (;;) n = F(1, 2);
  }
}
#if 0
  don't  touch
#endif
#include "x.h" // why
`,
  ],
  "long lines are broken at the outermost comma or operator": [
    `void f() { int total = first_of_the_long_names(1, 2, 3) + second_of_the_long_names(4, 5, 6) + the_third_of_the_long_names(7, 8, 9, 10); }`,
    `void f() {
  int total = first_of_the_long_names(1, 2, 3) + second_of_the_long_names(4, 5, 6) +
      the_third_of_the_long_names(7, 8, 9, 10);
}
`,
  ],
  "arguments that become strings keep their blanks": [
    '#define TEXT(x) #x\nvoid f() { printf(TEXT(a+b  -c)); printf("%d", a+b); }',
    '#define TEXT(x) #x\nvoid f() {\n  printf(TEXT(a+b -c));\n  printf("%d", a + b);\n}\n',
  ],
  "lists, enums, bitcasts and macros that are statements": [
    "enum{A,B=2};\nvoid f(){\nint a[2]={1,2};\nBODY(1,2)\nfloat b=bitcast<float>(a)<1?2:3;\ndo a--; while(a>0);\n}",
    `enum { A, B = 2 };
void f() {
  int a[2] = { 1, 2 };
  BODY(1, 2)
  float b = bitcast<float>(a) < 1 ? 2 : 3;
  do a--; while (a > 0);
}
`,
  ],
};

for (const [title, [text, expected]] of Object.entries(STYLE)) {
  Deno.test(`formatFile(): ${title}`, () => assertEquals(format(text), expected));
}

Deno.test("formatFile() refuses what has no statements: brackets without partners, comments without an end", () => {
  const refused = {
    "f(;": "E5003 1:2",
    "int x; }": "E5003 1:8",
    "/* a": "E1004 1:1",
    "a \\": "E1006 1:3",
  };
  for (const [text, expected] of Object.entries(refused)) {
    const result = formatFile({ name: "t.tc", text });
    const [first] = result.ok ? [] : result.diagnostics;
    const { code, span } = must(first, text);
    assertEquals(`${code} 1:${span.start + 1}`, expected);
  }
});
