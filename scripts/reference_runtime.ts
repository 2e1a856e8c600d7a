/** The reference page of the run time: what `deno doc` knows of ffi/mod.ts. */
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

const MODULE = path.join(import.meta.dirname ?? ".", "../ffi/mod.ts");

const TITLES: readonly (readonly [kind: string, title: string])[] = [
  ["class", "Classes"],
  ["function", "Functions"],
  ["variable", "Values"],
  ["interface", "Interfaces"],
  ["typeAlias", "Types"],
];

/** The page. */
export async function runtimePage(): Promise<string> {
  const { stdout, code } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", MODULE],
    stderr: "inherit",
  }).output();
  if (code !== 0) throw new Error("deno doc failed");
  const file: DocFile = JSON.parse(new TextDecoder().decode(stdout));
  const symbols = Object.values(file.nodes).flatMap((node) => node.symbols);
  const parts = TITLES.map(([kind, title]) => {
    const found = symbols.filter(({ declarations }) => declarations[0]?.kind === kind)
      .sort((a, b) => a.name < b.name ? -1 : 1);
    const withMembers = kind === "class" || kind === "interface";
    const body = withMembers ? found.map(printWithMembers).join("\n") : printList(found);
    return `## ${title}\n\n${body}\n`;
  });
  return [
    "# The run time\n",
    "<!-- written by scripts/reference_pages.ts from the documentation of ffi/mod.ts -->\n",
    "What `@tri/tri/ffi` exports. `deno doc ffi/mod.ts` shows the types too, " +
    "`deno doc ffi/mod.ts Device` those of one name.\n",
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
