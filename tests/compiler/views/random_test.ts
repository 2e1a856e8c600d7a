/** Random products: the function with boxes of tensors stores what the one with loads does, where its conditions hold. */
import { evaluate } from "../../../compiler/contract/expr.ts";
import { parseIr } from "../../../compiler/driver/inspect/ir_text.ts";
import { cloneFunc, walkOps } from "../../../compiler/ir/walk.ts";
import { verifyFunc } from "../../../compiler/ir/verify.ts";
import type { Func } from "../../../compiler/ir/func.ts";
import { inspect } from "../../../compiler/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import type { ScalarValue } from "../../../compiler/support/arith.ts";
import { TARGETS } from "../../../compiler/targets.ts";
import { toTensorForm } from "../../../compiler/views/tensor_views.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { freshRandom } from "../../support/random.ts";
import { runFunc } from "../../support/compiler/tile_interpreter.ts";

const random = freshRandom();
const pick = <T>(choices: readonly T[]): T => must(choices[random.below(choices.length)], "choice");

/** A product of 64 x 64 in steps of 16. Each choice is a way in which programs are written. */
function randomProduct(): string {
  // Of floats the right operand lies along k wherever the left one does not: no register is left for both.
  const type = pick(["half", "float"]);
  const aRows = pick([true, false]);
  const bRows = type === "half" || aRows ? pick([true, false]) : false;
  const sum = type === "half" ? "sum += a @ b" : 'sum = dot(a, b, sum, "tf32")';
  const [ra, ca] = aRows ? ["lda", "1"] : ["1", "lda"];
  const [rb, cb] = bRows ? ["ldb", "1"] : ["1", "ldb"];
  const programs = pick([
    "int i = get_program_id(0); int j = get_program_id(1);",
    "int across = (N + 63) / 64; int i = get_program_id(0) / across; int j = get_program_id(0) % across;",
    `int down = (M + 63) / 64; int across = (N + 63) / 64; int pid = get_program_id(0);
  int band = pid / (2 * across); int high = min(down - band * 2, 2);
  int i = band * 2 + pid % (2 * across) % high; int j = pid % (2 * across) / high;`,
  ]);
  const loop = pick([
    { head: "int left = K; left > 0; left -= 16", left: "left", k: "K - left", begin: "0" },
    { head: "int k = 0; k < K; k += 16", left: "K - k", k: "k", begin: "0" },
    { head: "int k = begin; k < K; k += 16", left: "K - k", k: "k", begin: "begin" },
  ]);
  const isMoved = pick([true, false]);
  const at = isMoved ? `(d + ${loop.begin})` : `(d + (${loop.k}))`;
  const masks = (rows: string, depth: string): string => {
    const parts = [pick([rows, ""]), pick([depth, ""])].filter((part) => part !== "");
    return parts.length === 0 ? "" : `?(${parts.join(" && ")})`;
  };
  const maskA = masks("r[:, newaxis] < M", `d[newaxis, :] < ${loop.left}`);
  const maskB = masks("c[newaxis, :] < N", `d[:, newaxis] < ${loop.left}`);
  const shift = pick(["", "64 * first + ", "first + "]);
  const run = pick([0, 8, 32]);
  const rows = run === 0
    ? "i * 64 + 0 ... 64"
    : `clamp(*(T + i * ${64 / run} + part) * ${run}, 0, M) + within`;
  const pointerA = `A + ${shift}r[:, newaxis] * ${ra} + ${at}[newaxis, :] * ${ca}`;
  const pointerB = `B + ${at}[:, newaxis] * ${rb} + c[newaxis, :] * ${cb}`;
  return `#pragma tri config; num_warps=4
__global__ void k(${type} *A __noalias, ${type} *B __noalias, float *C __noalias, int *T __noalias, int M, int N, int K, int lda, int ldb, int first) {
  ${programs}
  unsigned lane[64] = (unsigned[64])(0 ... 64);
  int part[64] = (int[64])(lane / ${run || 64});
  int within[64] = (int[64])(lane % ${run || 64});
  int r[64] = ${rows};
  int c[64] = j * 64 + 0 ... 64;
  int d[16] = 0 ... 16;
  int begin = min(first, (K + 15) / 16) * 16;
  float sum[64, 64] = 0;
  ${isMoved ? `${type} *pa[64, 16] = ${pointerA}; ${type} *pb[16, 64] = ${pointerB};` : ""}
  for (${loop.head}) {
    ${isMoved ? "" : `${type} *pa[64, 16] = ${pointerA}; ${type} *pb[16, 64] = ${pointerB};`}
    ${type} a[64, 16] = *${maskA} pa;
    ${type} b[16, 64] = *${maskB} pb;
    ${sum};
    ${isMoved ? `pa += 16 * ${ca}; pb += 16 * ${rb};` : ""}
  }
  *?(r[:, newaxis] < M && c[newaxis, :] < N) (C + r[:, newaxis] * N + c[newaxis, :]) = sum;
}
`;
}

/** Every byte holds something: small numbers, so that sums are exact. What is stored is kept. */
class Everywhere extends Map<bigint, ScalarValue> {
  override get(address: bigint): ScalarValue {
    return super.get(address) ?? Number((address * 2654435761n >> 9n) % 7n) - 3;
  }
}

const target = TARGETS.sm_90a;
const NAMES = ["M", "N", "K", "lda", "ldb", "first"] as const;

function stored(
  func: Func,
  args: Readonly<Record<string, number>>,
  programId: readonly number[],
): unknown {
  const memory = new Everywhere();
  const addresses: Readonly<Record<string, bigint>> = {
    A: 1n << 40n,
    B: 1n << 42n,
    C: 1n << 44n,
    T: 1n << 46n,
  };
  const values = func.params.map(({ name = "" }) => addresses[name] ?? BigInt(args[name] ?? 0));
  runFunc(func, values, { memory, programId, rounds: 100 });
  return [...memory].sort(([a], [b]) => a < b ? -1 : 1);
}

/** Loads of operands; those of tables have one axis or none. */
function loadsOf({ body }: Func): number {
  let count = 0;
  walkOps(body, ({ name, results }) => {
    if (name === "load" && results[0]?.type.shape.length === 2) count++;
  });
  return count;
}

Deno.test("tensorViews() preserves what random dots store", () => {
  let compared = 0;
  for (let trial = 0; trial < 60 && compared < 8; trial++) {
    const text = randomProduct();
    const ir = inspect({ name: "k.tc", text }, { targets: ["sm_90a"] }, "ir");
    const [parsed] = parseIr(ir, "k.ir");
    assert(parsed !== undefined, text);
    const { func } = parsed;
    const boxed = cloneFunc(func);
    const when = toTensorForm(boxed, { target, numWarps: 4 });
    if (when === undefined) continue;
    verifyFunc(boxed);
    // One operand of a dot may be gathered beside the box of the other one.
    assert(loadsOf(boxed) < loadsOf(func), text);
    for (let attempt = 0; attempt < 20; attempt++) {
      const sizes = [
        1 + random.below(150),
        1 + random.below(150),
        16 * random.below(4) + pick([0, 5]),
      ];
      const numbers = [
        ...sizes,
        8 * (1 + random.below(40)),
        8 * (1 + random.below(40)),
        random.below(4),
      ];
      const args = Object.fromEntries(NAMES.map((name, i) => [name, numbers[i] ?? 0]));
      const [m = 1, n = 1] = sizes.map((size) => Math.ceil(size / 64));
      const grid = text.includes("get_program_id(1)") ? [m, n, 1] : [m * n, 1, 1];
      const names = { param: (name: string) => args[name], grid: (axis: number) => grid[axis] };
      if (when.some(({ condition }) => evaluate(condition, names) === 0n)) continue;
      const programId = grid.map((extent) => random.below(extent));
      const shown = `${text}\n${JSON.stringify(args)} program ${programId}`;
      assertEquals(stored(boxed, args, programId), stored(func, args, programId), shown);
      compared++;
      break;
    }
  }
  assert(compared >= 4, `only ${compared} of the products had boxes`);
});
