/** Loads of few elements that are spread over a tile: each thread loads its own, and no warp waits for another one. */
import { must } from "../../../../compiler/support/bug.ts";
import type { TargetName } from "../../../../compiler/targets.ts";
import { assertEquals } from "../../../support/assert.ts";
import { compileFile } from "../../../support/compile.ts";
import { emulate, int } from "../../../support/emulate.ts";
import { freshRandom } from "../../../support/random.ts";

const ROWS = 61;
const COLUMNS = 53;
/** Of the tiles. */
const STEPS = 3;

function ptxOf(text: string, target: TargetName = "sm_80"): string {
  const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, { targets: [target] });
  assertEquals(diagnostics.map(({ message }) => message), []);
  return must(kernels[0]?.modules[0], "a module").ptx;
}

const HEAD = `#pragma tri num_warps=4
__global__ void k(const float *X, float *F, float *Y __noalias, int M, int N) {
  int m[64] = 0 ... 64, n[64] = 0 ... 64;`;

const barriers = (ptx: string): number => ptx.match(/\bbar\.sync/g)?.length ?? 0;

Deno.test("filters that a loop spreads over rows need no barrier", () => {
  const ptx = ptxOf(`${HEAD}
  float sum[64, 64] = 0;
  for (int i = 0; i < ${STEPS}; i += 1) {
    float f[64] = *?(n < N) (F + i * N + n);
    sum += *?(m[:, newaxis] < M && n[newaxis, :] < N) (X + (i * M + m)[:, newaxis] * N + n[newaxis, :]) * f[newaxis, :];
  }
  *?(m[:, newaxis] < M && n[newaxis, :] < N) (Y + m[:, newaxis] * N + n[newaxis, :]) = sum;
}`);
  assertEquals(barriers(ptx), 0);
  const random = freshRandom();
  const draw = (length: number): Float32Array =>
    Float32Array.from({ length }, () => (random.below(129) - 64) / 8);
  const [x, f] = [draw(STEPS * ROWS * COLUMNS), draw(STEPS * COLUMNS)];
  const y = new Float32Array(ROWS * COLUMNS).fill(NaN);
  emulate(ptx, { kernel: "k", args: [x, f, y, int(ROWS), int(COLUMNS)], block: [128, 1, 1] });
  // Exact: products of eighths.
  assertEquals(
    [...y],
    Array.from({ length: ROWS * COLUMNS }, (_, at) => {
      let sum = 0;
      for (let i = 0; i < STEPS; i++) {
        sum += (x[i * ROWS * COLUMNS + at] ?? NaN) * (f[i * COLUMNS + at % COLUMNS] ?? NaN);
      }
      return sum;
    }),
  );
});

Deno.test("a store to what all warps have loaded waits for them", () => {
  const ptx = ptxOf(`${HEAD}
  float f[64] = *?(n < N) (F + n);
  *?(m[:, newaxis] < M && n[newaxis, :] < N) (Y + m[:, newaxis] * N + n[newaxis, :]) =
    *?(m[:, newaxis] < M && n[newaxis, :] < N) (X + m[:, newaxis] * N + n[newaxis, :]) * f[newaxis, :];
  *?(n < N) (F + n) = -1;
}`);
  const x = Float32Array.from({ length: ROWS * COLUMNS }, (_, at) => at % 97);
  const f = Float32Array.from({ length: COLUMNS }, (_, at) => at + 2);
  const y = new Float32Array(ROWS * COLUMNS).fill(NaN);
  // The emulator sees races.
  emulate(ptx, {
    kernel: "k",
    args: [x, f, y, int(ROWS), int(COLUMNS)],
    block: [128, 1, 1],
  });
  assertEquals([...y], Array.from(x, (value, at) => value * (at % COLUMNS + 2)));
  assertEquals([...f], Array.from(f, () => -1));
});
