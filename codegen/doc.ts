/**
 * TypeScript expressions and types as a tree, and their layout in 80 columns. The layout is that of `deno fmt` with
 * default options, so that formatting a generated file changes nothing; a test compares the two.
 */

/** An expression or a type. A string is text that is never broken. */
export type Doc =
  | string
  | {
    readonly kind: "object";
    readonly entries: readonly Entry[];
    /** As the value of a property: an entry to a line, also a long one, which `deno fmt` is asked to leave alone. */
    readonly isTable?: boolean;
  }
  | { readonly kind: "array"; readonly items: readonly Doc[] }
  /** An array with several items to a line, as the value of a property, which `deno fmt` is asked to leave alone. */
  | { readonly kind: "packed"; readonly items: readonly string[] }
  | { readonly kind: "call"; readonly callee: string; readonly args: readonly Doc[] }
  /** Operands of equal precedence: `a + b - c`. */
  | { readonly kind: "chain"; readonly first: Doc; readonly rest: readonly Link[] }
  | { readonly kind: "parens"; readonly inner: Doc }
  | {
    readonly kind: "conditional";
    readonly test: Doc;
    readonly then: Doc;
    readonly otherwise: Doc;
  }
  /** `head` is before `=>`. */
  | { readonly kind: "arrow"; readonly head: string; readonly body: Doc }
  /** `value satisfies type` */
  | { readonly kind: "satisfies"; readonly value: Doc; readonly type: Doc }
  /** `name<args>` */
  | { readonly kind: "generic"; readonly name: string; readonly args: readonly Doc[] }
  /** Alternatives of a type; `isPacked`: several to a line, in a declaration. */
  | { readonly kind: "union"; readonly members: readonly Doc[]; readonly isPacked?: boolean };

/** A property; the key is printed as it is. */
export interface Entry {
  readonly key: string;
  readonly value: Doc;
}

/** An operator and its right operand. */
export interface Link {
  readonly operator: string;
  readonly operand: Doc;
}

/** Columns of a line, the default of `deno fmt`. */
export const LINE_WIDTH = 80;

/** The string as a literal. */
export function quote(text: string): string {
  return JSON.stringify(text);
}

/** The name as a property key: quoted where it has to be. */
export function propertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}

/** An object, without its absent entries. */
export function object(entries: Readonly<Record<string, Doc | undefined>>): Doc {
  const present: Entry[] = [];
  for (const [key, value] of Object.entries(entries)) {
    if (value !== undefined) present.push({ key: propertyKey(key), value });
  }
  return { kind: "object", entries: present };
}

export function array(items: readonly Doc[]): Doc {
  return { kind: "array", items };
}

/** The expression on one line. */
export function flat(doc: Doc): string {
  if (typeof doc === "string") return doc;
  switch (doc.kind) {
    case "object":
      return doc.entries.length === 0 ? "{}" : `{ ${doc.entries.map(flatEntry).join(", ")} }`;
    case "packed":
      return `[${doc.items.join(", ")}]`;
    case "array":
      return `[${doc.items.map(flat).join(", ")}]`;
    case "call":
      return `${doc.callee}(${doc.args.map(flat).join(", ")})`;
    case "chain":
      return flat(doc.first) +
        doc.rest.map(({ operator, operand }) => ` ${operator} ${flat(operand)}`).join("");
    case "parens":
      return `(${flat(doc.inner)})`;
    case "conditional":
      return `${flat(doc.test)} ? ${flat(doc.then)} : ${flat(doc.otherwise)}`;
    case "arrow":
      return `${doc.head} => ${flat(doc.body)}`;
    case "satisfies":
      return `${flat(doc.value)} satisfies ${flat(doc.type)}`;
    case "generic":
      return `${doc.name}<${doc.args.map(flat).join(", ")}>`;
    case "union":
      return doc.members.map(flat).join(" | ");
  }
}

function flatEntry({ key, value }: Entry): string {
  return key === value ? key : `${key}: ${flat(value)}`;
}

/** Where an expression is printed. */
export interface Position {
  /** Columns that its further lines are indented by. */
  readonly indent: number;
  /** Columns taken on its first line. */
  readonly column: number;
  /** Columns that follow on its last line: a comma, a closing parenthesis. */
  readonly after: number;
  /** What a call that begins a chain is indented by, where that differs. */
  readonly first?: number;
  /** The expression is a chain within a chain. */
  readonly isNested?: boolean;
}

/** The expression as text whose first line begins at `column` and whose others are indented by `indent`. */
export function layOut(doc: Doc, position: Position): string {
  const line = flat(doc);
  if (position.column + line.length + position.after <= LINE_WIDTH || typeof doc === "string") {
    return line;
  }
  const inner = position.indent + 2;
  switch (doc.kind) {
    case "object":
      return enclose(
        "{",
        doc.entries.map((entry) =>
          doc.isTable === true ? flatEntry(entry) : layOutEntry(entry, inner)
        ),
        "}",
        position.indent,
      );
    case "array":
      return enclose(
        "[",
        doc.items.map((item) => layOut(item, fresh(inner))),
        "]",
        position.indent,
      );
    case "packed":
      return enclose("[", packedLines(doc.items, ", ", inner + 1), "]", position.indent);
    case "call":
      return enclose(
        `${doc.callee}(`,
        doc.args.map((arg) => layOutArgument(arg, inner)),
        ")",
        position.indent,
      );
    case "arrow": {
      const body = layOut(doc.body, fresh(inner));
      return `${doc.head} =>${newline(inner)}${body}`;
    }
    case "chain":
      return chainLines(doc, position).join(newline(position.indent));
    case "conditional":
      return layOut(doc.test, { ...position, after: 0 }) + branches(doc, inner);
    case "satisfies": {
      // The value is broken, even if it alone would fit.
      const value = layOut(doc.value, { ...position, after: LINE_WIDTH });
      const column = value.length - value.lastIndexOf("\n") - 1 + " satisfies ".length;
      return `${value} satisfies ${layOut(doc.type, { ...position, column })}`;
    }
    case "generic": {
      const args = doc.args.map((arg) => newline(inner) + layOut(arg, fresh(inner)));
      return `${doc.name}<${args.join(",")}${newline(position.indent)}>`;
    }
    case "union":
      if (doc.isPacked === true) {
        return packedLines(doc.members.map(flat), " | ", inner + 3)
          .map((line) => `${newline(inner)}| ${line}`).join("");
      }
      return doc.members.map((member) => {
        const text = layOut(member, { ...fresh(inner), column: inner + 2 });
        return `${newline(inner)}| ${text}`;
      }).join("");
    case "parens":
      return `(${
        layOut(doc.inner, { indent: inner, column: position.column + 1, after: position.after + 1 })
      })`;
  }
}

/** A line of its own that ends with a comma. */
function fresh(indent: number): Position {
  return { indent, column: indent, after: 1 };
}

export function newline(indent: number): string {
  return `\n${" ".repeat(indent)}`;
}

function enclose(open: string, parts: readonly string[], close: string, indent: number): string {
  const lines = parts.map((part) => `${newline(indent + 2)}${part},`);
  return `${open}${lines.join("")}${newline(indent)}${close}`;
}

type Conditional = Extract<Doc, { readonly kind: "conditional" }>;

/** The two branches on lines of their own; a conditional in the second continues the list. */
function branches({ then, otherwise }: Conditional, indent: number): string {
  const branch = (mark: string, part: Doc): string =>
    `${newline(indent)}${mark} ${layOut(part, { ...fresh(indent), column: indent + 2 })}`;
  if (typeof otherwise === "string" || otherwise.kind !== "conditional") {
    return branch("?", then) + branch(":", otherwise);
  }
  return branch("?", then) + branch(":", otherwise.test) + branches(otherwise, indent);
}

/** Chains in arguments indent their further lines, so that arguments can be distinguished. */
function layOutArgument(arg: Doc, indent: number): string {
  return layOut(arg, {
    indent: isChain(arg) ? indent + 2 : indent,
    column: indent,
    after: 1,
    first: indent,
  });
}

function layOutEntry({ key, value }: Entry, indent: number): string {
  const column = indent + key.length + 2;
  const line = flat(value);
  if (key === value) return key;
  if (typeof value === "string" && column + line.length + 1 > LINE_WIDTH) {
    return `${key}:${newline(indent + 2)}${line}`;
  }
  const text = `${key}: ${layOut(value, { indent, column, after: 1 })}`;
  if (typeof value === "string" || !text.includes("\n")) return text;
  if (value.kind === "packed") return `${SEVERAL_TO_A_LINE}${newline(indent)}${text}`;
  const isTooLong = text.split("\n").some((line) => line.length > LINE_WIDTH);
  return value.kind === "object" && value.isTable === true && isTooLong
    ? `// deno-fmt-ignore: one to a line${newline(indent)}${text}`
    : text;
}

/** What is before packed items. */
export const SEVERAL_TO_A_LINE = "// deno-fmt-ignore: several to a line";

/** The items in lines beside which other text takes so many columns. */
function packedLines(items: readonly string[], between: string, taken: number): readonly string[] {
  const lines: string[] = [];
  for (const item of items) {
    const longer = `${lines.at(-1) ?? ""}${between}${item}`;
    if (lines.length > 0 && longer.length + taken <= LINE_WIDTH) lines[lines.length - 1] = longer;
    else lines.push(item);
  }
  return lines;
}

/** A line per operand; short constants stay on the line before. The right side of a comparison is indented. */
function chainLines(doc: Extract<Doc, { readonly kind: "chain" }>, position: Position): string[] {
  const { column, first = position.indent, isNested = false } = position;
  const isComparison = doc.rest.some(({ operator }) => /[<>=]/.test(operator));
  const extra = isComparison && position.indent === column ? 2 : 0;
  const indent = position.indent + extra;
  const follow = (index: number): number => {
    const next = doc.rest[index];
    return next === undefined ? position.after : next.operator.length + 1;
  };
  const lines: string[] = [];
  let line = isChain(doc.first)
    ? layOut(doc.first, {
      indent: indent + (isNested ? 4 : 2),
      column,
      after: follow(0),
      isNested: true,
    })
    : layOut(doc.first, { indent: first, column, after: follow(0) });
  for (const [index, { operator, operand }] of doc.rest.entries()) {
    const text = flat(operand);
    const last = line.slice(line.lastIndexOf("\n") + 1);
    const used = indent + last.length + text.length + operator.length + 4;
    if (/^\d+$/.test(text) && used <= LINE_WIDTH) {
      line += ` ${operator} ${text}`;
      continue;
    }
    lines.push(`${line} ${operator}`);
    const nested = isChain(operand);
    const operandIndent = nested ? indent + 2 : indent;
    line = " ".repeat(extra) +
      layOut(operand, {
        indent: operandIndent,
        column: indent,
        after: follow(index + 1),
        isNested: nested,
      });
  }
  return [...lines, line];
}

function isChain(doc: Doc): boolean {
  return typeof doc !== "string" && doc.kind === "chain";
}
