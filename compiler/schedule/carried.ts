/**
 * Values that control flow moves together, by name: what a loop carries from one iteration to the next, or what both
 * ways of a branch give. They are objects and lists of values, such as `{ at: { slot, parity }, state: [a, b] }`, which
 * operations take as one list: field by field, in the order in which the first such object has its fields.
 */
import { loopOf } from "../ir/flow.ts";
import { type Func, newValue, type Op, type OpOf, type Value } from "../ir/func.ts";
import { bug } from "../support/bug.ts";
import { zip } from "../support/zip.ts";

/** Anything made of values alone; a field may be undefined if it always is. */
export type Carried<T> = { readonly [K in keyof T]: Value | Carried<T[K]> | undefined };

/** The same without its type. */
type Node = Value | undefined | readonly Node[] | { readonly [name: string]: Node };

const isValue = (node: object): node is Value => "id" in node;
const isList = (node: object): node is readonly Node[] => Array.isArray(node);

/** The same structure with other values. */
function mapValues<T extends Carried<T>>(values: T, to: (value: Value) => Value): T {
  const mapped = (node: Node): Node => {
    if (node === undefined) return undefined;
    if (isValue(node)) return to(node);
    if (isList(node)) return node.map(mapped);
    return Object.fromEntries(Object.entries(node).map(([name, one]) => [name, mapped(one)]));
  };
  // `mapped` keeps the fields, which its type does not say.
  return mapped(values as Node) as T;
}

/** The values as a list, in the order of `like`. */
export function listOf<T extends Carried<T>>(values: T, like: T = values): Value[] {
  const list = (node: Node, order: Node): Value[] => {
    if (node === undefined && order === undefined) return [];
    if (node === undefined || order === undefined) {
      bug("a value is carried in some iterations only");
    }
    if (isValue(node)) return [node];
    if (isList(node) && isList(order)) return zip(node, order).flatMap(([a, b]) => list(a, b));
    const fields = new Map(Object.entries(node));
    return Object.entries(order).flatMap(([name, one]) => list(fields.get(name), one));
  };
  return list(values as Node, like as Node);
}

/** New values of the same types. */
export const newLike = <T extends Carried<T>>(func: Func, values: T): T =>
  mapValues(values, ({ type }) => newValue(func, type));

/** Gives an operation more results, of these types. */
export function addResults<T extends Carried<T>>(func: Func, op: Op, like: T): T {
  return mapValues(like, ({ type }) => {
    const result = newValue(func, type);
    result.def = op;
    op.results.push(result);
    return result;
  });
}

/** What a loop carries in addition: in its body, and after it. */
interface Carries<T> {
  readonly inBody: T;
  /** Says what the next iteration gets. */
  readonly yields: (values: T) => void;
  readonly results: T;
}

/** Lets a loop carry more values. */
export function carry<const T extends Carried<T>>(
  { func, loop }: { readonly func: Func; readonly loop: OpOf<"while"> },
  initial: T,
): Carries<T> {
  const { test, body, condition, end } = loopOf(loop);
  const [entering, inBody] = [newLike(func, initial), newLike(func, initial)];
  loop.operands.push(...listOf(initial));
  test.params.push(...listOf(entering));
  condition.operands.push(...listOf(entering));
  body.params.push(...listOf(inBody));
  const yields = (values: T): void => {
    end.operands.push(...listOf(values, initial));
  };
  return { inBody, yields, results: addResults(func, loop, initial) };
}
