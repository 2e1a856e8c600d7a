import fc from "../../support/property.ts";
import { lex, type LexedFile } from "../../../compiler/preprocess/lexer.ts";
import { keywordGroup, KEYWORDS } from "../../../compiler/preprocess/keywords.ts";
import { decodeSource } from "../../../compiler/preprocess/text.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { assert, assertEquals } from "../../support/assert.ts";

function lexText(text: string): LexedFile & { codes: string[] } {
  const reporter = new Reporter();
  const lexed = lex({ name: "t.tc", text }, reporter);
  return { ...lexed, codes: reporter.diagnostics.map(({ code }) => code) };
}

/** `kind:text` of each token but the end. */
function tokens(text: string): string {
  return lexText(text).tokens.slice(0, -1).map((token) => token.text).join(" ");
}

Deno.test("lex() stops a number before two dots and takes signs only after its base's exponent letter", () => {
  const cases: Record<string, string> = {
    "0...16": "0 ... 16",
    "1....5": "1 ... .5",
    "1.": "1.",
    ".5+1": ".5 + 1",
    "0xE+1": "0xE + 1",
    "0x1e-3": "0x1e - 3",
    "0x1p-3": "0x1p-3",
    "1e+5f": "1e+5f",
    "1p+5": "1p + 5",
    "08u_x.y": "08u_x.y",
    "a.5": "a .5",
  };
  for (const [text, wanted] of Object.entries(cases)) assertEquals(tokens(text), wanted);
});

Deno.test("lex() takes the longest punctuator, and has no digraphs", () => {
  const cases: Record<string, string> = {
    "a<<=b>>=c": "a <<= b >>= c",
    "*?(m)p": "* ? ( m ) p",
    "a^=b^c": "a ^= b ^ c",
    "....": "... .",
    "<:%:": "< : % :",
    "a---b": "a -- - b",
    "x->y": "x -> y",
    "##%%": "## % %",
  };
  for (const [text, wanted] of Object.entries(cases)) assertEquals(tokens(text), wanted);
});

Deno.test("lex() gives each token the span of its own characters", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme-ascii" }), (text) => {
    for (const { span, text: spelling } of lexText(text).tokens) {
      const written = text.slice(span.start, span.end).replace(/\\[ \t\v\f]*(?:\r\n|\r|\n)/g, "");
      assertEquals(written, spelling);
    }
  }));
});

Deno.test("lex() joins continued lines and keeps spans in the text as written", () => {
  const text = "in\\\nt x\\ \r\n= 1;";
  const { tokens, codes } = lexText(text);
  assertEquals(tokens.map((token) => token.text), ["int", "x", "=", "1", ";", ""]);
  assertEquals(tokens.map(({ lineStart }) => lineStart), [true, false, false, false, false, true]);
  assertEquals(text.slice(tokens[0]?.span.start, tokens[0]?.span.end), "in\\\nt");
  assertEquals(text.slice(tokens[1]?.span.start, tokens[1]?.span.end), "x");
  assertEquals(text.slice(tokens[2]?.span.start, tokens[2]?.span.end), "=");
  assertEquals(codes, ["W1003"]);
});

Deno.test("lex() treats LF, CR LF and CR alike and ignores a byte order mark", () => {
  for (const newline of ["\n", "\r\n", "\r"]) {
    const { tokens } = lexText(`\ufeff#x${newline} y // z${newline}w`);
    assertEquals(tokens.map((token) => [token.text, token.lineStart]), [
      ["#", true],
      ["x", false],
      ["y", true],
      ["w", true],
      ["", true],
    ]);
  }
});

Deno.test("lex() reports comments without end, NUL, lost surrogates and continued line comments", () => {
  assertEquals(lexText("a /* b").codes, ["E1004"]);
  assertEquals(lexText("a\0b").codes, ["E1002"]);
  assertEquals(lexText("a \ud800").codes, ["E1001"]);
  assertEquals(lexText("// a \\\n b\n c").codes, ["W1005"]);
  assertEquals(lexText("// a \\ \n b\n c").codes, ["W1003", "W1005"]);
  assertEquals(lexText("// a \\\n b\n c").tokens.length, 2);
  assertEquals(lexText("a /* x \n /* y */ b").codes, []);
});

Deno.test("lex() reports the same again for a file it has seen", () => {
  const file = { name: "t.tc", text: "/* open" };
  for (let i = 0; i < 2; i++) {
    const reporter = new Reporter();
    lex(file, reporter);
    assertEquals(reporter.errorCount, 1);
  }
});

Deno.test("lex() leaves stray characters and lone quotes to the parser", () => {
  const { tokens, codes } = lexText("don't $ `é– \"x\ny'z'");
  assertEquals(codes, []);
  const strays = tokens.filter(({ kind }) => kind === "other").map((token) => token.text);
  assertEquals(strays, ["'", "$", "`", "é–", '"']);
  assertEquals(tokens.at(-2)?.kind, "char");
});

Deno.test("lex() ends with one end token for every text", () => {
  const piece = fc.constantFrom(
    ..."\"'\\\n\r\t /*#.0xEep+-é\ufeff\0<>=&|ab",
    "/*",
    "*/",
    "//",
    "\\\n",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(piece).map((parts) => parts.join("")),
  );
  fc.assert(fc.property(text, (text) => {
    const { tokens } = lexText(text);
    assertEquals(tokens.filter(({ kind }) => kind === "end").length, 1);
    assertEquals(tokens.at(-1)?.kind, "end");
  }));
});

Deno.test("decodeSource() drops a byte order mark and finds the first byte that is not UTF-8", () => {
  const reporter = new Reporter();
  const file = decodeSource("t.tc", new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0x62]), reporter);
  assertEquals([file.text, reporter.errorCount], ["ab", 0]);
  decodeSource("t.tc", new Uint8Array([0xc3, 0xa9, 0x61, 0xff, 0x62]), reporter);
  assertEquals(reporter.diagnostics.map(({ code, span }) => [code, span.start]), [["E1001", 2]]);
});

Deno.test("decodeSource() agrees with the strict decoder of the platform", () => {
  const strict = new TextDecoder("utf-8", { fatal: true });
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 12 }),
    fc.string({ unit: "binary" }).map((text) => new TextEncoder().encode(text)),
    fc.array(
      fc.constantFrom(0xe0, 0xed, 0xf0, 0xf4, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2),
    )
      .map((list) => Uint8Array.from(list)),
  );
  fc.assert(fc.property(bytes, (bytes) => {
    const reporter = new Reporter();
    decodeSource("t.tc", bytes, reporter);
    let valid = true;
    try {
      strict.decode(bytes);
    } catch {
      valid = false;
    }
    assertEquals(reporter.errorCount === 0, valid);
  }));
});

Deno.test("keywordGroup() covers every keyword and nothing else", () => {
  assertEquals(keywordGroup("half"), "type");
  assertEquals(keywordGroup("goto"), "rejected");
  for (const word of ["dot", "min", "Half", "constructor", "__proto__", "_Pragma", "float16"]) {
    assertEquals(keywordGroup(word), undefined);
  }
  const all = Object.values(KEYWORDS).flat();
  assertEquals(new Set(all).size, all.length);
  assert(all.every((word) => keywordGroup(word) !== undefined));
});
