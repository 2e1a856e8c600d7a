/** Programs of several blocks on the emulator, which watches shared memory of clusters, against double precision. */
import { compileFile } from "../../../support/compile.ts";
import fc from "../../../support/property.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { assertRounded, roundingError } from "../../../support/bounds.ts";
import { withoutChecks } from "../../../../compiler/ptx/checks.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { emulate, int } from "../../../support/emulate.ts";
import { testsInTurn } from "../../../support/sampled.ts";
import { SEED } from "../../../support/seed.ts";
import { CompiledText, type Elements } from "../../../support/compiler/value_run.ts";

const test = testsInTurn(2);

const BLOCKS = [1, 2, 4, 8, 16] as const;

/** Reproducible floats of any magnitude that exponentials of differences bear. */
function floats(count: number, scale: number): number[] {
  let state = SEED | 1;
  return Array.from({ length: count }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0;
    return Math.fround((state / 2 ** 31) * scale);
  });
}

const poisoned = (count: number): Elements => ({
  type: "float32",
  values: new Array<number>(count).fill(NaN),
});

/** A kernel whose programs are so many blocks. */
const kernelText = (blocks: number, warps: number, text: string): string =>
  `#pragma tri num_ctas=${blocks}\n#pragma tri num_warps=${warps}\n${text}`;

/** One program, of which each thread has elements of x. */
const oneProgram = (
  blocks: number,
  warps: number,
  tile: number,
  statements: string,
): CompiledText =>
  new CompiledText(
    kernelText(
      blocks,
      warps,
      `#pragma tri grid(1)
__global__ void k(int *X, int *Y, int *Z) {
  int r[${tile}] = 0 ... ${tile};
  int x[${tile}] = *(X + r);
  ${statements}
}`,
    ),
    "sm_90",
  );

const softmax = (tile: number, blocks: number, warps: number): string =>
  kernelText(
    blocks,
    warps,
    `#pragma tri grid(M)
__global__ void k(float *X, float *Y, int M, int N) {
  int r[${tile}] = 0 ... ${tile};
  float x[${tile}] = load(X + get_program_id(0) * N + r, r < N, -F32_INFINITY);
  float e[${tile}] = exp(x - x[max]);
  *?(r < N) (Y + get_program_id(0) * N + r) = e / e[+];
}`,
  );

test("num_ctas: softmax of rows of any length is that of double precision with 1 to 16 blocks", () => {
  for (const blocks of BLOCKS) {
    for (const [warps, n] of [[1, 4096], [4, 4001], [2, 1], [8, 2050]] as const) {
      const kernel = new CompiledText(softmax(4096, blocks, warps), "sm_90");
      const rows = 2;
      const x = floats(rows * n, 60);
      const [, y = []] = kernel.run(
        [{ type: "float32", values: x }, poisoned(rows * n), int(rows), int(n)],
        rows,
      );
      for (let row = 0; row < rows; row++) {
        const own = x.slice(row * n, (row + 1) * n);
        const top = Math.max(...own);
        const sum = own.reduce((all, value) => all + Math.exp(value - top), 0);
        own.forEach((value, i) => {
          const exact = Math.exp(value - top) / sum;
          // The exponent is off by its own rounding, the sum by its levels, the quotient by one.
          const error = roundingError("float32", exact, 40 + 4 * Math.abs(value - top));
          assertRounded(
            "float32",
            Number(y[row * n + i]),
            exact,
            error,
            () => `${blocks} blocks, ${warps} warps, row ${row} of ${n}, element ${i}`,
          );
        });
      }
    }
  }
});

Deno.test("num_ctas: ids, atomics, scans and look-ups are those of the program, whatever its blocks", () => {
  const text = (blocks: number, warps: number): string =>
    `#pragma tri num_ctas=${blocks}
#pragma tri num_warps=${warps}
__global__ void k(int *X, int *Y, int *Count, int *Seen) {
  int r[256] = 0 ... 256;
  int x[256] = *(X + get_program_id(0) * 256 + r);
  int old = atomic_add(Count, 1);
  *(Seen + get_program_id(0)) = get_num_programs(0) * 1000 + old;
  int t[16, 16] = ^reshape(cumsum(x, 0), 16, 16);
  int g[256] = gather(x, 255 - r, 0);
  int last = x[argmax];
  *(Y + get_program_id(0) * 256 + r) = reshape(t, 256) + g * 3 + last;
}`;
  fc.assert(
    fc.property(
      fc.constantFrom(...BLOCKS),
      fc.constantFrom(1, 2, 4),
      fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 768, maxLength: 768 }),
      (blocks, warps, values) => {
        const programs = 3;
        const [, y = [], count, seen = []] = new CompiledText(text(blocks, warps), "sm_90a").run([
          { type: "int32", values: values.map(BigInt) },
          { type: "int32", values: new Array<bigint>(768).fill(-7n) },
          { type: "int32", values: [0n] },
          { type: "int32", values: new Array<bigint>(programs).fill(-7n) },
        ], programs);
        assertEquals(count, [BigInt(programs)]);
        assertEquals(seen.map(Number).sort(), [3000, 3001, 3002]);
        const expected = Array.from({ length: programs }, (_, id) => {
          const x = values.slice(256 * id, 256 * (id + 1));
          let sum = 0;
          const sums = x.map((value) => sum += value);
          const last = x.indexOf(Math.max(...x));
          return x.map((_, i) =>
            (sums[(i % 16) * 16 + (i >> 4)] ?? 0) + (x[255 - i] ?? 0) * 3 + last
          );
        }).flat();
        assertEquals(y.map(Number), expected);
      },
    ),
    { numRuns: 15 },
  );
});

Deno.test("num_ctas: the code demands its cluster, and without num_ctas nothing of it is there", () => {
  assert(/\.reqnctapercluster 4, 1, 1/.test(new CompiledText(softmax(4096, 4, 2), "sm_90").ptx));
  assert(!/cluster/.test(new CompiledText(softmax(4096, 1, 2), "sm_90").ptx));
});

Deno.test("num_ctas: targets without clusters and products of tiles are refused with the reason", () => {
  const found = (text: string, target: "sm_80" | "sm_90a"): string[] =>
    compileFile({ name: "k.tc", text }, { targets: [target] }).diagnostics
      .filter(({ severity }) => severity === "error").map(({ code }) => code);
  assertEquals(found(softmax(4096, 2, 4), "sm_80"), ["E7012"]);
  assertEquals(found(softmax(4096, 2, 4), "sm_90a"), []);
  const product = `#pragma tri num_ctas=2
__global__ void k(half *X, float *Y) {
  int p[16, 16] = (0 ... 16)[:, newaxis] * 16 + (0 ... 16)[newaxis, :];
  *(Y + p) = (*(X + p)) @ (*(X + p));
}`;
  assertEquals(found(product, "sm_90a"), ["E7013"]);
});

Deno.test("num_ctas: a block may make its first access after a barrier of its cluster", () => {
  const kernel = new CompiledText(
    `#pragma tri num_ctas=2
#pragma tri num_warps=1
__global__ void k(int *Count, int *Y) {
  *Y = atomic_or(Count, 4, true, "acquire");
}`,
    "sm_90",
  );
  const [count, y] = kernel.run([{ type: "int32", values: [1n] }, {
    type: "int32",
    values: [-7n],
  }]);
  assertEquals([count, y], [[5n], [1n]]);
});

Deno.test("num_ctas: reductions of tiles along either axis combine the parts of all blocks, in loops and branches too", () => {
  const text = (rows: number, columns: number, axis: 0 | 1, blocks: number, warps: number) => {
    const [at, kept] = axis === 0 ? ["[+, :]", columns] : ["[:, +]", rows];
    const extreme = axis === 0 ? "[argmax, :]" : "[:, argmax]";
    return `#pragma tri num_ctas=${blocks}
#pragma tri num_warps=${warps}
__global__ void k(int64 *X, int64 *Sums, int *Tops, int rounds) {
  int p[${rows}, ${columns}] = (0 ... ${rows})[:, newaxis] * ${columns} + (0 ... ${columns})[newaxis, :];
  int64 sums[${kept}] = 0;
  int tops[${kept}] = 0;
  for (int round = 0; round < rounds; round++) {
    int64 x[${rows}, ${columns}] = *(X + p) + round;
    sums += x${at};
    if (round > 0) tops += x${extreme};
  }
  *(Sums + (0 ... ${kept})) = sums;
  *(Tops + (0 ... ${kept})) = tops;
}`;
  };
  fc.assert(
    fc.property(
      fc.record({
        rows: fc.constantFrom(1, 4, 64),
        columns: fc.constantFrom(2, 32, 128),
        axis: fc.constantFrom<0 | 1>(0, 1),
        blocks: fc.constantFrom(2, 8, 16),
        warps: fc.constantFrom(1, 2, 8),
        seed: fc.integer({ min: 1, max: 1e6 }),
        // Thousands of threads take the emulator seconds.
      }).filter(({ blocks, warps }) => blocks * warps <= 32),
      ({ rows, columns, axis, blocks, warps, seed }) => {
        const rounds = 3;
        const x = Array.from(
          { length: rows * columns },
          (_, i) => BigInt(Math.imul(i * seed + 7, 0x2c1b3c6d) >> 8),
        );
        const kept = axis === 0 ? columns : rows;
        const lines = Array.from(
          { length: kept },
          (_, line) =>
            x.filter((_, i) => (axis === 0 ? i % columns : Math.floor(i / columns)) === line),
        );
        const [, sums, tops] = new CompiledText(text(rows, columns, axis, blocks, warps), "sm_90")
          .run([
            { type: "int64", values: x },
            { type: "int64", values: new Array<bigint>(kept).fill(-7n) },
            { type: "int32", values: new Array<bigint>(kept).fill(-7n) },
            int(rounds),
          ]);
        // Rounds add 0, 1 and 2 to each element.
        const sumOf = (line: readonly bigint[]): bigint => line.reduce((sum, one) => sum + one, 0n);
        assertEquals(sums, lines.map((line) => 3n * (sumOf(line) + BigInt(line.length))));
        const top = (line: readonly bigint[]): number =>
          line.indexOf(line.reduce((a, b) => a > b ? a : b));
        assertEquals(tops?.map(Number), lines.map((line) => 2 * top(line)));
      },
    ),
    { numRuns: 25 },
  );
});

Deno.test("num_ctas: what another reduction has led to is combined in each block first", () => {
  const text = (rows: number, columns: number, blocks: number, warps: number): string =>
    `#pragma tri num_ctas=${blocks}
#pragma tri num_warps=${warps}
__global__ void k(int64 *X, int64 *Of, int N, int rounds) {
  int row[${rows}] = 0 ... ${rows};
  int column[1, ${columns}] = (0 ... ${columns})[newaxis, :];
  int64 x[${rows}, ${columns}] = *?(column < N) (X + row[:, newaxis] * N + column);
  int64 sum[${rows}] = x[:, +];
  int64 top[${rows}] = (column < N ? x ^ sum[:, newaxis] : -1000000000000)[:, max];
  int least[${rows}] = (column < N ? x * top[:, newaxis] : 1000000000000000000)[:, argmin];
  int64 more[${rows}] = 0;
  for (int round = 0; round < rounds; round++) more += (x - more[:, newaxis])[:, +] % 1009 + least;
  *(Of + row) = sum;
  *(Of + ${rows} + row) = top;
  *(Of + ${2 * rows} + row) = least;
  *(Of + ${3 * rows} + row) = more;
}`;
  const isCombined = (blocks: number, warps: number): boolean =>
    /bar\.sync/.test(new CompiledText(text(1, 2048, blocks, warps), "sm_90").ptx);
  // Few parts, or those of two blocks, are sent as they are.
  assertEquals([isCombined(4, 8), isCombined(2, 32), isCombined(4, 16)], [false, false, true]);
  fc.assert(
    fc.property(
      fc.record({
        rows: fc.constantFrom(1, 2, 8),
        columns: fc.constantFrom(512, 2048),
        program: fc.constantFrom([4, 16], [8, 8], [16, 4], [16, 8]),
        missing: fc.integer({ min: 0, max: 300 }),
        seed: fc.integer({ min: 1, max: 1e6 }),
      }),
      ({ rows, columns, program: [blocks = 1, warps = 1], missing, seed }) => {
        const [n, rounds] = [columns - missing, 3];
        const x = Array.from(
          { length: rows * n },
          (_, i) => BigInt((Math.imul(i + 1, seed * 2 + 1) >> 3) % 5000),
        );
        const [, found] = new CompiledText(text(rows, columns, blocks, warps), "sm_90").run([
          { type: "int64", values: x },
          { type: "int64", values: new Array<bigint>(4 * rows + 1).fill(-7n) },
          int(n),
          int(rounds),
        ]);
        const ofRows = Array.from({ length: rows }, (_, row) => {
          const own = x.slice(row * n, (row + 1) * n);
          const sum = own.reduce((a, b) => a + b, 0n);
          const top = own.map((one) => one ^ sum).reduce((a, b) => a > b ? a : b);
          const products = own.map((one) => one * top);
          const least = BigInt(products.indexOf(products.reduce((a, b) => a < b ? a : b)));
          let more = 0n;
          // Elements that are missing are 0.
          for (let round = 0; round < rounds; round++) {
            more += (sum - more * BigInt(columns)) % 1009n + least;
          }
          return [sum, top, least, more];
        });
        const expected = [0, 1, 2, 3].flatMap((at) => ofRows.map((one) => one[at] ?? -1n));
        assertEquals(found, [...expected, -7n]);
      },
    ),
    { numRuns: 8 },
  );
});

Deno.test("num_ctas: a reduction orders the loads it needs before later stores, and no others", () => {
  const barriers = (statements: string): number => {
    const { ptx } = oneProgram(4, 2, 1024, statements);
    return ptx.split("barrier.cluster.arrive.aligned").length - 1;
  };
  // Y is read too, so it may be what X is; a result that is only written lies apart.
  assertEquals(barriers("*(Y + r) += x - x[+];"), 0);
  assertEquals(barriers("int z[1024] = *(Z + r); *(Y + r) += z - x[+];"), 1);
  assertEquals(barriers("*(Y + r) += (r > 5 ? x : 0)[+];"), 1);
  assertEquals(barriers("*(Y + r) = (r > 5 ? x : 0)[+];"), 0);
  assertEquals(barriers("*(Z + r) += 1; *(Y + r) += x - x[+];"), 2);
});

Deno.test("num_ctas: a program may write over what its reduction has read", () => {
  const kernel = oneProgram(8, 2, 1024, "*(Y + (r ^ 513)) = x + x[+];");
  const x = Array.from({ length: 1024 }, (_, i) => BigInt(i * i % 1000));
  const sum = x.reduce((a, b) => a + b);
  const [, y] = kernel.run([
    { type: "int32", values: x },
    { type: "int32", values: new Array<bigint>(1024).fill(-7n) },
    { type: "int32", values: [-7n] },
  ]);
  assertEquals(y, x.map((_, i) => (x[i ^ 513] ?? 0n) + sum));
});

Deno.test("num_ctas: parts of reductions that do not need each other are under way together", () => {
  const order = (statements: string): string => {
    const { ptx } = oneProgram(2, 1, 64, statements);
    return ptx.match(/st\.async|try_wait/g)?.map((one) => one === "st.async" ? "s" : "w").join(
      "",
    ) ?? "";
  };
  assertEquals(order("int a = x[+]; int b = x[max]; *(Y + r) = x * a + b;"), "ssww");
  assertEquals(order("int a = x[+]; int b = (x * a)[max]; *(Y + r) = x + b;"), "swsw");
  assertEquals(order("int a = x[+]; if (*X > 0) a += x[max]; *(Y + r) = x * a;"), "swsw");
});

Deno.test("num_ctas: every block waits for what it is sent, also where one thread alone asks, or a check that builds leave out", () => {
  const compile = (statements: string): { ptx: string; threads: number; sharedBytes: number } => {
    const text = kernelText(
      2,
      1,
      `__global__ void k(int *X, int *Y) {
  int i[256] = 0 ... 256;
  int x[256] = *(X + i);
  int sum = x[+];
  ${statements}
}`,
    );
    const { kernels } = compileFile({ name: "k.tc", text }, { targets: ["sm_90"] });
    const { ptx, entries: [entry] } = must(must(kernels[0], "kernel").modules[0], "module");
    const { threads, sharedBytes } = must(entry, "entry");
    return { ptx, threads, sharedBytes };
  };
  const x = Int32Array.from({ length: 256 }, (_, i) => i);
  const run = ({ ptx, ...launch }: ReturnType<typeof compile>): readonly [Int32Array, string] => {
    const y = new Int32Array(256);
    let printed = "";
    emulate(ptx, {
      grid: [2, 1, 1],
      block: [launch.threads, 1, 1],
      sharedBytes: launch.sharedBytes,
      args: [x.slice(), y],
      print: (text) => printed += text,
    });
    return [y, printed];
  };
  assertEquals(run(compile('printf("%d", sum);'))[1].trim(), "32640");
  const checked = compile("assert(sum > 0);\n  *(Y + i) = x - sum;");
  const left = withoutChecks(checked.ptx);
  assert(left.length < checked.ptx.length);
  for (const ptx of [checked.ptx, left]) {
    assertEquals(run({ ...checked, ptx })[0], x.map((one) => one - 32640));
  }
});
