/** Reference pages of modules that programs import: what `deno doc` prints of them. */
import * as path from "node:path";

/** The parts of the JSON of `deno doc` that are read here. */
interface DocFile {
  readonly nodes: Readonly<Record<string, { readonly symbols: readonly DocSymbol[] }>>;
}

interface Documented {
  readonly jsDoc?: { readonly doc?: string };
}

interface DocSymbol {
  readonly name: string;
  readonly declarations: readonly (Documented & {
    readonly kind: string;
    readonly def: {
      readonly properties?: readonly DocMember[];
      readonly methods?: readonly DocMember[];
    };
  })[];
}

interface DocMember extends Documented {
  readonly name: string;
  readonly kind?: string;
  readonly isStatic?: boolean;
  readonly accessibility?: string;
  readonly optional?: boolean;
  readonly params?: readonly DocParam[];
  readonly functionDef?: { readonly params: readonly DocParam[] };
}

interface DocParam {
  readonly name?: string;
  readonly optional?: boolean;
  readonly left?: { readonly name?: string };
}

/** A module with a page of its own. */
interface ModulePage {
  readonly title: string;
  /** What programs import. */
  readonly specifier: string;
  /** Its file, from the root of the repository. */
  readonly module: string;
  /** A name that it exports, to show how to ask for one. */
  readonly example: string;
}

const RUNTIME: ModulePage = {
  title: "The run time",
  specifier: "@tri/tri/ffi",
  module: "ffi/mod.ts",
  example: "Device",
};

const CUBLAS: ModulePage = {
  title: "cuBLAS",
  specifier: "@tri/tri/ffi/cublas",
  module: "ffi/cublas/mod.ts",
  example: "Cublas",
};

const NCCL: ModulePage = {
  title: "NCCL",
  specifier: "@tri/tri/ffi/nccl",
  module: "ffi/nccl/mod.ts",
  example: "Communicator",
};

const DLPACK: ModulePage = {
  title: "DLPack",
  specifier: "@tri/tri/ffi/dlpack",
  module: "ffi/dlpack/mod.ts",
  example: "importDLPack",
};

const FORMATS: ModulePage = {
  title: "Files of tensors",
  specifier: "@tri/tri/formats",
  module: "formats/mod.ts",
  example: "openSafetensors",
};

const BENCH: ModulePage = {
  title: "Benchmarks",
  specifier: "@tri/tri/bench",
  module: "bench/mod.ts",
  example: "benchmark",
};

const TESTING: ModulePage = {
  title: "Tests of kernels",
  specifier: "@tri/tri/testing",
  module: "testing/mod.ts",
  example: "checkKernel",
};

/** Pages by their names. */
export const MODULE_PAGES: Readonly<Record<string, ModulePage>> = {
  "runtime.md": RUNTIME,
  "cublas.md": CUBLAS,
  "nccl.md": NCCL,
  "dlpack.md": DLPACK,
  "formats.md": FORMATS,
  "bench.md": BENCH,
  "testing.md": TESTING,
};

const ROOT = path.join(import.meta.dirname ?? ".", "..");

const TITLES: readonly (readonly [kind: string, title: string])[] = [
  ["class", "Classes"],
  ["function", "Functions"],
  ["variable", "Values"],
  ["interface", "Interfaces"],
  ["typeAlias", "Types"],
];

/** The page of a module. */
export async function modulePage(page: ModulePage): Promise<string> {
  const { title, specifier, module, example } = page;
  const { stdout, code } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", path.join(ROOT, module)],
    stderr: "inherit",
  }).output();
  if (code !== 0) throw new Error("deno doc failed");
  const file: DocFile = JSON.parse(new TextDecoder().decode(stdout));
  const symbols = Object.values(file.nodes).flatMap((node) => node.symbols);
  const parts = TITLES.flatMap(([kind, heading]) => {
    const found = symbols.filter(({ declarations }) => declarations[0]?.kind === kind)
      .sort((a, b) => a.name < b.name ? -1 : 1);
    if (found.length === 0) return [];
    const withMembers = kind === "class" || kind === "interface";
    const body = withMembers ? found.map(printWithMembers).join("\n") : printList(found);
    return [`## ${heading}\n\n${body}\n`];
  });
  return [
    `# ${title}\n`,
    `<!-- written by scripts/reference_pages.ts from the documentation of ${module} -->\n`,
    `What \`${specifier}\` exports. \`deno doc ${module}\` shows the types too, ` +
    `\`deno doc ${module} ${example}\` those of one name.\n`,
    ...parts,
  ].join("\n");
}

function printList(symbols: readonly DocSymbol[]): string {
  return symbols.map(({ name, declarations }) => `- \`${name}\`: ${docOf(declarations[0] ?? {})}`)
    .join("\n");
}

function printWithMembers({ name, declarations }: DocSymbol): string {
  const [declaration] = declarations;
  if (declaration === undefined) return "";
  const { properties = [], methods = [] } = declaration.def;
  const members = [...properties, ...methods].filter(isShown).map((member) =>
    `- \`${spell(name, member)}\`: ${docOf(member)}`
  );
  return `### ${name}\n\n${docOf(declaration)}\n\n${members.join("\n")}\n`;
}

/** Public members with documentation of their own. */
function isShown({ name, accessibility, jsDoc }: DocMember): boolean {
  return accessibility !== "private" && !name.startsWith("[") && jsDoc?.doc !== undefined;
}

function spell(owner: string, { name, kind, isStatic, params, functionDef }: DocMember): string {
  const list = kind === "getter" ? undefined : functionDef?.params ?? params;
  const call = list === undefined ? "" : `(${list.map(spellParam).join(", ")})`;
  return `${isStatic === true ? `${owner}.` : ""}${name}${call}`;
}

function spellParam({ name, left, optional }: DocParam): string {
  const isOptional = optional === true || left !== undefined;
  return `${name ?? left?.name ?? "…"}${isOptional ? "?" : ""}`;
}

/** The first paragraph, in one line. */
function docOf({ jsDoc }: Documented): string {
  const [first = ""] = (jsDoc?.doc ?? "").split("\n\n");
  return first.replaceAll(/\s+/g, " ").replaceAll(/\{@linkcode (\w+)\}/g, "`$1`").trim();
}
