import { assertEquals } from "../../support/assert.ts";
import {
  codesOf,
  codesOfBody,
  parseCleanExpr,
  parseText,
  shapeOf,
} from "../../support/compiler/parse.ts";
import { parseExpression } from "../../../compiler/parse/parser.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";

/** text → tree: language.md 5.1, the table below the levels. */
const PUBLISHED: readonly (readonly [string, string])[] = [
  ["pid * TM + 0 ... TM", "((pid * TM) + (0 ... TM))"],
  ["s * a @ b * t", "((s * (a @ b)) * t)"],
  ["^a @ ^b", "((^a) @ (^b))"],
  ["*pa @ *pb", "((*pa) @ (*pb))"],
  ["-(float[T]) *?(m)p", "(-((float[T]) (*?(m) p)))"],
  ["*?(m) p + 1", "((*?(m) p) + 1)"],
  ["*?(m)(p + 1)", "(*?(m) (p + 1))"],
  ["*p[+]", "(*p[reduce +])"],
  ["(*p)[+]", "(*p)[reduce +]"],
  ["a * *?(m) p", "(a * (*?(m) p))"],
];

for (const [text, tree] of PUBLISHED) {
  Deno.test(`parse() reads \`${text}\` as ${tree}`, () => {
    assertEquals(shapeOf(parseCleanExpr(text)), tree);
  });
}

/** The binary levels, tightest first, one operator per level (language.md 5.1, levels 5 to 15). */
const LEVELS: readonly (readonly string[])[] = [
  ["@"],
  ["*", "/", "%"],
  ["+", "-"],
  ["<<", ">>"],
  ["<", "<=", ">", ">="],
  ["==", "!="],
  ["&"],
  ["^"],
  ["|"],
  ["&&"],
  ["||"],
];

Deno.test("parse() binds every binary operator by its level, to the left among equals", () => {
  for (const [i, row] of LEVELS.entries()) {
    for (const a of row) {
      for (const [j, other] of LEVELS.entries()) {
        for (const b of other) {
          const tree = i <= j ? `((x ${a} y) ${b} z)` : `(x ${a} (y ${b} z))`;
          assertEquals(shapeOf(parseCleanExpr(`x ${a} y ${b} z`)), tree);
        }
      }
    }
  }
});

const ASSIGNMENTS = ["=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|="];

Deno.test("parse() binds assignments looser than `?:`, tighter than `,`, to the right", () => {
  for (const operator of ASSIGNMENTS) {
    assertEquals(
      shapeOf(parseCleanExpr(`a ${operator} b ? c : d, e ${operator} f ${operator} g`)),
      `((a ${operator} (b ? c : d)), (e ${operator} (f ${operator} g)))`,
    );
  }
});

/** Every production of an expression, and where two of them meet. */
const TREES: readonly (readonly [string, string])[] = [
  ["a, b, c", "((a, b), c)"],
  ["a ? b : c ? d : e", "(a ? b : (c ? d : e))"],
  ["a ? b, c : d", "(a ? (b, c) : d)"],
  ["a ? b ? c : d : e", "(a ? (b ? c : d) : e)"],
  ["a ?: b", "(a ?: b)"],
  ["a || b ? c : d", "((a || b) ? c : d)"],
  ["-1 ... +3", "((-1) ... (+3))"],
  ["(int) a ... (int) b", "(((int) a) ... ((int) b))"],
  ["0...16", "(0 ... 16)"],
  ["a @ b @ c", "((a @ b) @ c)"],
  ["++a", "(++a)"],
  ["--*p", "(--(*p))"],
  ["- -a", "(-(-a))"],
  ["!~a", "(!(~a))"],
  ["&a", "(&a)"],
  ["&*p", "(&(*p))"],
  ["a & &b", "(a & (&b))"],
  ["a ^ ^b", "(a ^ (^b))"],
  ["^^a", "(^(^a))"],
  ["a ^= ^b", "(a ^= (^b))"],
  ["**p", "(*(*p))"],
  ["*? (a < M && b < N) pc = acc", "((*?(((a < M) && (b < N))) pc) = acc)"],
  ["*?(m) p = v", "((*?(m) p) = v)"],
  ["*?(m) p += v", "((*?(m) p) += v)"],
  ["*?(a, b) p", "(*?((a, b)) p)"],
  ["*?(m) (p)(q)", "(*?(m) p(q))"],
  ["* ? (m) p", "(*?(m) p)"],
  ["sizeof a + 1", "((sizeof a) + 1)"],
  ["sizeof(a) + 1", "((sizeof a) + 1)"],
  ["sizeof(float[16, 2])", "sizeof(float[16, 2])"],
  ["sizeof(int) * 2", "(sizeof(int) * 2)"],
  ["sizeof ++a", "(sizeof (++a))"],
  ["_Alignof(double)", "_Alignof(double)"],
  ["bitcast<float>(0x7F800000)", "bitcast<float>(0x7F800000)"],
  ["bitcast<int[TM]>(x)[+]", "bitcast<int[TM]>(x)[reduce +]"],
  ["(int) x + 1", "(((int) x) + 1)"],
  ["(float) *p", "((float) (*p))"],
  ["(int) (float) x", "((int) ((float) x))"],
  ["(float[TN])-INFINITY", "((float[TN]) (-INFINITY))"],
  ["(TYPEDEFLESS) * p", "(TYPEDEFLESS * p)"],
  ["(int32) * p", "((int32) (*p))"],
  ["(int __constant__*)AD + t", "(((__constant__ int *) AD) + t)"],
  ["(const float *restrict) p", "((const float *restrict) p)"],
  ["(unsigned long long) x", "((unsigned long long) x)"],
  ["((float[T])x)[+]", "((float[T]) x)[reduce +]"],
  ["(x)", "x"],
  ["(a, b)", "(a, b)"],
  ["'a' + true + false", "(('a' + true) + false)"],
  ['printf("%d\\n", x)', 'printf("%d\\n", x)'],
  ["f()", "f()"],
  ["f(a, b = c, d ? e : g)", "f(a, (b = c), (d ? e : g))"],
  ["f(a)(b)[c]++", "(f(a)(b)[reduce c]++)"],
  ["a++ + ++b", "((a++) + (++b))"],
  ["a+++b", "((a++) + b)"],
  ["a.b->c", "((a.b)->c)"],
  ["zeros(float[16])", "zeros(type float[16])"],
  ["atomic_add(float, 64, 64)(p, v, m)", "atomic_add(type float, 64, 64)(p, v, m)"],
  ["atomic_add(p, v, m)", "atomic_add(p, v, m)"],
  ["x[:, newaxis]", "x[:, newaxis]"],
  ["x[newaxis, :, newaxis]", "x[newaxis, :, newaxis]"],
  ["x[+, max, *, &, |, xor]", "x[reduce +, reduce max, reduce *, reduce &, reduce |, reduce xor]"],
  ["x[-]", "x[reduce -]"],
  ["x[^1, ^0]", "x[axis 1, axis 0]"],
  ["x[^k + 1]", "x[axis (k + 1)]"],
  ["p[i + 1]", "p[index (i + 1)]"],
  ["p[0]", "p[index 0]"],
  ["p[(i)]", "p[index i]"],
  ["p[-i]", "p[index (-i)]"],
  ["p[a ? b : c]", "p[index (a ? b : c)]"],
  ["p[true]", "p[index true]"],
  ["x[/]", "x[reduce /]"],
  ["(m ? x : 0)[:, +]", "(m ? x : 0)[:, reduce +]"],
  ["log(exp(x)[+])", "log(exp(x)[reduce +])"],
];

for (const [text, tree] of TREES) {
  Deno.test(`parseExpression() reads \`${text}\``, () => {
    assertEquals(shapeOf(parseCleanExpr(text)), tree);
  });
}

Deno.test("parse() warns where a factor follows a range without parentheses", () => {
  for (const operator of ["*", "/", "%", "@"]) {
    assertEquals(codesOfBody(`x = 0 ... 4 ${operator} n;`), ["W5102"]);
    assertEquals(codesOfBody(`x = a * 0 ... 4 ${operator} n;`), ["W5102"]);
    assertEquals(codesOfBody(`x = (0 ... 4) ${operator} n;`), []);
    assertEquals(codesOfBody(`x = n ${operator} 0 ... 4;`), []);
  }
  assertEquals(codesOfBody("x = 0 ... 4 + n;"), []);
});

Deno.test("parse() names the macro whose value lacks parentheses after a range", () => {
  const { diagnostics } = parseText("int r[T] = 0 ... T;", { T: "64*2" });
  assertEquals(diagnostics.map(({ code, hint }) => [code, hint]), [
    ["W5102", "put parentheses around the value of the macro `T`"],
  ]);
});

Deno.test("parse() reports chained ranges once and continues", () => {
  assertEquals(codesOfBody("x = 0 ... 4 ... 8; x = 1 ... 2 ... 3 ... 4; x = ;"), [
    "E5101",
    "E5101",
    "E5003",
  ]);
});

Deno.test("parse() takes `(` for a cast only before a type in scope", () => {
  const body = (text: string): string =>
    `typedef int T; void f(int *p, int T) { int x = ${text}; }`;
  const initializer = (text: string): string => {
    const item = parseText(text).unit.items.at(-1);
    const first = item?.kind === "function" ? item.body.items[0] : undefined;
    const value = first?.kind === "declaration" ? first.inits[0]?.initializer?.[0] : undefined;
    return value === undefined ? "" : shapeOf(value);
  };
  assertEquals(initializer(body("(T) * p")), "(T * p)");
  assertEquals(initializer(body("(T) * p").replace("int T)", "int U)")), "((T) (*p))");
});

Deno.test("parse() takes an undeclared name in a cast for a type where nothing else is possible", () => {
  for (const cast of ["(TYPE) x", "(TYPE[16, 2]) x", "(TYPE) 3", "(TYPE *) p", "(TYPE **) p"]) {
    assertEquals(codesOfBody(`x = ${cast} + ${cast};`), ["E2001"], cast);
  }
  assertEquals(codesOfBody("x = (TYPE) * p + (TYPE) - 3 + (TYPE)(x);"), []);
});

Deno.test("parse() rejects compound literals, `_Generic` and half an old atomic_add", () => {
  assertEquals(codesOfBody("x = (float[16]){1, 2} + (int){};"), ["E5002", "E5002"]);
  assertEquals(codesOfBody("x = _Generic(x, int: 1, default: 2) + 1;"), ["E2002"]);
  assertEquals(codesOfBody("atomic_add(float, 64, 64);"), ["E5003"]);
});

const BROKEN = [
  ...[
    "x = ;",
    "x = a +;",
    "x = (a;",
    "x = a);",
    "x = a[;",
    "x = a[1;",
    "x = a[];",
    "x = f(a,);",
    "x = f(,a);",
  ],
  ...[
    "x = a ? b;",
    "x = a ? b :;",
    "x = * ? m;",
    "x = *?m p;",
    "x = sizeof;",
    "x = sizeof(int;",
    "x = bitcast(a);",
  ],
  ...[
    "x = bitcast<int>a;",
    "x = bitcast<>(a);",
    "x = a b;",
    "x = 1 2;",
    "x = newaxis;",
    "x = a[newaxis;",
    "x = int;",
  ],
  ...[
    "x = a.;",
    "x = a->3;",
    "x = ...;",
    "x = a ...;",
    "x = @a;",
    "x = (int);",
    "x = ();",
    "x = {1};",
    "x = a[0:];",
  ],
  ...[
    "x = a[:3];",
    "x = a[1:2, 3:4];",
    "x = a[::2];",
    "x = a[b:c:d, :e];",
    "x = _Alignof a;",
    "x = a ** ;",
    "x = a = ;",
  ],
];

for (const text of BROKEN) {
  Deno.test(`parse() reports \`${text}\` once and reads the next statement`, () => {
    assertEquals(codesOfBody(`${text}\nx = +;`), ["E5003", "E5003"]);
  });
}

Deno.test("parseExpression() wants the whole token list", () => {
  assertEquals(codesOf("int x = 3"), ["E5003"]);
  const reporter = new Reporter();
  assertEquals(parseExpression([], reporter).kind, "error");
  assertEquals(
    reporter.diagnostics[0]?.message,
    "expected an expression, found the end of the expression",
  );
});
