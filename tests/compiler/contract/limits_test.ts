/** What grows without bounds in contracts of unusual programs, and what is claimed there. */
import { assert, assertEquals } from "../../support/assert.ts";
import { apply, param } from "../../../compiler/contract/expr.ts";
import { normalKey, sameExpr } from "../../../compiler/contract/normal.ts";
import type { ContractExpr, KernelContract } from "../../../compiler/contract/types.ts";
import { compileFile } from "../../support/compile.ts";

function contractOf(body: string): KernelContract {
  const text = `__global__ void k(int *p, int n, int m) {\n${body}\n}\n`;
  const { diagnostics, kernels } = compileFile({ name: "k.tc", text }, {
    targets: ["sm_80"],
    checkOnly: true,
  });
  assertEquals(diagnostics, []);
  const [instance] = kernels[0]?.instances ?? [];
  assert(instance !== undefined);
  return instance.contract;
}

const repeat = (times: number, line: (i: number) => string): string =>
  Array.from({ length: times }, (_, i) => line(i)).join("\n");

Deno.test("infer() does not follow products of sums beyond the terms of a polynomial", () => {
  const product = (i: number): string => `a = (a + n) * (a + get_program_id(${i % 3}));`;
  const { ranges, requires } = contractOf(
    `int a[16] = (0 ... 16) + n;\n${repeat(30, product)}\n*(p + a) = a;`,
  );
  assertEquals([ranges, requires], [[], []]);
});

Deno.test("infer() does not follow powers beyond the degree of a polynomial", () => {
  assertEquals(
    contractOf(`int s = n;\n${repeat(40, () => "s = s * s;")}\n*(p + s) = 1;`).ranges,
    [],
  );
});

Deno.test("infer() does not follow quotients of quotients beyond the length of their text", () => {
  const body = `int s = n;\n${repeat(40, (i) => `s = s / m + s % (n + ${i});`)}\n*(p + s) = 1;`;
  assertEquals(contractOf(body).ranges, []);
});

Deno.test("infer() counts observations once, however often a value is added to itself", () => {
  const body = `long b = n;\n${repeat(40, () => "b = b + (long)(int) b;")}\n*(p + b) = 1;`;
  assertEquals(contractOf(body).ranges, []);
});

Deno.test("infer() follows a mask of many comparisons, and takes each once", () => {
  const body = `int a[16] = 0 ... 16;\nbool h[16] = a < n;\n${
    repeat(40, () => "h = h & (h & (a < n));")
  }\n*?(h)(p + a) = 1;`;
  const { ranges } = contractOf(body);
  assertEquals(ranges.map(({ param }) => param), ["p"]);
});

Deno.test("infer() gives no range to a parameter with more ends than are compared", () => {
  const stores = (times: number): string => repeat(times, (i) => `*(p + n * ${i + 1}) = ${i};`);
  assertEquals(contractOf(stores(4)).ranges.map(({ param }) => param), ["p"]);
  assertEquals(contractOf(stores(2000)).ranges, []);
});

Deno.test("normalKey() keeps the text of what is too large for a polynomial", () => {
  const factor = (i: number): ContractExpr =>
    apply("+", apply("+", param(`a${i}`), param(`b${i}`)), param(`c${i}`));
  const product = (order: readonly number[]): ContractExpr =>
    order.map(factor).reduce((left, right) => apply("*", left, right));
  assert(sameExpr(product([0, 1]), product([1, 0])));
  const large = Array.from({ length: 30 }, (_, i) => i);
  assert(sameExpr(product(large), product(large)));
  assert(normalKey(product(large)) !== normalKey(product(large.with(0, 99))));
});
