import {
  findCircles,
  findForbiddenCircles,
  findViolations,
  type ImportEdge,
  importsOf,
  type Layer,
  readAllowedCircles,
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
  ].map(([importer = "", imported = ""]) => ({ importer, imported, isOfTypes: false }));
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
  /\b(?:[gs]etFloat16|f16round)\(|\b(?:Map|Object)\.groupBy\b|\bPromise\.(?:withResolvers|try)\b|\bArray\.fromAsync\b|\bRegExp\.escape\b|\.(?:union|intersection|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom)\(/;

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
    return { importer, imported, isOfTypes: false };
  });
  assertEquals(findCircles(edges), [["a", "b", "c"], ["d", "e"]]);
  assertEquals(findCircles([...edges, { importer: "g", imported: "b", isOfTypes: false }]), [
    ["a", "b", "c", "d", "e", "f", "g"],
  ]);
});

Deno.test("importsOf() says which imports are of types alone", () => {
  const text = `
import type { A } from "./a.ts";
import { type B, type C } from "./b.ts";
import { type D, e } from "./d.ts";
export type { F } from "./f.ts";
export * from "./g.ts";
import {
  type H,
  type I,
} from "./h.ts";
const j = await import("./j.ts");
`;
  const ofTypes = importsOf("x/y.ts", text).filter(({ isOfTypes }) => isOfTypes);
  assertEquals(ofTypes.map(({ imported }) => imported), ["x/a.ts", "x/b.ts", "x/f.ts", "x/h.ts"]);
});

Deno.test("findForbiddenCircles() allows those whose modules one row lists, and of types where it says so", () => {
  const allowed = readAllowedCircles(
    "- `p`: `a.ts`, `b.ts`,\n  `c.ts`\n\n- `q`: `d.ts`\n- types of `r`: `e.ts`, `f.ts`\n",
  );
  const circle = (isOfTypes: boolean, ...names: readonly string[]): ImportEdge[] =>
    names.map((importer, i) => ({
      importer,
      imported: must(names[(i + 1) % names.length], "the next"),
      // A circle of types has one import of types at least.
      isOfTypes: isOfTypes && i === 0,
    }));
  const find = (edges: readonly ImportEdge[]): string[][] => findForbiddenCircles(edges, allowed);
  assertEquals(find(circle(false, "p/a.ts", "p/c.ts")), []);
  assertEquals(find(circle(true, "p/a.ts", "p/b.ts")), []);
  assertEquals(find(circle(true, "r/e.ts", "r/f.ts")), []);
  assertEquals(find(circle(false, "r/e.ts", "r/f.ts")), [["r/e.ts", "r/f.ts"]]);
  assertEquals(find(circle(true, "p/a.ts", "p/x.ts")), [["p/a.ts", "p/x.ts"]]);
  assertEquals(find(circle(true, "p/b.ts", "q/d.ts")), [["p/b.ts", "q/d.ts"]]);
});

Deno.test("modules import each other in circles only where ARCHITECTURE.md says so", () => {
  const text = Deno.readTextFileSync(`${ROOT}/ARCHITECTURE.md`);
  const edges = readEdges(ROOT, readLayers(text));
  const allowed = readAllowedCircles(text);
  assertEquals(findForbiddenCircles(edges, allowed), []);
  // A listed module that is in no circle any more leaves the list.
  const inCircles = new Set(findCircles(edges).flat());
  const listed = allowed.flatMap(({ modules }) => [...modules]);
  assertEquals(listed.filter((module) => !inCircles.has(module)), []);
});

/** A folder and those in it. */
function foldersIn(folder: string): string[] {
  return [
    folder,
    ...[...Deno.readDirSync(`${ROOT}/${folder}`)].filter(({ name, isDirectory }) =>
      isDirectory && name !== "node_modules"
    )
      .flatMap(({ name }) => foldersIn(`${folder}/${name}`)),
  ];
}

Deno.test("every folder of the table, of the compiler, the run time and the emulator says what comes in and what goes out", () => {
  const layers = readLayers(Deno.readTextFileSync(`${ROOT}/ARCHITECTURE.md`));
  const folders = [
    ...layers.map(({ folder }) => folder).filter((folder) => folder !== "editors"),
    ...["compiler", "emulator", "ffi"].flatMap(foldersIn),
  ];
  const silent = folders.filter((folder) => {
    const files = new Set([...Deno.readDirSync(`${ROOT}/${folder}`)].map(({ name }) => name));
    return !files.has("README.md") &&
      !(files.has("mod.ts") &&
        Deno.readTextFileSync(`${ROOT}/${folder}/mod.ts`).startsWith("/**"));
  });
  assertEquals(silent, []);
});

/** What one screen shows of a listing. */
const MOST_MODULES = 30;

Deno.test("no folder has more modules than a screen shows", () => {
  const tops = [
    "bench",
    "cli",
    "codegen",
    "compiler",
    "emulator",
    "ffi",
    "playground",
    "scripts",
    "tests",
  ];
  const large = tops.flatMap(foldersIn).filter((folder) =>
    [...Deno.readDirSync(`${ROOT}/${folder}`)].filter(({ name }) => name.endsWith(".ts")).length >
      MOST_MODULES
  );
  assertEquals(large, []);
});
