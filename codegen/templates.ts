/**
 * What several rows of a wrapper share: equal values become one constant, and values that differ in numbers alone become
 * calls of one function with these numbers.
 */
import { must } from "../compiler/support/bug.ts";
import { groupBy } from "../compiler/support/group_by.ts";
import { type Doc, flat } from "./doc.ts";
import { safeIdentifier } from "./names.ts";
import type { Declaration } from "./structure.ts";

/** A value that may be declared once, and numbers that its own may come from, by name. */
export interface Shareable {
  readonly value: Doc;
  readonly numbers?: Readonly<Record<string, number>>;
}

/** The values that are there once, to be written where they are used. */
export function onlyOnce(values: readonly Shareable[]): readonly Doc[] {
  return [...groupBy(values, ({ value }) => flat(value)).values()]
    .flatMap(([first, ...others]) => first === undefined || others.length > 0 ? [] : [first.value]);
}

/** How shared values are declared. */
export interface SharedNames {
  /** Of constants; a number follows where there are several. */
  readonly constant: string;
  /** Of functions, likewise; absent where only equal values are shared. */
  readonly function?: string;
  readonly type: Doc;
  /** Names in the module that they must not have. */
  readonly reserved: ReadonlySet<string>;
  /** Names that parameters of functions must not have. */
  readonly taken: ReadonlySet<string>;
}

/** Values that are declared once. */
export interface SharedValues {
  readonly declarations: readonly Declaration[];
  /** What takes the place of a value. */
  readonly refer: (value: Doc) => Doc;
}

/**
 * Declares the values. One that differs from no other in numbers alone becomes a constant, unless it is among `inline`,
 * which are to be written where they are used.
 */
export function shareValues(
  values: readonly Shareable[],
  names: SharedNames,
  inline: readonly Doc[] = [],
): SharedValues {
  const distinct = [...groupBy(values, ({ value }) => flat(value)).values()].map(mergeEqual);
  const alone = new Set(inline.map(flat));
  const references = new Map<string, Doc>();
  const declarations: Declaration[] = [];
  const nameOf = (kind: "const" | "function"): string => {
    const count = declarations.filter((one) => one.kind === kind).length;
    const [base = "", separator] = kind === "const" ? [names.constant, "_"] : [names.function, ""];
    const name = `${base}${count === 0 ? "" : `${separator}${count + 1}`}`;
    return names.reserved.has(name) ? `${name}_` : name;
  };
  const keyOf = names.function === undefined ? flat : skeletonOf;
  for (const alike of groupBy(distinct, ({ value }) => keyOf(value)).values()) {
    const [first] = alike;
    if (first === undefined) continue;
    const key = flat(first.value);
    if (alike.length > 1) {
      const name = nameOf("function");
      const { value, params, rows } = templateOf(alike, names.taken);
      declarations.push({ kind: "function", name, params, type: names.type, value });
      alike.forEach((one, index) => {
        const args = must(rows[index], "numbers").map(String);
        references.set(flat(one.value), { kind: "call", callee: name, args });
      });
    } else if (!alone.has(key)) {
      const name = nameOf("const");
      const type = flat(names.type);
      const { value } = first;
      declarations.push({ kind: "const", name, isExported: false, doc: "", type, value });
      references.set(key, name);
    }
  }
  return { declarations, refer: (value) => references.get(flat(value)) ?? value };
}

/** Equal values as one, with the numbers that all of them have. */
function mergeEqual(equal: readonly Shareable[]): Required<Shareable> {
  const [first, ...others] = equal;
  const { value, numbers = {} } = must(first, "value");
  const common = Object.entries(numbers).filter(([name, number]) =>
    others.every((other) => other.numbers?.[name] === number)
  );
  return { value, numbers: Object.fromEntries(common) };
}

/** An integer that is no part of a name or of another number. */
const INTEGER = /(?<![\w$.])\d+(?![\w.])/g;

function isLiteral(leaf: string): boolean {
  return leaf.startsWith('"');
}

function skeletonOf(value: Doc): string {
  return flat(mapLeaves(value, (leaf) => leaf.replaceAll(INTEGER, "#")));
}

function integersOf(value: Doc): readonly number[] {
  const integers: number[] = [];
  mapLeaves(value, (leaf) => {
    integers.push(...(leaf.match(INTEGER) ?? []).map(Number));
    return leaf;
  });
  return integers;
}

interface Template {
  readonly value: Doc;
  readonly params: readonly string[];
  /** By value: the arguments. */
  readonly rows: readonly (readonly number[])[];
}

/** The numbers of one place in each of the values. */
type Column = readonly number[];

/** How a column follows from another one. */
const DERIVATIONS = [
  { of: (n: number) => n - 1, print: (name: string) => `${name} - 1` },
  { of: (n: number) => n + 1, print: (name: string) => `${name} + 1` },
  { of: (n: number) => n * n, print: (name: string) => `${name} * ${name}` },
] as const;

/** One parameter for all places whose numbers are the same in every value. */
function templateOf(values: readonly Required<Shareable>[], taken: ReadonlySet<string>): Template {
  const rows = values.map(({ value }) => integersOf(value));
  const first = must(rows[0], "value");
  const columns = first.map((_, place): Column => rows.map((row) => must(row[place], "number")));
  const params = new Parameters(columns, values, taken);
  const holes = columns.map((column) =>
    column.every((number) => number === column[0]) ? undefined : params.nameOf(column)
  );
  let place = 0;
  const value = mapLeaves(must(values[0], "value").value, (leaf) => {
    const pieces = leaf.replaceAll(INTEGER, (integer) => {
      const name = holes[place++];
      if (name === undefined) return integer;
      return isLiteral(leaf) ? `\0${name}\0` : name;
    });
    return pieces.includes("\0") ? templateLiteral(pieces) : pieces;
  });
  const { given, derived } = params;
  return {
    value,
    params: [
      ...[...given].map(([name]) => `${name}: number`),
      ...[...derived].map(([name, { expression }]) => `${name} = ${expression}`),
    ],
    rows: values.map((_, index) =>
      [...given].map(([, column]) => must(column[index], "number of a value"))
    ),
  };
}

/** The parameters of a function, found column by column. */
class Parameters {
  /** By name: what callers pass. */
  readonly given = new Map<string, Column>();
  /** By name: what follows from that. */
  readonly derived = new Map<string, { readonly column: Column; readonly expression: string }>();
  readonly #all: readonly Column[];
  readonly #hints: ReadonlyMap<string, Column>;
  readonly #letters: string[];

  constructor(
    all: readonly Column[],
    values: readonly Required<Shareable>[],
    taken: ReadonlySet<string>,
  ) {
    this.#all = all;
    const names = Object.keys(must(values[0], "value").numbers);
    const hints = new Map<string, Column>();
    for (const name of names) {
      const column = values.flatMap(({ numbers }) => numbers[name] ?? []);
      const local = safeIdentifier(name.toLowerCase());
      if (column.length === values.length && !taken.has(local)) hints.set(local, column);
    }
    this.#hints = hints;
    this.#letters = [..."abcdefghijklmnopqrstuvwxyz"].filter((letter) =>
      !taken.has(letter) && !hints.has(letter)
    );
  }

  /** The parameter with these numbers; a new one where there is none yet. */
  nameOf(column: Column): string {
    for (const [name, known] of [...this.given, ...this.#hints]) {
      if (!isEqual(known, column)) continue;
      this.given.set(name, column);
      return name;
    }
    for (const [name, known] of this.derived) if (isEqual(known.column, column)) return name;
    for (const [base, from] of [...this.given, ...this.#hints]) {
      for (const { of, print } of DERIVATIONS) {
        if (!isEqual(from.map(of), column)) continue;
        this.given.set(base, from);
        return this.#derive(column, print(base));
      }
    }
    const next = column.map((number) => number + 1);
    if (this.#all.some((other) => isEqual(other, next))) {
      return this.#derive(column, `${this.nameOf(next)} - 1`);
    }
    const name = this.#newName();
    this.given.set(name, column);
    return name;
  }

  #derive(column: Column, expression: string): string {
    const name = this.#newName();
    this.derived.set(name, { column, expression });
    return name;
  }

  #newName(): string {
    return this.#letters.shift() ?? `a${this.given.size + this.derived.size}`;
  }
}

function isEqual(a: Column, b: Column): boolean {
  return a.every((number, index) => number === b[index]);
}

/** A string literal with names between NULs in it. */
function templateLiteral(literal: string): string {
  const body = literal.slice(1, -1).replaceAll('\\"', '"').replaceAll("`", "\\`")
    .replaceAll("${", "\\${");
  return `\`${body.replaceAll(/\0(\w+)\0/g, (_, name: string) => `\${${name}}`)}\``;
}

/** The value with other leaves: expressions that are never broken. */
function mapLeaves(doc: Doc, map: (leaf: string) => string): Doc {
  if (typeof doc === "string") return map(doc);
  const visit = (inner: Doc): Doc => mapLeaves(inner, map);
  switch (doc.kind) {
    case "object": {
      const entries = doc.entries.map(({ key, value }) => ({ key, value: visit(value) }));
      return { ...doc, entries };
    }
    case "array":
      return { ...doc, items: doc.items.map(visit) };
    case "call":
      return { ...doc, args: doc.args.map(visit) };
    case "chain": {
      const rest = doc.rest.map((link) => ({ ...link, operand: visit(link.operand) }));
      return { ...doc, first: visit(doc.first), rest };
    }
    case "parens":
      return { ...doc, inner: visit(doc.inner) };
    case "conditional": {
      const test = visit(doc.test);
      const then = visit(doc.then);
      return { ...doc, test, then, otherwise: visit(doc.otherwise) };
    }
    case "arrow":
      return { ...doc, body: visit(doc.body) };
    case "packed":
    case "satisfies":
    case "generic":
    case "union":
      return doc;
  }
}
