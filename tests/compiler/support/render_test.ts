import fc from "../../support/property.ts";
import type { Diagnostic } from "../../../compiler/support/diagnostic.ts";
import { diagnosticToJson, renderDiagnostic } from "../../../compiler/support/render.ts";
import type { Span } from "../../../compiler/support/source.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";

/** The span of the first occurrence of a part. */
function spanOf(text: string, part: string, name = "t.tc"): Span {
  const start = text.indexOf(part);
  return { file: { name, text }, start, end: start + part.length };
}

function error(span: Span, more: Partial<Diagnostic> = {}): Diagnostic {
  return { code: "E2001", severity: "error", message: "unknown `TN`", span, notes: [], ...more };
}

function render(diagnostic: Diagnostic): string[] {
  return renderDiagnostic(diagnostic, { color: false }).split("\n");
}

Deno.test("renderDiagnostic() shows code, location, line and underline", () => {
  const text = "int a;\nint rn[TN] = 0 ... TN;\n";
  assertEquals(render(error(spanOf(text, "TN"))), [
    "error[E2001]: unknown `TN`",
    " --> t.tc:2:8",
    "  |",
    "2 | int rn[TN] = 0 ... TN;",
    "  |        ^^",
    "",
  ]);
});

Deno.test("renderDiagnostic() adds hint, fix, notes and the chain of macros", () => {
  const text = "#define A TM\nint x[A];";
  const use = spanOf(text, "A]");
  const value: Span = {
    ...spanOf("64+", "+", "<-D TM>"),
    expansion: {
      macro: "TM",
      use: { ...spanOf(text, "TM"), expansion: { macro: "A", use: { ...use, end: use.end - 1 } } },
    },
  };
  const diagnostic = error(value, {
    hint: "look",
    fix: { span: value, replacement: "-" },
    notes: [{ message: "one" }, { message: "two", span: spanOf(text, "int") }],
  });
  assertEquals(render(diagnostic), [
    "error[E2001]: unknown `TN`",
    " --> <-D TM>:1:3",
    "  |",
    "1 | 64+",
    "  |   ^",
    "  = help: look",
    "  = help: replace `+` with `-`",
    "note: in expansion of macro `TM`",
    " --> t.tc:1:11",
    "  |",
    "1 | #define A TM",
    "  |           ^^",
    "note: in expansion of macro `A`",
    " --> t.tc:2:7",
    "  |",
    "2 | int x[A];",
    "  |       ^",
    "  = note: one",
    "note: two",
    " --> t.tc:2:1",
    "  |",
    "2 | int x[A];",
    "  | ^^^",
    "",
  ]);
});

Deno.test("renderDiagnostic() names a fix as insertion, removal or replacement, unless the hint says it", () => {
  const span = spanOf("a  b", "  ");
  const fixed = (replacement: string, at: Span, hint?: string): string[] =>
    render(error(span, { fix: { span: at, replacement }, ...(hint === undefined ? {} : { hint }) }))
      .filter((line) => line.includes("help"));
  assertEquals(fixed(";", { ...span, end: span.start }), ["  = help: insert `;`"]);
  assertEquals(fixed("", span), ["  = help: remove `  `"]);
  assertEquals(fixed("grid", span, "did you mean `grid`?"), ["  = help: did you mean `grid`?"]);
});

Deno.test("renderDiagnostic() puts the underline right below tabs and wide characters", () => {
  const text = "\tx\t= /* 漢字 e\u0301 */ y;";
  const [, , , line = "", underline = ""] = render(error(spanOf(text, "y")));
  assertEquals(line, "1 |     x   = /* 漢字 e\u0301 */ y;");
  // Two characters of two columns before it, and one of none.
  assertEquals(underline.indexOf("^"), line.indexOf("y") + 2 - 1);
});

Deno.test("renderDiagnostic() shows a span of several lines by its first and cuts long lines", () => {
  const text = "f(a,\n  b)";
  assertEquals(render(error(spanOf(text, text))).slice(3, 5), ["1 | f(a,", "  | ^^^^"]);
  const long = `${"x ".repeat(200)}TN${" y".repeat(200)}`;
  const [, , , line = "", underline = ""] = render(error(spanOf(long, "TN")));
  assert(line.length < 110);
  assertEquals(line.slice(underline.indexOf("^"), underline.indexOf("^") + 2), "TN");
  assert(render(error(spanOf(long, long))).every((shown) => shown.length < 110));
});

Deno.test("renderDiagnostic() shows long names and long texts by their ends", () => {
  const name = `n${"a".repeat(10_000)}z`;
  const shown = render(error(spanOf("x", "x"), { message: `unknown \`${name}\``, hint: name }));
  assert(shown.every((line) => line.length < 200), `${shown.map((line) => line.length)}`);
  assertEquals(shown[0], `error[E2001]: unknown \`n${"a".repeat(78)}…${"a".repeat(38)}z\``);
  const text = "word ".repeat(1000);
  const [title = ""] = render(error(spanOf("x", "x"), { message: text }));
  assert(title.length < 2100 && title.endsWith("…"), title);
});

Deno.test("renderDiagnostic() lets no text reach the terminal's controls", () => {
  const text = "a \x1b[31m \u202e b";
  const shown = renderDiagnostic(error(spanOf(text, "b"), { message: "x\x07\n" }), {
    color: false,
  });
  assert(!/[\p{Cc}\p{Cf}]/u.test(shown.replaceAll("\n", "")));
  assertEquals(shown.split("\n").length, 6);
});

Deno.test("renderDiagnostic() colours the same text", () => {
  const diagnostic = error(spanOf("x TN", "TN"), { hint: "h", notes: [{ message: "n" }] });
  const coloured = renderDiagnostic(diagnostic, { color: true });
  assertStringIncludes(coloured, "\x1b[1;31merror[E2001]\x1b[0m");
  assertEquals(
    coloured.replace(/\p{Cc}\[[0-9;]*m/gu, ""),
    renderDiagnostic(diagnostic, { color: false }),
  );
});

Deno.test("renderDiagnostic() shortens long chains of macros", () => {
  let span = spanOf("x", "x");
  for (let i = 0; i < 50; i++) {
    span = { ...spanOf("x", "x"), expansion: { macro: `M${i}`, use: span } };
  }
  const notes = render(error(span)).filter((line) => line.includes("note"));
  assertEquals(notes.length, 7);
  assertEquals(notes[3], "  = note: 44 more macros in between");
});

Deno.test("renderDiagnostic() copes with every span", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(40), fc.nat(40), (text, start, length) => {
      const span = { file: { name: "t.tc", text }, start, end: start + length };
      const lines = render(error(span));
      assertEquals(lines.length, 6);
      assertStringIncludes(lines[4] ?? "", "^");
    }),
  );
});

Deno.test("diagnosticToJson() has locations as lines and columns", () => {
  const text = "#define A x\nint A;";
  const span: Span = { ...spanOf(text, "x"), expansion: { macro: "A", use: spanOf(text, "A;") } };
  const json = diagnosticToJson(error(span, {
    hint: "h",
    notes: [{ message: "n" }, { message: "m", span: spanOf(text, "int") }],
    fix: { span: spanOf(text, "int"), replacement: "float" },
  }));
  assertEquals(json, {
    code: "E2001",
    severity: "error",
    message: "unknown `TN`",
    file: "t.tc",
    line: 1,
    column: 11,
    endLine: 1,
    endColumn: 12,
    expansions: [{ macro: "A", file: "t.tc", line: 2, column: 5, endLine: 2, endColumn: 7 }],
    notes: [{ message: "n" }, {
      message: "m",
      file: "t.tc",
      line: 2,
      column: 1,
      endLine: 2,
      endColumn: 4,
    }],
    hint: "h",
    fix: { file: "t.tc", line: 2, column: 1, endLine: 2, endColumn: 4, replacement: "float" },
  });
});
