/** What is asked about masks against all of their elements: a yes must hold for each of them. */
import fc from "../../support/property.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { runFunc, type Tile } from "../../support/compiler/tile_interpreter.ts";
import { certainly } from "../../../compiler/tile/certainty.ts";
import { ScalarOps } from "../../../compiler/tile/scalar_ops.ts";
import {
  type Attrs,
  type Func,
  newFunc,
  newOp,
  newValue,
  type Value,
} from "../../../compiler/ir/func.ts";
import { resultOf } from "../../../compiler/ir/op.ts";
import type { TileOp } from "../../../compiler/ir/ops.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import type { Element } from "../../../compiler/ir/types.ts";
import { intRange } from "../../../compiler/support/arith.ts";
import { must } from "../../../compiler/support/bug.ts";

const SPAN = { file: { name: "<mask>", text: "" }, start: 0, end: 0 };
const SHAPE = [8, 4];
const INTS = ["int32", "uint32", "int64"] as const;
type Int = (typeof INTS)[number];

/** Scalars of which sums wrap around, or nearly. */
function edgesOf(element: Int): readonly bigint[] {
  const [least, most] = intRange(element);
  return [0n, 1n, 3n, 5n, 7n, most, most - 5n, least, least + 4n].concat(
    element === "uint32" ? [] : [-1n, -6n],
  );
}

interface Asked {
  readonly func: Func;
  readonly args: readonly bigint[];
  readonly root: Value;
  readonly wanted: boolean;
  readonly holds: Value | undefined;
}

/** A random mask of comparisons: its function, what is asked of it, and its arguments. */
function randomMask(numbers: readonly number[]): Asked {
  let at = 0;
  const below = (limit: number): number => (numbers[at++ % numbers.length] ?? 0) % limit;
  const pick = <T>(list: readonly T[]): T => must(list[below(list.length)], "choice");
  const func = Object.assign(newFunc("mask"), { params: [] as Value[] });
  const args: bigint[] = [];
  const emit = (
    name: TileOp,
    operands: readonly Value[],
    element: Element,
    shape: readonly number[],
    attrs: Attrs = {},
  ): Value => {
    const op = newOp(func, name, operands, [{ element, shape }], SPAN, attrs as never);
    func.body.ops.push(op);
    return resultOf(op);
  };
  const scalar = (element: Int | "bool"): Value => {
    const param = newValue(func, { element, shape: [] });
    func.params.push(param);
    args.push(element === "bool" ? BigInt(below(2)) : pick(edgesOf(element)));
    return param;
  };
  const index = (element: Int, depth: number): Value => {
    const kind = below(depth === 0 ? 3 : 7);
    switch (kind) {
      case 0:
        return emit("splat", [scalar(element)], element, SHAPE);
      case 1:
      case 2: {
        const extent = must(SHAPE[kind - 1], "extent");
        const lo = pick([0n, 0n, 3n]);
        const line = emit("range", [], element, [extent], { lo });
        const wide = emit("expand_dims", [line], element, kind === 1 ? [8, 1] : [1, 4], {
          axis: 2 - kind,
        });
        return emit("broadcast", [wide], element, SHAPE);
      }
      case 3:
        return emit("constant", [], element, SHAPE, { value: pick(edgesOf(element)) });
      case 4:
        return element === "int64"
          ? emit("convert", [index(pick(["int32", "uint32"]), depth - 1)], element, SHAPE)
          : emit(
            "mul",
            [
              index(element, depth - 1),
              emit("constant", [], element, SHAPE, { value: pick(edgesOf(element)) }),
            ],
            element,
            SHAPE,
          );
      default: {
        const name = kind === 5 ? "add" : "sub";
        return emit(name, [index(element, depth - 1), index(element, depth - 1)], element, SHAPE);
      }
    }
  };
  const mask = (depth: number): Value => {
    const kind = below(depth === 0 ? 2 : 6);
    if (kind === 5) return emit("splat", [scalar("bool")], "bool", SHAPE);
    if (kind === 4) return emit("not", [mask(depth - 1)], "bool", SHAPE);
    if (kind > 1) {
      return emit(kind === 2 ? "and" : "or", [mask(depth - 1), mask(depth - 1)], "bool", SHAPE);
    }
    const element = pick(INTS);
    const name = pick(["lt", "le", "gt", "ge", "lt", "ge", "eq"] as const);
    return emit(name, [index(element, 2), index(element, 2)], "bool", SHAPE);
  };
  const root = mask(2);
  const wanted = below(2) === 0;
  const scalars = new ScalarOps(func, SPAN);
  const holds = certainly(root, wanted, scalars);
  func.body.ops.push(...scalars.ops, newOp(func, "return", [], [], SPAN));
  return { func, args, root, wanted, holds };
}

/** The elements of values of a function. */
function elementsOf(
  func: Parameters<typeof runFunc>[0],
  args: readonly bigint[],
  values: readonly Value[],
): readonly Tile[] {
  const seen = new Map<Value, Tile>();
  runFunc(func, args, {
    memory: new Map(),
    programId: [0],
    rounds: 0,
    observe: (value, tile) => seen.set(value, tile),
  });
  return values.map((value) => must(seen.get(value), "elements"));
}

Deno.test("certainly() says yes only of masks that have the value in all elements", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 2 ** 20 }), { minLength: 20, maxLength: 80 }),
      (numbers) => {
        const { func, args, root, wanted, holds } = randomMask(numbers);
        if (holds === undefined || func.params.includes(holds)) return;
        const [mask, [yes] = []] = elementsOf(func, args, [root, holds]);
        assert(
          yes !== 1n || must(mask, "mask").every((one) => (one === 1n) === wanted),
          `${wanted} of all ${mask}; arguments ${args}`,
        );
      },
    ),
    { numRuns: 2000 },
  );
});

/** row + i >= column + j of an 8 x 4 tile, for columns before a length. */
const CAUSAL = `func @f(%0 row: int32, %1 column: int32, %2 length: int32) {
  %3: int32[8] = range 0
  %4: int32[4] = range 0
  %5: int32[8] = splat %0
  %6: int32[8] = add %5, %3
  %7: int32[4] = splat %1
  %8: int32[4] = add %4, %7
  %9: int32[8, 1] = expand_dims %6 {axis = 1}
  %10: int32[8, 4] = broadcast %9
  %11: int32[1, 4] = expand_dims %8 {axis = 0}
  %12: int32[8, 4] = broadcast %11
  %13: bool[8, 4] = ge %10, %12
  %14: int32[4] = splat %2
  %15: bool[4] = lt %8, %14
  %16: bool[1, 4] = expand_dims %15 {axis = 0}
  %17: bool[8, 4] = broadcast %16
  %18: bool[8, 4] = and %13, %17
  return
}`;

Deno.test("certainly() says yes where the corners of a mask show it", () => {
  const ask = (wanted: boolean, args: readonly bigint[]): unknown => {
    const func = parseFunc(CAUSAL);
    const mask = must(func.body.ops.find(({ name }) => name === "and")?.results[0], "mask");
    const scalars = new ScalarOps(func, SPAN);
    const holds = must(certainly(mask, wanted, scalars), "answer");
    func.body.ops.splice(-1, 0, ...scalars.ops);
    return must(elementsOf(func, args, [holds])[0], "elements")[0];
  };
  assertEquals(ask(true, [3n, 0n, 4n]), 1n);
  assertEquals(ask(true, [2n, 0n, 4n]), 0n);
  assertEquals(ask(true, [3n, 0n, 3n]), 0n);
  // No row sees any column, or there is none.
  assertEquals(ask(false, [0n, 8n, 99n]), 1n);
  assertEquals(ask(false, [0n, 7n, 99n]), 0n);
  assertEquals(ask(false, [100n, 50n, 50n]), 1n);
  // The last rows are negative numbers.
  assertEquals(ask(true, [2n ** 31n - 4n, 5n, 99n]), 0n);
});

Deno.test("certainly() asks once about what several parts of a mask share", () => {
  const levels = Array.from({ length: 11 }, (_, level) => {
    const [mask, left, right] = [4 + 3 * level, 5 + 3 * level, 6 + 3 * level];
    return `  %${left}: bool[8] = and %${mask}, %2
  %${right}: bool[8] = and %${mask}, %3
  %${mask + 3}: bool[8] = or %${left}, %${right}`;
  });
  const func = parseFunc(`func @f(%0 n: int32) {
  %1: int32[8] = range 0
  %40: int32[8] = splat %0
  %2: bool[8] = lt %1, %40
  %3: bool[8] = gt %1, %40
  %4: bool[8] = le %1, %40
${levels.join("\n")}
  return
}
`);
  const scalars = new ScalarOps(func, SPAN);
  const mask = resultOf(must(func.body.ops.at(-2), "mask"));
  assert(certainly(mask, true, scalars) !== undefined);
  assert(scalars.ops.length < 100, `${scalars.ops.length} operations`);
});
