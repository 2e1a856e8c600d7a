/** Links between pages lead somewhere, and the index leads to the guide and the reference. */
import * as path from "node:path";
import { assertEquals } from "../support/assert.ts";
import { ROOT } from "./workspace.ts";

const PAGES: readonly string[] = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "tests/gpu/RESULTS.md"],
  ...pagesIn("tests/gpu/results"),
  ...pagesIn("docs"),
];

function pagesIn(folder: string): string[] {
  return [...Deno.readDirSync(path.join(ROOT, folder))].flatMap(({ name, isDirectory }) => {
    const inside = `${folder}/${name}`;
    if (isDirectory) return pagesIn(inside);
    return name.endsWith(".md") ? [inside] : [];
  }).sort();
}

/** What a page links to in the repository; code is left out. */
function linksOf(page: string): string[] {
  const text = Deno.readTextFileSync(path.join(ROOT, page)).replace(/```[^]*?```|`[^`\n]*`/g, "");
  return [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

function isThere(name: string): boolean {
  try {
    Deno.statSync(path.join(ROOT, name));
    return true;
  } catch {
    return false;
  }
}

const targetOf = (page: string, link: string): string => path.join(path.dirname(page), link);

Deno.test("links of every page lead to files that are there", () => {
  const dead = PAGES.flatMap((page) =>
    linksOf(page).filter((link) => !isThere(targetOf(page, link))).map((link) => `${page}: ${link}`)
  );
  assertEquals(dead, []);
});

Deno.test("docs/README.md leads to every page of the guide and the reference", () => {
  const linked = new Set(linksOf("docs/README.md").map((link) => targetOf("docs/README.md", link)));
  const missing = PAGES.filter((page) =>
    /^docs\/(guide|reference)\//.test(page) && !linked.has(page)
  );
  assertEquals(missing, []);
});
