/** What the preprocessor and the reader of literals report, whole messages. */
import { check } from "../../../compiler/check/check.ts";
import { parse } from "../../../compiler/parse/parser.ts";
import { preprocess } from "../../../compiler/preprocess/preprocess.ts";
import type { IncludeResolver } from "../../../compiler/options.ts";
import { CODES } from "../../../compiler/support/codes.ts";
import { Reporter } from "../../../compiler/support/diagnostic.ts";
import { assertEquals } from "../../support/assert.ts";
import { golden } from "../../support/golden.ts";
import { listDiagnostics } from "../../support/compiler/parse.ts";

const FOLDER = new URL("../../golden/preprocess/", import.meta.url);
const FILES = ["text", "directives", "macros", "literals"] as const;

const LOOP = { name: "loop.h", text: '#include "loop.h"\n' };
const include: IncludeResolver = (name) =>
  name.startsWith("/") ? "outside" : name === "loop.h" ? LOOP : undefined;

function messagesOf(file: string): string {
  const reporter = new Reporter();
  const text = Deno.readTextFileSync(new URL(`${file}.tc`, FOLDER));
  const { tokens, comments } = preprocess({ name: `${file}.tc`, text }, {
    defines: [{ name: "TM", value: "32" }, { name: "TYPE", value: "half" }],
    predefined: { __TRITON_C__: "1", NULL: "0" },
    include,
  }, reporter);
  const unit = parse(tokens, comments, reporter);
  if (file === "literals") check(unit, {}, reporter);
  return listDiagnostics(reporter.diagnostics);
}

for (const file of FILES) {
  Deno.test(`preprocess() reports what is wrong in ${file}.tc`, () => {
    golden(new URL(`${file}.err`, FOLDER), messagesOf(file));
  });
}

/**
 * Bytes that are not text are refused before; only a whole build knows where a -D is used; the limits take long, and files that
 * are not read come from the resolver (preprocess_test.ts).
 */
const ELSEWHERE = new Set(["E1001", "W1023", "E1025", "E1033", "E1034"]);

Deno.test("preprocess() shows each of its codes in a golden file", () => {
  const seen = new Set(
    FILES.flatMap((file) => [...messagesOf(file).matchAll(/: (?:error|warning) ([EW]\d{4}):/g)])
      .map(([, code]) => code ?? ""),
  );
  const wanted = [
    ...Object.keys(CODES).filter((code) => /^[EW]1/.test(code)),
    ...["E2010", "E2011", "E2012", "E2013", "E2014"],
  ];
  assertEquals(wanted.filter((code) => !seen.has(code) && !ELSEWHERE.has(code)), []);
});
