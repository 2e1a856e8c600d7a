import {
  findViolations,
  importsOf,
  type Layer,
  readEdges,
  readLayers,
} from "../scripts/check_layers.ts";
import { must } from "../compiler/support/bug.ts";
import { assert, assertEquals } from "./support/assert.ts";

const ROOT = must(import.meta.dirname, "the folder of this test") + "/..";

const TABLE = `
| folder | does | may import |
|---|---|---|
| \`compiler/support\` | shared | nothing |
| \`compiler/parse\` | parses | support |
| \`codegen\` | wrappers | compiler |
| \`ffi\` | run time | \`compiler/ptx\` only (for the emulator) |
| \`cli\` | command | all |
`;

Deno.test("readLayers() reads the table of ARCHITECTURE.md", () => {
  const layers = readLayers(TABLE);
  const row = (folder: string): Layer =>
    must(layers.find((layer) => layer.folder === folder), folder);
  assertEquals(layers.length, 5);
  assertEquals(row("compiler/support").mayImport, []);
  assert(row("compiler/parse").mayImport.includes("compiler/support"));
  assertEquals(row("ffi").mayImport, ["compiler/ptx"]);
  assertEquals(row("cli").mayImport, ["*"]);
});

Deno.test("findViolations() finds imports against the table, and only those", () => {
  const edges = [
    ["compiler/parse/lex.ts", "compiler/support/source.ts"],
    ["compiler/parse/lex.ts", "compiler/parse/token.ts"],
    ["compiler/parse/lex.ts", "codegen/mod.ts"],
    ["compiler/support/source.ts", "compiler/parse/lex.ts"],
    ["codegen/mod.ts", "compiler/parse/lex.ts"],
    ["ffi/mod.ts", "compiler/ptx/parse.ts"],
    ["ffi/mod.ts", "compiler/support/bug.ts"],
    ["cli/main.ts", "ffi/mod.ts"],
  ].map(([importer = "", imported = ""]) => ({ importer, imported }));
  assertEquals(findViolations(readLayers(TABLE), edges).map(({ importer }) => importer), [
    "compiler/parse/lex.ts",
    "compiler/support/source.ts",
    "ffi/mod.ts",
  ]);
});

Deno.test("importsOf() sees static, type, re-exporting and dynamic imports", () => {
  const text = `
import { a } from "./a.ts";
import type { B } from "../b.ts";
export * from "./c.ts";
import "./d.ts";
const e = await import("./e.ts");
import data from "../../deno.json" with { type: "json" };
import { std } from "@std/assert";
`;
  assertEquals(importsOf("x/y/z.ts", text).map(({ imported }) => imported), [
    "x/y/a.ts",
    "x/b.ts",
    "x/y/c.ts",
    "x/y/d.ts",
    "x/y/e.ts",
    "deno.json",
  ]);
});

Deno.test("modules import only what ARCHITECTURE.md allows", () => {
  const layers = readLayers(Deno.readTextFileSync(`${ROOT}/ARCHITECTURE.md`));
  assert(layers.length > 8, "the table was found");
  const violations = findViolations(layers, readEdges(ROOT, layers));
  assertEquals(violations.map(({ importer, imported }) => `${importer} imports ${imported}`), []);
});
