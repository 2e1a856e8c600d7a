import { assert, assertEquals } from "../../support/assert.ts";
import fc from "../../support/property.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { infer, type Inferred } from "../../../compiler/contract/infer.ts";
import { apply, constant, evaluate, param, printExpr } from "../../../compiler/contract/expr.ts";
import { describeAxes } from "../../../compiler/contract/tensors.ts";
import type { AccessRange, ContractExpr } from "../../../compiler/contract/types.ts";
import { type AxisSpec, MASKED_TRANSPOSE, PLAIN_TRANSPOSE, storeKernel } from "./support/ir.ts";

function show(inferred: Inferred): unknown {
  const known = inferred.grid.every((axis) => axis !== undefined);
  const bounds = inferred.bounds((axis) => known ? inferred.grid[axis]?.expr : undefined);
  return {
    grid: inferred.grid.map((axis) => axis && printExpr(axis.expr)),
    access: Object.fromEntries([...inferred.access].map(([name, { access }]) => [name, access])),
    tensors: inferred.tensors.map(({ param, axes }) => param + describeAxes(axes, printExpr)),
    shaping: [...inferred.shaping(new Set())].sort(),
    ranges: bounds.ranges.map(({ param, first, last }) =>
      `${param}: ${printExpr(first)} … ${printExpr(last)}`
    ),
    requires: bounds.requires.map(({ text }) => text),
  };
}

Deno.test("infer() reads everything from the masks of a transposition", () => {
  assertEquals(show(infer(parseFunc(MASKED_TRANSPOSE))), {
    grid: ["cdiv(M, 64)", "cdiv(N, 32)"],
    access: { X: "in", Y: "out" },
    tensors: ["X[M, N] strides [ldx, 1]", "Y[N, M] strides [ldy, 1]"],
    shaping: ["M", "N", "ldx", "ldy"],
    ranges: [
      "X: min(0, (M - 1) * ldx) … max(0, (M - 1) * ldx) + (N - 1)",
      "Y: min(0, (N - 1) * ldy) … M - 1 + max(0, (N - 1) * ldy)",
    ],
    requires: [
      "-2147483648 <= (M - 1) * ldx && (M - 1) * ldx <= 2147483647",
      "-2147483648 <= (N - 1) * ldy && (N - 1) * ldy <= 2147483647",
    ],
  });
});

Deno.test("infer() demands that numbers of programs that are divided do not wrap", () => {
  const divided = (grid: ContractExpr): readonly string[] => {
    const func = parseFunc(`func @f(%0 X: float32*, %1 m: int32) {
  %2: int32 = program_id 0
  %3: int32 = constant 1024
  %4: int32 = mul %2, %3
  %5: int32[1024] = splat %4
  %6: int32[1024] = range 0
  %7: int32[1024] = add %5, %6
  %8: int32[1024] = splat %1
  %9: int32[1024] = rem %7, %8
  %10: float32*[1024] = splat %0
  %11: float32*[1024] = offset %10, %9
  %12: float32[1024] = constant 1.5
  store %11, %12
  return
}
`);
    const bounds = infer(func).bounds(() => grid);
    return bounds.requires.map(({ text }) => text);
  };
  assertEquals(divided(param("m")), ["1024 * grid[0] - 1 <= 2147483647"]);
  assertEquals(divided(apply("cdiv", param("m"), constant(1024))), []);
});

Deno.test("infer() leaves grid and extents of an unmasked transposition open, but not its ranges", () => {
  assertEquals(show(infer(parseFunc(PLAIN_TRANSPOSE))), {
    grid: [undefined, undefined],
    access: { X: "in", Y: "out" },
    tensors: ["X[?, ?] strides [ldx, 1]", "Y[?, ?] strides [ldy, 1]"],
    shaping: ["ldx", "ldy"],
    ranges: [
      "X: min(0, (64 * grid[0] - 1) * ldx) … max(0, (64 * grid[0] - 1) * ldx) + (32 * grid[1] - 1)",
      "Y: min(0, (32 * grid[1] - 1) * ldy) … 64 * grid[0] - 1 + max(0, (32 * grid[1] - 1) * ldy)",
    ],
    requires: [
      "-2147483648 <= (64 * grid[0] - 1) * ldx && (64 * grid[0] - 1) * ldx <= 2147483647",
      "32 * grid[1] - 1 <= 2147483647",
      "64 * grid[0] - 1 <= 2147483647",
      "-2147483648 <= (32 * grid[1] - 1) * ldy && (32 * grid[1] - 1) * ldy <= 2147483647",
    ],
  });
});

Deno.test("infer() sees a vector in one dimension, and shl for mul", () => {
  const text = `func @add(%0 X: float16*, %1 Z: float16*, %2 N: uint32) {
  %3: int32 = program_id 0
  %4: int32 = constant 10
  %5: int32 = shl %3, %4
  %6: int32[1024] = splat %5
  %7: int32[1024] = range 0
  %8: int32[1024] = add %6, %7
  %9: uint32[1024] = convert %8
  %10: uint32[1024] = splat %2
  %11: bool[1024] = lt %9, %10
  %12: float16*[1024] = splat %0
  %13: float16*[1024] = offset %12, %8
  %14: float16[1024] = load %13, %11 {modifiers = []}
  %15: float16*[1024] = splat %1
  %16: float16*[1024] = offset %15, %8
  store %16, %14, %11 {modifiers = []}
  return
}
`;
  assertEquals(show(infer(parseFunc(text))), {
    grid: ["cdiv(N, 1024)"],
    access: { X: "in", Z: "out" },
    tensors: ["X[N] strides [1]", "Z[N] strides [1]"],
    shaping: ["N"],
    ranges: ["X: 0 … N - 1", "Z: 0 … N - 1"],
    // N may be up to 2^32 - 1, but the index is an int.
    requires: ["N - 1 <= 2147483647"],
  });
});

Deno.test("infer() assumes nothing of an address that is loaded", () => {
  const text = `func @chase(%0 X: float32*, %1 I: int32*) {
  %2: int32 = load %1 {modifiers = []}
  %3: float32* = offset %0, %2
  %4: float32 = constant 1.0
  store %3, %4 {modifiers = []}
  return
}
`;
  assertEquals(show(infer(parseFunc(text))), {
    grid: [],
    access: { I: "in", X: "out" },
    tensors: [],
    shaping: [],
    ranges: ["I: 0 … 0"],
    requires: [],
  });
});

Deno.test("infer() leaves the grid to kernels that ask for its extent", () => {
  const text = `func @stride(%0 X: float32*) {
  %1: int32 = program_id 0
  %2: int32 = num_programs 0
  %3: int32 = mul %1, %2
  %4: float32* = offset %0, %3
  %5: float32 = constant 1.0
  store %4, %5 {modifiers = []}
  return
}
`;
  assertEquals(infer(parseFunc(text)).grid, [undefined]);
});

// ---- properties -----------------------------------------------------------------------------------------

const axisSpec: fc.Arbitrary<AxisSpec> = fc.record({
  tileLog2: fc.integer({ min: 0, max: 2 }),
  stride: fc.constantFrom<AxisSpec["stride"]>("s0", "s1", 1, 3, -2),
  mask: fc.constantFrom<AxisSpec["mask"]>("none", "lt", "le", "gt-swapped", "window"),
});

interface Launch {
  readonly values: Readonly<Record<string, number>>;
  readonly grid: readonly [number, number];
}

const launch: fc.Arbitrary<Launch> = fc.record({
  values: fc.record({
    s0: fc.integer({ min: -4, max: 9 }),
    s1: fc.integer({ min: -4, max: 9 }),
    n0: fc.integer({ min: 0, max: 9 }),
    n1: fc.integer({ min: 0, max: 9 }),
  }),
  grid: fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 })),
});

/** All offsets that the kernel of `storeKernel` touches, by running its meaning. */
function touchedOffsets(
  axes: readonly [AxisSpec, AxisSpec],
  constant: number,
  { values, grid }: Launch,
): number[] {
  const indices = axes.map(({ tileLog2, mask }, axis) => {
    const all = Array.from({ length: (grid[axis] ?? 0) * 2 ** tileLog2 }, (_, index) => index);
    const bound = values[`n${axis}`] ?? 0;
    return all.filter((index) => {
      if (mask === "none") return true;
      if (mask === "le") return index <= bound;
      return index < bound && (mask !== "window" || index >= 2);
    });
  });
  const stride = (axis: 0 | 1): number => {
    const spec = axes[axis].stride;
    return typeof spec === "number" ? spec : values[spec] ?? 0;
  };
  return (indices[0] ?? []).flatMap((i) =>
    (indices[1] ?? []).map((j) => i * stride(0) + j * stride(1) + constant)
  );
}

function evaluateRange(
  range: AccessRange,
  { values, grid }: Launch,
): { first: bigint; last: bigint } {
  const environment = { param: (name: string) => values[name], grid: (axis: number) => grid[axis] };
  return { first: evaluate(range.first, environment), last: evaluate(range.last, environment) };
}

Deno.test("infer() claims a range that holds every element a launch touches", () => {
  fc.assert(
    fc.property(
      fc.tuple(axisSpec, axisSpec),
      fc.integer({ min: -3, max: 3 }),
      launch,
      (axes, constant, at) => {
        const { ranges } = infer(parseFunc(storeKernel(axes, constant))).bounds(() => undefined);
        const offsets = touchedOffsets(axes, constant, at);
        const [range] = ranges;
        assert(range !== undefined);
        if (offsets.length === 0) return;
        const { first, last } = evaluateRange(range, at);
        assert(first <= BigInt(Math.min(...offsets)), "first is too large");
        assert(last >= BigInt(Math.max(...offsets)), "last is too small");
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("infer() claims exactly what masked and unmasked stores touch on any grid", () => {
  const plain = axisSpec.filter(({ mask }) => mask !== "window");
  fc.assert(
    fc.property(fc.tuple(plain, plain), launch, (axes, at) => {
      const [a, b] = axes;
      fc.pre(a.stride !== b.stride);
      const { ranges } = infer(parseFunc(storeKernel(axes, 0))).bounds(() => undefined);
      const offsets = touchedOffsets(axes, 0, at);
      fc.pre(offsets.length > 0);
      const [range] = ranges;
      assert(range !== undefined);
      assertEquals(evaluateRange(range, at), {
        first: BigInt(Math.min(...offsets)),
        last: BigInt(Math.max(...offsets)),
      });
    }),
    { numRuns: 500 },
  );
});

Deno.test("infer() claims exactly what the masked transposition touches on the grid it infers", () => {
  const inferred = infer(parseFunc(MASKED_TRANSPOSE));
  const { ranges } = inferred.bounds((axis) => inferred.grid[axis]?.expr);
  const size = fc.integer({ min: 1, max: 200 });
  fc.assert(fc.property(size, size, size, size, (M, N, ldx, ldy) => {
    const at: Launch = { values: { M, N, ldx, ldy }, grid: [Math.ceil(M / 64), Math.ceil(N / 32)] };
    assertEquals(ranges.map((range) => evaluateRange(range, at)), [
      { first: 0n, last: BigInt((M - 1) * ldx + N - 1) },
      { first: 0n, last: BigInt((N - 1) * ldy + M - 1) },
    ]);
  }));
});

Deno.test("infer() demands no range of accesses in a branch or loop, only of those that every launch makes", () => {
  const text = `func @branch(%0 X: float32*, %1 Y: float32*, %2 N: int32) {
  %3: int32 = program_id 0
  %4: int32 = mul %3, %2
  %5: float32* = offset %0, %4
  %6: float32 = load %5 {modifiers = []}
  %7: bool = lt %3, %2
  if %7 {
    %8: float32* = offset %1, %4
    store %8, %6 {modifiers = []}
    yield
  } {
    yield
  }
  return
}
`;
  const inferred = infer(parseFunc(text));
  assertEquals(inferred.bounds(() => undefined).ranges.map(({ param }) => param), ["X"]);
  assertEquals([...inferred.access.keys()], ["X", "Y"]);
});
