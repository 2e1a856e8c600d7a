/** Rows that stay in shared memory between reductions, on the emulator, against the same kernels with all in registers. */
import { CompiledText, type Elements } from "../../support/compiler/value_run.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { int } from "../../support/emulate.ts";
import { SEED } from "../../support/seed.ts";

const COLUMNS = 1024;

/** Each row, less its mean, over the root of its mean square, with multiples of its largest element added; in place. */
const text = (type: string, other: string, blocks: number, registers: number): string =>
  `#pragma tri num_ctas=${blocks}
#pragma tri num_warps=2
#pragma tri max_registers=${registers}
#pragma tri grid(M)
__global__ void k(${type} *X, ${type} *Y, int M, int ldx, int N) {
  int r[${COLUMNS}] = 0 ... ${COLUMNS};
  bool inside[${COLUMNS}] = r < multiple_of(N, 8);
  long first = get_program_id(0) * (long)multiple_of(ldx, 8);
  ${type} *p[${COLUMNS}] = multiple_of(X, 16) + first + r;
  ${type} *q[${COLUMNS}] = multiple_of(Y, 16) + first + r;
  float x[${COLUMNS}] = (float[${COLUMNS}])load(p, inside, ${other});
  float y[${COLUMNS}] = (float[${COLUMNS}])load(q, inside, 0);
  float top = x[max];
  float mean = (inside ? x : 0)[+] / N;
  float d[${COLUMNS}] = inside ? x - mean : 0;
  float scale = rsqrt((d * d + y)[+] / N);
  *?(inside) p = (${type}[${COLUMNS}])(d * scale + top * y);
}`;

function floats(type: Elements["type"], count: number): Elements {
  let state = SEED | 1;
  const values = Array.from({ length: count }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0;
    return Math.fround(Math.abs(state % 1000) / 8);
  });
  return { type, values };
}

Deno.test("stage-rows: the same bits as from registers, in any number of blocks, in place, with any filling", () => {
  for (
    const [name, type, other, blocks, registers] of [
      ["float", "float32", "0", 1, 48],
      ["float", "float32", "-F32_INFINITY", 2, 24],
      ["float", "float32", "7", 2, 24],
      ["half", "float16", "-F32_INFINITY", 1, 48],
    ] as const
  ) {
    const staged = new CompiledText(text(name, other, blocks, registers), "sm_90");
    const held = new CompiledText(text(name, other, blocks, 255), "sm_90");
    const what = `${name}, ${other}, ${blocks} blocks`;
    assert(!held.ptx.includes("cp.async"), what);
    assert(staged.ptx.includes("cp.async.cg"), what);
    for (const n of [COLUMNS, 520]) {
      const [rows, stride] = [1, COLUMNS + 8];
      const args = [
        floats(type, rows * stride),
        floats(type, rows * stride),
        int(rows),
        int(stride),
        int(n),
      ] as const;
      assertEquals(staged.run(args, rows), held.run(args, rows), `${what}, ${n} columns`);
    }
  }
});

Deno.test("registersOfRows() gives twice what rows take where no copies would keep them elsewhere", () => {
  const boundOn = (target: "sm_75" | "sm_80", registers: number): number =>
    Number(
      /\.maxnreg (\d+)/.exec(new CompiledText(text("float", "0", 1, registers), target).ptx)?.[1],
    );
  // A thread has 16 elements of x, and of y.
  assert(boundOn("sm_75", 24) >= 64);
  assertEquals(boundOn("sm_75", 128), 128);
  assertEquals(boundOn("sm_80", 24), 24);
});

Deno.test("stage-rows: what was copied is there before the program writes", () => {
  const kernel = new CompiledText(
    `#pragma tri num_ctas=2
#pragma tri num_warps=1
#pragma tri max_registers=24
#pragma tri grid(1)
__global__ void k(int *X, int *Y) {
  int r[1024] = 0 ... 1024;
  int x[1024] = *(multiple_of(X, 16) + r);
  *(Y + r) = 5;
  int sum = x[+];
  *(X + r) = x - sum;
}`,
    "sm_90",
  );
  const x = Array.from({ length: 1024 }, (_, i) => BigInt(i * i % 1000));
  const sum = x.reduce((a, b) => a + b);
  const [written, other] = kernel.run([
    { type: "int32", values: x },
    { type: "int32", values: new Array<bigint>(1024).fill(-7n) },
  ]);
  assertEquals(written, x.map((one) => one - sum));
  assertEquals(other, new Array<bigint>(1024).fill(5n));
});
