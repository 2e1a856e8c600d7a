/** Dots under conditions by tensor copies and warp groups, on the emulator with all of its checks; sums are exact. */
import { must } from "../../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { sampled, testsInTurn } from "../../../support/sampled.ts";
import { type Compiled, compileForms, runEntry, serves } from "../../../support/forms/form_run.ts";
import { assertFound, FORM, type Mistake, without } from "../../../support/forms/mistakes.ts";
import { freshRandom } from "../../../support/random.ts";
import { assemblyNotes, ptxasTest } from "../../../support/tools/ptxas.ts";
import { decode, encode } from "../../../support/typed_arrays.ts";

const test = testsInTurn(2);

/** Elements along k of an iteration, and rows of each of the two sums. */
const STEP = 64;
const ROWS = 64;

interface Guard {
  /** The conditions of the two dots; `flags` are those of the iteration that begins at k. */
  readonly text: readonly [string, string];
  /** Whether an iteration does each of them. */
  readonly holds: (k: number, flags: number) => readonly [boolean, boolean];
  /** The branches load their own left operands. */
  readonly loads?: true;
}

const GUARDS: Readonly<Record<string, Guard>> = {
  table: {
    text: ["(flags & 1) != 0", "(flags & 2) != 0"],
    holds: (_, flags) => [(flags & 1) !== 0, (flags & 2) !== 0],
  },
  loading: {
    text: ["(flags & 1) != 0", "(flags & 2) != 0"],
    holds: (_, flags) => [(flags & 1) !== 0, (flags & 2) !== 0],
    loads: true,
  },
  alike: {
    text: ["flags == 3", "flags == 3"],
    holds: (_, flags) => [flags === 3, flags === 3],
  },
  counted: { text: ["k >= 64", "k < limit"], holds: (k) => [k >= 64, k < LIMIT] },
};

const LIMIT = 128;

interface Shape {
  readonly bn: number;
  readonly warps: number;
  readonly slots: number;
  /** A table says where the loop of a program ends, before K. */
  readonly hasEnds?: true;
}

/** D[2 ROWS, N] = A[2 ROWS, K] @ B[K, N], without the products that the conditions leave out. */
const textOf = (
  { text: [upper, lower], loads }: Guard,
  { bn, warps, slots, hasEnds }: Shape,
): string => {
  const left = [
    `half a[${ROWS}, ${STEP}] = *?(inside) pa;`,
    `half c[${ROWS}, ${STEP}] = *?(inside) (pa + ${ROWS} * lda);`,
  ];
  const [before, [first, second]] = loads === true ? ["", left] : [left.join("\n    "), ["", ""]];
  return `
#pragma tri config; num_warps=${warps}, num_stages=${slots}
__global__ void k(half *A __readonly __noalias __aligned(16), half *B __readonly __noalias __aligned(16),
                  int *Flags __readonly __noalias, int *Ends __readonly __noalias, half *D __noalias __aligned(16), int N __multipleof(8), int K, int lda __multipleof(8),
                  int ldb __multipleof(8), int limit) {
  int rm[${ROWS}] = 0 ... ${ROWS};
  int rn[${bn}] = get_program_id(0) * ${bn} + 0 ... ${bn};
  int rk[${STEP}] = 0 ... ${STEP};
  float s[${ROWS}, ${bn}] = 0;
  float t[${ROWS}, ${bn}] = 0;
  int end = ${hasEnds === true ? "min(*(Ends + get_program_id(0)), K)" : "K"};
  for (int k = 0; k < end; k += ${STEP}) {
    int flags = *(Flags + k / ${STEP});
    bool inside[1, ${STEP}] = rk[newaxis, :] < K - k;
    half *pa[${ROWS}, ${STEP}] = A + rm[:, newaxis] * lda + (k + rk)[newaxis, :];
    ${before}
    half b[${STEP}, ${bn}] = *?(rk[:, newaxis] < K - k && rn[newaxis, :] < N)
        (B + (k + rk)[:, newaxis] * ldb + rn[newaxis, :]);
    if (${upper}) { ${first} s += a @ b; }
    if (${lower}) { ${second} t += c @ b; }
  }
  half *pd[${ROWS}, ${bn}] = D + rm[:, newaxis] * N + rn[newaxis, :];
  *?(rn[newaxis, :] < N) pd = s;
  *?(rn[newaxis, :] < N) (pd + ${ROWS} * N) = t;
}
`;
};

const SHAPE: Shape = { bn: 64, warps: 4, slots: 2 };

const compiled = (guard: Guard, shape: Shape): Compiled => compileForms(textOf(guard, shape), {});

/** Launches the form and compares all elements; `density` of the flags are set. */
function check(
  guard: Guard,
  made: Compiled,
  shape: Shape,
  { n, k, density }: { readonly n: number; readonly k: number; readonly density: number },
): void {
  const random = freshRandom();
  const up8 = (extent: number): number => Math.max(8, Math.ceil(extent / 8) * 8);
  const [lda, ldb] = [up8(k), up8(n)];
  const numbers = (count: number): number[] =>
    Array.from({ length: count }, () => random.below(5) - 2);
  const a = numbers(2 * ROWS * lda);
  const b = numbers(Math.max(1, k) * ldb);
  const flags = Array.from(
    { length: Math.max(1, Math.ceil(k / STEP)) },
    () => [1, 2].reduce((all, bit) => random.below(100) < 100 * density ? all | bit : all, 0),
  );
  const programs = Math.ceil(n / shape.bn);
  const ends = Array.from(
    { length: programs },
    () => shape.hasEnds === true ? STEP * random.below(k / STEP + 1) : k,
  );
  const d = encode("float16", new Array<number>(2 * ROWS * n).fill(NaN));
  const form = must(must(made.entries[0], "entry").forms?.[0], "form");
  const launch = {
    grid: [programs, 1, 1] as const,
    args: {
      A: encode("float16", a),
      B: encode("float16", b),
      Flags: encode("int32", flags),
      Ends: encode("int32", ends),
      D: d,
      N: n,
      K: k,
      lda,
      ldb,
      limit: LIMIT,
    },
  };
  assert(serves(form, launch), "the form serves the launch");
  runEntry(made, form, launch);
  const expected = new Array<number>(2 * ROWS * n).fill(0);
  for (let at = 0; at < k; at++) {
    const step = Math.floor(at / STEP);
    const holds = guard.holds(step * STEP, flags[step] ?? 0);
    for (let i = 0; i < 2 * ROWS; i++) {
      if (holds[i < ROWS ? 0 : 1] !== true) continue;
      for (let j = 0; j < n; j++) {
        if (at >= (ends[Math.floor(j / shape.bn)] ?? 0)) continue;
        expected[i * n + j] = (expected[i * n + j] ?? NaN) +
          (a[i * lda + at] ?? NaN) * (b[at * ldb + j] ?? NaN);
      }
    }
  }
  assertEquals(
    decode("float16", d).map(Number),
    expected,
    JSON.stringify({ shape, n, k, density }),
  );
}

test("multiplyGuarded() does the dots whose conditions hold, in any number of iterations and slots", () => {
  for (const name of sampled(Object.keys(GUARDS), 2)) {
    const guard = must(GUARDS[name], "guard");
    for (const slots of sampled([2, 3, 4], 1, name.length)) {
      const shape = { ...SHAPE, slots };
      const made = compiled(guard, shape);
      for (const k of sampled([1, 40, 64, 130, 64 * (2 * slots + 1)], 2, slots)) {
        for (const density of sampled([0, 0.5, 1], 1, k)) {
          check(guard, made, shape, { n: 56, k, density });
        }
      }
    }
  }
});

Deno.test("multiplyGuarded() divides columns among warp groups", () => {
  const guard = must(GUARDS.table, "guard");
  const shape = { bn: 128, warps: 8, slots: 2 };
  const made = compiled(guard, shape);
  assert(made.ptx.includes("wgmma.mma_async.sync.aligned.m64n64k16"), "a group has 64 columns");
  check(guard, made, shape, { n: 152, k: 330, density: 0.5 });
});

/** One block takes most of a multiprocessor's registers. */
const ALONE: Shape = { bn: 256, warps: 8, slots: 3, hasEnds: true };

test("multiplyGuarded() does several programs in turn, of any number of iterations each", () => {
  for (const name of sampled(["table", "loading", "alike"], 1)) {
    const guard = must(GUARDS[name], "guard");
    const made = compiled(guard, ALONE);
    assertEquals(made.entries[0]?.forms?.[0]?.persistent, "all");
    for (const density of sampled([0.2, 0.5, 1], 2)) {
      check(guard, made, ALONE, { n: 5 * 256 - 8, k: 5 * STEP, density });
    }
  }
});

Deno.test("multiplyGuarded() has four slots where the exchanges of two sums lie at one place", () => {
  const { entries } = compileForms(HALVES, {});
  const form = must(entries[0]?.forms?.[0], "form");
  assertEquals(form.persistent, "all");
  const [slots, exchange] = [4 * 3 * 128 * STEP * 2, 128 * 128 * 2];
  assert(form.sharedBytes >= slots + exchange && form.sharedBytes < slots + 2 * exchange);
});

/** Two sums of 128 x 128, which warps exchange within themselves. */
const HALVES = `
#pragma tri config; num_warps=8, num_stages=4
__global__ void k(half *A __readonly __noalias __aligned(16), half *B __readonly __noalias __aligned(16),
                  int *Flags __readonly __noalias, half *D __noalias __aligned(16), int N __multipleof(8), int K,
                  int lda __multipleof(8), int ldb __multipleof(8)) {
  int r[128] = 0 ... 128;
  int rn[128] = get_program_id(0) * 256 + 0 ... 128;
  int rc[128] = rn + 128;
  int rk[${STEP}] = 0 ... ${STEP};
  bool isLeft = *(Flags + get_program_id(0) * 2) != 0;
  bool isRight = *(Flags + get_program_id(0) * 2 + 1) != 0;
  float s[128, 128] = 0;
  float t[128, 128] = 0;
  for (int k = 0; k < K; k += ${STEP}) {
    half a[128, ${STEP}] = *?(rk[newaxis, :] < K - k) (A + r[:, newaxis] * lda + (k + rk)[newaxis, :]);
    half *pb[${STEP}, 1] = B + (k + rk)[:, newaxis] * ldb;
    half b[${STEP}, 128] = *?(rk[:, newaxis] < K - k && rn[newaxis, :] < N) (pb + rn[newaxis, :]);
    half c[${STEP}, 128] = *?(rk[:, newaxis] < K - k && rc[newaxis, :] < N) (pb + rc[newaxis, :]);
    if (isLeft) s += a @ b;
    if (isRight) t += a @ c;
  }
  half *pd[128, 1] = D + r[:, newaxis] * N;
  *?(rn[newaxis, :] < N) (pd + rn[newaxis, :]) = s;
  *?(rc[newaxis, :] < N) (pd + rc[newaxis, :]) = t;
}
`;

Deno.test("multiplyGuarded() copies nothing for dots that are left out", () => {
  const { ptx } = compiled(must(GUARDS.table, "guard"), SHAPE);
  const form = must(ptx.split("_tensor(")[1], "form");
  assert(/expect_tx\.shared::cta\.b64 _, \[[^\]]*\], 0;/.test(form), "no bytes are expected");
});

Deno.test("dots whose sums something else uses are not done so", () => {
  const text = textOf(must(GUARDS.table, "guard"), SHAPE);
  const used = text.replace("    if ((flags & 2)", "    t += s;\n    if ((flags & 2)");
  assert(!compileForms(used, {}).ptx.includes("wgmma"), "sums are read in the loop");
});

Deno.test("the emulator finds what is missing in a loop of dots under conditions", () => {
  const guard = must(GUARDS.table, "guard");
  const shape = { bn: 128, warps: 8, slots: 2 };
  const made = compiled(guard, shape);
  const arrival = /@%p\d+ mbarrier\.arrive\.shared::cta\.b64 _, .*;/g;
  const wait = /@!%p\d+ bra L\d+;/;
  const mistakes: readonly Mistake[] = [
    {
      title: "does not wait until a slot is empty",
      change: without(wait, FORM, "mbarrier.try_wait"),
    },
    { title: "does not wait until a slot is full", change: without(wait, FORM, "setmaxnreg.inc") },
    {
      title: "does not wait for the dots before",
      change: (text) => text.replaceAll("wgmma.wait_group.sync.aligned 1;", ""),
    },
    {
      title: "does not wait for the last dots",
      change: (text) => text.replaceAll("wgmma.wait_group.sync.aligned 0;", ""),
    },
    { title: "frees slots twice", change: (text) => text.replaceAll(arrival, "$&\n$&") },
    { title: "never frees a slot", change: (text) => text.replaceAll(arrival, "") },
    {
      title: "expects what is not copied",
      change: (text) => text.replaceAll(/(expect_tx.*\], )0;/g, "$18192;"),
    },
  ];
  assertFound(made.ptx, sampled(mistakes, 2), (ptx, title) => {
    // What is expected in vain is where dots are left out.
    const density = title.startsWith("expects") ? 0 : 1;
    check(guard, { ...made, ptx }, shape, { n: 128, k: 256, density });
  });
});

ptxasTest("multiplyGuarded() assembles without a note", async () => {
  const { ptx } = compiled(must(GUARDS.table, "guard"), { bn: 128, warps: 8, slots: 4 });
  assertEquals(await assemblyNotes(ptx, "sm_90a"), []);
});
