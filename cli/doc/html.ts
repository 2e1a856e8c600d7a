/** A page of Markdown as one of HTML. */
import { escape } from "@std/html/entities";
import { marked, type Tokens } from "marked";

const STYLE =
  `body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { background: #f4f4f4; padding: 0.8rem; overflow-x: auto; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #ccc; padding: 0.2rem 0.6rem; text-align: left; }
@media (prefers-color-scheme: dark) {
  body { background: #181818; color: #ddd; } pre { background: #262626; } a { color: #8ab4f8; }
}`;

/** A whole document; headings can be linked to by their text in small letters. */
export function htmlPage(title: string, markdown: string): string {
  const renderer = new marked.Renderer();
  renderer.heading = function ({ tokens, depth, text }: Tokens.Heading): string {
    const id = text.toLowerCase().replace(/[^\w-]+/g, "-");
    return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  };
  // What is not Markdown in a comment, such as `a < b`, is text.
  renderer.html = ({ text }: Tokens.HTML | Tokens.Tag): string => escape(text);
  const body = marked.parse(markdown, { async: false, renderer });
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body}</body>
</html>
`;
}
