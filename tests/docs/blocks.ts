/**
 * The fenced blocks of a page and what is to be done with each, so that nothing on it can become untrue unnoticed.
 *
 * A comment in front of a block says what is unusual about it:
 *
 *     <!-- file: docs/guide/kernels/scale.tc -->   the block is a piece of that file, word for word
 *     <!-- write: hello/main.js -->                the block is not run but written to that file, for a later one
 *     <!-- needs: a GPU -->                        what the machine must have: a GPU, or npm
 *     <!-- not run: it runs this test -->          why the block cannot be run
 *     <!-- fails: 1 -->                            the exit code of the command, if it is not 0
 *     <!-- first: mkdir kernels -->                what to run before it, that a page need not show
 *     <!-- sometimes: tests/cli/new_test.ts -->    few runs do (`triesLong`): that test does the same, sooner
 *
 * Blocks between `<!-- begin NAME: written by SCRIPT -->` and `<!-- end NAME -->` are left out: the test of that script
 * compares them.
 */

/** Marks that may precede a block. */
const MARKS = ["file", "write", "needs", "not run", "fails", "first", "sometimes"] as const;
export type Mark = typeof MARKS[number];

export interface Block {
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  /** Ends with a newline. */
  readonly text: string;
  readonly marks: Readonly<Partial<Record<Mark, string>>>;
}

const FENCE = /^(`{3,})(\S*)\s*$/;
const COMMENT = /^<!-- ([a-z ]+): (.+) -->$/;
const BEGIN = /^<!-- begin ([a-z]+): written by .* -->$/;

function isMark(word: string): word is Mark {
  return MARKS.some((mark) => mark === word);
}

/** The blocks in the order of the page. Other comments are the page's own business. */
export function readBlocks(page: string): Block[] {
  const lines = page.split("\n");
  const blocks: Block[] = [];
  let marks: Partial<Record<Mark, string>> = {};
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, written] = BEGIN.exec(line) ?? [];
    if (written !== undefined) {
      at = lines.indexOf(`<!-- end ${written} -->`, at);
      if (at < 0) throw new Error(`${written} has no end`);
      continue;
    }
    const [, word = "", value = ""] = COMMENT.exec(line) ?? [];
    const [, fence = "", language = ""] = FENCE.exec(line) ?? [];
    if (isMark(word)) marks = { ...marks, [word]: value };
    else if (fence !== "") {
      const end = lines.indexOf(fence, at + 1);
      if (end < 0) throw new Error(`line ${at + 1}: the block is never closed`);
      const text = lines.slice(at + 1, end).map((inside) => `${inside}\n`).join("");
      blocks.push({ line: at + 1, language, text, marks });
      marks = {};
      at = end;
    } else if (line.trim() !== "") {
      const [mark] = Object.keys(marks);
      if (mark !== undefined) {
        throw new Error(`line ${at + 1}: a block must follow <!-- ${mark} -->`);
      }
    }
  }
  return blocks;
}

/**
 * What is printed, as a page shows it: a line `…` means any lines, and `…` in a line for anything in it. Undefined
 * when it is the same, else the first line of the page that was not found.
 */
export function differenceIn(shown: string, printed: string): string | undefined {
  const lines = printed.trimEnd().split("\n").map((line) => line.trimEnd());
  let at = 0;
  let isFree = false;
  for (const line of shown.trimEnd().split("\n")) {
    if (line.trim() === "…") {
      isFree = true;
      continue;
    }
    const wanted = new RegExp(`^${line.trimEnd().split("…").map(escape).join(".*")}$`);
    const found = lines.findIndex((text, index) => index >= at && wanted.test(text));
    if (found < 0 || (!isFree && found !== at)) return line;
    at = found + 1;
    isFree = false;
  }
  return isFree || at === lines.length ? undefined : `(nothing, but there is) ${lines[at] ?? ""}`;
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
