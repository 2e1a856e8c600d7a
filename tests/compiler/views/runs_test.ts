/** Operands whose rows and columns a table names, as several boxes each, on the emulator: compared with double precision. */
import { must } from "../../../compiler/support/bug.ts";
import { inspect } from "../../../compiler/mod.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type Arguments, compileForms, runEntry, serves } from "../../support/forms/form_run.ts";
import { freshRandom } from "../../support/random.ts";
import { sampled } from "../../support/sampled.ts";
import { decode, encode } from "../../support/typed_arrays.ts";

/** A tile of TM x TN results is of rows and columns of A and B in runs of RUN, wherever two tables say. */
const textOf = (warps: number): string => `
#define WITHIN(at, extent) clamp(at, 0, extent)
#pragma tri config; num_warps=${warps}
__global__ void k(half *A __noalias, half *B __noalias, int *Rows __noalias, int *Columns __noalias, float *C __noalias __aligned(16), int M, int N __multipleof(8), int K, int lda, int ldb) {
  int pid = get_program_id(0);
  unsigned down[TM] = (unsigned[TM])(0 ... TM);
  unsigned across[TN] = (unsigned[TN])(0 ... TN);
  int i[TM] = (int[TM])(down / RUN);
  int j[TN] = (int[TN])(across / RUN);
  int rm[TM] = WITHIN(*(Rows + pid * (TM / RUN) + i) * RUN, M) + (int[TM])(down % RUN);
  int rn[TN] = WITHIN(*(Columns + pid * (TN / RUN) + j) * RUN, N) + (int[TN])(across % RUN);
  int rk[32] = 0 ... 32;
  half *pa[TM, 32] = A + rm[:, newaxis] * lda + rk[newaxis, :];
#if TURNED
  half *pb[32, TN] = B + rk[:, newaxis] + rn[newaxis, :] * ldb;
#define STEP 1
#else
  half *pb[32, TN] = B + rk[:, newaxis] * ldb + rn[newaxis, :];
#define STEP ldb
#endif
  float sum[TM, TN] = 0;
  for (int k = 0; k < K; k += 32) {
    half a[TM, 32] = *?(rm[:, newaxis] < M && rk[newaxis, :] < K - k) (pa + k);
    half b[32, TN] = *?(rk[:, newaxis] < K - k && rn[newaxis, :] < N) (pb + (long)k * STEP);
    sum += a @ b;
  }
  int at[TM] = pid * TM + 0 ... TM;
  *(C + at[:, newaxis] * TN + (0 ... TN)[newaxis, :]) = sum;
}
`;

interface Shape {
  readonly rows: number;
  readonly columns: number;
  readonly warps: number;
  readonly run: number;
  readonly isTurned: boolean;
}

const random = freshRandom();
const numbers = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(512) - 256) / 256);

const definesOf = ({ rows, columns, run, isTurned }: Shape): Record<string, number> => ({
  TM: rows,
  TN: columns,
  RUN: run,
  TURNED: Number(isTurned),
});

/** Multiplies by the form; whether its blocks do several programs in turn. */
function check(shape: Shape, programs: number, k: number): boolean {
  const { rows, columns, warps, run, isTurned } = shape;
  // Neither is a multiple of runs.
  const [m, n] = [3 * run - 3, 2 * run - 8];
  const [lda, ldb] = [k + (8 - k % 8), isTurned ? k + (8 - k % 8) : n];
  const [a, b] = [numbers(m * lda), numbers((isTurned ? n : k) * ldb)];
  const table = (extent: number, runs: number): number[] =>
    Array.from({ length: programs * extent / run }, () => random.below(runs + 1));
  const [down, across] = [table(rows, 3), table(columns, 2)];
  const args: Arguments = {
    A: encode("float16", a),
    B: encode("float16", b),
    Rows: encode("int32", down.map(BigInt)),
    Columns: encode("int32", across.map(BigInt)),
    C: encode("float32", new Array<number>(programs * rows * columns).fill(77)),
    ...{ M: m, N: n, K: k, lda, ldb },
  };
  const compiled = compileForms(textOf(warps), definesOf(shape));
  const [entry] = compiled.entries;
  const form = must(entry?.forms?.[0], "form");
  const launch = { grid: [programs, 1, 1], args } as const;
  assert(serves(form, launch));
  assertEquals(form.maps.map(({ box }) => Math.max(...box) <= Math.max(run, 64)), [true, true]);
  runEntry(compiled, form, launch);
  const place = (list: readonly number[], extent: number, program: number, lane: number): number =>
    must(list[program * extent / run + Math.floor(lane / run)], "run") * run + lane % run;
  const expected = Array.from({ length: programs * rows * columns }, (_, at) => {
    const program = Math.floor(at / (rows * columns));
    const row = place(down, rows, program, Math.floor(at / columns) % rows);
    const column = place(across, columns, program, at % columns);
    if (row >= m || column >= n) return 0;
    let sum = 0;
    for (let i = 0; i < k; i++) {
      const right = isTurned ? column * ldb + i : i * ldb + column;
      sum += must(a[row * lda + i], "a") * must(b[right], "b");
    }
    return sum;
  });
  // Products of values of nine bits are exact in float, and so are few sums of them.
  assertEquals(decode("float32", args.C as Uint8Array).map(Number), expected);
  return form.persistent !== undefined;
}

const SMALL = { rows: 64, columns: 64, warps: 4 };
const SHAPES: readonly Shape[] = [16, 32].flatMap((run) =>
  [false, true].map((isTurned) => ({ ...SMALL, run, isTurned }))
).concat({ ...SMALL, run: 8, isTurned: true });

for (const shape of sampled(SHAPES, 2)) {
  const { run, isTurned } = shape;
  const order = isTurned ? "columns" : "rows";
  Deno.test(`lowerTensorForm() multiplies runs of ${run} that tables name, B by ${order}`, () => {
    check(shape, 2, 45);
  });
}

Deno.test("pipelineAcrossPrograms() reads the tables of the next program while one is done", () => {
  const shape = { rows: 64, columns: 256, warps: 16, run: 32, isTurned: false };
  for (const k of [32, 70]) assert(check(shape, 5, k));
});

Deno.test("findViews() wants runs along the axis that they are of, and long enough", () => {
  const views = (text: string, run = 16): string => {
    const defines = Object.entries(definesOf({ ...SMALL, run, isTurned: false }))
      .map(([name, value]) => ({ name, value: String(value) }));
    return inspect({ name: "k.tc", text }, { targets: ["sm_90a"], defines }, "views");
  };
  const product = textOf(SMALL.warps);
  const found = views(product);
  assert(found.includes("axis 0 of the tile, 16 elements at a time, from runs of rm on"), found);
  assert(found.includes("axis 1 of the tile, 16 elements at a time, from runs of rn on"), found);
  // Signed quotients of what may be negative have no runs; those of four rows are shorter than a swizzle repeats.
  const signed = product.replaceAll("unsigned", "int");
  assert(views(signed).includes("elements at a time"));
  const shifted = signed.replaceAll(/int\[T.\]\)\((?=0 \.\.\.)/g, "$&RUN * M + ");
  assert(!views(shifted).includes("elements at a time"), views(shifted));
  assert(!views(product, 4).includes("elements at a time"));
  // A line of 16 bytes is shorter than those of swizzles.
  assert(views(product, 8).includes("b = [32, 64]: no view: its runs have 8 elements"));
  // The table of the rows moves the columns too.
  const both = product.replace("+ rm[:, newaxis] * lda", "$& + (rm - (0 ... TM))[:, newaxis] * 16");
  assert(views(both).includes("a = [64, 32]: no view"), views(both));
  const loaded = product.replace("WITHIN(*(Rows", "(*(Rows").replace("RUN, M)", "RUN)");
  assert(views(loaded).includes("no view: `runs of rm` may be negative"), views(loaded));
});
