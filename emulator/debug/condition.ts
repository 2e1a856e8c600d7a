/**
 * Conditions of breakpoints: comparisons, arithmetic and logic over numbers and tiles that the caller finds by name,
 * such as `i == 3 && any(x != x)` or `acc[0, 5] > 1e3`. An operation on a tile acts on each element.
 */

/** A number, or the elements of a tile in row-major order; elements that are not known are NaN. */
export type Quantity =
  | number
  | { readonly shape: readonly number[]; readonly values: ArrayLike<number> };

/** The present value of a name; undefined: nothing. */
export type Lookup = (name: string) => Quantity | undefined;

/** A condition that can be asked many times. */
export interface Condition {
  readonly text: string;
  /** Throws {@linkcode ConditionError} for names that stand for nothing. */
  evaluate(lookup: Lookup): Quantity;
}

/** Why a condition cannot be asked. */
export class ConditionError extends Error {
  override readonly name = "ConditionError";
}

const BINARY: ReadonlyMap<
  string,
  { readonly strength: number; readonly of: (a: number, b: number) => number }
> = new Map(Object.entries({
  "||": { strength: 1, of: (a: number, b: number) => a !== 0 || b !== 0 ? 1 : 0 },
  "&&": { strength: 2, of: (a: number, b: number) => a !== 0 && b !== 0 ? 1 : 0 },
  "==": { strength: 3, of: (a: number, b: number) => a === b ? 1 : 0 },
  "!=": { strength: 3, of: (a: number, b: number) => a !== b ? 1 : 0 },
  "<": { strength: 4, of: (a: number, b: number) => a < b ? 1 : 0 },
  "<=": { strength: 4, of: (a: number, b: number) => a <= b ? 1 : 0 },
  ">": { strength: 4, of: (a: number, b: number) => a > b ? 1 : 0 },
  ">=": { strength: 4, of: (a: number, b: number) => a >= b ? 1 : 0 },
  "+": { strength: 5, of: (a: number, b: number) => a + b },
  "-": { strength: 5, of: (a: number, b: number) => a - b },
  "*": { strength: 6, of: (a: number, b: number) => a * b },
  "/": { strength: 6, of: (a: number, b: number) => a / b },
  "%": { strength: 6, of: (a: number, b: number) => a % b },
}));

const UNARY: ReadonlyMap<string, (a: number) => number> = new Map([
  ["-", (a: number) => -a],
  ["!", (a: number) => a === 0 ? 1 : 0],
]);

const elements = (a: Quantity): number[] => typeof a === "number" ? [a] : Array.from(a.values);

/** Functions of all elements. */
const FUNCTIONS: Readonly<Record<string, (all: readonly number[]) => number>> = {
  any: (all) => all.some((value) => value !== 0) ? 1 : 0,
  all: (all) => all.every((value) => value !== 0) ? 1 : 0,
  min: (all) => all.reduce((a, b) => Math.min(a, b), Infinity),
  max: (all) => all.reduce((a, b) => Math.max(a, b), -Infinity),
  sum: (all) => all.reduce((a, b) => a + b, 0),
  count: (all) => all.filter((value) => value !== 0).length,
};

/** Longer ones would nest too deeply. */
const MOST_CHARACTERS = 1000;

type Node = (lookup: Lookup) => Quantity;

const TOKEN =
  /\s*(?:(0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([%A-Za-z_][\w.]*)|(\|\||&&|[=!<>]=|[-+*/%<>!()[\],]))/y;

/** Reads a condition; throws {@linkcode ConditionError} for what is none. */
export function parseCondition(text: string): Condition {
  if (text.length > MOST_CHARACTERS) {
    throw new ConditionError(`a condition of more than ${MOST_CHARACTERS} characters`);
  }
  const tokens = tokensOf(text);
  let next = 0;
  const peek = (): string | undefined => tokens[next];
  const take = (wanted?: string): string => {
    const token = tokens[next];
    if (token === undefined || (wanted !== undefined && token !== wanted)) {
      const found = token === undefined ? "it ends" : `there is \`${token}\``;
      throw new ConditionError(
        `\`${text}\`: ${found} where ${wanted === undefined ? "a value" : `\`${wanted}\``} must be`,
      );
    }
    next++;
    return token;
  };
  const list = (end: string): Node[] => {
    const nodes = [expression(0)];
    while (peek() === ",") {
      take();
      nodes.push(expression(0));
    }
    take(end);
    return nodes;
  };
  const primary = (): Node => {
    const token = take();
    const unary = UNARY.get(token);
    if (unary !== undefined) {
      const operand = primary();
      return (lookup) => map(operand(lookup), unary);
    }
    if (token === "(") {
      const inner = expression(0);
      take(")");
      return inner;
    }
    if (/^[\d.]/.test(token)) return () => Number(token);
    if (!/^[%A-Za-z_]/.test(token)) {
      throw new ConditionError(`\`${text}\`: there is \`${token}\` where a value must be`);
    }
    if (peek() === "(") {
      const of = Object.hasOwn(FUNCTIONS, token) ? FUNCTIONS[token] : undefined;
      if (of === undefined) {
        const known = Object.keys(FUNCTIONS).join(", ");
        throw new ConditionError(`\`${text}\`: there is no function ${token}; there are ${known}`);
      }
      take();
      const [argument, ...more] = list(")");
      if (argument === undefined || more.length > 0) {
        throw new ConditionError(`\`${text}\`: ${token} has one argument`);
      }
      return (lookup) => of(elements(argument(lookup)));
    }
    const named: Node = (lookup) => {
      const value = lookup(token);
      if (value !== undefined) return value;
      throw new ConditionError(`\`${text}\`: ${token} has no value here`);
    };
    if (peek() !== "[") return named;
    take();
    const indices = list("]");
    return (lookup) => elementOf(text, token, named(lookup), indices.map((node) => node(lookup)));
  };
  const expression = (least: number): Node => {
    let left = primary();
    for (;;) {
      const operator = BINARY.get(peek() ?? "");
      if (operator === undefined || operator.strength <= least) return left;
      take();
      const [a, b] = [left, expression(operator.strength)];
      left = (lookup) => zip(text, a(lookup), b(lookup), operator.of);
    }
  };
  const node = expression(0);
  if (next < tokens.length) {
    throw new ConditionError(`\`${text}\`: there is \`${peek()}\` after its end`);
  }
  return { text, evaluate: node };
}

/** Whether a condition holds: its number, or any element of its tile, is not 0. */
export function holds(quantity: Quantity): boolean {
  return elements(quantity).some((value) => value !== 0);
}

/** Whether a number, or an element of a tile, is not known: unknown ones are NaN, so a NaN counts as unknown too. */
export function isUnknown(quantity: Quantity): boolean {
  return elements(quantity).some(Number.isNaN);
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < end;) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) {
      throw new ConditionError(`\`${text}\`: \`${text.slice(at).trim()}\` cannot be read`);
    }
    tokens.push(found[1] ?? found[2] ?? found[3] ?? "");
  }
  return tokens;
}

function map(a: Quantity, of: (a: number) => number): Quantity {
  if (typeof a === "number") return of(a);
  return { shape: a.shape, values: elements(a).map(of) };
}

function zip(
  text: string,
  a: Quantity,
  b: Quantity,
  of: (a: number, b: number) => number,
): Quantity {
  if (typeof a === "number") return map(b, (each) => of(a, each));
  if (typeof b === "number") return map(a, (each) => of(each, b));
  if (a.shape.length !== b.shape.length || a.shape.some((each, axis) => each !== b.shape[axis])) {
    throw new ConditionError(
      `\`${text}\`: shapes [${a.shape.join(", ")}] and [${b.shape.join(", ")}] differ`,
    );
  }
  return { shape: a.shape, values: elements(a).map((each, i) => of(each, b.values[i] ?? NaN)) };
}

function elementOf(
  text: string,
  name: string,
  tile: Quantity,
  indices: readonly Quantity[],
): number {
  const shape = typeof tile === "number" ? [] : tile.shape;
  if (typeof tile === "number" || shape.length !== indices.length) {
    throw new ConditionError(
      `\`${text}\`: ${name} has ${shape.length} axes, and there are ${indices.length} indices`,
    );
  }
  let at = 0;
  shape.forEach((extent, axis) => {
    const index = indices[axis];
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= extent) {
      throw new ConditionError(
        `\`${text}\`: index ${axis} of ${name} is not an integer from 0 to ${extent - 1}`,
      );
    }
    at = at * extent + index;
  });
  return tile.values[at] ?? NaN;
}
