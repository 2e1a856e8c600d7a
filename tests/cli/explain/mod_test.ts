import { CODES } from "../../../compiler/support/codes.ts";
import { must } from "../../../compiler/support/bug.ts";
import { type Diagnostic, Reporter } from "../../../compiler/support/diagnostic.ts";
import { decodeSource } from "../../../compiler/preprocess/text.ts";
import { compileOptionsFor } from "../../../cli/project/compile_options.ts";
import { type Example, type Explanation, EXPLANATIONS } from "../../../cli/explain/mod.ts";
import { parseJsonc } from "../../../cli/project/jsonc.ts";
import { parseCommandLine } from "../../../cli/words/parse.ts";
import { readTriConfig, triMember } from "../../../cli/project/tri_config.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { sampled } from "../../support/sampled.ts";

const ENTRIES: readonly (readonly [string, Explanation])[] = Object.entries(EXPLANATIONS);

/** What is said of one of the two programs. */
function diagnose(text: string, example: Example): readonly Diagnostic[] {
  if (example.language === "json") {
    const reporter = new Reporter();
    const node = triMember(parseJsonc({ name: "deno.json", text }));
    readTriConfig(must(node, "the key tri"), () => true, reporter);
    return reporter.diagnostics;
  }
  const file = { name: "f.tc", text: `${text}\n` };
  const parsed = parseCommandLine(["check", ...(example.options?.split(" ") ?? [])]);
  assert(parsed.kind === "run");
  const options = compileOptionsFor(parsed.invocation, [], ["sm_80", "sm_90"]);
  const include = (name: string): { name: string; text: string } | "outside" | undefined => {
    const found = example.files?.[name];
    if (name.startsWith("../")) return "outside";
    return found === undefined ? undefined : { name, text: found };
  };
  return compileFile(file, { ...options, include }).diagnostics;
}

const listed = (diagnostics: readonly Diagnostic[]): string =>
  diagnostics.map(({ code, message }) => `${code} ${message}`).join("; ");

/** Codes in string literals below a folder of the repository. */
function codesIn(folder: URL): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return codesIn(new URL(`${name}/`, folder));
    if (!name.endsWith(".ts")) return [];
    const text = Deno.readTextFileSync(new URL(name, folder));
    return [...text.matchAll(/["'`]([EW]\d{4})\b/g)].map(([, code = ""]) => code);
  });
}

Deno.test("no source of tri names a code that is not explained, and each code is named", () => {
  const root = new URL("../../../", import.meta.url);
  const named = ["compiler/", "cli/", "codegen/", "ffi/", "bench/"]
    .flatMap((folder) => codesIn(new URL(folder, root)));
  assertEquals([...new Set(named)].sort(), ENTRIES.map(([code]) => code).sort());
});

Deno.test("EXPLANATIONS has a text for every code", () => {
  assertEquals(ENTRIES.map(([code]) => code).sort(), Object.keys(CODES).sort());
  for (const [code, { text }] of ENTRIES) assert(/^[A-Z"`].*[.)]$/s.test(text), code);
});

Deno.test("EXPLANATIONS show a program that gives the code, and one that gives no error and not the code", () => {
  const broken: string[] = [];
  for (const [code, { example }] of sampled(ENTRIES, ENTRIES.length / 6)) {
    if (example === undefined) continue;
    const wrong = diagnose(example.wrong, example);
    if (!wrong.some((one) => one.code === code)) broken.push(`${code} wrong: ${listed(wrong)}`);
    const right = diagnose(example.right, example)
      .filter((one) => one.code === code || one.severity === "error");
    if (right.length > 0) broken.push(`${code} right: ${listed(right)}`);
  }
  assertEquals(broken, []);
});

Deno.test("EXPLANATIONS lack a program only where no short text can show the mistake", () => {
  const without = ENTRIES.filter(([, { example }]) => example === undefined);
  assertEquals(without.map(([code]) => code), [
    "E1001",
    "E1033",
    "E1034",
    "E9031",
    "E9040",
    "E9041",
  ]);
  const reporter = new Reporter();
  decodeSource("f.tc", new Uint8Array([0xff]), reporter);
  assertEquals(reporter.diagnostics.map(({ code }) => code), ["E1001"]);
});
