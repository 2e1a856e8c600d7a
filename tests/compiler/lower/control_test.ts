/** Loops, branches and exits run as written, on every target: judged by plain loops over arrays. */
import { assert, assertEquals } from "../../support/assert.ts";
import { type Argument, type Buffer, emulateAgain, int } from "../../support/emulate.ts";
import { type LoweredInstance, lowerText, printEntry } from "../../support/compiler/lowering.ts";
import { randomNumbers } from "../../support/numbers.ts";
import { randomBytes } from "../../support/random.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { verifyPtx } from "../../../compiler/ptx/verify.ts";
import { must } from "../../../compiler/support/bug.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { groupTargets, TARGET_NAMES } from "../../support/targets.ts";

const test = testsInTurn(2);

/** Every instance of a kernel for a target, as a module of its own. */
interface Built {
  readonly instance: LoweredInstance;
  readonly ptx: string;
}

function buildFor(text: string, target: TargetName): Built[] {
  return lowerText(text, target).map((instance) => {
    const ptx = printEntry(instance.kernel, target);
    assertEquals(verifyPtx(parsePtx(ptx)), [], target);
    return { instance, ptx };
  });
}

/**
 * Runs every instance of a kernel for every target, once where targets have the same code; `run` gets fresh buffers for each
 * run.
 */
function onAll(
  text: string,
  run: (
    launch: (args: readonly Argument[], grid?: number) => void,
    instance: LoweredInstance,
  ) => void,
): void {
  const built = new Map(TARGET_NAMES.map((target) => [target, buildFor(text, target)]));
  const builtFor = (target: TargetName): readonly Built[] => must(built.get(target), target);
  const groups = groupTargets((target) => builtFor(target).map(({ ptx }) => ptx).join(""));
  for (const { instance, ptx } of groups.flatMap(({ first }) => builtFor(first))) {
    run((args, grid = 1) => {
      emulateAgain(ptx, { grid: [grid, 1, 1], block: [instance.threads, 1, 1], args });
    }, instance);
  }
}

const numbers = (count: number, f: (i: number) => number): Int32Array =>
  Int32Array.from({ length: count }, (_, i) => f(i));
const floats = (count: number): Float32Array =>
  Float32Array.from(randomNumbers("float32", count, 0.5));

/** A kernel of one program: results in Y. */
const single = (body: string, params = "int n, int m"): string =>
  `#pragma tri grid(1)\n__global__ void k(int *Y, ${params}) {\n${body}\n}\n`;

/** Checks a scalar kernel of two numbers that stores `count` of them. */
function checkScalars(
  body: string,
  count: number,
  inputs: readonly (readonly [number, number])[],
  expected: (n: number, m: number) => readonly number[],
): void {
  onAll(single(body), (launch) => {
    for (const [n, m] of inputs) {
      const y = new Int32Array(count);
      launch([y, int(n), int(m)]);
      assertEquals([...y], [...expected(n, m)], `${n}, ${m}`);
    }
  });
}

test("compileFile() copies in a grid-stride loop, also when there is nothing to do", () => {
  for (const type of ["float", "char"]) {
    const text = `#pragma tri grid(3)
__global__ void k(${type} *X, ${type} *Y, int n) {
  for (int i = get_program_id(0) * 256; i < n; i += get_num_programs(0) * 256) {
    int r[256] = i + 0 ... 256;
    *?(r < n)(Y + r) = *?(r < n)(X + r);
  }
}`;
    onAll(text, (launch, { conditions }) => {
      for (
        const n of [0, 1, 255, 256, 1000, 2048].filter((n) =>
          conditions.length === 0 || n % 16 === 0
        )
      ) {
        const size = (type === "char" ? 1 : 4) * n + 16;
        const x = randomBytes(size);
        const y = new Uint8Array(size);
        launch([x, y, int(n)], 3);
        assertEquals(y.slice(0, size - 16), x.slice(0, size - 16));
        assert(y.slice(size - 16).every((byte) => byte === 0));
      }
    });
  }
});

Deno.test("compileFile() computes collatz lengths, a loop with a branch whose bound is data", () => {
  checkScalars(
    `int x = n; int steps = 0;
    while (x != 1) { if (x % 2 == 0) x = x / 2; else x = 3 * x + 1; steps += 1; }
    *Y = steps; *(Y + 1) = x;`,
    2,
    [[1, 0], [7, 0], [27, 0]],
    (n) => {
      let [x, steps] = [n, 0];
      for (; x !== 1; steps++) x = x % 2 === 0 ? x / 2 : 3 * x + 1;
      return [steps, x];
    },
  );
});

Deno.test("compileFile() exchanges carried values as if all moved at once", () => {
  checkScalars(
    `int a = 1; int b = 2; int c = 3; bool p = true; bool q = false;
    for (int i = 0; i < n; i++) { int t = a; a = b; b = c; c = t; bool s = p; p = q; q = s; }
    int d = 10; int e = 20;
    while (p != q && m > 0) { int t = d; d = e; e = t; m -= 1; }
    *Y = a; *(Y + 1) = b; *(Y + 2) = c; *(Y + 3) = p; *(Y + 4) = q; *(Y + 5) = d; *(Y + 6) = e;`,
    7,
    [[0, 0], [1, 1], [2, 4], [5, 3]],
    (n, m) => {
      let [a, b, c, p, q, d, e] = [1, 2, 3, 1, 0, 10, 20];
      for (let i = 0; i < n; i++) [a, b, c, p, q] = [b, c, a, q, p];
      for (; p !== q && m > 0; m--) [d, e] = [e, d];
      return [a, b, c, p, q, d, e];
    },
  );
});

Deno.test("compileFile() lets a carried bool be the condition and be swapped with another", () => {
  checkScalars(
    `bool go = n > 0; bool next = m > 0; int rounds = 0;
    while (go) { bool t = go; go = next; next = t && rounds < m; rounds++; }
    *Y = rounds; *(Y + 1) = next;`,
    2,
    [[0, 3], [1, 0], [1, 1], [1, 5]],
    (n, m) => {
      let [go, next, rounds] = [n > 0, m > 0, 0];
      while (go) {
        [go, next] = [next, go && rounds < m];
        rounds++;
      }
      return [rounds, Number(next)];
    },
  );
});

test("compileFile() leaves nested loops by break, continue and return", () => {
  const reference = (n: number, m: number): number[] => {
    const y = [0, 0, 0, 0];
    let count = 0;
    for (let i = 0; i < n; i++) {
      if (i === 2) continue;
      for (let j = 0;; j++) {
        if (j > i) break;
        if (j % 2 === 1) continue;
        count += i * j + 1;
        if (count > m) {
          y[1] = i;
          y[2] = j;
          y[0] = count;
          return y;
        }
      }
      count += 100;
    }
    y[0] = count;
    y[3] = 1;
    return y;
  };
  checkScalars(
    `int count = 0;
    for (int i = 0; i < n; i++) {
      if (i == 2) continue;
      for (int j = 0; ; j++) {
        if (j > i) break;
        if (j % 2 == 1) continue;
        count += i * j + 1;
        if (count > m) { *(Y + 1) = i; *(Y + 2) = j; *Y = count; return; }
      }
      count += 100;
    }
    *Y = count;
    *(Y + 3) = 1;`,
    4,
    [[0, 5], [1, 5], [4, 5], [4, 1000], [7, 330], [7, 100000]],
    reference,
  );
});

Deno.test("compileFile() runs do loops with break and continue, and returns in branches that join", () => {
  checkScalars(
    `int i = n; int sum = 0;
    do {
      i -= 1;
      if (i % 3 == 0) continue;
      if (i % 7 == 5) break;
      sum += i;
    } while (i > 0);
    do { sum += 1000; if (m == 1) break; sum += 1; } while (0);
    if (m > 1) { if (sum > 1020) { *Y = -1; return; } sum += 5; } else sum += 7;
    *Y = sum; *(Y + 1) = i;`,
    2,
    [[0, 0], [1, 1], [10, 2], [5, 2], [4, 2], [20, 1]],
    (n, m) => {
      let [i, sum] = [n, 0];
      do {
        i--;
        if (i % 3 === 0) continue;
        if (i % 7 === 5) break;
        sum += i;
      } while (i > 0);
      do {
        sum += 1000;
        if (m === 1) break;
        sum += 1;
      } while (false);
      if (m > 1) {
        if (sum > 1020) return [-1, 0];
        sum += 5;
      } else sum += 7;
      return [sum, i];
    },
  );
});

test("compileFile() inlines helpers that return from the middle of loops", () => {
  const text = `static int find(int x, int limit) {
  if (x < 0) return -1;
  for (int d = 2; d < limit; d++) {
    if (x % d == 0) return d;
    if (d * d > x) break;
  }
  if (limit > 50) return 0;
  return -2;
}
#pragma tri grid(1)
__global__ void k(int *Y, int n, int m) {
  for (int i = 0; i < n; i++) { int f = find(i * 11 - 5, m); if (f == 3) continue; *(Y + i) = f; }
}`;
  const find = (x: number, limit: number): number => {
    if (x < 0) return -1;
    for (let d = 2; d < limit; d++) {
      if (x % d === 0) return d;
      if (d * d > x) break;
    }
    return limit > 50 ? 0 : -2;
  };
  onAll(text, (launch) => {
    for (const m of [0, 5, 100]) {
      const y = new Int32Array(40).fill(77);
      launch([y, int(30), int(m)]);
      const expected = [...y.keys()].map((i) => {
        const found = i < 30 ? find(i * 11 - 5, m) : 77;
        return found === 3 ? 77 : found;
      });
      assertEquals([...y], expected);
    }
  });
});

Deno.test("compileFile() counts with 64-bit and unsigned variables, and past the end of their range", () => {
  checkScalars(
    `long i = 4294967290; int rounds = 0;
    for (; i < 4294967300; i += 3) rounds++;
    unsigned int u = 4294967290u; unsigned int ups = 0;
    while (u > 5u) { u += 1u; ups += 1u; }
    unsigned int j = (unsigned int)n;
    int downs = 0;
    while (j-- > 0u) downs += 2;
    *Y = rounds; *(Y + 1) = (int)ups; *(Y + 2) = downs; *(Y + 3) = (int)j; *(Y + 4) = (int)(i - 4294967296);`,
    5,
    [[0, 0], [5, 0]],
    (n) => [4, 6, 2 * n, -1, 6],
  );
});

Deno.test("compileFile() shifts, doubles and stores tiles that loops carry", () => {
  const text = `#pragma tri grid(1)
__global__ void k(int *X __noalias, int *Y __noalias, int n, int m) {
  int r[64] = 0 ... 64;
  int a[64] = *(X + r);
  int b[64] = *(X + r + 64);
  int *px[64] = X + r;
  int *py[64] = Y + r;
  for (int i = 0; i < n; i++) {
    int t[64] = a; a = b; b = t + *px;
    if (i % 2 == m) { px += 64; *py = a; py += 64; } else { b = b * 2; px = px + 32; }
  }
  *py = a; *(py + 64) = b;
}`;
  onAll(text, (launch) => {
    for (const [n, m] of [[0, 0], [1, 0], [1, 1], [5, 0], [6, 1]] as const) {
      const x = numbers(640, (i) => i * i);
      const y = new Int32Array(640);
      launch([x, y, int(n), int(m)]);
      const expected = new Int32Array(640);
      let [a, b, px, py] = [x.slice(0, 64), x.slice(64, 128), 0, 0];
      for (let i = 0; i < n; i++) {
        [a, b] = [b, a.map((value, k) => value + (x[px + k] ?? 0))];
        if (i % 2 === m) {
          px += 64;
          expected.set(a, py);
          py += 64;
        } else {
          b = b.map((value) => value * 2);
          px += 32;
        }
      }
      expected.set(a, py);
      expected.set(b, py + 64);
      assertEquals(y, expected);
    }
  });
});

test("compileFile() works through rows in chunks, two loops in sequence over each", () => {
  const text = `#pragma tri grid(4)
__global__ void k(float *X, float *Y, int n, int ld) {
  int row = get_program_id(0);
  float sum[128] = 0;
  float *px[128] = X + row * ld + 0 ... 128;
  for (int i = 0; i < n; i += 128) {
    sum += *?(i + 0 ... 128 < n) px;
    px += 128;
  }
  for (int i = 0; i < n; i += 128) {
    int c[128] = i + 0 ... 128;
    float x[128] = *?(c < n)(X + row * ld + c);
    *?(c < n)(Y + row * ld + c) = x * 2 + sum;
  }
}`;
  onAll(text, (launch, { conditions }) => {
    for (const [n, ld] of [[1, 1], [127, 130], [128, 128], [300, 304]] as const) {
      if (conditions.length > 0 && (n % 4 !== 0 || ld % 4 !== 0)) continue;
      const x = floats(4 * ld);
      const y = new Float32Array(4 * ld).fill(-1);
      launch([x, y, int(n), int(ld)], 4);
      for (let row = 0; row < 4; row++) {
        const sum = new Float32Array(128);
        for (let c = 0; c < n; c++) {
          sum[c % 128] = Math.fround((sum[c % 128] ?? 0) + (x[row * ld + c] ?? 0));
        }
        for (let c = 0; c < ld; c++) {
          const value = Math.fround(Math.fround((x[row * ld + c] ?? 0) * 2) + (sum[c % 128] ?? 0));
          const expected = c < n ? value : -1;
          assert(Math.abs((y[row * ld + c] ?? NaN) - expected) <= 1e-6, `${row}, ${c}`);
        }
      }
    }
  });
});

test("compileFile() transposes in a loop: shared memory is written when all have read it", () => {
  for (const type of ["float", "half", "char"]) {
    const text = `#pragma tri grid(1)
__global__ void k(${type} *X, ${type} *Y, int n, int ld) {
  int m[32] = 0 ... 32;
  ${type} *px[32, 32] = X + m[:, newaxis] * ld + m[newaxis, :];
  ${type} *py[32, 32] = Y + m[:, newaxis] * 32 + m[newaxis, :];
  for (int i = 0; i < n; i += 32) {
    *py = ^(*px);
    px += 32;
    py += 32 * 32;
  }
}`;
    const size = { float: 4, half: 2, char: 1 }[type] ?? 1;
    onAll(text, (launch) => {
      for (const rounds of [0, 1, 3]) {
        const ld = 32 * Math.max(1, rounds);
        const x = randomBytes(32 * ld * size);
        const y = new Uint8Array(x.length);
        launch([x, y, int(32 * rounds), int(ld)]);
        for (let i = 0; i < 32 * rounds; i++) {
          for (let j = 0; j < 32; j++) {
            const [from, to] = [(j * ld + i) * size, (i * 32 + j) * size];
            assertEquals(y.slice(to, to + size), x.slice(from, from + size));
          }
        }
      }
    });
  }
});

Deno.test("compileFile() orders the stores of an iteration before the loads of the next one", () => {
  const text = `#pragma tri grid(1)
__global__ void k(int *X, int n) {
  int r[128] = 0 ... 128;
  for (int i = 0; i < n; i++) *(X + r + 1) = *(X + r) + 1;
}`;
  onAll(text, (launch) => {
    const x: Buffer = numbers(136, (i) => 3 * i);
    launch([x, int(5)]);
    const expected = numbers(136, (i) => 3 * i);
    for (let i = 0; i < 5; i++) {
      const before = expected.slice();
      for (let k = 0; k < 128; k++) expected[k + 1] = (before[k] ?? 0) + 1;
    }
    assertEquals(x, expected);
  });
});

Deno.test("compileFile() does not treat pointers that iterations swap as steps of one another", () => {
  const text = `#pragma tri grid(1)
__global__ void k(int *X, int n) {
  int m[16] = 0 ... 16;
  int *straight[16, 16] = X + m[:, newaxis] * 16 + m[newaxis, :];
  int *transposed[16, 16] = X + m[:, newaxis] + m[newaxis, :] * 16;
  int *p[16, 16] = straight;
  int *q[16, 16] = transposed;
  for (int i = 0; i < 2; i++) {
    if (n & 1) p = transposed;
    else { int *t[16, 16] = p; p = q; q = t; }
    n += 1;
  }
  *p = m[:, newaxis] * 16 + m[newaxis, :];
}`;
  onAll(text, (launch) => {
    for (const n of [0, 1]) {
      const x = new Int32Array(256);
      launch([x, int(n)]);
      assertEquals([...x], Array.from({ length: 256 }, (_, i) => 16 * (i % 16) + (i >> 4)));
    }
  });
});

test("compileFile() gives a loop in a branch the layout that the branch yields", () => {
  const text = `#pragma tri grid(1)
__global__ void k(int *Y, int n) {
  int r[8] = 0 ... 8;
  int m[8] = ((char[32, 32])7 @ (char[32, 8])2)[+, :];
  if (n > 2) do { m = 1; n--; } while (n);
  *(Y + r) = m;
}
`;
  onAll(text, (launch) => {
    for (const n of [0, 5]) {
      const out = numbers(8, () => -1);
      launch([out, int(n)]);
      assertEquals([...out], Array.from({ length: 8 }, () => n > 2 ? 1 : 32 * 32 * 14));
    }
  });
});
