import fc from "../../support/property.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { newFunc, newOp, newValue } from "../../../compiler/ir/func.ts";
import type { Element } from "../../../compiler/ir/types.ts";
import { type DotLayouts, dotLayouts } from "../../../compiler/layout/dot.ts";
import { contains, spaceOf } from "../../../compiler/linear/f2.ts";
import { elementAt, type LinearLayout, product } from "../../../compiler/linear/linear.ts";
import { unflatten } from "../../support/compiler/tile_index.ts";
import { MMA } from "../../../compiler/layout/mma.ts";
import { ALL_TARGETS, type TargetName, TARGETS } from "../../../compiler/targets.ts";

interface Case {
  readonly target: TargetName;
  readonly element: Element;
  readonly sum: Element;
  readonly shape: readonly [m: number, n: number, k: number, batch: number];
  readonly numWarps: number;
  readonly chained: boolean;
}

const alongK = [true, true] as const;

function layoutsFor(
  { target, element, sum, shape: [m, n, k, q], numWarps, chained }: Case,
): DotLayouts {
  const func = newFunc("f");
  const operands = [[m, k, q], [k, n, q], [m, n, q]].map((shape, i) =>
    newValue(func, { element: i < 2 ? element : sum, shape })
  );
  const span = { file: { name: "", text: "" }, start: 0, end: 0 };
  const op = newOp(func, "dot", operands, [{ element: sum, shape: [m, n, q] }], span, {
    mode: "ieee",
  });
  const layouts = dotLayouts(op, numWarps, ALL_TARGETS[target], {
    chained,
    alongK,
    inWords: true,
    isMade: false,
    computedLeft: undefined,
  });
  // A product with a layout keeps it, chained or not.
  const laidOut = newOp(
    func,
    "dot",
    operands,
    [{ element: sum, shape: [m, n, q], layout: layouts.result }],
    span,
    { mode: "ieee" },
  );
  assertEquals(
    dotLayouts(laidOut, numWarps, ALL_TARGETS[target], {
      chained: !chained,
      alongK,
      inWords: true,
      isMade: false,
      computedLeft: undefined,
    }),
    layouts,
  );
  return layouts;
}

const power = (max: number): fc.Arbitrary<number> =>
  fc.integer({ min: 0, max }).map((bits) => 2 ** bits);
const anyCase: fc.Arbitrary<Case> = fc.record({
  target: fc.constantFrom(...(Object.keys(TARGETS) as TargetName[])),
  types: fc.constantFrom<readonly [Element, Element]>(
    ["float16", "float32"],
    ["bfloat16", "float32"],
    ["float32", "float32"],
    ["float64", "float64"],
    ["int8", "int32"],
    ["float8e4", "float32"],
  ),
  shape: fc.tuple(power(7), power(7), power(6), power(2)),
  numWarps: fc.constantFrom(1, 2, 4, 8, 16),
  chained: fc.boolean(),
}).map(({ types: [element, sum], ...rest }) => ({ element, sum, ...rest }));

/** Every element is held somewhere. */
function isComplete(layout: LinearLayout): boolean {
  return spaceOf([...layout.register, ...layout.lane, ...layout.warp]).size ===
    Math.log2(product(layout.shape));
}

Deno.test("dotLayouts() holds every element of operands and result, on any number of warps", () => {
  fc.assert(fc.property(anyCase, (one) => {
    const { a, b, result } = layoutsFor(one);
    assert(isComplete(a) && isComplete(b) && isComplete(result));
    assertEquals([a, b, result].map(({ lane }) => lane.length), [5, 5, 5]);
    const warpBits = Math.log2(one.numWarps);
    assertEquals([a, b, result].map(({ warp }) => warp.length), [warpBits, warpBits, warpBits]);
  }));
});

Deno.test("dotLayouts() gives every warp the whole rows of a and columns of b that it multiplies", () => {
  fc.assert(fc.property(anyCase, (one) => {
    const { a, b, result } = layoutsFor(one);
    const inWarp = (layout: LinearLayout): ReturnType<typeof spaceOf> =>
      spaceOf([...layout.register, ...layout.lane]);
    const [spaceA, spaceB] = [inWarp(a), inWarp(b)];
    const [m, n, k, q] = one.shape;
    for (let warp = 0; warp < one.numWarps; warp++) {
      const [row = 0, column = 0, batch = 0] = unflatten(
        elementAt(result, 0, 0, warp),
        result.shape,
      );
      for (let depth = 0; depth < k; depth++) {
        const [atA, atB] = [(row * k + depth) * q + batch, (depth * n + column) * q + batch];
        assert(contains(spaceA, atA ^ elementAt(a, 0, 0, warp)), `a[${row}, ${depth}] of ${m}`);
        assert(contains(spaceB, atB ^ elementAt(b, 0, 0, warp)), `b[${depth}, ${column}]`);
      }
    }
  }));
});

Deno.test("MMA has a fragment for every element of every instruction, and a row for every name of a target", () => {
  for (const { name, m, n, k, a, b, c } of MMA) {
    const sizes = [[a, m * k], [b, k * n], [c, m * n]] as const;
    for (const [{ register, lane }, size] of sizes) {
      const vectors = [...register, ...lane].map(([row, column]) => row * 256 + column);
      assertEquals(2 ** spaceOf(vectors).size, size, name);
    }
  }
  const names = new Set<string>(MMA.map(({ name }) => name));
  for (const { mma } of Object.values(TARGETS)) {
    for (const name of mma) assert(names.has(name), name);
  }
});

Deno.test("dotLayouts() computes the layouts of equal dots once", () => {
  const one: Case = {
    target: "sm_80",
    element: "float16",
    sum: "float32",
    shape: [16, 16, 16, 1],
    numWarps: 4,
    chained: false,
  };
  assert(layoutsFor(one) === layoutsFor(one));
  assert(layoutsFor(one) !== layoutsFor({ ...one, numWarps: 8 }));
});
