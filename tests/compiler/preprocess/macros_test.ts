import { useSite } from "../../../compiler/support/source.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { run } from "../../support/compiler/preprocess.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

Deno.test("preprocess() expands the example of C11 6.10.3.5, number 3", () => {
  const { text, found } = run(`
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
g(x+(3,4)-w) | h 5) & m
(f)^m(m);
p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };
char c[2][6] = { str(hello), str() };
`);
  assertEquals(found, []);
  const wanted = `
f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1);
f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1);
int i[] = { 1, 23, 4, 5, };
char c[2][6] = { "hello", "" };`;
  assertEquals(text, run(wanted).text);
});

Deno.test("preprocess() expands the examples of C11 6.10.3.5, numbers 4, 5 and 7", () => {
  const { text } = run(`
#define str(s) # s
#define xstr(s) str(s)
#define debug(s, t) printf("x" # s "= %d, x" # t "= %s", x ## s, x ## t)
#define INCFILE(n) vers ## n
#define glue(a, b) a ## b
#define xglue(a, b) glue(a, b)
#define HIGHLOW "hello"
#define LOW LOW ", world"
debug(1, 2);
fputs(str(strncmp("abc\\0d", "abc", '\\4') == 0) str(: @\\n), s);
xstr(INCFILE(2).h)
glue(HIGH, LOW);
xglue(HIGH, LOW)
#define t(x,y,z) x ## y ## z
int j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };
#define showlist(...) puts(#__VA_ARGS__)
#define report(test, ...) ((test)?puts(#test): printf(__VA_ARGS__))
showlist(The first, second, and third items.);
report(x>y, "x is %d but y is %d", x, y);
`);
  const wanted = `
printf("x" "1" "= %d, x" "2" "= %s", x1, x2);
fputs("strncmp(\\"abc\\\\0d\\", \\"abc\\", '\\\\4') == 0" ": @\\n", s);
"vers2.h"
"hello";
"hello" ", world"
int j[] = { 123, 45, 67, 89, 10, 11, 12, };
puts("The first, second, and third items.");
((x>y)?puts("x>y"): printf("x is %d but y is %d", x, y));`;
  assertEquals(text, run(wanted).text);
});

Deno.test("preprocess() puts -D values in as tokens, whatever they are", () => {
  const source = `
#define RED_ALL RED
__global__ void NAME(TYPE *x) { z = x[RED_ALL]; f(BROADCAST); int a[SHAPE]; b USE_A @ c; i * STRIDE; TM / 2; }`;
  const { text, found } = run(source, {
    NAME: "dsd_kernel",
    TYPE: "half",
    RED: ":, +",
    BROADCAST: "newaxis, :",
    SHAPE: "TM, TK",
    USE_A: "^a",
    STRIDE: "lda",
    TM: "64*2",
    TK: "",
  });
  assertEquals(found, []);
  assertEquals(
    text,
    "__global__ void dsd_kernel ( half * x ) { z = x [ : , + ] ; f ( newaxis , : ) ; " +
      "int a [ 64 * 2 , ] ; b ^ a @ c ; i * lda ; 64 * 2 / 2 ; }",
  );
});

Deno.test("preprocess() leaves a function-like macro's name without `(` alone", () => {
  const { text, found } = run("#define min(a,b) m\nmin + min (1, 2) min\n");
  assertEquals([text, found], ["min + m min", []]);
});

Deno.test("preprocess() lets macros be called like keywords and built-ins", () => {
  const { tokens, found } = run(
    "#define bool _Bool\n#define __multipleof(A) __attribute__((multipleof(A)))\nbool x __multipleof(8);",
  );
  assertEquals(found, []);
  assertEquals(tokens.slice(0, 3).map(({ kind, text }) => `${kind} ${text}`), [
    "keyword _Bool",
    "identifier x",
    "keyword __attribute__",
  ]);
});

Deno.test("preprocess() reports macro calls and operators that do not fit", () => {
  const define =
    "#define F(a, b) a b\n#define V(a, ...) a\n#define Z() z\n#define P(a, b) a ## b\n";
  const cases: [string, string[]][] = [
    ["F(1)", ["E1019 5:1"]],
    ["F(1, 2, 3)", ["E1019 5:1"]],
    ["F((1, 2), 3)", []],
    ["V()", []],
    ["V(1, 2, 3)", []],
    ["Z(1)", ["E1019 5:1"]],
    ["Z( )", []],
    ["x F(1, 2; y", ["E1019 5:3"]],
    ["P(+, -)", ["E1020 5:1"]],
    ["P(a, 1)", []],
    ["#define Q ## x", ["E1020 5:11"]],
    ["#define Q(a) # b", ["E1018 5:14"]],
    ["#define Q # b", []],
    ["#define", ["E5003 5:1"]],
    ["#define Q(a, a) x", ["E5003 5:14"]],
    ["#define Q(..., a) x", ["E5003 5:14"]],
    ["#define Q(a x", ["E5003 5:13"]],
    ["#undef 1", ["E5003 5:8"]],
  ];
  for (const [text, found] of cases) {
    const locations = run(define + text).diagnostics.map((d) => {
      const use = useSite(d.span);
      const before = use.file.text.slice(0, use.start);
      return `${d.code} ${before.split("\n").length}:${before.length - before.lastIndexOf("\n")}`;
    });
    assertEquals(locations, found, text);
  }
});

Deno.test("preprocess() continues after a macro call that is never closed", () => {
  const { text, found } = run("#define F(a) a\n#define N 4\nint x = F(1; int y = N; F(2);");
  assertEquals(found, ["E1019 3:9"]);
  assertEquals(text, "int x = F ( 1 ; int y = 4 ; F ( 2 ) ;");
});

Deno.test("preprocess() reports redefinitions, and lets the file win over the build", () => {
  const { text, found } = run("#define A 1\n#define A   1\n#define A 2\n#define TM 8\nA TM", {
    TM: "16",
  });
  assertEquals([text, found], ["2 8", ["W1021 3:9", "W1022 4:9"]]);
  assertEquals(run("#define A(x) x + x\n#define A( x ) x  +  x\n").found, []);
  assertEquals(run("#define A(x) x\n#define A(y) y\n").found, ["W1021 2:9"]);
  assertEquals(run("#ifndef TM\n#define TM 8\n#endif\nTM", { TM: "16" }).text, "16");
  assertEquals(run("#ifdef TM\nyes\n#else\nno\n#endif", { TM: null }).text, "no");
});

Deno.test("preprocess() guards the names that belong to the compiler", () => {
  const names = ["NULL", "__LINE__", "__FILE__", "__TRI_ARCH__", "__TRI_DEBUG__", "defined"];
  for (const name of names) {
    assertEquals(run(`#define ${name} 1\n#undef ${name}`).found, ["E1024 1:9", "E1024 2:8"], name);
    assertEquals(run("", { [name]: "1" }).found, [`E1024 <-D ${name}>:1:1`]);
  }
  assertEquals(run("", { "3x": "1" }).found, ["E5003 <-D 3x>:1:1"]);
});

Deno.test("preprocess() computes __LINE__ and __FILE__ where they are used", () => {
  const source =
    '#define L __LINE__\nL\n#line 100 "other.tc"\nL __FILE__\nL\n#line 7\n__LINE__ __FILE__';
  assertEquals(run(source).text, '2 100 "other.tc" 101 7 "other.tc"');
  assertEquals(run("__FILE__\n#line x").found, ["E5003 2:7"]);
});

Deno.test("preprocess() shows where an expanded token is spelled and each macro on its way", () => {
  const { tokens } = run("#define SQ(x) ((x) * 2)\n#define A SQ(TM)\nint y = A;", { TM: "64" });
  const chain = (text: string): string[] => {
    const found = tokens.find((token) => token.text === text);
    const locations: string[] = [];
    for (let span = found?.span; span !== undefined; span = span.expansion?.use) {
      const spelled = span.file.text.slice(span.start, span.end);
      locations.push(`${span.file.name}: ${spelled}`);
      if (span.expansion !== undefined) locations.push(span.expansion.macro);
    }
    return locations;
  };
  assertEquals(chain("64"), [
    "<-D TM>: 64",
    "TM",
    "t.tc: TM",
    "SQ",
    "t.tc: SQ(TM)",
    "A",
    "t.tc: A",
  ]);
  assertEquals(chain("2"), ["t.tc: 2", "SQ", "t.tc: SQ(TM)", "A", "t.tc: A"]);
  assertEquals(chain("int"), ["t.tc: int"]);
});

test("preprocess() stops macros that double themselves and arguments that nest without end", () => {
  const doubling = Array.from({ length: 40 }, (_, i) => `#define A${i + 1} A${i} A${i}`).join("\n");
  assertEquals(run(`#define A0 x\n${doubling}\nA40`).diagnostics.map(({ code }) => code), [
    "E1025",
  ]);
  const nested = `#define F(x) x x\n${"F(".repeat(300)}1${")".repeat(300)}`;
  assertEquals(run(nested).diagnostics.map(({ code }) => code), ["E1025"]);
  const chain = Array.from({ length: 20_000 }, (_, i) => `#define A${i} A${i + 1}`).join("\n");
  assertEquals(run(`#define F(x) x\n${chain}\nF(A0)`).diagnostics.map(({ code }) => code), [
    "E1025",
  ]);
});

/** `#define M0(x) …` and n macros that each use the one before as `body` says. */
function chained(n: number, body: (before: string) => string): string {
  const lines = Array.from({ length: n }, (_, i) => `#define M${i + 1}(x) ${body(`M${i}`)}`);
  return ["#define M0(x) x", ...lines].join("\n");
}

Deno.test("preprocess() expands hundreds of chained macros, with a link per macro in the tokens' chains", () => {
  const { tokens, found } = run(`${chained(500, (before) => `${before}(x) + 1`)}\nM500(n)`);
  assertEquals(found, []);
  assertEquals(tokens.length - 1, 1001);
  const uses: string[] = [];
  for (let at = tokens[0]?.span.expansion; at !== undefined; at = at.use.expansion) {
    uses.push(at.macro);
  }
  assertEquals(uses, Array.from({ length: 501 }, (_, i) => `M${i}`));
});

test("preprocess() expands arguments of macros within the limit on tokens", () => {
  const grows = [
    chained(60, (before) => `${before}(x-1)+${before}(x)`),
    chained(60, (before) => `${before}(x+x)`),
    chained(60, (before) => `DROP(${before}(x) ${before}(x))`) + "\n#define DROP(x)",
    chained(60, (before) => `${before}(x##x)`),
    chained(60, (before) => `${before}(x x)`) +
    "\n#define STRING(x) #x\n#define M61(x) STRING(M60(x))",
  ];
  for (const [i, text] of grows.entries()) {
    const last = i === 4 ? "M61" : "M60";
    const { found, tokens } = run(`${text}\n${last}(n)`);
    assertEquals(found.filter((code) => !code.startsWith("E1025")), [], text.slice(0, 100));
    assertEquals(new Set(found).size, found.length);
    assert(tokens.every((token) => token.text.length < 20_000_000));
  }
});

test("preprocess() expands no macro any more once the limit is reached", () => {
  const nested = `#define F(x) x\n#define N 4\n${"F(".repeat(30_000)}n${
    ")".repeat(30_000)
  }\nint a = N;`;
  const { found, text } = run(nested);
  assertEquals(found.map((one) => one.slice(0, 5)), ["E1025"]);
  assertEquals(text.slice(-"int a = N ;".length), "int a = N ;");
});
