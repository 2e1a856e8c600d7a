/** What is around a page of the guide: its head with the policy, the way to the other pages, and the pages before and after it. */
import { relativeTo, rootFrom, siteFile } from "./addresses.ts";
import { escapeText } from "./markdown.ts";

/** A page of the guide, in its order. */
export interface Chapter {
  /** In the repository. */
  readonly file: string;
  readonly title: string;
}

/** A page's own part. */
export interface DocumentParts {
  /** In the site. */
  readonly file: string;
  readonly title: string;
  readonly body: string;
  readonly chapters: readonly Chapter[];
}

/** Nothing comes from elsewhere; a frame of this origin is the playground. */
const POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "frame-src", "connect-src", "worker-src"].map((each) =>
    `${each} 'self'`
  ),
  ...["base-uri 'none'", "form-action 'none'"],
].join("; ");

/** The whole document. */
export function documentOf({ file, title, body, chapters }: DocumentParts): string {
  const root = rootFrom(file);
  const link = (to: string, text: string): string => {
    const target = siteFile("page", to);
    const current = target === file ? ' aria-current="page"' : "";
    return `<a href="${relativeTo(file, target) || "#"}"${current}>${escapeText(text)}</a>`;
  };
  const at = chapters.findIndex((chapter) => siteFile("page", chapter.file) === file);
  const [before, after] = at < 0 ? [] : [chapters[at - 1], chapters[at + 1]];
  const way = [
    before === undefined ? "" : `<span>Before: ${link(before.file, before.title)}</span>`,
    after === undefined ? "" : `<span>Next: ${link(after.file, after.title)}</span>`,
  ].join("");
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="${POLICY}">
    <title>${escapeText(title)} · tri</title>
    <link rel="icon" href="${root}icon.svg">
    <link rel="stylesheet" href="${root}style.css">
    <link rel="stylesheet" href="${root}guide.css">
    <script type="module" src="${root}guide.js"></script>
  </head>
  <body class="guide">
    <a class="skip" href="#text">To the text</a>
    <header>
      <a href="${root}">Playground</a>
      ${link("docs/README.md", "Documentation")}
    </header>
    <div class="columns">
      <nav aria-label="Guide"><ol>
${chapters.map((each) => `        <li>${link(each.file, each.title)}</li>`).join("\n")}
      </ol></nav>
      <main id="text">
${body}${
    way === "" ? "" : `<nav class="way" aria-label="Pages before and after">${way}</nav>\n`
  }      </main>
    </div>
  </body>
</html>
`;
}
