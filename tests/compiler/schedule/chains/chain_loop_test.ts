/** Chains of dots by tensor copies and warp groups, on the emulator with all of its checks; sums are exact. */
import { must } from "../../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { sampled, testsInTurn } from "../../../support/sampled.ts";
import { type Compiled, compileForms, runEntry, serves } from "../../../support/forms/form_run.ts";
import { assertFound, FORM, type Mistake, without } from "../../../support/forms/mistakes.ts";
import { freshRandom } from "../../../support/random.ts";
import { assemblyNotes, ptxasTest } from "../../../support/tools/ptxas.ts";
import { decode, encode } from "../../../support/typed_arrays.ts";

const test = testsInTurn(2);

const K = 64;

/**
 * D[M, K] = the sum over blocks of BN rows of B and C of f(A @ ^B) @ C; `BODY` makes p of s. W has a number for each
 * row, F is as large as A.
 */
const chainText = (body: string, { warps, slots }: Shape): string => `
#pragma tri config; num_warps=${warps}, num_stages=${slots}
__global__ void k(half *A __readonly __noalias, half *B __readonly __noalias, half *C __readonly __noalias,
                  half *F __readonly __noalias,
                  float *W __readonly __noalias __aligned(16), float *D __noalias, int M, int N, int limit) {
  int rm[BM] = get_program_id(0) * BM + 0 ... BM;
  int rn[BN] = 0 ... BN;
  int rk[${K}] = 0 ... ${K};
  half a[BM, ${K}] = *?(rm[:, newaxis] < M) (A + rm[:, newaxis] * ${K} + rk[newaxis, :]);
  half f[BM, ${K}] = *?(rm[:, newaxis] < M) (F + rm[:, newaxis] * ${K} + rk[newaxis, :]);
  half *pb = B;
  half *pc = C;
  float d[BM, ${K}] = 0;
  float e[BM, ${K}] = 0;
  float extra[BM] = 0;
  for (int n = 0; n < N; n += BN) {
    half b[BN, ${K}] = *?(rn[:, newaxis] < N - n) (pb + rn[:, newaxis] * ${K} + rk[newaxis, :]);
    half c[BN, ${K}] = *?(rn[:, newaxis] < N - n) (pc + rn[:, newaxis] * ${K} + rk[newaxis, :]);
    ${body}
    pb += BN * ${K};
    pc += BN * ${K};
  }
  *?(rm[:, newaxis] < M) (D + rm[:, newaxis] * ${K} + rk[newaxis, :]) = d + e + extra[:, newaxis];
}
`;

/** What a block adds to a row: s by its columns, n where they begin, the sums so far. */
interface Chain {
  readonly body: string;
  /** p of the score s in column n + j of row i; `limit` is that of the launch. */
  readonly weight: (s: number, n: number, limit: number) => number;
  /** What the sums so far are multiplied with before a block is added. */
  readonly keeps?: number;
  /** What a row of B is multiplied with, of the products of a with those of B and C, and added too. */
  readonly also?: (s: number, t: number, n: number) => number;
  /** The product with C is of F. */
  readonly takesF?: boolean;
  /** Added to each element of a row: of its scores. */
  readonly extra?: (s: number) => number;
}

const HALVES = "half[BM, BN]";

/** Of a row, in W. */
const numberOf = (row: number): number => row % 3 - 1;

const CHAINS: Readonly<Record<string, Chain>> = {
  plain: { body: `d += (${HALVES})(a @ ^b) @ c;`, weight: (s) => s },
  scaled: {
    body: `float s[BM, BN] = a @ ^b; d = d * -1 + (${HALVES})(s * 2) @ c;`,
    weight: (s) => 2 * s,
    keeps: -1,
  },
  summed: {
    body: `float s[BM, BN] = a @ ^b; extra = max(extra, s[:, max]); d += (${HALVES})s @ c;`,
    weight: (s) => s,
    extra: (s) => s,
  },
  // The other side follows early, in the middle, or never.
  branching: {
    body: `float s[BM, BN] = a @ ^b;
    if (n + BN > limit) s = n + rn[newaxis, :] < limit ? s : 0;
    d += (${HALVES})s @ c;`,
    weight: (s, n, limit) => n < limit ? s : 0,
  },
  // The other side is the cheap one.
  opposite: {
    body: `float s[BM, BN] = a @ ^b;
    if (n + BN <= limit) {} else { s = n + rn[newaxis, :] < limit ? s : 0; }
    d += (${HALVES})s @ c;`,
    weight: (s, n, limit) => n < limit ? s : 0,
  },
  // Masks in the middle: the sides take turns.
  window: {
    body: `float s[BM, BN] = a @ ^b;
    if (n < limit && n + BN > limit - 100) s = n + rn[newaxis, :] < limit - 50 ? s : 0;
    d += (${HALVES})s @ c;`,
    weight: (s, n, limit) => {
      const first = n - n % SHAPE.bn;
      const isMasked = first < limit && first + SHAPE.bn > limit - 100;
      return !isMasked || n < limit - 50 ? s : 0;
    },
  },
  // The last product reads what the first has read, too.
  shared: { body: `d += (${HALVES})(a @ ^b) @ b;`, weight: (s) => s },
  // Sums that nothing else uses are under way while the next iteration begins, if there are registers for that.
  several: {
    body: `float s[BM, BN] = a @ ^b; float t[BM, BN] = a @ ^c; d += (${HALVES})s @ c;
    e += (${HALVES})(s - t) @ b;`,
    weight: (s) => s,
    also: (s, t) => s - t,
  },
  severalBranching: {
    body: `float s[BM, BN] = a @ ^b;
    if (n + BN > limit) s = n + rn[newaxis, :] < limit ? s : 0;
    float t[BM, BN] = a @ ^c; d += (${HALVES})s @ c; e += (${HALVES})t @ b;`,
    weight: (s, n, limit) => n < limit ? s : 0,
    also: (_, t) => t,
  },
  // The second product has an operand of its own from outside of the loop.
  late: {
    body: `float s[BM, BN] = a @ ^b; float t[BM, BN] = f @ ^c; d += (${HALVES})s @ c;
    e += (${HALVES})(s - t) @ b;`,
    weight: (s) => s,
    also: (s, t) => s - t,
    takesF: true,
  },
  // Each iteration loads vectors. What they are multiplied with is used on both sides of the branch.
  vectors: {
    body: `float s[BM, BN] = (a @ ^b) * (*(W + n + rn))[newaxis, :];
    if (n + BN > limit) s = n + rn[newaxis, :] < limit ? s : 0;
    float t[BM, BN] = a @ ^c; d += (${HALVES})s @ c; e += (${HALVES})(t - (*(W + n + rn))[newaxis, :]) @ b;`,
    weight: (s, n, limit) => n < limit ? s * numberOf(n) : 0,
    also: (_, t, n) => t - numberOf(n),
  },
  three: {
    body: `float s[BM, BN] = a @ ^b; float t[BM, BN] = a @ ^c; d += (${HALVES})(s - t) @ c;`,
    weight: (s) => s,
  },
};

interface Shape {
  readonly bm: number;
  readonly bn: number;
  readonly warps: number;
  readonly slots: number;
}

const SHAPE: Shape = { bm: 64, bn: 64, warps: 4, slots: 2 };

const compiled = ({ body }: Chain, shape: Shape): Compiled =>
  compileForms(chainText(body, shape), { BM: shape.bm, BN: shape.bn });

/** Launches the form and compares all elements. */
function check(name: string, shape: Shape, m: number, n: number, made: Compiled, limit = n): void {
  const chain = must(CHAINS[name], "chain");
  const random = freshRandom();
  const numbers = (rows: number): number[] =>
    Array.from({ length: rows * K }, () => random.below(3) - 1);
  const [a, f] = [numbers(m), numbers(m)] as const;
  const [b, c] = [numbers(Math.max(1, n)), numbers(Math.max(1, n))] as const;
  const d = encode("float32", new Array<number>(m * K).fill(NaN));
  const [entry] = made.entries;
  const form = must(must(entry, "entry").forms?.[0], "form");
  const launch = {
    grid: [Math.ceil(m / shape.bm), 1, 1] as const,
    args: {
      A: encode("float16", a),
      B: encode("float16", b),
      C: encode("float16", c),
      F: encode("float16", f),
      W: encode(
        "float32",
        Array.from({ length: Math.ceil(n / shape.bn) * shape.bn }, (_, i) => numberOf(i)),
      ),
      D: d,
      M: m,
      N: n,
      limit,
    },
  };
  assert(serves(form, launch), "the form serves the launch");
  runEntry(made, form, launch);
  const found = decode("float32", d).map(Number);
  const dot = (x: readonly number[], i: number, y: readonly number[], j: number): number => {
    let sum = 0;
    for (let k = 0; k < K; k++) sum += (x[i * K + k] ?? NaN) * (y[j * K + k] ?? NaN);
    return sum;
  };
  for (let i = 0; i < m; i++) {
    const row = new Array<number>(K).fill(0);
    let extra = 0;
    for (let j = 0; j < n; j++) {
      const isFirst = j % shape.bn === 0;
      const s = dot(a, i, b, j);
      const t = dot(chain.takesF === true ? f : a, i, c, j);
      const weight = name === "three" ? s - t : chain.weight(s, j, limit);
      const also = chain.also?.(s, t, j) ?? 0;
      extra = chain.extra === undefined ? 0 : Math.max(extra, chain.extra(s), 0);
      const values = name === "shared" ? b : c;
      for (let k = 0; k < K; k++) {
        const before = (row[k] ?? NaN) * (isFirst ? chain.keeps ?? 1 : 1);
        row[k] = before + weight * (values[j * K + k] ?? NaN) + also * (b[j * K + k] ?? NaN);
      }
    }
    row.forEach((value, k) => {
      const is = found[i * K + k] ?? NaN;
      const what = JSON.stringify({ name, ...shape, m, n, limit });
      assert(is === value + extra, `${what} [${i}, ${k}]: ${is} instead of ${value + extra}`);
    });
  }
}

const SIZES = [[64, 64], [1, 1], [70, 200]] as const;

test("rewriteChain() gives the sums of chained dots, whatever lies between them", () => {
  const names = Object.keys(CHAINS);
  for (const name of sampled(names, names.length / 4)) {
    const made = compiled(must(CHAINS[name], "chain"), SHAPE);
    assert(made.ptx.includes("prefetch.tensormap"), "maps are fetched before barriers are ready");
    for (const [m, n] of sampled(SIZES, 1, name.length)) check(name, SHAPE, m, n, made);
  }
});

test("rewriteChain() is right for every number of iterations and of slots", () => {
  for (const slots of [1, 2, 3]) {
    const shape = { ...SHAPE, slots };
    const made = compiled(must(CHAINS.scaled, "chain"), shape);
    const rounds = Array.from({ length: 2 * slots + 2 }, (_, i) => i + 1);
    for (const count of sampled(rounds, 2, slots)) check("scaled", shape, 64, 64 * count, made);
  }
});

Deno.test("leaveEarly() lets programs end before a chain", () => {
  const { body } = must(CHAINS.scaled, "chain");
  const plain = chainText(body, SHAPE);
  // Row tiles from `limit` on are left out; two conditions, one of them for the way on.
  const text = plain.replace(
    "  float d[",
    "  if (get_program_id(0) * BM >= limit) return;\n  if (N > 0 || M > 1) {\n  float d[",
  ).replace(/}\n$/, "}\n}\n");
  const made = compileForms(text, { BM: SHAPE.bm, BN: SHAPE.bn });
  assert(made.ptx.includes(" ret;\n"), "programs end early");
  check("scaled", SHAPE, 130, 70, made, 192);
  const form = must(must(made.entries[0], "entry").forms?.[0], "form");
  const d = encode("float32", new Array<number>(130 * K).fill(7));
  const ones = encode("float16", new Array<number>(130 * K).fill(1));
  const args = { A: ones, B: ones, C: ones, F: ones, W: encode("float32", [0]), D: d };
  runEntry(made, form, { grid: [3, 1, 1], args: { ...args, M: 130, N: 1, limit: 65 } });
  const found = decode("float32", d).map(Number);
  assertEquals(found, found.map((_, i) => i < 128 * K ? 2 * K : 7));
});

test("rewriteChain() divides rows among one, two and four warp groups", () => {
  for (const groups of [1, 2, 4]) {
    for (const bn of sampled([64, 128], 1, groups)) {
      const shape = { bm: 64 * groups, bn, warps: 4 * groups, slots: 2 };
      check("summed", shape, 64 * groups + 3, 2 * bn + 5, compiled(must(CHAINS.summed, ""), shape));
    }
  }
});

test("multiplyChain() has rounds for both sides of a branch, in any order", () => {
  for (const name of ["branching", "opposite", "window"]) {
    const made = compiled(must(CHAINS[name], "chain"), SHAPE);
    // What the rounds pass on stays packed in the loop around them.
    assert(!must(made.ptx.split("_tensor(")[1], "form").includes("prmt."), name);
    for (const limit of sampled([0, 1, 64, 65, 130, 300, 1000], 1, name.length)) {
      check(name, SHAPE, 64, 300, made, limit);
    }
  }
});

test("overlapChain() is right for every number of iterations, with and without registers for two of them", () => {
  for (const bn of [64, 128]) {
    for (
      const [name, limits] of [
        ["several", [0]],
        ["late", [0]],
        ["severalBranching", [0, bn + 1, 1000]],
      ] as const
    ) {
      for (const slots of bn === 64 ? sampled([1, 2, 3], 1, name.length) : [2]) {
        const shape = { ...SHAPE, bn, slots };
        const made = compiled(must(CHAINS[name], "chain"), shape);
        for (const rounds of sampled([1, 4], 1, bn + slots)) {
          for (const limit of sampled<number>(limits, 1, bn)) {
            check(name, shape, 64, bn * rounds - 3, made, limit);
          }
        }
      }
    }
  }
});

test("overlapChain() starts the first dot of the next iteration before the last one of this, if it has slots", () => {
  const names = ["several", "late", "severalBranching", "vectors", "three"];
  const shape = { ...SHAPE, slots: 4 };
  for (const name of sampled(names, 2)) {
    const made = compiled(must(CHAINS[name], "chain"), shape);
    for (const rounds of sampled([1, 2, 3, 5, 9], 2, name.length)) {
      for (const limit of sampled([0, 1, 130, 200, 1000], 1, rounds)) {
        check(name, shape, 64, 64 * rounds - 3, made, limit);
      }
    }
  }
});

Deno.test("the emulator finds what is missing where a dot is ahead", () => {
  const shape = { ...SHAPE, bm: 128, warps: 8, slots: 4 };
  const made = compiled(must(CHAINS.several, "chain"), shape);
  // In the loop: sums of the iteration before, of which one is under way; the dot that is ahead.
  const ofSecond = /wgmma.wait_group.sync.aligned 2;/;
  const ahead = /wgmma.wait_group.sync.aligned 1;/;
  const mistakes: readonly Mistake[] = [
    { title: "does not wait for the second dot", change: without(ofSecond, FORM) },
    { title: "does not wait for the dot that is ahead", change: without(ahead, FORM) },
  ];
  assertFound(
    made.ptx,
    sampled(mistakes, 1),
    (ptx) => check("several", shape, 128, 400, { ...made, ptx }),
  );
});

/** Copies of runs that are no boxes. */
const BULK = "cp.async.bulk.shared::cluster.global.mbarrier";

test("withVectors() brings the vectors of an iteration with its boxes", () => {
  for (const bn of [64, 128]) {
    const shape = { ...SHAPE, bn };
    const made = compiled(must(CHAINS.vectors, "chain"), shape);
    assert(made.ptx.includes(BULK), "vectors are copied");
    // What orders a warp's reads before the arrival of its first lane.
    const arrival = /bar\.warp\.sync \d+;\n\s*@%p\d+ mbarrier\.arrive/;
    assert(arrival.test(made.ptx), "a warp waits for its threads before it frees a slot");
    for (const rounds of sampled([1, 4], 1, bn)) {
      for (const limit of sampled([0, bn + 1, 1000], 1, rounds)) {
        check("vectors", shape, 64, bn * rounds - 3, made, limit);
      }
    }
  }
});

test("withVectors() leaves loads of what may change, off 16 bytes, with a mask, or of no run", () => {
  const { body } = must(CHAINS.vectors, "chain");
  const text = chainText(body, SHAPE);
  const others = [
    text.replace("float *W __readonly", "float *W"),
    text.replaceAll("*(W + n + rn)", "*(W + 1 + n + rn)"),
    text.replaceAll("*(W + n + rn)", "*?(rn < N - n) (W + n + rn)"),
    text.replaceAll("*(W + n + rn)", "*(W + n + rn * 2)"),
  ];
  for (const other of sampled(others, 2)) {
    assert(!compileForms(other, { BM: 64, BN: 64 }).ptx.includes(BULK), other);
  }
});

test("the emulator finds what is missing in a chain", () => {
  const shape = { ...SHAPE, bm: 128, warps: 8 };
  const made = compiled(must(CHAINS.scaled, "chain"), shape);
  const wait = /@!%p\d+ bra L\d+;/;
  const arrival = /@%p\d+ mbarrier.arrive.shared::cta.b64 _, .*;/g;
  const lastDot = /wgmma.wait_group.sync.aligned 0;/;
  const mistakes: readonly Mistake[] = [
    {
      title: "does not wait until a slot is empty",
      change: without(wait, FORM, "mbarrier.try_wait"),
    },
    {
      title: "does not wait for the box from outside",
      change: without(wait, FORM, "setmaxnreg.inc"),
    },
    { title: "does not wait for the first dot", change: without(lastDot, FORM) },
    {
      title: "waits for the last dot too late",
      change: without(lastDot, FORM, "wgmma.wait_group.sync.aligned 1;"),
    },
    { title: "frees slots twice", change: (text) => text.replaceAll(arrival, "$&\n$&") },
    { title: "never frees a slot", change: (text) => text.replaceAll(arrival, "") },
    {
      title: "takes more registers than are left",
      change: without(/setmaxnreg.dec.*/, FORM),
    },
  ];
  assertFound(
    made.ptx,
    sampled(mistakes, 2),
    (ptx) => check("scaled", shape, 128, 400, { ...made, ptx }),
  );
});

ptxasTest(
  "chains assemble without spills, and without products that wait for each other",
  async () => {
    const two = ["scaled", "summed", "branching"];
    const shapes = [
      [64, 64, 4, two],
      [128, 128, 8, two],
      [256, 64, 16, two],
      [128, 64, 8, ["several", "severalBranching", "vectors"]],
    ] as const;
    for (const [bm, bn, warps, names] of shapes) {
      for (const name of sampled<string>(names, 1, bm)) {
        const slots = bn === 64 ? must(sampled([2, 4], 1, bm)[0], "number") : 2;
        const { ptx } = compiled(must(CHAINS[name], ""), { bm, bn, warps, slots });
        // The forms alone.
        const forms = ptx.replaceAll(/\.visible \.entry \w+(?<!_tensor)\([^]*?\n}\n/g, "");
        assertEquals(await assemblyNotes(forms, "sm_90a"), [], `${name}, ${bm}x${bn}`);
      }
    }
  },
  test,
);
