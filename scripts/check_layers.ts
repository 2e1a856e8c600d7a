/**
 * Dependencies point one way: compares every import in the repository with the table in ARCHITECTURE.md,
 * and says which imports the table does not allow.
 */
import * as path from "node:path";

/** A row of the table: a folder and what its modules may import besides themselves. */
export interface Layer {
  readonly folder: string;
  /** Folders; "*" stands for everything. */
  readonly mayImport: readonly string[];
}

/** An import that goes against the table. Paths from the root of the repository. */
export interface Violation {
  readonly importer: string;
  readonly imported: string;
}

/** An import statement: who imports what. */
export interface ImportEdge {
  readonly importer: string;
  readonly imported: string;
}

/** What every stage of the compiler that imports anything may import: the shared vocabulary. */
const COMMON = ["compiler/support", "compiler/options.ts", "compiler/targets.ts"];

const ROW = /^\| `([^`]+)`\s*\|[^|]*\|\s*([^|]+?)\s*\|$/;

/**
 * Reads the table. A word without a slash is a sibling under `compiler/` if there is a row for it, else a
 * folder of the root; text in parentheses is a remark.
 */
export function readLayers(markdown: string): Layer[] {
  const rows = markdown.split("\n").flatMap((line) => {
    const found = ROW.exec(line.trim());
    return found === null ? [] : [{ folder: found[1] ?? "", words: found[2] ?? "" }];
  });
  const folders = new Set(rows.map(({ folder }) => folder));
  const resolve = (word: string): string =>
    folders.has(`compiler/${word}`) ? `compiler/${word}` : word;
  return rows.map(({ folder, words }) => ({ folder, mayImport: readWords(words).map(resolve) }))
    .map(({ folder, mayImport }) => ({
      folder,
      mayImport: mayImport.length > 0 && folder.startsWith("compiler/")
        ? [...mayImport, ...COMMON]
        : mayImport,
    }));
}

function readWords(text: string): string[] {
  const words = text.replace(/\([^)]*\)/g, "").replaceAll("`", "").replace(/\bonly\b/, "").trim();
  if (words === "nothing") return [];
  if (words === "all") return ["*"];
  return words.split(",").map((word) => word.trim().replace(/\/$/, ""));
}

/** Imports that the layers do not allow. Modules outside every layer may import anything. */
export function findViolations(
  layers: readonly Layer[],
  edges: readonly ImportEdge[],
): Violation[] {
  return edges.filter(({ importer, imported }) => {
    const from = layerOf(layers, importer);
    if (from === undefined) return false;
    const allowed = [from.folder, ...from.mayImport];
    return !allowed.some((folder) => folder === "*" || isUnder(folder, imported));
  });
}

/** The row with the longest folder that holds the module. */
function layerOf(layers: readonly Layer[], module: string): Layer | undefined {
  return layers.filter(({ folder }) => isUnder(folder, module))
    .sort((a, b) => b.folder.length - a.folder.length)[0];
}

function isUnder(folder: string, module: string): boolean {
  return module === folder || module.startsWith(`${folder}/`);
}

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g;

/** The relative imports of a module's text, static, dynamic and of types. */
export function importsOf(module: string, text: string): ImportEdge[] {
  return [...text.matchAll(IMPORT)].map(({ 1: specifier = "" }) => ({
    importer: module,
    imported: path.posix.join(path.posix.dirname(module), specifier),
  }));
}

/** Every import of the layers' modules. */
export function readEdges(root: string, layers: readonly Layer[]): ImportEdge[] {
  const tops = new Set(layers.map(({ folder }) => folder.split("/")[0] ?? folder));
  return [...tops].flatMap((top) => modulesIn(root, top)).flatMap((module) =>
    importsOf(module, Deno.readTextFileSync(path.join(root, module)))
  );
}

function modulesIn(root: string, folder: string): string[] {
  return [...Deno.readDirSync(path.join(root, folder))]
    .sort((a, b) => a.name < b.name ? -1 : 1)
    .flatMap((entry) => {
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory) return modulesIn(root, name);
      return entry.name.endsWith(".ts") ? [name] : [];
    });
}

if (import.meta.main) {
  const root = path.join(import.meta.dirname ?? ".", "..");
  const layers = readLayers(Deno.readTextFileSync(path.join(root, "ARCHITECTURE.md")));
  const violations = findViolations(layers, readEdges(root, layers));
  const lines = violations.map(({ importer, imported }) =>
    `${importer} may not import ${imported}\n`
  );
  await Deno.stderr.write(new TextEncoder().encode(lines.join("")));
  Deno.exit(violations.length === 0 ? 0 : 1);
}
