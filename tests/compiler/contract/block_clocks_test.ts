/** What a block of a product costs by the model, and which tiles of the shipped product the model prefers. */
import { evaluate, printExpr } from "../../../compiler/contract/expr.ts";
import type { InstanceInfo } from "../../../compiler/contract/types.ts";
import { compileFile } from "../../../compiler/driver/compile_file.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals } from "../../support/assert.ts";
import { shipped } from "../../support/shipped.ts";

function instancesOf(text: string): readonly InstanceInfo[] {
  const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, {
    targets: ["sm_90a"],
    configurations: "all",
    checkOnly: true,
    include: shipped,
  });
  assertEquals(diagnostics.filter(({ severity }) => severity === "error"), []);
  return kernels.flatMap(({ instances }) => instances);
}

/** A product whose loop is `loop`, in tiles of 32 x 32 and of 64 x 64. */
function product(loop: string, step = "pa += 16; pb += 16 * N;"): string {
  return `#pragma tri configs T in {32, 64}; num_warps in {4}
__global__ void k(float *A __noalias, float *B __noalias, float *C __noalias, int *P __noalias, int M, int N, int K) {
  int rm[T] = get_program_id(0) * T + 0 ... T;
  int rn[T] = get_program_id(1) * T + 0 ... T;
  int rk[16] = 0 ... 16;
  float *pa[T, 16] = A + rm[:, newaxis] * K + rk[newaxis, :];
  float *pb[16, T] = B + rk[:, newaxis] * N + rn[newaxis, :];
  float sum[T, T] = 0;
  ${loop} {
    sum += *pa @ *pb;
    ${step}
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;
}

const clocksOf = (text: string): readonly (string | undefined)[] =>
  instancesOf(text).filter(({ specialization }) => specialization.length === 0)
    .map(({ clocks }) => clocks && printExpr(clocks));

Deno.test("blockClocks() counts a loop's iterations, for counters in both directions", () => {
  // Of 32 x 32 sums: 16 * 1024 multiply-adds at 128 a clock, 4096 bytes at 64, 4096 bytes of the result.
  const up = clocksOf(product("for (int k = 0; k < K; k += 16)"));
  assertEquals(up, [
    "1564 + max(cdiv(K, 16), 0) * 184",
    "1756 + max(cdiv(K, 16), 0) * 584",
  ]);
  assertEquals(clocksOf(product("for (int k = K; k > 0; k -= 16)")), up);
});

Deno.test("blockClocks() says nothing where the code does not show how often a loop runs", () => {
  for (
    const loop of [
      "for (int k = 0; k < *P; k += 16)",
      "for (int k = get_program_id(0); k < K; k += 16)",
      "for (int k = 1; k < K; k *= 2)",
    ]
  ) assertEquals(clocksOf(product(loop)), [undefined, undefined], loop);
});

Deno.test("blockClocks() says nothing of kernels without products, and of those with one configuration", () => {
  const copy = `__global__ void k(float *X, float *Y, int N) {
  int i[T] = get_program_id(0) * T + 0 ... T;
  *?(i < N) (Y + i) = *?(i < N) (X + i);
}
`;
  assertEquals(clocksOf(`#pragma tri configs T in {32, 64}; num_warps in {4}\n${copy}`), [
    undefined,
    undefined,
  ]);
  const one = product("for (int k = 0; k < K; k += 16)").replace("{32, 64}", "{32}");
  assertEquals(clocksOf(one), [undefined]);
});

const MULTIPROCESSORS = 132;

Deno.test("the model prefers small tiles for small products of matmul, few rows for few rows, wide tiles for large ones", () => {
  const instances = instancesOf(shipped("matmul.tc").text).filter(({ variant, configuration }) =>
    variant.name === "float16" && configuration?.specialization === "s1"
  );
  const best = (m: number, n: number, k: number): string | undefined => {
    const sizes = new Map([["M", m], ["N", n], ["K", k]]);
    const environment = { param: (name: string): number => must(sizes.get(name), name) };
    const cost = ({ clocks, contract: { grid } }: InstanceInfo): number => {
      const blocks = must(grid, "grid").reduce(
        (all, extent) => all * Number(evaluate(extent, environment)),
        1,
      );
      return Math.ceil(blocks / MULTIPROCESSORS) *
        Number(evaluate(must(clocks, "model"), environment));
    };
    const { bindings } =
      must(instances.toSorted((a, b) => cost(a) - cost(b))[0], "instance").config;
    return `${bindings["MB"]} x ${bindings["NB"]}`;
  };
  assertEquals(best(512, 512, 512), "64 x 64");
  assertEquals(best(1024, 1024, 1024), "64 x 128");
  assertEquals(best(1, 8192, 8192), "16 x 64");
  assertEquals(best(16, 8192, 8192), "16 x 64");
  assertEquals(best(64, 8192, 8192), "64 x 64");
  assertEquals(best(8192, 8192, 8192), "128 x 256");
  assertEquals(best(16384, 16384, 64), "128 x 256");
});
