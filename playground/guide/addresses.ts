/** Where files of the repository are in the site, and how one page leads to another, whatever folder the site is in. */
import * as path from "node:path";

/** What a link of a page leads to. */
export type Target =
  /** A page of Markdown, a folder, a picture, or a text that is shown as it is; by its path in the repository. */
  | {
    readonly kind: "page" | "folder" | "picture" | "source";
    readonly file: string;
    readonly anchor: string;
  }
  /** An entry of the playground. */
  | { readonly kind: "entry"; readonly search: string }
  /** The same page, or one that is not ours. */
  | { readonly kind: "anchor" | "elsewhere" };

/** Where the playground is while one reads the repository itself. */
const SERVED = /^http:\/\/127\.0\.0\.1:8017\/(\?entry=\w+)$/;

/** What a link leads to; `isFolder` is asked about paths in the repository. */
export function targetOf(
  page: string,
  link: string,
  isFolder: (file: string) => boolean,
): Target {
  const [, search] = SERVED.exec(link) ?? [];
  if (search !== undefined) return { kind: "entry", search };
  if (/^[a-z]+:/.test(link)) return { kind: "elsewhere" };
  const [name = "", fragment = ""] = link.split("#");
  if (name === "") return { kind: "anchor" };
  const anchor = fragment === "" ? "" : `#${fragment}`;
  const file = path.posix.join(path.posix.dirname(page), name).replace(/\/$/, "");
  if (file.endsWith(".md")) return { kind: "page", file, anchor };
  if (/\.(png|svg)$/.test(file)) return { kind: "picture", file, anchor };
  return { kind: isFolder(file) ? "folder" : "source", file, anchor };
}

/** The file of the site that has a page, a folder or a source. The root has the playground itself. */
export function siteFile(kind: "page" | "folder" | "picture" | "source", file: string): string {
  switch (kind) {
    case "page":
      // What hosts show for a folder.
      return file.endsWith("/README.md")
        ? file.replace(/README\.md$/, "index.html")
        : file.replace(/\.md$/, ".html");
    case "folder":
      return `${file}/index.html`;
    case "source":
      return `${file}.html`;
    case "picture":
      return file;
  }
}

/** From one file of the site to another. */
export function relativeTo(from: string, to: string): string {
  return path.posix.relative(path.posix.dirname(from), to);
}

/** From a file of the site to the folder of the playground. */
export function rootFrom(file: string): string {
  return "../".repeat(file.split("/").length - 1) || "./";
}
