import { assertEquals } from "../../support/assert.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { infer, type Inferred } from "../../../compiler/contract/infer.ts";
import { printExpr } from "../../../compiler/contract/expr.ts";

const INDICES = `
  %10: int32 = program_id 0
  %11: int32 = constant 64
  %12: int32 = mul %10, %11
  %13: int32[64] = range 0
  %14: int32[64] = splat %12
  %15 rm: int32[64] = add %14, %13
  %20: int32 = program_id 1
  %21: int32 = constant 32
  %22: int32 = mul %20, %21
  %23: int32[32] = range 0
  %24: int32[32] = splat %22
  %25 rn: int32[32] = add %24, %23
  %30: int32[64, 1] = expand_dims %15 {axis = 1}
  %31: int32[64, 1] = splat %4
  %32: int32[64, 1] = mul %30, %31
  %33: int32[64, 32] = broadcast %32
  %34: int32[1, 32] = expand_dims %25 {axis = 0}
  %35: int32[64, 32] = broadcast %34
  %36: float32*[64, 32] = splat %0
  %37: float32*[64, 32] = offset %36, %33
  %38: float32*[64, 32] = offset %37, %35
  %40: int32[1, 64] = expand_dims %15 {axis = 0}
  %41: int32[32, 64] = broadcast %40
  %42: int32[32, 1] = expand_dims %25 {axis = 1}
  %43: int32[32, 1] = splat %5
  %44: int32[32, 1] = mul %42, %43
  %45: int32[32, 64] = broadcast %44
  %46: float32*[32, 64] = splat %1
  %47: float32*[32, 64] = offset %46, %41
  %48: float32*[32, 64] = offset %47, %45`;

const HEAD = "func @transpose(%0 X: float32*, %1 Y: float32*, %2 M: int32, %3 N: int32, %4 ldx: int32, %5 ldy: int32) {";

export const PLAIN = `${HEAD}${INDICES}
  %50: float32[64, 32] = load %38 {modifiers = []}
  %51: float32[32, 64] = permute %50 {order = [1, 0]}
  store %48, %51 {modifiers = []}
  return
}
`;

export const MASKED = `${HEAD}${INDICES}
  %60: int32[64, 1] = splat %2
  %61: bool[64, 1] = lt %30, %60
  %62: bool[64, 32] = broadcast %61
  %63: int32[1, 32] = splat %3
  %64: bool[1, 32] = lt %34, %63
  %65: bool[64, 32] = broadcast %64
  %66: bool[64, 32] = and %62, %65
  %67: bool[32, 64] = permute %66 {order = [1, 0]}
  %50: float32[64, 32] = load %38, %66 {modifiers = []}
  %51: float32[32, 64] = permute %50 {order = [1, 0]}
  store %48, %51, %67 {modifiers = []}
  return
}
`;

function show(inferred: Inferred): unknown {
  const known = inferred.grid.every((axis) => axis !== undefined);
  const bounds = inferred.bounds((axis) => known ? inferred.grid[axis]?.expr : undefined);
  return {
    grid: inferred.grid.map((axis) => axis && printExpr(axis.expr)),
    access: Object.fromEntries([...inferred.access].map(([name, { access }]) => [name, access])),
    tensors: inferred.tensors.map(({ param, axes }) =>
      `${param}[${axes.map((axis) => axis.extent ? printExpr(axis.extent) : "?").join(", ")}] strides [${
        axes.map((axis) => printExpr(axis.stride)).join(", ")
      }]`
    ),
    shaping: [...inferred.shaping],
    ranges: bounds.ranges.map(({ param, first, last }) => `${param}: ${printExpr(first)} .. ${printExpr(last)}`),
    requires: bounds.requires.map(({ text }) => text),
  };
}

Deno.test("infer() reads grid, tensors and ranges from the masks of a transposition", () => {
  assertEquals(show(infer(parseFunc(MASKED))), {
  });
});

Deno.test("infer() leaves the grid of an unmasked transposition to the caller", () => {
  assertEquals(show(infer(parseFunc(PLAIN))), {
  });
});
