/** Indices that are taken apart by divisions: rows and columns of elements that are numbered from one end to the other. */
import fc from "../../../support/property.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { emulate, int } from "../../../support/emulate.ts";
import { lowerText, printEntry } from "../../../support/compiler/lowering.ts";
import { must } from "../../../../compiler/support/bug.ts";

const SWAPPED = `#pragma tri grid(cdiv(n, 512))
__global__ void k(half *X, half *Y, int n, int S, int H, int D) {
  int i[512] = get_program_id(0) * 512 + 0 ... 512;
  int d[512] = i % D;
  int s[512] = (i / D) % S;
  int h[512] = (i / (D * S)) % H;
  int b[512] = i / (D * S * H);
  *?(i < n) (Y + i) = *?(i < n) (X + d + D * h + D * H * s + D * H * S * b);
}`;

/** Sums of columns of matrices that lie one after the other, in the way of inductor's reductions. */
const COLUMNS = `#pragma tri grid(cdiv(xnumel, 32))
__global__ void k(float *X, float *Y, int xnumel, int R, int N) {
  int x[32, 1] = get_program_id(0) * 32 + (0 ... 32)[:, newaxis];
  float acc[32, 16] = 0;
  for (int from = 0; from < R; from += 16) {
    int r[1, 16] = from + (0 ... 16)[newaxis, :];
    acc += *?(r < R && x < xnumel) (X + x % N + N * r + N * R * (x / N));
  }
  *?(x < xnumel) (Y + x) = acc[:, +][:, newaxis];
}`;

/** One code for four numbers of a row: its scale is loaded once for a thread's elements. */
const GROUPS = `#pragma tri grid(cdiv(n, 512))
__global__ void k(int *Q, float *S, float *Y, int n) {
  int i[512] = get_program_id(0) * 512 + 0 ... 512;
  int q[512] = (*?(i < n) (Q + i / 4) >> (i % 4 * 8)) & 255;
  *?(i < n) (Y + i) = q * *?(i < n) (S + i / 32);
}`;

function loadsOf(text: string, aligned: boolean): readonly string[] {
  const found = lowerText(text, "sm_90").find(({ conditions }) =>
    conditions.length > 0 === aligned
  );
  const entry = printEntry(must(found, "instance").kernel);
  return [...entry.matchAll(/ld\.global\S*/g)].map(([load]) => load.replace(".L2::256B", ""));
}

Deno.test("accesses at remainders and quotients of program ids are as wide as multiples of the divisors allow", () => {
  assertEquals(loadsOf(SWAPPED, true), ["ld.global.v2.b32"]);
  assertEquals(loadsOf(SWAPPED, false).length, 4);
});

Deno.test("elements at one address are loaded once", () => {
  assertEquals(loadsOf(GROUPS, true), ["ld.global.b32", "ld.global.b32"]);
});

/** Runs both instances where the sizes are multiples of 8, else the general one. */
function check(
  text: string,
  x: Float32Array | Uint16Array | Int32Array,
  y: Float32Array | Uint16Array,
  sizes: readonly number[],
  programs: number,
  expected: (index: number) => number,
  more: readonly Float32Array[] = [],
): void {
  for (const { kernel, conditions, threads, sharedBytes } of lowerText(text, "sm_90")) {
    if (conditions.length > 0 && sizes.some((size) => size % 8 !== 0)) continue;
    y.fill(7);
    emulate(printEntry(kernel, "sm_90"), {
      grid: [programs, 1, 1],
      block: [threads, 1, 1],
      sharedBytes,
      args: [x, ...more, y, ...sizes.map(int)],
    });
    y.forEach((value, index) => assertEquals(value, expected(index), `element ${index}`));
  }
}

const extent = fc.oneof(fc.integer({ min: 1, max: 19 }), fc.constantFrom(8, 16, 24, 40));

Deno.test("permutations by divisions move every element to its place", () => {
  fc.assert(
    fc.property(fc.tuple(extent, extent, extent, fc.constantFrom(1, 2)), ([S, H, D, B]) => {
      const x = Uint16Array.from({ length: B * S * H * D }, (_, index) => index * 3);
      const y = new Uint16Array(x.length);
      check(SWAPPED, x, y, [x.length, S, H, D], Math.ceil(x.length / 512), (index) => {
        const [d, s, h] = [index % D, Math.floor(index / D) % S, Math.floor(index / D / S) % H];
        const b = Math.floor(index / (D * S * H));
        return (d + D * (h + H * (s + S * b))) * 3 % 2 ** 16;
      });
    }),
    { numRuns: 16 },
  );
});

Deno.test("columns of matrices that are numbered together have their sums", () => {
  fc.assert(
    fc.property(extent, extent, fc.constantFrom(1, 3), (R, N, matrices) => {
      const x = Float32Array.from({ length: matrices * R * N }, (_, index) => index % 1013);
      const y = new Float32Array(matrices * N);
      check(COLUMNS, x, y, [y.length, R, N], Math.ceil(y.length / 32), (index) => {
        let sum = 0;
        for (let r = 0; r < R; r++) {
          sum += x[Math.floor(index / N) * R * N + r * N + index % N] ?? NaN;
        }
        return sum;
      });
    }),
    { numRuns: 16 },
  );
});

Deno.test("parts of words with scales of groups are what they are one by one", () => {
  for (const n of [1, 31, 520, 1024]) {
    const q = Int32Array.from({ length: Math.ceil(n / 4) }, (_, index) => index * 0x01030507);
    const scales = Float32Array.from({ length: Math.ceil(n / 32) }, (_, index) => index + 0.5);
    const y = new Float32Array(n);
    check(GROUPS, q, y, [n], Math.ceil(n / 512), (index) => {
      const code = ((q[index >> 2] ?? 0) >>> (index % 4 * 8)) & 255;
      return code * (scales[index >> 5] ?? NaN);
    }, [scales]);
  }
});

Deno.test("lanes are along the axis of remainders where no divisor is known", () => {
  const text = lowerText(COLUMNS, "sm_90").map(({ kernel }) => printEntry(kernel))[0] ?? "";
  // 16 rows of 32 columns in 4 warps: one column a lane, so rows add up in threads and between warps.
  assert(!text.includes("shfl"), text);
});
