/**
 * No dead exports: each exported value is imported somewhere, each exported type is imported or used in its own file, and
 * product code that only tests import has a reason here.
 */
import * as path from "node:path";
import { assertEquals } from "./support/assert.ts";

const ROOT = path.join(import.meta.dirname ?? ".", "..");

const FOLDERS = [
  "bench",
  "cli",
  "codegen",
  "compiler",
  "emulator",
  "ffi",
  "kernels",
  "playground",
  "scripts",
  "testing",
  "tests",
];

/** Programs outside of these folders, and modules that runtimes, workers or bundlers load by name. */
const ENTRY_POINTS: readonly string[] = [
  "tests/npm/project/main.ts",
  ...Object.values(exportsOfPackage()).map((file) => file.replace("./", "")),
  "ffi/runtime/deno.ts",
  "ffi/runtime/browser.ts",
  "playground/session/protocol.ts",
];

/** Exports of the product that only tests import, and that their own file does not use. */
const FOR_TESTS: Readonly<Record<string, string>> = {
  "compiler/parse/parser.ts parseTypeName":
    "the grammar of types alone; programs reach it through declarations",
  "compiler/ptx/verify.ts verifyPtx": "the verifier of printed PTX runs in tests",
  "compiler/parse/foreign_words.ts FOREIGN_NAMES": "the rows of two private tables",
  "emulator/lanes/mod.ts LANE_OPCODES": "the rows of private tables",
  "emulator/wasm/opcodes.ts opNames": "the rows of a private table",
};

interface Module {
  readonly file: string;
  readonly text: string;
}

function exportsOfPackage(): Record<string, string> {
  return JSON.parse(Deno.readTextFileSync(path.join(ROOT, "deno.json"))).exports;
}

function modulesIn(folder: string): Module[] {
  return [...Deno.readDirSync(path.join(ROOT, folder))].flatMap(({ name, isDirectory }) => {
    const file = `${folder}/${name}`;
    if (isDirectory) return file === "tests/golden" ? [] : modulesIn(file);
    if (!name.endsWith(".ts") || name.endsWith(".d.ts")) return [];
    return [{ file, text: Deno.readTextFileSync(path.join(ROOT, file)) }];
  });
}

const IMPORT =
  /\b(?:import|export)\s+(?:type\s+)?(\*|\{[^}]*\}|\w+)[^;"]*?\sfrom\s+"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"/g;

/** The names that a module imports, by the file that has them; `*` for all. */
function importsOf({ file, text }: Module): { readonly from: string; readonly names: string[] }[] {
  return [...text.matchAll(IMPORT)].map(([, clause = "*", specifier, dynamic]) => ({
    from: path.posix.join(path.posix.dirname(file), specifier ?? dynamic ?? ""),
    names: clause.startsWith("{")
      ? clause.slice(1, -1).split(",").map((word) =>
        word.trim().replace(/^type\s+/, "").replace(/\s+as\s.*/s, "")
      )
      : ["*"],
  }));
}

const EXPORT =
  /^export\s+(?:declare\s+|abstract\s+|async\s+)*(function|class|const|let|interface|type)\*?\s+(\w+)/gm;

Deno.test("every export is imported somewhere", () => {
  const modules = FOLDERS.flatMap(modulesIn);
  const byProduct = new Set<string>();
  const byTests = new Set<string>();
  for (const module of modules) {
    const users = module.file.startsWith("tests/") ? byTests : byProduct;
    for (const { from, names } of importsOf(module)) {
      for (const name of names) users.add(`${from} ${name}`);
    }
  }
  const dead: string[] = [];
  for (const { file, text } of modules) {
    if (ENTRY_POINTS.includes(file)) continue;
    const isImported = (users: ReadonlySet<string>, key: string): boolean =>
      users.has(key) || users.has(`${file} *`);
    for (const [, kind = "", name = ""] of text.matchAll(EXPORT)) {
      const key = `${file} ${name}`;
      if (isImported(byProduct, key)) continue;
      const isUsedHere = text.split(new RegExp(`\\b${name}\\b`), 3).length > 2;
      const isType = kind === "interface" || kind === "type";
      const isTested = isImported(byTests, key);
      const isFine = isType
        ? isTested || isUsedHere
        : file.startsWith("tests/") || file.startsWith("scripts/")
        ? isTested
        : isTested && (isUsedHere || key in FOR_TESTS);
      if (!isFine) dead.push(key);
    }
  }
  assertEquals(dead, []);
});
