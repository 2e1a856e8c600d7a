/** Accesses to even and odd elements on the emulator, bit by bit what they are one by one. */
import fc from "../../../support/property.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { emulate, int } from "../../../support/emulate.ts";
import { type LoweredInstance, lowerText, printEntry } from "../../../support/compiler/lowering.ts";
import { must } from "../../../../compiler/support/bug.ts";

/** Rotates pairs, as rotary embeddings of published kernels do; Y may be X. */
const rotated = (type: string): string =>
  `#pragma tri grid(cdiv(n, 128))
__global__ void k(${type} *X, ${type} *Y, float *C, int n) {
  int k[128] = get_program_id(0) * 128 + 0 ... 128;
  bool m[128] = k < n;
  float c[128] = *?(m) (C + k);
  float a[128] = *?(m) (X + 2 * k);
  float b[128] = *?(m) (X + 2 * k + 1);
  *?(m) (Y + 2 * k) = a * c - b;
  *?(m) (Y + 2 * k + 1) = a + b * c;
}`;

/** Two numbers of each byte, by scales of groups. */
const NIBBLES = `#pragma tri grid(cdiv(n, 256))
__global__ void k(unsigned char *Q, half *Y, float *S, int n) {
  int i[256] = get_program_id(0) * 256 + 0 ... 256;
  int q[256] = *?(i < n) (Q + i);
  float s[256] = *?(i < n) (S + i / 32);
  *?(i < n) (Y + (2 * i + 1)) = (q >> 4) * s;
  *?(i < n) (Y + 2 * i) = (q & 15) * s;
}`;

/** Pairs of rows of a matrix, whose columns are a multiple of two. */
const ROWS = `#pragma tri grid(cdiv(M, 8), cdiv(N, 16))
__global__ void k(int *X, int *Y, int M, int N) {
  int r[8] = get_program_id(0) * 8 + 0 ... 8;
  int c[16] = get_program_id(1) * 16 + 0 ... 16;
  bool m[8, 16] = r[:, newaxis] < M && c[newaxis, :] < N;
  int at[8, 16] = r[:, newaxis] * (2 * N) + (c * 2)[newaxis, :];
  int a[8, 16] = load(X + at, m, 5);
  int b[8, 16] = load(X + at + 1, m, 5);
  *?(m) (Y + at) = b;
  *?(m) (Y + at + 1) = a;
}`;

/** The same by built-in functions. */
const JOINED = `#pragma tri grid(cdiv(2 * n, 512))
__global__ void k(half *X, half *Y, int n) {
  int i[512] = get_program_id(0) * 512 + 0 ... 512;
  half x[256, 2] = reshape(*?(i < 2 * n) (X + i), 256, 2);
  *?(i < 2 * n) (Y + i) = interleave(split1(x) + split0(x), split1(x) - split0(x));
}`;

/** Accesses of an instance: `st.global.v4.b32 …`. */
const accessesOf = ({ kernel }: LoweredInstance, kind: "ld" | "st"): readonly string[] =>
  [...printEntry(kernel, "sm_90").matchAll(new RegExp(`${kind}\\.global\\S*`, "g"))]
    .map(([access]) => access.replace(".L2::256B", ""));

const alignedOf = (text: string): LoweredInstance =>
  must(lowerText(text, "sm_90").find(({ conditions }) => conditions.length > 0), "instance");

/** Runs the instances that serve the size: the specialised one wants multiples of 16. */
function run(
  text: string,
  size: number,
  grid: readonly [number, number, number],
  args: () => Parameters<typeof emulate>[1]["args"],
  check: (args: Parameters<typeof emulate>[1]["args"]) => void,
): void {
  for (const { kernel, conditions, threads, sharedBytes } of lowerText(text, "sm_90")) {
    if (conditions.length > 0 && size % 16 !== 0) continue;
    const given = args();
    emulate(printEntry(kernel, "sm_90"), {
      grid,
      block: [threads, 1, 1],
      sharedBytes,
      args: given,
    });
    check(given);
  }
}

const sizes = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constantFrom(16, 128, 144, 256, 272));

Deno.test("pairAccesses() rotates pairs, also in place", () => {
  fc.assert(
    fc.property(sizes, fc.boolean(), (n, isInPlace) => {
      const x = Float32Array.from({ length: 2 * n }, (_, i) => (i * 37) % 101 - 50);
      const c = Float32Array.from({ length: n }, (_, i) => (i % 7) - 3);
      const text = rotated("float");
      run(text, n, [Math.ceil(n / 128), 1, 1], () => {
        const from = x.slice();
        return [from, isInPlace ? { buffer: from, offset: 0 } : new Float32Array(2 * n), c, int(n)];
      }, ([from, to]) => {
        const y = isInPlace ? from : to;
        assert(y instanceof Float32Array);
        y.forEach((value, i) => {
          const [a, b, k] = [x[i - i % 2] ?? 0, x[i - i % 2 + 1] ?? 0, c[i >> 1] ?? 0];
          assertEquals(value, i % 2 === 0 ? a * k - b : a + b * k);
        });
      });
    }),
    { numRuns: 12 },
  );
});

Deno.test("pairAccesses() stores what bytes hold, the odd element first", () => {
  fc.assert(
    fc.property(sizes, (n) => {
      const q = Uint8Array.from({ length: n }, (_, i) => (i * 91) & 255);
      const s = Float32Array.from({ length: Math.ceil(n / 32) }, (_, i) => i + 1);
      run(NIBBLES, n, [Math.ceil(n / 256), 1, 1], () => [q, new Uint16Array(2 * n), s, int(n)], ([
        ,
        y,
      ]) => {
        assert(y instanceof Uint16Array);
        new Float16Array(y.buffer).forEach((value, i) => {
          const code = ((q[i >> 1] ?? 0) >> (i % 2 * 4)) & 15;
          assertEquals(value, code * (s[i >> 6] ?? 0));
        });
      });
    }),
    { numRuns: 12 },
  );
});

Deno.test("pairAccesses() swaps pairs of rows, with values where the mask is not set", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), sizes, (M, N) => {
      const x = Int32Array.from({ length: 2 * M * N }, (_, i) => i * 3);
      run(
        ROWS,
        M * N % 16 === 0 && M % 16 === 0 && N % 16 === 0 ? 16 : 1,
        [
          Math.ceil(M / 8),
          Math.ceil(N / 16),
          1,
        ],
        () => [x, new Int32Array(x.length), int(M), int(N)],
        ([, y]) => {
          assertEquals(y, Int32Array.from(x, (_, i) => (i ^ 1) * 3));
        },
      );
    }),
    { numRuns: 8 },
  );
});

Deno.test("split0(), split1() and interleave() move nothing between threads", () => {
  for (const n of [256, 272, 77]) {
    const x = new Float16Array(2 * n).map((_, i) => (i * 7) % 64);
    const bits = new Uint16Array(x.buffer);
    run(JOINED, n, [Math.ceil(n / 256), 1, 1], () => [bits, new Uint16Array(2 * n), int(n)], ([
      ,
      y,
    ]) => {
      assert(y instanceof Uint16Array);
      new Float16Array(y.buffer).forEach((value, i) => {
        const [a, b] = [x[i - i % 2] ?? 0, x[i - i % 2 + 1] ?? 0];
        assertEquals(value, i % 2 === 0 ? b + a : b - a);
      });
    });
  }
  const instance = alignedOf(JOINED);
  assertEquals(accessesOf(instance, "st"), ["st.global.v2.b32"]);
  assert(!printEntry(instance.kernel).includes("shared"), "no exchange");
});

Deno.test("pairAccesses() makes vectors of aligned pairs", () => {
  const halves = alignedOf(rotated("half"));
  assertEquals(accessesOf(halves, "ld"), ["ld.global.b32", "ld.global.b32"]);
  assertEquals(accessesOf(halves, "st"), ["st.global.b32"]);
  assert(!printEntry(halves.kernel).includes("st.shared"), "no exchange");
  assertEquals(accessesOf(alignedOf(NIBBLES), "st"), ["st.global.v2.b32"]);
  assertEquals(accessesOf(alignedOf(ROWS), "ld"), ["ld.global.v2.b32"]);
});

/** Indices that are no doubles of ranges: a type has not all of them, or sums leave it. */
const CONVERTED = [
  ["(char[128])i", (i: number) => 2 * i],
  ["(bool[128])i", (i: number) => i === 0 ? 0 : 2],
  ["(int[128])(half[128])(i + 2000) - 2000", (i: number) => 2 * (Math.f16round(i + 2000) - 2000)],
  // 2 * 1600000000 is no int.
  ["(long[128])(i + 1600000000) + far", (i: number) => 2 * i],
  ["(int[128])(unsigned[128])i", (i: number) => 2 * i],
] as const;

Deno.test("pairAccesses() leaves the elements what they are where indices are converted", () => {
  for (const [index, first] of CONVERTED) {
    const text = `__global__ void k(int *X, int *Y, long far) {
  int i[128] = 0 ... 128;
  int a[128] = *(X + 2 * (${index}));
  int b[128] = *(X + 2 * (${index}) + 1);
  *(Y + i) = a;
  *(Y + i + 128) = b;
}`;
    const far = { bytes: 8, value: -1600000000n } as const;
    const x = Int32Array.from({ length: 512 }, (_, i) => i + 3);
    run(text, 16, [1, 1, 1], () => [x, new Int32Array(256), far], ([, y]) => {
      assertEquals(
        y,
        Int32Array.from({ length: 256 }, (_, i) => first(i & 127) + (i >> 7) + 3),
        index,
      );
    });
  }
});

Deno.test("pairAccesses() pairs no elements in the middle of others", () => {
  const text = `__global__ void k(float *X, short *Y) {
  int i[128] = 0 ... 128;
  short *p[128] = (short*[128])(X + 2 * i);
  short a[128] = *p;
  short b[128] = *(p + 1);
  *(Y + 2 * i) = a;
  *(Y + 2 * i + 1) = b;
}`;
  const x = Float32Array.from({ length: 256 }, (_, i) => i / 7 + 1);
  const halves = new Uint16Array(x.buffer);
  run(text, 16, [1, 1, 1], () => [x, new Uint16Array(256)], ([, y]) => {
    assertEquals(y, Uint16Array.from({ length: 256 }, (_, i) => halves[(i >> 1) * 4 + i % 2] ?? 0));
  });
});
