/**
 * Items to statements, each with its indentation: one statement on a line, `{` at the end of a line, `}` on a line of its
 * own. The branches of `#if` begin with the same brackets open; after `#endif` those of the branch that opens most are.
 */
import { keywordGroup } from "../preprocess/keywords.ts";
import type { PpToken } from "../preprocess/lexer.ts";
import { positionOf } from "../support/source.ts";
import type { CommentItem, DirectiveItem, Item, TokenItem } from "./items.ts";
import { type Names, namesIn } from "./names.ts";
import { type Bracket, LINE_WIDTH, type Piece } from "./piece.ts";
import { bracketKind, type Context, hasSpace, openingOf, roleOf } from "./spacing.ts";

/** What gets at least one line of its own. */
export interface Statement {
  readonly pieces: readonly Piece[];
  /** Levels of indentation. */
  readonly indent: number;
  /** An empty line before it. */
  readonly blankBefore: boolean;
  /** A comment after it on its last line. */
  readonly trailing?: string;
}

/** `if`, `else` and loops whose statement is not complete; `broken`: it is on a line of its own, indented. */
interface Head {
  readonly kind: "if" | "else" | "loop" | "do";
  broken: boolean;
}

/** An open `{` of statements; the outermost is the file. */
interface Block {
  readonly indent: number;
  readonly heads: Head[];
}

interface State {
  readonly blocks: readonly Block[];
  readonly brackets: readonly Bracket[];
}

/** An `#if` that is open: the state at its beginning, and at the ends of its branches. */
interface Condition {
  readonly begin: State;
  readonly ends: State[];
}

function depthOf({ blocks, brackets }: State): number {
  return blocks.length + brackets.length;
}

/** The statements of a file. */
export function statementsOf(items: readonly Item[]): readonly Statement[] {
  return new Builder(items).run();
}

class Builder {
  readonly #items: readonly Item[];
  readonly #names: Names;
  readonly #statements: Statement[] = [];
  readonly #conditions: Condition[] = [];
  #blocks: Block[] = [{ indent: 0, heads: [] }];
  #brackets: Bracket[] = [];
  #pieces: Piece[] = [];
  /** Of the statement in `#pieces`. */
  #indent = 0;
  #blankBefore = false;
  /** Where in `#pieces` the innermost statement begins. */
  #start = 0;
  #at = 0;

  constructor(items: readonly Item[]) {
    this.#items = items;
    this.#names = namesIn(items);
  }

  run(): readonly Statement[] {
    for (; this.#at < this.#items.length; this.#at++) {
      const item = this.#items[this.#at];
      if (item?.kind === "token") this.#token(item);
      else if (item?.kind === "comment") this.#comment(item);
      else if (item !== undefined) this.#directive(item);
    }
    this.#flush();
    return this.#statements;
  }

  get #block(): Block {
    return this.#blocks.at(-1) ?? { indent: 0, heads: [] };
  }

  get #nextItem(): Item | undefined {
    return this.#items[this.#at + 1];
  }

  get #nextToken(): PpToken | undefined {
    for (let at = this.#at + 1; at < this.#items.length; at++) {
      const item = this.#items[at];
      if (item?.kind === "token") return item.token;
    }
    return undefined;
  }

  // ---- items ------------------------------------------------------------------------------------------

  #token(item: TokenItem): void {
    const { token } = item;
    if (this.#brackets.length > 0) return this.#inBrackets(item);
    const { text } = token;
    if (text === "}") return this.#closeBlock(item);
    const isOpen = text === "{";
    if (isOpen && !this.#opensList()) return this.#openBlock(item);
    if (keywordGroup(text) === "statement" && this.#pieces.length > this.#start) this.#flush();
    this.#add(item);
    if (isOpen || text === "(" || text === "[") this.#open();
    else if (text === ";") this.#endStatement();
    else if (text === "else") this.#afterHead("else");
    else if (text === "do") this.#afterHead("do");
    else this.#endMacro();
  }

  #inBrackets(item: TokenItem): void {
    const { text } = item.token;
    if (text === ")" || text === "]" || text === "}") {
      const bracket = this.#brackets.pop();
      this.#add(item, bracket);
      if (this.#brackets.length > 0) return;
      if (bracket?.kind === "header") {
        const word = this.#pieces[bracket.from - 1]?.text;
        this.#afterHead(word === "if" ? "if" : "loop");
      } else this.#endMacro();
      return;
    }
    this.#add(item);
    if (text === "(" || text === "[" || text === "{") this.#open();
  }

  #comment(item: CommentItem): void {
    const { text, newlines, isLine, span } = item;
    if (this.#pieces.length === 0) {
      const last = this.#statements.at(-1);
      const isTrailing = newlines === 0 && last !== undefined && last.trailing === undefined &&
        !text.includes("\n") && last.pieces.at(-1)?.role !== "directive" &&
        last.pieces.at(-1)?.role !== "line-comment";
      const next = this.#nextItem;
      if (isTrailing && (isLine || next === undefined || next.newlines > 0)) {
        this.#statements[this.#statements.length - 1] = { ...last, trailing: text };
        return;
      }
    }
    this.#begin(item);
    const column = positionOf(span.file, span.start).column - 1;
    const isAlone = this.#pieces.length === 0;
    this.#push({
      text,
      role: isLine ? "line-comment" : "comment",
      depth: this.#brackets.length,
      space: isLine || this.#pieces.at(-1)?.role !== "open",
      newline: newlines > 0,
      column,
    });
    const next = this.#nextItem;
    if (isAlone && (isLine || next === undefined || next.newlines > 0)) this.#flush();
    else this.#start = isAlone ? this.#pieces.length : this.#start;
  }

  #directive(item: DirectiveItem): void {
    const isBetween = this.#pieces.length === 0;
    const isInStatement = this.#brackets.length > 0;
    if (!isBetween && !isInStatement) this.#flush();
    this.#begin(item);
    if (this.#pieces.length === 0) this.#indent = item.word === "pragma" ? this.#indent : 0;
    this.#push({
      text: item.text,
      role: "directive",
      depth: this.#brackets.length,
      space: false,
      newline: true,
    });
    if (!isInStatement) this.#flush();
    this.#branch(item.word);
  }

  /** Keeps the brackets of the branches of a condition apart. */
  #branch(word: string): void {
    if (word.startsWith("if")) {
      this.#conditions.push({ begin: this.#state(), ends: [] });
    } else if (word.startsWith("el")) {
      const condition = this.#conditions.at(-1);
      if (condition === undefined) return;
      condition.ends.push(this.#state());
      this.#restore(condition.begin);
    } else if (word === "endif") {
      const last = this.#state();
      const ends = [...this.#conditions.pop()?.ends ?? [], last];
      const most = Math.max(...ends.map(depthOf));
      const end = ends.find((one) => depthOf(one) === most);
      if (end !== undefined && end !== last) this.#restore(end);
    }
  }

  #state(): State {
    const blocks = this.#blocks.map(({ indent, heads }) => ({
      indent,
      heads: heads.map((head) => ({ ...head })),
    }));
    return { blocks, brackets: [...this.#brackets] };
  }

  #restore(state: State): void {
    const { blocks, brackets } = state;
    this.#blocks = blocks.map(({ indent, heads }) => ({
      indent,
      heads: heads.map((head) => ({ ...head })),
    }));
    if (brackets.length === 0 && this.#brackets.length > 0) this.#flush();
    this.#brackets = this.#pieces.length === 0 ? [] : [...brackets];
  }

  // ---- pieces -----------------------------------------------------------------------------------------

  /** Before the first piece of a statement. */
  #begin({ newlines }: Item): void {
    if (this.#pieces.length > 0) return;
    this.#indent = this.#block.indent +
      this.#block.heads.filter(({ broken }) => broken).length;
    this.#blankBefore = newlines > 1;
    this.#start = 0;
  }

  #add(item: TokenItem, closed?: Bracket): void {
    this.#begin(item);
    const { token, newlines } = item;
    const brackets = closed === undefined ? this.#brackets : [...this.#brackets, closed];
    const context: Context = {
      pieces: this.#pieces,
      brackets,
      start: this.#start,
      isOutside: this.#blocks.length === 1,
      names: this.#names,
    };
    const role = roleOf(context, token);
    this.#push({
      text: token.text,
      role,
      depth: this.#brackets.length,
      space: hasSpace(context, token, role),
      newline: newlines > 0,
      token,
    });
  }

  #push(piece: Piece): void {
    this.#pieces.push(piece);
  }

  #open(): void {
    const from = this.#pieces.length - 1;
    const kind = bracketKind(this.#pieces, from);
    const name = this.#pieces[from - 1]?.text ?? "";
    const verbatim = this.#brackets.at(-1)?.verbatim === true ||
      (kind === "call" && this.#names.isQuoting(name));
    this.#brackets.push({ kind, from, verbatim });
  }

  #flush(): void {
    if (this.#pieces.length === 0) return;
    this.#statements.push({
      pieces: this.#pieces,
      indent: this.#indent,
      blankBefore: this.#blankBefore,
    });
    this.#pieces = [];
    this.#start = 0;
  }

  // ---- statements -------------------------------------------------------------------------------------

  /** Whether a `{` has values or names: after `=`, or in `enum`. */
  #opensList(): boolean {
    const last = this.#pieces.at(-1);
    if (last === undefined) return false;
    if (last.role === "assign" || last.role === "comma" || last.text === "return") return true;
    return this.#pieces.slice(-2).some(({ text }) => text === "enum");
  }

  #openBlock(item: TokenItem): void {
    const last = this.#pieces.at(-1);
    if (last?.role === "line-comment") this.#flush();
    // The head that this block belongs to is not followed by an indented line after all.
    const head = this.#block.heads.at(-1);
    if (this.#pieces.length === 0 && head !== undefined) head.broken = false;
    const length = this.#shortLength();
    this.#add(item);
    const indent = this.#indent;
    if (length === undefined) {
      this.#flush();
      this.#blocks.push({ indent: indent + 1, heads: [] });
      return;
    }
    this.#open();
    for (let i = 0; i < length; i++) {
      const inner = this.#items[++this.#at];
      if (inner?.kind !== "token") continue;
      const { text } = inner.token;
      const closes = text === ")" || text === "]" || text === "}";
      this.#add({ ...inner, newlines: 0 }, closes ? this.#brackets.pop() : undefined);
      if (text === "(" || text === "[") this.#open();
    }
    this.#afterBlock();
  }

  /** Items of a block after its `{` that stays on one line: an empty one, or a function of one short statement. */
  #shortLength(): number | undefined {
    let width = this.#pieces.reduce((sum, { text }) => sum + text.length + 1, 0);
    let statements = 0;
    for (let length = 1; this.#at + length < this.#items.length; length++) {
      const item = this.#items[this.#at + length];
      if (item?.kind !== "token") return undefined;
      const { text } = item.token;
      if (text === "}" && length === 1) return length;
      width += text.length + 1;
      if (item.newlines > 0 || text === "{" || width > LINE_WIDTH || this.#blocks.length > 1) {
        return undefined;
      }
      if (text === "}") return statements === 1 ? length : undefined;
      if (text === ";") statements++;
      if (keywordGroup(text) === "statement" && text !== "return") return undefined;
    }
    return undefined;
  }

  #closeBlock(item: TokenItem): void {
    this.#flush();
    if (this.#blocks.length > 1) this.#blocks.pop();
    this.#begin(item);
    this.#add(item);
    this.#blankBefore = false;
    this.#afterBlock();
  }

  /** After a `}`: `else` and the `while` of a `do` are on its line. */
  #afterBlock(): void {
    const head = this.#block.heads.at(-1)?.kind;
    const next = this.#nextItem;
    const follows = next?.kind === "token" ? next.token.text : "";
    const continues = (head === "if" && follows === "else") ||
      (head === "do" && follows === "while");
    if (continues) this.#start = this.#pieces.length;
    else this.#flush();
    this.#completed();
  }

  #endStatement(): void {
    const head = this.#block.heads.at(-1);
    const next = this.#nextItem;
    const isDo = head?.kind === "do" && !head.broken && next?.kind === "token" &&
      next.token.text === "while" && next.newlines === 0;
    if (isDo) this.#start = this.#pieces.length;
    else this.#flush();
    this.#completed();
  }

  /** A statement is complete; so are the `if`s and loops that it ends, unless an `else` follows. */
  #completed(): void {
    const { heads } = this.#block;
    const next = this.#nextToken?.text;
    for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
      if (head.kind === "if" && next === "else") return;
      if (head.kind === "do" && next === "while") return;
    }
  }

  /** After `if (…)`, `else`, a loop's `)` or `do`: the statement follows on this line or on the next. */
  #afterHead(kind: Head["kind"]): void {
    const head: Head = { kind, broken: false };
    this.#block.heads.push(head);
    this.#start = this.#pieces.length;
    const next = this.#nextItem;
    if (next === undefined) return;
    const text = next.kind === "token" ? next.token.text : "";
    if (text === "{" || text === ";" || (kind === "else" && text === "if")) return;
    if (next.kind === "token" && next.newlines === 0) return;
    head.broken = true;
    this.#flush();
  }

  /** A macro that is a statement has no semicolon: `NAME(…)`, and a statement begins on the next line. */
  #endMacro(): void {
    const next = this.#nextItem;
    if (next === undefined || next.newlines === 0) return;
    const first = this.#pieces[this.#start]?.token;
    const [open, last] = [this.#pieces[this.#start + 1], this.#pieces.at(-1)];
    if (first?.kind !== "identifier" || keywordGroup(first.text) !== undefined) return;
    const isWhole = open?.text === "(" && last?.text === ")" &&
      openingOf(this.#pieces, this.#pieces.length - 1) === this.#start + 1;
    const begins = this.#nextToken;
    const canFollow = begins?.kind === "identifier" || begins?.text === "*";
    if (isWhole && canFollow) this.#endStatement();
  }
}
