/**
 * TypeScript expressions and types as a tree, and their layout in 80 columns. The layout is that of `deno fmt` with
 * default options, so that formatting a generated file changes nothing; a test compares the two.
 */

/** An expression or a type. A string is text that is never broken. */
export type Doc =
  | string
  | { readonly kind: "object"; readonly entries: readonly Entry[] }
  | { readonly kind: "array"; readonly items: readonly Doc[] }
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
  /** `head` stands before `=>`. */
  | { readonly kind: "arrow"; readonly head: string; readonly body: Doc }
  /** `value satisfies type` */
  | { readonly kind: "satisfies"; readonly value: Doc; readonly type: Doc }
  /** `name<args>` */
  | { readonly kind: "generic"; readonly name: string; readonly args: readonly Doc[] }
  /** Alternatives of a type. */
  | { readonly kind: "union"; readonly members: readonly Doc[] };

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
export interface Place {
  /** Columns that its further lines are indented by. */
  readonly indent: number;
  /** Columns taken on its first line. */
  readonly column: number;
  /** Columns that follow on its last line: a comma, a closing parenthesis. */
  readonly after: number;
}

/** The expression as text whose first line begins at `column` and whose others are indented by `indent`. */
export function layOut(doc: Doc, place: Place): string {
  const line = flat(doc);
  if (place.column + line.length + place.after <= LINE_WIDTH || typeof doc === "string") {
    return line;
  }
  const inner = place.indent + 2;
  switch (doc.kind) {
    case "object":
      return enclose("{", doc.entries.map((entry) => layOutEntry(entry, inner)), "}", place.indent);
    case "array":
      return enclose("[", doc.items.map((item) => layOut(item, fresh(inner))), "]", place.indent);
    case "call":
      return enclose(
        `${doc.callee}(`,
        doc.args.map((arg) => layOutArgument(arg, inner)),
        ")",
        place.indent,
      );
    case "arrow": {
      const body = layOut(doc.body, fresh(inner));
      return `${doc.head} =>${newline(inner)}${body}`;
    }
    case "chain":
      return chainLines(doc, place).join(newline(place.indent));
    case "conditional": {
      const branch = (mark: string, part: Doc): string =>
        `${newline(inner)}${mark} ${layOut(part, { ...fresh(inner), column: inner + 2 })}`;
      return layOut(doc.test, { ...place, after: 0 }) + branch("?", doc.then) +
        branch(":", doc.otherwise);
    }
    case "satisfies": {
      // The value is broken, even if it alone would fit.
      const value = layOut(doc.value, { ...place, after: LINE_WIDTH });
      const column = value.length - value.lastIndexOf("\n") - 1 + " satisfies ".length;
      return `${value} satisfies ${layOut(doc.type, { ...place, column })}`;
    }
    case "generic": {
      const args = doc.args.map((arg) => newline(inner) + layOut(arg, fresh(inner)));
      return `${doc.name}<${args.join(",")}${newline(place.indent)}>`;
    }
    case "union":
      return doc.members.map((member) => {
        const text = layOut(member, { ...fresh(inner), column: inner + 2 });
        return `${newline(inner)}| ${text}`;
      }).join("");
    case "parens":
      return `(${
        layOut(doc.inner, { indent: inner, column: place.column + 1, after: place.after + 1 })
      })`;
  }
}

/** A line of its own that ends with a comma. */
export function fresh(indent: number): Place {
  return { indent, column: indent, after: 1 };
}

export function newline(indent: number): string {
  return `\n${" ".repeat(indent)}`;
}

function enclose(open: string, parts: readonly string[], close: string, indent: number): string {
  const lines = parts.map((part) => `${newline(indent + 2)}${part},`);
  return `${open}${lines.join("")}${newline(indent)}${close}`;
}

/** Chains in arguments indent their further lines, so that arguments can be told apart. */
function layOutArgument(arg: Doc, indent: number): string {
  const hanging = typeof arg !== "string" && arg.kind === "chain";
  return layOut(arg, { indent: hanging ? indent + 2 : indent, column: indent, after: 1 });
}

function layOutEntry({ key, value }: Entry, indent: number): string {
  const column = indent + key.length + 2;
  const line = flat(value);
  if (key === value) return key;
  if (typeof value === "string" && column + line.length + 1 > LINE_WIDTH) {
    return `${key}:${newline(indent + 2)}${line}`;
  }
  return `${key}: ${layOut(value, { indent, column, after: 1 })}`;
}

/** A line per operand; short constants stay on the line before. */
function chainLines(doc: Extract<Doc, { readonly kind: "chain" }>, place: Place): string[] {
  const lines: string[] = [];
  let line = layOut(doc.first, { ...place, after: 2 });
  for (const { operator, operand } of doc.rest) {
    const text = flat(operand);
    const last = line.slice(line.lastIndexOf("\n") + 1);
    if (
      /^\d+$/.test(text) &&
      place.indent + last.length + text.length + operator.length + 4 <= LINE_WIDTH
    ) {
      line += ` ${operator} ${text}`;
      continue;
    }
    lines.push(`${line} ${operator}`);
    line = layOut(operand, { indent: place.indent, column: place.indent, after: 2 });
  }
  return [...lines, line];
}
