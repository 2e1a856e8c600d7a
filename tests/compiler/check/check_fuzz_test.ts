import fc from "../../support/property.ts";
import { dumpTyped } from "../../../compiler/check/tree/dump_typed.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type Checked, checkText, inKernel } from "../../support/compiler/check.ts";
import { violations } from "../../support/compiler/typed_invariants.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

const GOLDEN = new URL("../../golden/", import.meta.url);

function sourcesIn(folder: string): string[] {
  const url = new URL(folder, GOLDEN);
  return [...Deno.readDirSync(url)].filter(({ name }) => name.endsWith(".tc")).map(({ name }) =>
    Deno.readTextFileSync(new URL(name, url))
  );
}

const SOURCES = ["check/", "check/clean/", "parse/clean/"].flatMap(sourcesIn);
const DEFINES = { TYPE: "float", TM: "16", TN: "32", MB: "16", NB: "16", KB: "32" };

const WORDS = [
  ..."+ - * / % @ & | ^ ~ ! < > == << && || ++ = += : , ; ? . ... ( ) [ ] { }".split(" "),
  ..."newaxis sizeof bitcast true int float half bfloat16 double void const static bool long".split(
    " ",
  ),
  ..."0 1 2 16 32 -1 1.5 0x80000000 1e300 1.0h x p m n z mz *p *?(m) ^z x[+] z[:,+] exp( max("
    .split(
      " ",
    ),
  ..."atomic_add( load( zeros( (float[16]) (int) return break if for while typedef enum".split(" "),
];

/** Every consumer must take the tree; where nothing is wrong it must keep its promises. */
function judge({ unit, diagnostics }: Checked, text: string): void {
  dumpTyped(unit);
  for (const { span, message, fix, notes } of diagnostics) {
    for (const at of [span, fix?.span, ...notes.map((note) => note.span)]) {
      if (at === undefined) continue;
      assert(at.start >= 0 && at.start <= at.end && at.end <= at.file.text.length, message);
    }
  }
  if (diagnostics.every(({ severity }) => severity === "warning")) {
    assertEquals(violations(unit), [], text);
  }
}

for (const text of SOURCES) {
  const title = /^\/\/ (.*)/.exec(text)?.[1] ?? text.slice(0, 40);
  Deno.test(`check() keeps the invariants of the typed tree: ${title.trim()}`, () =>
    judge(checkText(text, DEFINES), text));
}

Deno.test("check() takes kernels with words left out, doubled, swapped or replaced", () => {
  const edit = fc.record({
    at: fc.nat(),
    action: fc.constantFrom("drop", "double", "swap", "replace"),
    word: fc.constantFrom(...WORDS),
  });
  const edits = fc.array(edit, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.constantFrom(...SOURCES), edits, (source, list) => {
      const tokens = source.match(/\/\/.*|\w+|\.\.\.|[<>=!&|+*-]=|&&|\|\||\s+|./g) ?? [];
      for (const { at, action, word } of list) {
        const i = at % tokens.length;
        const [here, next] = [tokens[i] ?? "", tokens[i + 1] ?? ""];
        if (action === "drop") tokens.splice(i, 1);
        else if (action === "double") tokens.splice(i, 0, here, " ");
        else if (action === "swap") tokens.splice(i, 2, next, " ", here);
        else tokens.splice(i, 1, ` ${word} `);
      }
      const text = tokens.join("");
      judge(checkText(text, DEFINES), text);
    }),
    { numRuns: 600 },
  );
});

/** Expressions that parse; most of them are wrong in some way, many are right. */
const expression = fc.letrec<{ expr: string }>((tie) => ({
  expr: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      ..."n u l f h d b x y z hz dx r s t v m mz P p pz H I C V one c 0 1 7 -3 0.5 1.5h 2u 16l"
        .split(
          " ",
        ),
    ),
    fc.tuple(
      tie("expr"),
      fc.constantFrom(
        ..."+ - * / % & | ^ << >> < <= == != && || @ ? = += ,".split(" "),
      ),
      tie("expr"),
    ).map(([a, operator, b]) => operator === "?" ? `(m ? ${a} : ${b})` : `(${a} ${operator} ${b})`),
    fc.tuple(tie("expr"), tie("expr"), tie("expr")).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc.tuple(fc.constantFrom(..."- + ~ ! ^ * & ++ --".split(" ")), tie("expr")).map((
      [operator, a],
    ) => `(${operator} ${a})`),
    fc.tuple(tie("expr"), tie("expr")).map(([a, b]) => `(*?(${a}) ${b})`),
    tie("expr").map((a) => `(*(P + ${a}))`),
    fc.tuple(
      tie("expr"),
      fc.constantFrom("[:, newaxis]", "[newaxis, :]", "[+]", "[:, max]", "[^1, ^0]", "[any]", "++"),
    ).map(([a, item]) => `(${a})${item}`),
    fc.tuple(
      fc.constantFrom(
        ..."(float) (half) (int) (bool) (unsigned) (double) (long) (float[16]) (int[16,32]) (float*) (bfloat16) (float8e4)"
          .split(" "),
      ),
      tie("expr"),
    ).map(([type, a]) => `(${type} ${a})`),
    fc.tuple(
      fc.constantFrom("exp", "abs", "sum", "sqrtf", "popc", "trans", "half_of", "read", "floor"),
      tie("expr"),
    ).map(([name, a]) => `${name}(${a})`),
    fc.tuple(
      fc.constantFrom("min", "max", "cdiv", "fmod", "atomic_add", "store", "dot", "cat", "mulhi"),
      tie("expr"),
      tie("expr"),
    ).map(([name, a, b]) => `${name}(${a}, ${b})`),
  ),
}));

Deno.test("check() types random expressions, and the tree keeps its invariants", () => {
  let all = 0;
  let right = 0;
  fc.assert(
    fc.property(expression.expr, (text) => {
      all++;
      const checked = checkText(inKernel(`(${text});`));
      judge(checked, text);
      if (checked.diagnostics.every(({ severity }) => severity === "warning")) right++;
    }),
    { numRuns: 4000 },
  );
  assert(right > all / 10, `only ${right} of ${all} expressions were right`);
});

/** Pieces that nest or go on as often as they are repeated, and what they end with. */
const ENDLESS = [
  ...["n + ", "x * ", "n, ", "- ", "! ", "(int) ", "(float[16]) ", "m ? *p : ", "m && ", "n && "],
  ...["n = ", "*", "*?(m) ", "^", "sizeof ", "n ?: ", "(", "exp(", "half_of(", "(m ? x : "],
];
const ENDLESS_STATEMENTS = ["{ ", "if (n) ", "for (;;) ", "do ", "if (m[any]) n = n + 1; else "];

test("check() accepts or reports everything that the parser accepts", () => {
  for (const count of [50, 240, 900]) {
    for (const piece of ENDLESS) checkText(inKernel(`n = ${piece.repeat(count)} n;`));
    for (const piece of ENDLESS_STATEMENTS) checkText(inKernel(`${piece.repeat(count)} n = 1;`));
    for (const piece of ["[:, newaxis]", "[+]", "++", "[^0]"]) {
      checkText(inKernel(`x = x${piece.repeat(count)};`));
    }
  }
});
