/** A page of Markdown as HTML: links to files of the site, coloured kernels, and each kernel of the guide live below its text. */
import { marked, type Token, type Tokens } from "marked";
import { type Names, tokensOf } from "../page/tokens.ts";

/** What a page is made of. */
export interface PageParts {
  readonly names: Names;
  /** The address for a link of the page. */
  readonly link: (href: string) => string;
  /** A kernel of the guide as an element of the page. */
  readonly embed: (kernel: string, isFirst: boolean) => string;
}

/** A page without what is around it. */
export interface RenderedPage {
  readonly title: string;
  readonly body: string;
}

/** The kernel that the block after such a comment shows. */
const FILE = /^<!-- file: docs\/guide\/kernels\/(\w+)\.tc -->\s*$/;

/** Text in HTML. */
export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** The page. */
export function renderPage(markdown: string, parts: PageParts): RenderedPage {
  const anchors = new Map<string, number>();
  const embedded = new Set<string>();
  let [title, kernel]: [string, string | undefined] = ["", undefined];
  const renderer = new marked.Renderer();
  renderer.heading = function ({ tokens, depth, text }: Tokens.Heading): string {
    if (title === "") title = text.replaceAll("`", "");
    const id = anchorOf(text, anchors);
    return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  };
  renderer.link = function ({ href, tokens }: Tokens.Link): string {
    const isOther = /^[a-z]+:/.test(parts.link(href)) ? ' rel="noopener"' : "";
    return `<a href="${escapeText(parts.link(href))}"${isOther}>${
      this.parser.parseInline(tokens)
    }</a>`;
  };
  renderer.image = ({ href, text }: Tokens.Image): string =>
    `<img src="${escapeText(parts.link(href))}" alt="${escapeText(text)}" loading="lazy">`;
  renderer.table = function (token: Tokens.Table): string {
    const row = (cells: readonly Tokens.TableCell[], tag: "th" | "td"): string => {
      const scope = tag === "th" ? ' scope="col"' : "";
      const all = cells.map((cell) =>
        `<${tag}${scope}>${this.parser.parseInline(cell.tokens)}</${tag}>`
      );
      return `<tr>${all.join("")}</tr>`;
    };
    const body = token.rows.map((cells) => row(cells, "td")).join("\n");
    return `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead>${
      row(token.header, "th")
    }</thead><tbody>${body}</tbody></table></div>\n`;
  };
  renderer.html = ({ text }: Tokens.HTML | Tokens.Tag): string => {
    if (!text.trimStart().startsWith("<!--")) return escapeText(text);
    kernel = FILE.exec(text)?.[1] ?? kernel;
    return "";
  };
  renderer.code = ({ text, lang = "" }: Tokens.Code): string => {
    const isKernel = lang === "c" || lang === "cpp";
    const code = isKernel ? coloured(text, parts.names) : escapeText(text);
    const block = `<pre tabindex="0"><code>${code}</code></pre>\n`;
    if (kernel === undefined || embedded.has(kernel)) return block;
    const element = parts.embed(kernel, embedded.size === 0);
    embedded.add(kernel);
    kernel = undefined;
    return block + element;
  };
  const tokens: readonly Token[] = marked.lexer(markdown);
  const body = marked.parser([...tokens], { renderer });
  return { title, body };
}

/** As GitHub makes them, so that links between pages hold in both. */
function anchorOf(text: string, known: Map<string, number>): string {
  const anchor = text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
  const count = known.get(anchor) ?? 0;
  known.set(anchor, count + 1);
  return count === 0 ? anchor : `${anchor}-${count}`;
}

/** A kernel with a colour for each class of words. */
export function coloured(text: string, names: Names): string {
  let [html, at] = ["", 0];
  for (const { from, to, name } of tokensOf(text, names)) {
    html += escapeText(text.slice(at, from));
    html += `<span class="tok-${name}">${escapeText(text.slice(from, to))}</span>`;
    at = to;
  }
  return html + escapeText(text.slice(at));
}
