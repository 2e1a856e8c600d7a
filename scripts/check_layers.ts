/**
 * Dependencies point one way: compares every import in the repository with the table in ARCHITECTURE.md, and reports
 * the imports that the table does not allow, and the circles of imports that it does not list.
 */
import * as path from "node:path";

/** A row of the table: a folder and what its modules may import besides themselves. */
export interface Layer {
  readonly folder: string;
  /** Folders; "*" means everything. */
  readonly mayImport: readonly string[];
}

/** An import that goes against the table. Paths from the root of the repository. */
export interface Violation {
  readonly importer: string;
  readonly imported: string;
}

/** An import statement: who imports what. `isOfTypes`: nothing of it is left when the program runs. */
export interface ImportEdge {
  readonly importer: string;
  readonly imported: string;
  readonly isOfTypes: boolean;
}

/** Modules that may import each other in circles. */
export interface AllowedCircle {
  readonly modules: ReadonlySet<string>;
  /** Only by imports of types. */
  readonly isOfTypes: boolean;
}

/** What every folder of the compiler that imports anything may import: the shared vocabulary. */
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

const IMPORT =
  /(?:\b(?:import|export)\s+(?<type>type\s)?(?<names>[^"';]*?)\bfrom|\bimport)\s*\(?\s*"(?<path>\.{1,2}\/[^"]+)"/g;

/** The relative imports of a module's text, static, dynamic and of types. */
export function importsOf(module: string, text: string): ImportEdge[] {
  return [...text.matchAll(IMPORT)].map(({ groups }) => ({
    importer: module,
    imported: path.posix.join(path.posix.dirname(module), groups?.["path"] ?? ""),
    isOfTypes: groups?.["type"] !== undefined || areTypes(groups?.["names"] ?? ""),
  }));
}

/** Whether each name of `{ type A, type B }` is a type. */
function areTypes(names: string): boolean {
  const listed = /^\s*\{([^}]*)\}\s*$/.exec(names)?.[1]?.split(",").map((name) => name.trim());
  const given = listed?.filter((name) => name !== "") ?? [];
  return given.length > 0 && given.every((name) => name.startsWith("type "));
}

/**
 * `- \`compiler/parse\`: \`parse_expr.ts\`, \`parse_specs.ts\``: files of a folder that may import each other in circles;
 * `- types of \`ffi\`: …`: files that may import each other's types so.
 */
const ALLOWED =
  /^- (?<types>types of )?`(?<folder>[^`]+)`: (?<files>`[^`]+\.ts`(?:, `[^`]+\.ts`)*)$/;

/** The circles that ARCHITECTURE.md lists. */
export function readAllowedCircles(markdown: string): AllowedCircle[] {
  // A row of the list may be wrapped.
  return markdown.replace(/\n +/g, " ").split("\n").flatMap((line) => {
    const { folder = "", files = "", types } = ALLOWED.exec(line)?.groups ?? {};
    const names = [...files.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => `${folder}/${name}`);
    return names.length === 0 ? [] : [{ modules: new Set(names), isOfTypes: types !== undefined }];
  });
}

/** The circles: sets of modules each of which imports each other one, directly or not. Sorted. */
export function findCircles(edges: readonly ImportEdge[]): string[][] {
  const imports = new Map<string, string[]>();
  for (const { importer, imported } of edges) {
    const known = imports.get(importer);
    if (known === undefined) imports.set(importer, [imported]);
    else known.push(imported);
  }
  // Tarjan's strongly connected components: the lowest index on the stack that a module reaches.
  const indices = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (module: string): number => {
    const index = indices.size;
    indices.set(module, index);
    stack.push(module);
    let lowest = index;
    for (const imported of imports.get(module) ?? []) {
      const known = indices.get(imported);
      if (known === undefined) lowest = Math.min(lowest, visit(imported));
      else if (stack.includes(imported)) lowest = Math.min(lowest, known);
    }
    if (lowest === index) {
      const members = stack.splice(stack.indexOf(module));
      if (members.length > 1) circles.push(members.sort());
    }
    return lowest;
  };
  for (const module of imports.keys()) {
    if (!indices.has(module)) visit(module);
  }
  return circles.sort(([a = ""], [b = ""]) => a < b ? -1 : 1);
}

/** The circles that no row of the list allows, first those of values. */
export function findForbiddenCircles(
  edges: readonly ImportEdge[],
  allowed: readonly AllowedCircle[],
): string[][] {
  const values = edges.filter(({ isOfTypes }) => !isOfTypes);
  return [
    ...withoutThose(findCircles(values), allowed.filter(({ isOfTypes }) => !isOfTypes)),
    ...withoutThose(findCircles(edges), allowed),
  ];
}

function withoutThose(
  circles: readonly string[][],
  allowed: readonly AllowedCircle[],
): string[][] {
  return circles.filter((circle) =>
    !allowed.some(({ modules }) => circle.every((module) => modules.has(module)))
  );
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
  const architecture = Deno.readTextFileSync(path.join(root, "ARCHITECTURE.md"));
  const layers = readLayers(architecture);
  const edges = readEdges(root, layers);
  const violations = findViolations(layers, edges);
  const circles = findForbiddenCircles(edges, readAllowedCircles(architecture));
  const lines = [
    ...violations.map(({ importer, imported }) => `${importer} may not import ${imported}\n`),
    ...circles.map((circle) => `imports form a circle: ${circle.join(", ")}\n`),
  ];
  await Deno.stderr.write(new TextEncoder().encode(lines.join("")));
  Deno.exit(lines.length === 0 ? 0 : 1);
}
