import fc from "../../support/property.ts";
import { expandText, preprocess } from "../../../compiler/preprocess/preprocess.ts";
import {
  architectureMacros,
  PREDEFINED_NAMES,
  predefinedMacros,
} from "../../../compiler/preprocess/predefined.ts";
import { parsePragmaLine } from "../../../compiler/pragma/read_pragmas.ts";
import { printTokens } from "../../../compiler/preprocess/spell.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { run } from "../../support/compiler/preprocess.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

/** Texts that look enough like programs to get somewhere. */
const programs = fc.array(
  fc.constantFrom(
    ...[
      "#",
      "\n",
      "\n#",
      "define ",
      "undef ",
      "if ",
      "ifdef ",
      "elif ",
      "else",
      "endif",
      "include ",
      "pragma ",
      "tri ",
    ],
    ...[
      "loop ",
      "unroll",
      "line 3",
      "error",
      "defined",
      "__type_is",
      "A",
      "B",
      "F",
      "F(",
      "A(",
      "B (",
      ")",
      "(",
      ",",
    ],
    ...[
      "##",
      "#",
      "...",
      "__VA_ARGS__",
      "x",
      "half",
      " ",
      " ",
      "1",
      "0x",
      "1.5e",
      "'",
      '"',
      "\\\n",
      "/*",
      "*/",
      "//",
    ],
    ...[
      ".",
      "+",
      "+=",
      "-",
      ">",
      "<",
      "=",
      "?",
      ":",
      "$",
      "é",
      "__LINE__",
      "_Pragma",
      '"s"',
      "'c'",
      "\r",
      "\\",
      '"t.tc"',
    ],
  ),
  { maxLength: 60 },
).map((parts) => parts.join(""));

/** Whether `#if text` holds; the codes of its diagnostics when there are any. */
function condition(text: string, defines: Record<string, string> = {}): boolean | string[] {
  const { text: taken, diagnostics } = run(`#if ${text}\nyes\n#endif\n`, defines);
  return diagnostics.length > 0 ? diagnostics.map(({ code }) => code) : taken === "yes";
}

Deno.test("preprocess() evaluates conditions in 64 bits, signed and unsigned, with C's precedences", () => {
  const holds = [
    "1 + 2 * 3 == 7",
    "(1 + 2) * 3 == 9",
    "-1 < 0",
    "-1 > 0u",
    "0x7fffffffffffffff + 1 < 0",
    "0xffffffffffffffff == -1",
    "1 << 40 == 1099511627776",
    "-8 >> 1 == -4",
    "-7 / 2 == -3 && -7 % 2 == -1",
    "1 ? 2 : 3 == 3",
    "0 ? 1 : 0 ? 0 : 1",
    "'a' == 97 && '\\n' == 10 && '\\xff' == -1",
    "!0 == 1 && ~0 == -1 && +1",
    "2 | 1 ^ 3 & 2 == 3",
    "true && !undefined_name",
    "0 && 1 / 0 || 1",
    "1 || 1 % 0",
    "1 ? 1 : 1 / 0",
    "0b101 == 5 && 010 == 8 && 0xE+1 == 15",
  ];
  for (const text of holds) assertEquals(condition(text), true, text);
});

Deno.test("preprocess() evaluates `defined` and `__type_is` in conditions, also from macros", () => {
  const defines = {
    TM: "64",
    TYPE: "half",
    INT: "unsigned  long int",
    HAS: "defined(TM)",
    EMPTY: "",
  };
  const holds = [
    "defined TM && defined(TYPE) && !defined NOPE",
    "HAS",
    "TM == 64",
    "__type_is(TYPE, half) && __type_is(float16, TYPE) && !__type_is(TYPE, float)",
    "__type_is(INT, uint64) && __type_is(long unsigned, size_t) && __type_is(int32, signed)",
    "__type_is(float *, float32*) && !__type_is(float*, float)",
    "!__type_is(char, unsigned char)",
    "defined __LINE__ && __LINE__ == 1",
  ];
  for (const text of holds) assertEquals(condition(text, defines), true, text);
  for (
    const text of [
      "__type_is(TYPE)",
      "__type_is(EMPTY, half)",
      "__type_is",
      "defined",
      "defined(TM",
      "defined 3",
    ]
  ) {
    assertEquals(condition(text, defines), ["E1011"], text);
  }
});

Deno.test("preprocess() reports conditions that are no integer constant expressions", () => {
  const bad = [
    "",
    "1.0",
    "1.5 > 1",
    "A = 1",
    "1, 2",
    "(1",
    "1 2",
    "1 +",
    "* 2",
    "1 ? 2",
    '"a"',
    "1h",
    "08",
    "@",
  ];
  for (const text of bad) assertEquals(condition(text), ["E1011"], text);
  assertEquals(condition("1 / 0"), ["E1012"]);
  assertEquals(condition("5 % (1 - 1) == 0"), ["E1012"]);
  assertEquals(condition(`${"(".repeat(5000)}1${")".repeat(5000)}`), ["E1011"]);
  assertEquals(condition(`${"!".repeat(5000)}1`), ["E1011"]);
  assertEquals(run("#ifdef A B\n#endif").found, ["E1011 1:10"]);
  assertEquals(run("#ifndef\n#endif").found, ["E1011 1:1"]);
});

Deno.test("preprocess() warns of types that count as 0 and says how to compare them", () => {
  const { diagnostics, text } = run("#if TYPE == half\nalways\n#endif", { TYPE: "float" });
  assertEquals(text, "always");
  assertEquals(diagnostics.map(({ code }) => code), ["W1013"]);
  assertEquals(diagnostics[0]?.fix?.replacement, "__type_is(TYPE, half)");
  assertEquals(
    run("#if TYPE != half\n#endif").diagnostics[0]?.fix?.replacement,
    "!__type_is(TYPE, half)",
  );
  assertEquals(
    run("#if X\n#endif", { X: "int" }).diagnostics[0]?.hint,
    "compare types with `__type_is(TYPE, int)`",
  );
});

Deno.test("preprocess() takes the first branch that holds, and evaluates none after it", () => {
  const source = "#if A\na\n#elif B\nb\n#elif 1/C\nc\n#else\nd\n#endif";
  assertEquals(run(source, { A: "1", C: "0" }).text, "a");
  assertEquals(run(source, { A: "1", C: "0" }).found, []);
  assertEquals(run(source, { B: "1", C: "0" }).text, "b");
  assertEquals(run(source, { C: "1" }).text, "c");
  assertEquals(run(source, { C: "2" }).text, "d");
  assertEquals(run("#ifdef X\n1\n#elifdef Y\n2\n#elifndef Z\n3\n#endif", { Y: "" }).text, "2");
  assertEquals(run("#ifdef X\n1\n#elifdef Y\n2\n#elifndef Z\n3\n#endif").text, "3");
});

Deno.test("preprocess() skips groups without judging what is in them", () => {
  const source =
    "#if 0\ndon't $ \"\n#nonsense\n#if 1/0\n#else junk\n#endif junk\n#error no\n#include <x>\n#endif\nend";
  const { text, found } = run(source);
  assertEquals([text, found], ["end", []]);
});

Deno.test("preprocess() reports conditionals that do not match up", () => {
  assertEquals(run("#endif").found, ["E1014 1:1"]);
  assertEquals(run("#else\n#elif 1").found, ["E1014 1:1", "E1014 2:1"]);
  assertEquals(run("x\n#if 1\n#if 0\n#endif").found, ["E1014 2:1"]);
  assertEquals(run("#if 0\n#else\n#else\n#elif 1\n#endif").found, ["E1014 3:1", "E1014 4:1"]);
  assertEquals(run('#if 1\n#include "a"\n#endif', {}, { a: "#endif\n#if 1\n" }).found, [
    "E1014 a:1:1",
    "E1014 a:2:1",
  ]);
  assertEquals(run("#if 1\n#else if 2\n#endif").found, ["E5003 2:7"]);
  assertEquals(run("#if 0\n#else\n#endif x").found, ["E5003 3:8"]);
});

Deno.test("preprocess() follows #error, #warning and the empty directive, and rejects unknown ones", () => {
  const { found, diagnostics } = run(
    "#\n # error  no   way // out\n#warning hm\n#include_next <x>\n#ifdf X\n#4 x",
  );
  assertEquals(found, ["E1040 2:2", "W1041 3:1", "E1010 4:1", "E1010 5:1", "E1010 6:1"]);
  assertEquals(diagnostics[0]?.message, "#error no way");
  assertEquals(diagnostics[3]?.hint, "did you mean `#ifdef`?");
});

Deno.test("preprocess() makes tokens of loop pragmas and passes over the others", () => {
  const source =
    "#pragma unroll\n#pragma unroll 4\n#pragma unroll(N)\n#pragma tri loop unroll(N) num_stages(3)\n" +
    '#pragma tri grid(1)\n#pragma once\n#pragma omp for\n_Pragma("x") end\n#pragma tri loop\n';
  const { tokens, found } = run(source, { N: "8" });
  assertEquals(tokens.filter(({ kind }) => kind === "loop-pragma").map(({ text }) => text), [
    "unroll",
    "unroll(4)",
    "unroll(8)",
    "unroll(8) num_stages(3)",
  ]);
  assertEquals(tokens.at(-2)?.text, "end");
  assertEquals(found, ["W1042 7:1", "E1043 8:1", "E5003 9:13"]);
});

Deno.test("preprocess() includes files by quotes, brackets and macros, and C's headers as empty files", () => {
  const files = { "a.h": "#pragma once\n#define A 1\nint a;", "b/c.h": '#include "a.h"\nint b;' };
  const source =
    '#include "a.h"\n#include <b/c.h>\n#define H "b/c.h"\n#include H\n#include <stdint.h>\nA';
  const { text, found } = run(source, {}, files);
  assertEquals([text, found], ["int a ; int b ; int b ; 1", []]);
});

Deno.test("preprocess() reports includes that are missing, outside, malformed or circular", () => {
  const files = {
    self: '#include "self"\n#include "self"',
    guarded: '#ifndef G\n#define G\n#include "guarded"\n#endif',
  };
  const cases: [string, string[]][] = [
    ['#include "none.h"', ["E1030 1:10"]],
    ["#include <none.h>", ["E1030 1:10"]],
    ['#include "/etc/passwd"', ["E1031 1:10"]],
    ["#include none", ["E5003 1:10"]],
    ["#include <x", ["E5003 1:10"]],
    ["#include", ["E5003 1:1"]],
    ['#include "self"', ["E1032 self:1:10"]],
    ['#include "guarded"', []],
  ];
  for (const [text, found] of cases) assertEquals(run(text, {}, files).found, found, text);
});

Deno.test("preprocess() reports an include that its host refuses, with the reason", () => {
  const reporter = new Reporter();
  preprocess({ name: "t.tc", text: '#include "zero.h"' }, {
    defines: [],
    predefined: {},
    include: () => ({ refused: "it is a device" }),
  }, reporter);
  assertEquals(reporter.diagnostics.map(({ code, message }) => `${code} ${message}`), [
    "E1033 `zero.h` is not included because it is a device",
  ]);
});

test("preprocess() ends includes that multiply, whatever each of them holds", () => {
  const twice = (name: string): string => `#include "${name}"\n#include "${name}"\n`;
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`f${i}.h`, twice(`f${i + 1}.h`)]),
  );
  assertEquals(run(twice("f0.h"), {}, { ...files, "f40.h": "" }).found, ["E1032 f38.h:1:10"]);
  const wide = run(twice("f30.h"), {}, { ...files, "f40.h": ";".repeat(50_000) });
  assertEquals(wide.found, ["E1034 1:10"]);
  assertEquals(wide.tokens.length < 1_100_000, true);
  const skipped = `#if 0\n${";".repeat(100_000)}\n#endif\n`;
  assertEquals(run(twice("f30.h"), {}, { ...files, "f40.h": skipped }).found.at(0), "E1034 1:10");
  const deep = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, i) => [`f${i}.h`, `#include "f${i + 1}.h"`]),
  );
  assertEquals(run('#include "f0.h"', {}, deep).found, ["E1032 f63.h:1:10"]);
});

Deno.test("preprocess() ignores pragmas for kernels in included files, with a warning", () => {
  assertEquals(
    run('#include "p"', {}, { p: "#pragma tri grid(1)\n#pragma tri loop flatten" }).found,
    ["W9004 p:1:1"],
  );
});

Deno.test("preprocess() reports stray characters once each and says what was meant", () => {
  const { found, diagnostics, text } = run("a \u2212 b $ c\nd 'open rest\ne");
  assertEquals(found, ["E1006 1:3", "E1006 1:7", "E1006 2:3"]);
  assertEquals(diagnostics[0]?.fix?.replacement, "-");
  assertEquals(text, "a b c d e");
});

Deno.test("preprocess() lists the outside names that the text depends on", () => {
  const source =
    "#define LOCAL 1\n#ifdef DEBUG\n#endif\n#if LOCAL && FLAG\n#endif\n#if 0\nDEAD\n#endif\nTM NULL y";
  const { usedMacros } = run(source, { TM: "1", TN: "2", FLAG: "1" });
  assertEquals([...usedMacros].sort(), ["DEBUG", "FLAG", "LOCAL", "NULL", "TM", "y"]);
});

Deno.test("preprocess() gives the same for builds that agree on the names it lists", () => {
  const values = fc.dictionary(
    fc.constantFrom("A", "B", "F", "x", "half"),
    fc.constantFrom("1", "x", "A", "", "F"),
  );
  fc.assert(
    fc.property(programs, values, values, (text, some, others) => {
      const first = run(text, some);
      const value = (of: Record<string, string>, name: string): string | undefined => of[name];
      fc.pre([...first.usedMacros].every((name) => value(some, name) === value(others, name)));
      const second = run(text, others);
      assertEquals(second.text, first.text);
      assertEquals(second.found, first.found);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("expandText() reads a pragma's expression with the macros of the file's end", () => {
  const reporter = new Reporter();
  const item = parsePragmaLine("grid(cdiv(M, TM), N)", "<--grid>", reporter);
  assert(item?.kind === "grid");
  const { macros } = run("#define N (TM + 1)\n", { TM: "64" });
  const texts = item.extents.map((extent) => {
    const tokens = expandText(extent, macros, reporter);
    assertEquals(tokens.at(-1)?.kind, "end");
    return tokens.slice(0, -1).map(({ text }) => text).join(" ");
  });
  assertEquals(texts, ["cdiv ( M , 64 )", "( 64 + 1 )"]);
  assertEquals(reporter.errorCount, 0);
});

Deno.test("predefinedMacros() defines only names that programs may not define", () => {
  const version = { major: 1, minor: 2, patch: 3 };
  const macros = predefinedMacros({
    version,
    sm: 90,
    exact: true,
    numWarps: 4,
    numStages: 2,
    debug: true,
  });
  assertEquals(macros.__TRI__, "10203");
  assertEquals(macros.__TRI_ARCH__, "900");
  assertEquals(macros.__TRI_ARCH_SPECIFIC__, "900");
  assertEquals(architectureMacros({ sm: 90, exact: false }).__TRI_ARCH_SPECIFIC__, "0");
  assert(Object.keys(macros).every((name) => PREDEFINED_NAMES.has(name)));
});

Deno.test("preprocess() ends with an end token for every text and throws for none", () => {
  fc.assert(
    fc.property(fc.oneof(programs, fc.string({ unit: "binary" })), programs, (text, value) => {
      const { tokens } = run(text, { A: value, TYPE: "half" }, { "t.tc": text, s: value });
      assertEquals(tokens.filter(({ kind }) => kind === "end").length, 1);
      assertEquals(tokens.at(-1)?.kind, "end");
    }),
    { numRuns: 2000 },
  );
});

Deno.test("printTokens() writes text that gives the same tokens again", () => {
  fc.assert(
    fc.property(programs, (text) => {
      const { tokens } = run(text, { A: "- -x", B: "F(.)" });
      // A `#` that a macro left at the start of a line would be a directive the second time.
      fc.pre(!tokens.some((token) => token.text === "#" || token.text === "__LINE__"));
      const again = run(printTokens(tokens));
      const shape = (list: typeof tokens): string[] =>
        list.map(({ kind, text }) => `${kind} ${text}`);
      assertEquals(shape(again.tokens), shape(tokens));
    }),
    { numRuns: 2000 },
  );
});

Deno.test("preprocess() gives the same tokens for a file twice", () => {
  const file = { name: "t.tc", text: "#define A 1\nA\n" };
  const once = (): string[] => {
    const result = preprocess(file, { defines: [], predefined: {} }, new Reporter());
    return result.tokens.map(({ text }) => text);
  };
  assertEquals(once(), once());
});
