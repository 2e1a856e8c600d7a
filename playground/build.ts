/** Builds the page and the documentation: `playground/dist` is files for any host. `deno run -A playground/build.ts [FOLDER]`. */
import * as path from "node:path";
import { EXPLANATIONS, sectionText } from "../cli/explain/mod.ts";
import { CODES } from "../compiler/support/codes.ts";
import { bundleScripts } from "./bundle.ts";
import { GALLERY, INCLUDES } from "./gallery/entries.ts";
import { GUIDE } from "./gallery/guide.ts";
import { guideFiles } from "./guide/pages.ts";
import { PUZZLES } from "./puzzles/puzzles.ts";

const HERE = import.meta.dirname ?? ".";
const ROOT = path.join(HERE, "..");
const STATIC = ["index.html", "style.css", "guide.css", "icon.svg"];

/** Files by their path below the page. */
export type Site = ReadonlyMap<string, string | Uint8Array<ArrayBuffer>>;

/** The page, and the documentation beside it. */
export async function buildSite(): Promise<Site> {
  const site = new Map<string, string | Uint8Array<ArrayBuffer>>(await bundleScripts());
  for (const name of STATIC) site.set(name, Deno.readTextFileSync(path.join(HERE, "static", name)));
  const texts = [
    ...GALLERY.map(({ file }) => file),
    ...GUIDE.map(({ file }) => file),
    ...PUZZLES.flatMap(({ file, solution }) => [file, solution]),
    ...Object.values(INCLUDES),
  ];
  for (const file of texts) site.set(file, Deno.readTextFileSync(path.join(ROOT, file)));
  site.set("explanations.json", explanations());
  for (const [name, content] of guideFiles()) site.set(name, content);
  const files = ["./", ...site.keys()];
  site.set("files.json", `${JSON.stringify({ build: await numberOf(site), files })}\n`);
  return site;
}

function explanations(): string {
  const entries = CODES_IN_ORDER.map((code) =>
    [code, `${EXPLANATIONS[code].text} ${sectionText(code)}`] as const
  );
  return `${JSON.stringify(Object.fromEntries(entries))}\n`;
}

const CODES_IN_ORDER = (Object.keys(EXPLANATIONS) as (keyof typeof EXPLANATIONS)[])
  .filter((code) => code in CODES);

/** Equal for equal files. */
async function numberOf(site: Site): Promise<string> {
  const all = new Blob([...site].flatMap(([name, content]) => [name, "\n", content, "\n"]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await all.arrayBuffer()));
  return Array.from(digest.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Writes the files into a folder. */
export function writeSite(site: Site, folder: string): void {
  for (const [name, content] of site) {
    const file = path.join(folder, name);
    Deno.mkdirSync(path.dirname(file), { recursive: true });
    if (typeof content === "string") Deno.writeTextFileSync(file, content);
    else Deno.writeFileSync(file, content);
  }
}

if (import.meta.main) {
  const folder = Deno.args[0] ?? path.join(HERE, "dist");
  writeSite(await buildSite(), folder);
}
