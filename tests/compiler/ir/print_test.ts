import fc from "../../support/property.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { printFunc } from "../../../compiler/ir/print.ts";
import { CompilerBug } from "../../../compiler/support/bug.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { randomFunc } from "../../support/compiler/random_func.ts";

function assertReadsBack(text: string): void {
  assertEquals(printFunc(parseFunc(text)), text);
}

Deno.test("printFunc() and parseFunc() undo each other on random functions", () => {
  fc.assert(
    fc.property(fc.nat(100_000), (seed) => assertReadsBack(printFunc(randomFunc(seed, 15)))),
    { numRuns: 50 },
  );
});

Deno.test("parseFunc() reads parameters with facts, pointers of all kinds and tiles", () => {
  assertReadsBack(`\
func @f(%0 X: float32* {multipleof = 16, noalias, readonly}, %1: int8 constant*, %2: void*, %3: float64** {writeonly}) {
  %4 r: int32[64] = range 0
  %5: float32*[64] = splat %0
  %6: float32*[64] = offset %5, %4
  %7: float32[64] = load %6 {modifiers = ["cg", "volatile"]}
  store %6, %7
  return
}
`);
});

Deno.test("parseFunc() reads every kind of number", () => {
  assertReadsBack(`\
func @f() {
  %0: int32 = constant -7
  %1: uint64 = constant 18446744073709551615
  %2: bool[2] = constant 1
  %3: float32 = constant 3.0
  %4: float32 = constant -0.0
  %5: float64 = constant 1e+300
  %6: float64 = constant 5e-324
  %7: float32 = constant nan
  %8: float32 = constant inf
  %9: float32 = constant -inf
  return
}
`);
});

Deno.test("parseFunc() reads nested control with region parameters", () => {
  assertReadsBack(`\
func @f(%0 n: int32, %1 c: bool) {
  %2: int32 = constant 0
  %3 i: int32, %4: bool = while %2, %1 (%5 i: int32, %6: bool) {
    %7: bool = lt %5, %0
    condition %7, %5, %6
  } (%8 i: int32, %9: bool) {
    %10: int32 = if %9 {
      yield %8
    } {
      %11: int32 = add %8, %0
      yield %11
    }
    if %9 {
      barrier
      yield
    } {
      yield
    }
    yield %10, %9
  }
  return
}
`);
});

Deno.test("parseFunc() reads layouts", () => {
  assertReadsBack(`\
#l0 = [4, 64] register(b0 b1) lane(b2 b3 b4 b5 a0) warp(a1^b0 -)
#l1 = [64] register() lane(a0 a1 a2 a3 a4) warp(a5 -)
func @f(%0: float32) {
  %1: float32[4, 64] #l0 = splat %0
  %2: float32[64] #l1 = reduce %1 {axis = 0, operator = "add"}
  return
}
`);
});

Deno.test("parseFunc() names the line of a mistake", () => {
  const cases: [string, string][] = [
    [
      "func @f() {\n  %0: int32 = frobnicate\n}",
      "line 2: expected an operation, found `frobnicate`",
    ],
    ["func @f() {\n  store %0, %1\n}", "line 2: expected a defined value, found `%0`"],
    ["func @f(%0: int33) {\n}", "line 1: expected an element type, found `int33`"],
    ["func @f(%0: int8, %0: int8) {\n}", "defined already"],
    ["func @f() {\n  return", "line 2: expected word, found ``"],
    ["func @f() ?", "line 1: stray `?`"],
  ];
  for (const [text, message] of cases) assertThrows(() => parseFunc(text), CompilerBug, message);
});

Deno.test("parseFunc() reads buffers in shared memory and the operations on them", () => {
  assertReadsBack(`\
#s0 = [8, 4] offset(b0 b1 a0^b1 a1 a2) vector(4)
#l0 = [8, 4] register(b0 b1) lane(a0 a1 a2 - -) warp()
#l1 = [8, 2] register(b0) lane(a0 a1 a2 - -) warp()
func @f(%0: float32, %1: bool, %2: float32*) shared(512) {
  %3: float32[8, 4] shared #s0 = shared_buffer {slots = 3, slot_bytes = 128, offset = 0, exclusive = true, address = 128}
  %4: int32 = constant 0
  %5: float32[8, 4] #l0 = splat %0
  %6: float32*[8, 4] #l0 = splat %2
  local_store %5, %3, %4
  barrier
  async_copy %6, %3, %4, %1, %1 {part = 0, parts = 1}
  commit_group
  wait_group 1
  barrier
  %7: float32[8, 4] #l0 = local_load %3, %4 {access = "vectors"}
  %8: float32[8, 2] #l1 = local_load_slice %3, %4 {access = "vectors", slice = 1}
  return
}
`);
});

Deno.test("parseFunc() reads tensor maps, with and without boxes", () => {
  assertReadsBack(`\
func @f(%0 A: float16*, %1 lda: int32, %2 k: int32) map(A float16 "k" "1" 1, "(* k 2)" "lda" 0, "3" "(+ k (max lda 8))" -) map(A float16 "k" "1" 0 box [64] swizzle 128) map(A float16 "k" "1" 0 runs 32) map(A float16 "k" "1" 1 runs 16, "k" "lda" 0 windows "(- 0 lda)" "k" "2", "k" "8" -) {
  %3: float16[64, 32] = tensor_load %0, %2, %1, %2 {map = 0}
  %4: float16[64] = tensor_load %0, %2 {map = 1}
  %5: float16[64] = tensor_load %0, %1, %2 {map = 2}
  %6: float16[64, 32] = tensor_load %0, %1, %2, %1, %2, %1, %2 {map = 3}
  return
}
`);
});
