/** The documentation as pages beside the playground: all that docs/README.md leads to, with the files that pages name. */
import { existsSync } from "node:fs";
import * as path from "node:path";
import { GUIDE } from "../gallery/guide.ts";
import { namesOf } from "../page/tokens.ts";
import { wordsOfLanguage } from "../session/words.ts";
import { relativeTo, rootFrom, siteFile, type Target, targetOf } from "./addresses.ts";
import { type Chapter, documentOf } from "./document.ts";
import { coloured, escapeText, renderPage } from "./markdown.ts";

const ROOT = path.join(import.meta.dirname ?? ".", "../..");
const FIRST = "docs/README.md";

/** Files of the site by path: pages as text, pictures as bytes. */
export type GuideFiles = ReadonlyMap<string, string | Uint8Array<ArrayBuffer>>;

const isThere = (file: string): boolean => existsSync(path.join(ROOT, file));
const textOf = (file: string): string => Deno.readTextFileSync(path.join(ROOT, file));
const isFolder = (file: string): boolean => Deno.statSync(path.join(ROOT, file)).isDirectory;

type Found = Extract<Target, { readonly file: string }>;

/** Renders all pages. */
export function guideFiles(): GuideFiles {
  const files = new Map<string, string | Uint8Array<ArrayBuffer>>();
  const names = namesOf(wordsOfLanguage());
  const chapters = chaptersOf(textOf(FIRST));
  const waiting: Found[] = [{ kind: "page", file: FIRST, anchor: "" }];
  for (let found = waiting.pop(); found !== undefined; found = waiting.pop()) {
    const { kind, file } = found;
    const own = siteFile(kind, file);
    if (files.has(own)) continue;
    const put = (title: string, body: string): void => {
      files.set(own, documentOf({ file: own, title, body, chapters }));
    };
    const linkTo = (named: Found): string => {
      const to = withReadme(named);
      waiting.push(to);
      return relativeTo(own, siteFile(to.kind, to.file)) + to.anchor;
    };
    if (kind === "picture") files.set(own, Deno.readFileSync(path.join(ROOT, file)));
    else if (kind === "source") {
      put(
        file,
        `<h1>${file}</h1>\n<pre tabindex="0"><code>${coloured(textOf(file), names)}</code></pre>\n`,
      );
    } else if (kind === "folder") put(file, listOf(file, linkTo));
    else {
      const page = renderPage(textOf(file), {
        names,
        link(href): string {
          const target = targetOf(file, href, isFolder);
          if ("file" in target) return linkTo(target);
          return target.kind === "entry" ? rootFrom(own) + target.search : href;
        },
        embed: (kernel, isFirst) => embedOf(kernel, rootFrom(own), isFirst),
      });
      put(page.title, page.body);
    }
  }
  return files;
}

/** The pages of the guide, as the first page lists them. */
function chaptersOf(text: string): readonly Chapter[] {
  return [...text.matchAll(/^\d+\. \[([^\]]+)\]\((guide\/[\w-]+\.md)\)/gm)].map(
    ([, title = "", file = ""]) => ({ file: `docs/${file}`, title }),
  );
}

/** What a folder says of itself, where it does. */
function withReadme(found: Found): Found {
  const file = `${found.file}/README.md`;
  return found.kind === "folder" && isThere(file) ? { ...found, kind: "page", file } : found;
}

/** The files of a folder. */
function listOf(folder: string, linkTo: (to: Found) => string): string {
  const entries = [...Deno.readDirSync(path.join(ROOT, folder))].filter(({ isFile }) => isFile)
    .map(({ name }) => `${folder}/${name}`).filter((file) => !file.endsWith(".json")).sort();
  const items = entries.map((file) =>
    `<li><a href="${linkTo({ kind: "source", file, anchor: "" })}">${path.basename(file)}</a></li>`
  );
  return `<h1>${folder}</h1>\n<ul>\n${items.join("\n")}\n</ul>\n`;
}

/** A kernel that runs in the page. Only the first one of a page is open: each has a compiler of its own. */
function embedOf(kernel: string, root: string, isFirst: boolean): string {
  const entry = GUIDE.find(({ name }) => name === `guide_${kernel}`);
  if (entry === undefined) return "";
  const { name, title, sentence } = entry;
  const says = escapeText(`${title}: ${sentence}`);
  return `<details class="live"${isFirst ? " open" : ""}>
<summary>Run ${escapeText(title)} here</summary>
<iframe src="${root}?embed&amp;entry=${name}" loading="lazy" title="${says}"></iframe>
<p><a href="${root}?entry=${name}">${says}</a> In the whole playground.</p>
</details>
`;
}
