import fc from "../../support/property.ts";
import type { PragmaItem } from "../../../compiler/pragma/pragma.ts";
import { parsePragmaLine, readPragmas } from "../../../compiler/pragma/read_pragmas.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { located } from "../../support/compiler/preprocess.ts";

/** A value without its spans. */
function withoutSpans(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner) => key === "span" ? undefined : inner));
}

function parse(text: string): { item: PragmaItem | undefined; found: string[] } {
  const reporter = new Reporter();
  const item = parsePragmaLine(text, "t.tc", reporter);
  return { item, found: reporter.diagnostics.map(located) };
}

function read(text: string): { kinds: string[][]; found: string[]; ends: number[] } {
  const reporter = new Reporter();
  const groups = readPragmas({ name: "t.tc", text }, undefined, reporter);
  return {
    kinds: groups.map(({ items }) => items.map(({ kind }) => kind)),
    found: reporter.diagnostics.map(located),
    ends: groups.map(({ end }) => end),
  };
}

Deno.test("parsePragmaLine() reads every item of the grammar", () => {
  const flags = { contiguous: false, optional: false, noalias: false, reread: false };
  const cases: [string, unknown][] = [
    ["kernel a, b", { kind: "kernel", names: [{ name: "a" }, { name: "b" }] }],
    ["variant TYPE=half, T = f(1, 2)", {
      kind: "variant",
      bindings: [{ name: "TYPE", value: "half" }, { name: "T", value: "f(1, 2)" }],
    }],
    ['variant nt: A="newaxis, :", B=""', {
      kind: "variant",
      name: { name: "nt" },
      bindings: [{ name: "A", value: "newaxis, :" }, { name: "B", value: "" }],
    }],
    ["variants TYPE in {unsigned char, half}, T in { 1 }", {
      kind: "variants",
      axes: [{ name: "TYPE", values: ["unsigned char", "half"] }, { name: "T", values: ["1"] }],
    }],
    ["config", { kind: "config", bindings: [], options: [] }],
    ["config TM=64; num_warps=4, math(precise)", {
      kind: "config",
      bindings: [{ name: "TM", value: "64" }],
      options: [{ name: "num_warps", value: "4" }, { name: "math", value: "precise" }],
    }],
    ["config ; num_stages=2", {
      kind: "config",
      bindings: [],
      options: [{ name: "num_stages", value: "2" }],
    }],
    ["configs TM in {32, 64}; num_warps in {4, 8} if TM * 2 <= 64", {
      kind: "configs",
      axes: [{ name: "TM", values: ["32", "64"] }],
      optionAxes: [{ name: "num_warps", values: ["4", "8"] }],
      condition: { text: "TM * 2 <= 64" },
    }],
    ["configs TM in {32} if (TM > 1)", {
      kind: "configs",
      axes: [{ name: "TM", values: ["32"] }],
      optionAxes: [],
      condition: { text: "(TM > 1)" },
    }],
    ["key(M, N)", { kind: "key", names: [{ name: "M" }, { name: "N" }] }],
    ["key()", { kind: "key", names: [] }],
    ["grid(cdiv(M, TM), N)", { kind: "grid", extents: [{ text: "cdiv(M, TM)" }, { text: "N" }] }],
    ["tensor X : in TYPE[M, N] strides [ldx, 1] align(16) optional noalias reread", {
      kind: "tensor",
      tensors: [{
        param: { name: "X" },
        direction: "in",
        type: { text: "TYPE" },
        extents: [{ text: "M" }, { text: "N" }],
        strides: [{ text: "ldx" }, { text: "1" }],
        align: 16,
        contiguous: false,
        optional: true,
        noalias: true,
        reread: true,
      }],
    }],
    ["tensor Y:[N * (2 + a[0])], Z : unsigned char[N] noalias, W : out[M]", {
      kind: "tensor",
      tensors: [
        { param: { name: "Y" }, extents: [{ text: "N * (2 + a[0])" }], ...flags },
        {
          param: { name: "Z" },
          type: { text: "unsigned char" },
          extents: [{ text: "N" }],
          ...flags,
          noalias: true,
        },
        { param: { name: "W" }, direction: "out", extents: [{ text: "M" }], ...flags },
      ],
    }],
    ['require(K % KB == 0, "say \\"why\\"")', {
      kind: "require",
      condition: { text: "K % KB == 0" },
      message: 'say "why"',
    }],
    ["noalias(all)", { kind: "noalias", names: "all" }],
    ["noalias(all, X)", { kind: "noalias", names: [{ name: "all" }, { name: "X" }] }],
    ["specialize(auto)", { kind: "specialize", mode: [{ isAutomatic: true }], options: [] }],
    ["specialize(off)", { kind: "specialize", mode: "off", options: [] }],
    ["specialize(M % 4 == 0, auto, auto && M == 1)", {
      kind: "specialize",
      mode: [
        { isAutomatic: false, condition: { text: "M % 4 == 0" } },
        { isAutomatic: true },
        { isAutomatic: true, condition: { text: "M == 1" } },
      ],
      options: [],
    }],
    ["specialize(auto && N <= TN) for TN in {64, 128}; num_warps=TN / 32, max_registers=64", {
      kind: "specialize",
      mode: [{ isAutomatic: true, condition: { text: "N <= TN" } }],
      over: { name: "TN", values: ["64", "128"] },
      options: [
        { name: "num_warps", expression: { text: "TN / 32" } },
        { name: "max_registers", value: "64" },
      ],
    }],
    ["num_warps = max(2, TN / 64)", {
      kind: "option",
      setting: { name: "num_warps", expression: { text: "max(2, TN / 64)" } },
    }],
    ["num_warps = 8", { kind: "option", setting: { name: "num_warps", value: "8" } }],
    ["dot(tf32)", { kind: "option", setting: { name: "dot", value: "tf32" } }],
    ["ftz", { kind: "option", setting: { name: "ftz" } }],
  ];
  for (const [text, wanted] of cases) {
    const { item, found } = parse(text);
    assertEquals(found, [], text);
    assertEquals(withoutSpans(item), wanted, text);
  }
});

Deno.test("parsePragmaLine() warns of words without effect", () => {
  const cases: [string, string][] = [
    ["dot(tf32x3)", "W9017 1:5"],
    ["config TM=64; dot(bf16x3)", "W9017 1:19"],
    ["tensor X : in [M, N] strides [ldx, 1] contiguous", "W9017 1:39"],
  ];
  for (const [text, wanted] of cases) {
    const { item, found } = parse(text);
    assertEquals([item !== undefined, ...found], [true, wanted], text);
  }
  assertEquals(parse("tensor X : in [M, N] contiguous").found, []);
});

Deno.test("parsePragmaLine() reports what does not fit, at its location", () => {
  const cases: [string, string][] = [
    ["", "E5003 1:1"],
    ["gird(1)", "E9005 1:1"],
    ["3", "E5003 1:1"],
    ["loop unroll", "E9003 1:1"],
    ["kernel", "E5003 1:6"],
    ["kernel a b", "E5003 1:10"],
    ["variant TYPE", "E5003 1:12"],
    ["variant TYPE=", "E5003 1:13"],
    ["variants TYPE in {half,}", "E5003 1:24"],
    ["variants TYPE in half", "E5003 1:18"],
    ["variants TYPE {half}", "E5003 1:15"],
    ["config TM=64, num_warps=4", "E5003 1:15"],
    ["config TM=64; num_wraps=4", "E9005 1:15"],
    ["config TM=64 if 1", "E5003 1:14"],
    ["config TM=64; num_warps=4 if 1", "E5003 1:27"],
    ["configs TM in {1}; math in {fast}", "E9005 1:20"],
    ["configs TM in {1}; num_warps in {4, 3}", "E9014 1:37"],
    ["configs TM in {1} if", "E5003 1:20"],
    ["key(1)", "E5003 1:5"],
    ["grid()", "E5003 1:6"],
    ["grid(1, 2", "E5003 1:9"],
    ["grid(cdiv(M, 2)", "E5003 1:15"],
    ["grid((1]", "E5003 1:8"],
    ["grid(1,2,3,4)", "E5003 1:12"],
    ["grid(1) x", "E5003 1:9"],
    ["tensor X in [N]", "E5003 1:10"],
    ["tensor X : in", "E5003 1:13"],
    ["tensor X : in [N] strides", "E5003 1:25"],
    ["tensor X : in [N] align(3)", "E9014 1:25"],
    ["tensor X : in [N] aling(4)", "E9005 1:19"],
    ["tensor X : in [N],", "E5003 1:18"],
    ["tensor X : in [N], Y", "E5003 1:20"],
    ["require(, 1)", "E5003 1:9"],
    ["require(1, 2)", "E5003 1:12"],
    ["noalias", "E5003 1:7"],
    ["num_warps=3", "E9014 1:11"],
    ["num_warps=64", "E9014 1:11"],
    ["num_warps", "E9014 1:1"],
    ["num_warps(4)", "E5003 1:10"],
    ["num_stages=0", "E9014 1:12"],
    ["num_stages=9", "E9014 1:12"],
    ["max_registers=23", "E9014 1:15"],
    ["ftz(yes)", "E9014 1:5"],
    ["ftz=on", "E5003 1:4"],
    ["math", "E9014 1:1"],
    ["literals(doubel)", "E9014 1:10"],
  ];
  for (const [text, wanted] of cases) {
    const { item, found } = parse(text);
    assertEquals(found, [wanted], text);
    assertEquals(item, undefined, text);
  }
});

Deno.test("parsePragmaLine() suggests the nearest word", () => {
  const reporter = new Reporter();
  parsePragmaLine("gird(1)", "<--grid>", reporter);
  assertEquals(reporter.diagnostics[0]?.hint, "did you mean `grid`?");
  assertEquals(reporter.diagnostics[0]?.fix?.replacement, "grid");
});

Deno.test("readPragmas() gives each kernel definition the pragmas above it", () => {
  const text = `#pragma tri key(M)
typedef enum { A } e;
const int table = { 1 };
#pragma tri \\
  grid(M)
void first(int M) { if (M) { } 
#pragma tri loop unroll
}
// no pragmas
void second() {}
#pragma omp parallel
#pragma tri kernel first
void third();
`;
  const { kinds, found, ends } = read(text);
  assertEquals(found, []);
  assertEquals(kinds, [["key", "grid"], ["kernel"]]);
  assertEquals(text.slice(0, ends[0]).endsWith("grid(M)"), true);
});

Deno.test("readPragmas() rejects pragmas under a condition that macros decide, and inside functions", () => {
  assertEquals(read("#if TM == 3\n#pragma tri key(M)\n#else\n#pragma tri key(N)\n#endif").found, [
    "E9003 2:1",
    "E9003 4:1",
  ]);
  assertEquals(read("#ifndef X\n#if 1\n#pragma tri key(M)\n#endif\n#endif").found, ["E9003 3:1"]);
  assertEquals(read("void f() {\n#pragma tri key(M)\n}").found, ["E9003 2:1"]);
});

Deno.test("readPragmas() follows conditions that no macro decides", () => {
  const text = `#ifdef __TRITON_C__
#pragma tri key(A)
#else
#pragma tri nonsense
#endif
#if 0
#pragma tri nonsense
#elif defined(__TRITON_C__) && 1
#pragma tri key(A)
#elif X
#pragma tri nonsense
#else
#pragma tri nonsense
#endif
`;
  const { kinds, found } = read(text);
  assertEquals([kinds, found], [[["key", "key"]], []]);
});

Deno.test("readPragmas() puts the pragmas of a file in the place of what includes it", () => {
  const texts: Readonly<Record<string, string>> = {
    "tiles.h":
      "// Tiles.\n#pragma tri config T=1\n\n#pragma tri configs T in {2, 4}; num_warps in {8}\n",
    "other.h": '#define T 3\n#pragma tri config T=2 +\nint x;\n#pragma tri include "tiles.h"\n',
  };
  const read = (text: string) => {
    const reporter = new Reporter();
    const include = (name: string) => {
      const found = texts[name];
      return found === undefined ? undefined : { name, text: found };
    };
    const groups = readPragmas({ name: "t.tc", text }, include, reporter);
    return {
      kinds: groups.map(({ items }) => items.map(({ kind }) => kind)),
      files: groups.map(({ items }) => items.map(({ span }) => span.file.name)),
      ends: groups.map(({ end }) => text.slice(0, end).split("\n").length),
      found: reporter.diagnostics.map((one) => located(one)),
    };
  };
  assertEquals(
    read(
      '#pragma tri key(M)\n#pragma tri include "tiles.h"\nvoid f() {}\n#pragma tri grid(1)\n#pragma tri include "tiles.h"\nvoid g() {}',
    ),
    {
      kinds: [["key", "config", "configs"], ["grid", "config", "configs"]],
      files: [["t.tc", "tiles.h", "tiles.h"], ["t.tc", "tiles.h", "tiles.h"]],
      ends: [2, 5],
      found: [],
    },
  );
  assertEquals(read('#pragma tri include "none.h"\nvoid f() {}').found, ["E1030 1:13"]);
  assertEquals(read('#pragma tri include "other.h"\nvoid f() {}').found, [
    "E9003 other.h:1:1",
    "E9003 other.h:3:1",
    "E9003 other.h:4:13",
  ]);
  assertEquals(parse('include "tiles.h"').found, ["E9003 1:1"]);
  assertEquals(read("#pragma tri include tiles.h").found, ["E5003 1:21"]);
});

Deno.test("readPragmas() counts the braces of one branch only", () => {
  const text =
    "#ifdef A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\n#pragma tri key(M)\n#if 0\n{\n#endif\n#pragma tri grid(1)\n";
  const { kinds, found } = read(text);
  assertEquals([kinds, found], [[["key", "grid"]], []]);
});

Deno.test("readPragmas() continues after a malformed pragma and throws for no text", () => {
  assertEquals(read("#pragma tri grid(\n#pragma tri key(M)\n").kinds, [["key"]]);
  const piece = fc.constantFrom(
    ...[
      "#pragma tri ",
      "\n",
      "#if ",
      "#else",
      "#endif",
      "grid",
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      ",",
      ";",
      ":",
      "=",
    ],
    ...[
      "tensor X : in T[",
      "variants T in {",
      "config ",
      "if ",
      "1",
      "x",
      '"s"',
      "'",
      "num_warps",
      "math",
      "\\\n",
      "in ",
    ],
  );
  fc.assert(fc.property(fc.array(piece), (parts) => {
    const { kinds } = read(parts.join(""));
    assert(kinds.every((group) => group.length > 0));
  }));
});
