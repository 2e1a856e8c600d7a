import {
  findCircles,
  findForbiddenCircles,
  findViolations,
  importsOf,
  type Layer,
  readDescents,
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

Deno.test("the command names Deno's global in one module: it runs on Node and Bun too", () => {
  const modules = ["cli", "codegen", "bench"].flatMap((folder) => modulesIn(`${ROOT}/${folder}`))
    // These are the texts of new projects.
    .filter((path) => !path.includes("/cli/new/"));
  assert(modules.length > 100, "the modules were found");
  const naming = modules.filter((path) =>
    /^(?!\s*(?:\/\/|\/?\*)).*\bDeno(?:\?|\.[a-z])/m.test(Deno.readTextFileSync(path))
  );
  assertEquals(naming.map((path) => path.slice(ROOT.length)), ["/cli/host/deno.ts"]);
});

/** Node 20 has none of these; `compiler/support/group_by.ts` is the first two. */
const NEWER_THAN_NODE_20 =
  /\b(?:Map|Object)\.groupBy\b|\bPromise\.(?:withResolvers|try)\b|\bArray\.fromAsync\b|\bRegExp\.escape\b|\.(?:union|intersection|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom)\(/;

Deno.test("the command and the run time call nothing that Node 20 lacks", () => {
  const folders = ["bench", "cli", "codegen", "compiler", "emulator", "ffi"];
  const found = folders.flatMap((folder) => modulesIn(`${ROOT}/${folder}`)).filter((path) =>
    Deno.readTextFileSync(path).split("\n").some((line) =>
      !/^\s*(?:\/\/|\/?\*)/.test(line) && NEWER_THAN_NODE_20.test(line)
    )
  );
  assertEquals(found.map((path) => path.slice(ROOT.length)), []);
});

function modulesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? modulesIn(`${folder}/${name}`) : name.endsWith(".ts") ? [`${folder}/${name}`] : []
  );
}

Deno.test("findCircles() finds modules that import each other, over any number of others", () => {
  const edges = ["a b", "b c", "c a", "c d", "d e", "e d", "e f", "f g", "x a"].map((pair) => {
    const [importer = "", imported = ""] = pair.split(" ");
    return { importer, imported };
  });
  assertEquals(findCircles(edges), [["a", "b", "c"], ["d", "e"]]);
  assertEquals(findCircles([...edges, { importer: "g", imported: "b" }]), [
    ["a", "b", "c", "d", "e", "f", "g"],
  ]);
});

Deno.test("findForbiddenCircles() allows those whose modules one descent lists", () => {
  const descents = readDescents(
    "- `compiler/parse`: `a.ts`, `b.ts`,\n  `c.ts`\n\n- `compiler/check`: `d.ts`\n",
  );
  const circle = (folder: string, ...names: readonly string[]): string[] =>
    names.map((name) => `${folder}/${name}.ts`);
  const allowed = circle("compiler/parse", "a", "c");
  const forbidden = [
    circle("compiler/parse", "a", "x"),
    [...circle("compiler/check", "d"), ...circle("compiler/parse", "b")],
  ];
  assertEquals(findForbiddenCircles([allowed, ...forbidden], descents), forbidden);
});

Deno.test("modules import each other in circles only where ARCHITECTURE.md says so", () => {
  const text = Deno.readTextFileSync(`${ROOT}/ARCHITECTURE.md`);
  const circles = findCircles(readEdges(ROOT, readLayers(text)));
  const descents = readDescents(text);
  assertEquals(findForbiddenCircles(circles, descents), []);
  // A listed module that is in no circle any more leaves the list.
  const inCircles = new Set(circles.flat());
  const listed = descents.flatMap((descent) => [...descent]);
  assertEquals(listed.filter((module) => !inCircles.has(module)), []);
});

Deno.test("every folder of the table and of the emulator says what comes in and what goes out", () => {
  const layers = readLayers(Deno.readTextFileSync(`${ROOT}/ARCHITECTURE.md`));
  const folders = [
    ...layers.map(({ folder }) => folder).filter((folder) => folder !== "editors"),
    ...[...Deno.readDirSync(`${ROOT}/emulator`)].filter(({ isDirectory }) => isDirectory)
      .map(({ name }) => `emulator/${name}`),
  ];
  const silent = folders.filter((folder) => {
    const files = new Set([...Deno.readDirSync(`${ROOT}/${folder}`)].map(({ name }) => name));
    return !files.has("README.md") &&
      !(files.has("mod.ts") &&
        Deno.readTextFileSync(`${ROOT}/${folder}/mod.ts`).startsWith("/**"));
  });
  assertEquals(silent, []);
});
