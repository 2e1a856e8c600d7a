/**
 * Dots of a program that are in no loop, as those of short vectors are. What brings operands into shared memory, and what
 * lets blocks do several programs in turn, is about loops; so in the form with tensor copies such a dot gets one:
 *
 *     sum + load a @ load b    ─▶    while once (sum) { sum + load a @ load b }
 */
import { type Func, newOp, newValue, type Op, type OpOf, type Value } from "../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../ir/op.ts";
import { scalarType } from "../ir/types.ts";
import { replaceUses, walkOps } from "../ir/walk.ts";

const INT32 = scalarType("int32");
const BOOL = scalarType("bool");

/** Whether a function has dots, and all of them are done once by every program. */
export function hasSingleDots({ body }: Func): boolean {
  const own = body.ops.filter(({ name }) => name === "dot").length;
  let all = 0;
  walkOps(body, ({ name }) => all += name === "dot" ? 1 : 0);
  return own > 0 && own === all;
}

/** Gives each dot whose operands both are boxes a loop of one iteration, with their loads. */
export function putInLoops(func: Func): void {
  const dots = func.body.ops.filter((op) => op.name === "dot");
  for (const dot of dots) {
    const { a, b } = operandsOf(dot);
    const inside = [waysTo(a), waysTo(b)];
    if (inside.every((ops) => ops !== undefined)) putInLoop(func, dot, inside.flat());
  }
}

/** A box and how it is permuted, in order; undefined: it is none. */
function waysTo(value: Value): readonly Op[] | undefined {
  const permute = madeBy(value, "permute");
  if (permute !== undefined) {
    const before = waysTo(operandsOf(permute).value);
    return before && [...before, permute];
  }
  const load = madeBy(value, "tensor_load");
  return load && [load];
}

function putInLoop(func: Func, dot: OpOf<"dot">, operands: readonly Op[]): void {
  const { span } = dot;
  const sum = resultOf(dot);
  const after = newValue(func, sum.type);
  if (sum.name !== undefined) after.name = sum.name;
  replaceUses(func, new Map([[sum, after]]));
  const [zero, one] = [0n, 1n].map((value) =>
    newOp(func, "constant", [], [INT32], span, { value })
  );
  if (zero === undefined || one === undefined) return;
  const values = [INT32, sum.type].map((type) => [newValue(func, type), newValue(func, type)]);
  const [[tested, index] = [], [before, added] = []] = values;
  if (tested === undefined || index === undefined || before === undefined || added === undefined) {
    return;
  }
  const test = newOp(func, "lt", [tested, resultOf(one)], [BOOL], span);
  const next = newOp(func, "add", [index, resultOf(one)], [INT32], span);
  const { sum: initial } = operandsOf(dot);
  dot.operands = dot.operands.map((value) => value === initial ? added : value);
  const regions = [
    {
      params: [tested, before],
      ops: [test, newOp(func, "condition", [resultOf(test), tested, before], [], span)],
    },
    {
      params: [index, added],
      ops: [...operands, dot, next, newOp(func, "yield", [resultOf(next), sum], [], span)],
    },
  ];
  const loop = newOp(
    func,
    "while",
    [resultOf(zero), initial],
    [INT32],
    span,
    { single: true },
    regions,
  );
  after.def = loop;
  loop.results.push(after);
  const { body } = func;
  body.ops = body.ops.flatMap((op) =>
    op === dot ? [zero, one, loop] : operands.includes(op) ? [] : [op]
  );
}
