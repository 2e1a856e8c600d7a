/**
 * Loops that load ahead, on the emulator, against sums and maxima in double precision: for all targets, in registers and in
 * slots, with as many columns as fill no tile, some tiles, and a part of the last one, in results that were something else.
 */
import type { Scalar } from "../../../support/typed_arrays.ts";
import { CompiledText, type Elements } from "../../../support/compiler/value_run.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { int } from "../../../support/emulate.ts";
import { freshRandom, type Random } from "../../../support/random.ts";

const ROWS = 3;
/** Of a tile; threads have eight elements. */
const BLOCK = 512;
const COLUMNS = [
  0,
  1,
  5,
  BLOCK - 1,
  BLOCK,
  BLOCK + 1,
  2 * BLOCK,
  4 * BLOCK + 17,
  7 * BLOCK + 3,
  3 * BLOCK + 8,
  9 * BLOCK + 8,
];

interface Case {
  readonly name: string;
  readonly text: string;
  /** Of X, Y, M, N, ld: what the M results in Y are. */
  readonly result: (row: readonly number[]) => number;
  readonly type?: "float32" | "float16";
  /** Each row starts at a multiple of 16 bytes. */
  readonly isAligned?: boolean;
}

const HEAD = `#pragma tri grid(M)
#pragma tri num_warps=2
`;

const head = (type = "float", other = "", pointer = "X"): string =>
  `${HEAD}${other}__global__ void k(${type} *X, float *Y, int M, int N, int ld) {
  int row = get_program_id(0);
  ${type} *x0 = ${pointer} + (long)row * ld;`;

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const largest = (values: readonly number[]): number => Math.max(-Infinity, ...values);

/** Logarithm of the sum of exponentials. */
function logSum(row: readonly number[]): number {
  const top = largest(row);
  return row.length === 0 ? -Infinity : top + Math.log(sum(row.map((x) => Math.exp(x - top))));
}

/** The tiles of even numbers come first. */
const partOf = (at: number): number => Math.floor(at / BLOCK) % 2;

/** A loop in slots of shared memory, whose programs are not taken for few. */
const inSlots = (text: string): string =>
  text.replace("  for (", "  #pragma tri loop num_stages(4)\n  for (");

/** m: maximum so far; s: sum of exponentials so far. */
const ONLINE = `
  float m = -1e30f;
  float s = 0;
  for (int c = 0; c < N; c += ${BLOCK}) {
    int k[${BLOCK}] = c + 0 ... ${BLOCK};
    float x[${BLOCK}] = (float[${BLOCK}])load(x0 + k, k < N, -F32_INFINITY);
    float higher = max(m, x[max]);
    float e[${BLOCK}] = exp(x - higher);
    s = s * exp(m - higher) + e[+];
    m = higher;
  }
  *(Y + row) = m + log(s);
}`;

/** Rows that begin at multiples of 16 bytes, as whose accesses copies are. */
const ALIGNED = head("float", "", "multiple_of(X, 16)").replace(
  "(long)row * ld",
  "row * (long)multiple_of(ld, 8)",
);

const CASES: readonly Case[] = [
  { name: "maximum and sum in one loop", text: head() + ONLINE, result: logSum },
  { name: "the same in slots", text: head() + inSlots(ONLINE), result: logSum },
  {
    name: "the same of aligned rows",
    text: head("float", "", "multiple_of(X, 16)").replace(
      "(long)row * ld",
      "row * (long)multiple_of(ld, 4)",
    ) + inSlots(ONLINE),
    result: logSum,
    isAligned: true,
  },
  {
    name: "the same of halves",
    text: head("half") + ONLINE.replaceAll("-F32_INFINITY", "-(half)F32_INFINITY"),
    result: logSum,
    type: "float16",
  },
  {
    name: "the same of aligned halves",
    text: head("half", "", "multiple_of(X, 16)").replace(
      "(long)row * ld",
      "row * (long)multiple_of(ld, 8)",
    ) +
      inSlots(ONLINE).replaceAll("-F32_INFINITY", "-(half)F32_INFINITY").replace(
        "k < N",
        "k < multiple_of(N, 8)",
      ),
    result: logSum,
    type: "float16",
    isAligned: true,
  },
  {
    name: "the same in few registers",
    text: head("float", "#pragma tri max_registers=32\n") + ONLINE,
    result: logSum,
  },
  {
    name: "pointers that move, from the end of the row on",
    text: `${head()}
  float *p[${BLOCK}] = x0 + N + (-${BLOCK} ... 0);
  float s = 0;
  for (int left = N; left > 0; left -= ${BLOCK}) {
    float x[${BLOCK}] = *?((0 ... ${BLOCK}) >= ${BLOCK} - left) p;
    s += x[+];
    p -= ${BLOCK};
  }
  *(Y + row) = s;
}`,
    result: sum,
  },
  {
    name: "two tiles, the second one by another mask",
    text: `${head()}
  float s = 0;
  float top = -1e30f;
  for (int c = 0; c < N; c += ${BLOCK}) {
    int k[${BLOCK}] = c + 0 ... ${BLOCK};
    float x[${BLOCK}] = *?(k < N) (x0 + k);
    float z[${BLOCK}] = *?(k < N - 1) (x0 + k + 1);
    float d[${BLOCK}] = x * z;
    s += d[+];
    top = max(top, x[max] * 0 + s);
  }
  *(Y + row) = s;
}`,
    result: (row) => sum(row.slice(1).map((x, i) => x * (row[i] ?? 0))),
  },
  {
    name: "tiles of rows, reduced along columns",
    text: `${head()}
  float s[16] = 0;
  for (int c = 0; c < N; c += ${BLOCK}) {
    int k[32, 16] = c + (0 ... 32)[:, newaxis] * 16 + (0 ... 16)[newaxis, :];
    float x[32, 16] = *?(k < N) (x0 + k);
    s += x[+, :];
  }
  *(Y + row) = s[+];
}`,
    result: sum,
  },
  {
    name: "the place of the largest, in the loop of a loop",
    text: `${head()}
  float best = -1e30f;
  int place = 0;
  for (int part = 0; part < 2; part += 1) {
    for (int c = part * ${BLOCK}; c < N; c += ${2 * BLOCK}) {
      int k[${BLOCK}] = c + 0 ... ${BLOCK};
      float x[${BLOCK}] = load(x0 + k, k < N, -F32_INFINITY);
      float top = x[max];
      int at = c + x[argmax];
      place = top > best ? at : place;
      best = max(top, best);
    }
  }
  *(Y + row) = (float)place;
}`,
    result: (row) => {
      const places = row.map((_, i) => i).sort((a, b) => partOf(a) - partOf(b) || a - b);
      return places.find((at) => row[at] === largest(row)) ?? 0;
    },
  },
  {
    name: "sums that are reduced behind the loop",
    text: ALIGNED + `
  float s[${BLOCK}] = 0;
  float top[${BLOCK}] = -1;
  for (int c = 0; c < N; c += ${BLOCK}) {
    int k[${BLOCK}] = c + 0 ... ${BLOCK};
    float x[${BLOCK}] = k < multiple_of(N, 8) ? *(x0 + k) : 2;
    s += x - 2;
    top = max(top, x);
  }
  *(Y + row) = s[+] + top[max];
}`,
    // What is masked is 2, in the last tile of a row.
    result: (row) =>
      sum(row.map((x) => x - 2)) + Math.max(-1, largest(row), row.length % BLOCK > 0 ? 2 : -1),
    isAligned: true,
  },
  {
    name: "a branch that takes what was loaded",
    text: `${head()}
  float s = 0;
  for (int c = 0; c < N; c += ${BLOCK}) {
    int k[${BLOCK}] = c + 0 ... ${BLOCK};
    float x[${BLOCK}] = *?(k < N) (x0 + k);
    if (c == ${BLOCK}) {
      float y[${BLOCK}] = 2 * x;
      s += y[+];
    } else {
      s -= x[+];
    }
  }
  *(Y + row) = s;
}`,
    result: (row) => sum(row.map((x, i) => i >= BLOCK && i < 2 * BLOCK ? 2 * x : -x)),
  },
];

/** Rows of distinct quarters in any order, which sums of floats are exact for; NaN between rows. */
function rowsOf(random: Random, columns: number, ld: number): readonly number[] {
  return Array.from(
    { length: ROWS * ld },
    (_, i) => i % ld < columns ? (random.below(257) - 128) / 16 : NaN,
  );
}

for (const { name, text, result, type = "float32", isAligned = false } of CASES) {
  Deno.test(`load-ahead: ${name}`, () => {
    const random = freshRandom();
    for (const kernel of CompiledText.forAll(text)) {
      for (const columns of COLUMNS) {
        if (isAligned && columns % 8 !== 0) continue;
        const ld = isAligned ? columns + 8 : columns + 1;
        const values = rowsOf(random, columns, ld);
        const x: Elements = { type, values };
        const y: Elements = { type: "float32", values: new Array<Scalar>(ROWS).fill(NaN) };
        const [, found = []] = kernel.run([x, y, int(ROWS), int(columns), int(ld)], ROWS);
        found.forEach((value, row) => {
          const exact = result(values.slice(row * ld, row * ld + columns));
          const error = 2e-5 * Math.max(1, Math.abs(exact));
          const isRight = Math.abs(Number(value) - exact) <= error ||
            (columns === 0 && Number(value) <= -1e29);
          assert(isRight, `${columns} columns, row ${row}: ${value} for ${exact}`);
        });
      }
    }
  });
}

Deno.test("load-ahead: a loop around one that adds up, of any number of iterations each", () => {
  const random = freshRandom();
  const text = `#pragma tri grid(P)
#pragma tri num_warps=2
__global__ void k(float *X, float *Y, int P, int M, int N, int ld) {
  int r[${BLOCK}] = 0 ... ${BLOCK};
  int from = get_program_id(0);
  float s[${BLOCK}] = 0, q[${BLOCK}] = 1;
  for (int row = from; row < M; row += 2)
    for (int c = 0; c < N; c += ${BLOCK}) {
      bool in[${BLOCK}] = c + r < multiple_of(N, 8);
      float x[${BLOCK}] = *?(in) (multiple_of(X, 16) + (M - 1 - row) * multiple_of(ld, 8) + c + r);
      s += x;
      q += x * x;
    }
  *(Y + from * 2) = s[+];
  *(Y + from * 2 + 1) = q[+] - ${BLOCK};
}`;
  for (const kernel of CompiledText.forAll(text)) {
    for (
      const [rows, columns] of [[0, 8], [1, 0], [3, 0], [2, 8], [5, BLOCK], [9, 2 * BLOCK + 16], [
        4,
        7 * BLOCK,
      ]] as const
    ) {
      const ld = columns + 8;
      const values = Array.from(
        { length: Math.max(1, rows) * ld },
        (_, i) => i % ld < columns ? (random.below(65) - 32) / 16 : NaN,
      );
      const args = [
        { type: "float32", values },
        { type: "float32", values: new Array<Scalar>(4).fill(NaN) },
        ...[2, rows, columns, ld].map(int),
      ] as const;
      const [, found = []] = kernel.run(args, 2);
      const expected = [0, 1].flatMap((from) => {
        const own = values.filter((_, i) =>
          i % ld < columns && i < rows * ld && (rows - 1 - Math.floor(i / ld)) % 2 === from
        );
        return [sum(own), sum(own.map((x) => x * x))];
      });
      found.forEach((value, i) => {
        const exact = expected[i] ?? NaN;
        const isRight = Math.abs(Number(value) - exact) <= 2e-5 * Math.max(BLOCK, Math.abs(exact));
        assert(isRight, `${rows} rows of ${columns}, ${i}: ${value} for ${exact}`);
      });
    }
  }
});

Deno.test("load-ahead: loops that add up copy where they wait for memory alone", () => {
  const copies = (body: string, loop = "for (int c = 0; c < N; c += 512)"): number | undefined => {
    const text = `${ALIGNED}
  float s[${BLOCK}] = 0;
  ${loop} {
    int k[${BLOCK}] = c + 0 ... ${BLOCK};
    float x[${BLOCK}] = *?(k < multiple_of(N, 8)) (x0 + k);
    ${body}
  }
  *(Y + row) = s[+];
}`;
    return new CompiledText(text, "sm_90").ptx.match(/cp\.async\.commit_group/g)?.length;
  };
  // A group for each of five iterations before the loop, and one in it.
  assertEquals(copies("s += x;"), 6);
  assertEquals(
    copies("s += x;", "#pragma tri loop num_stages(3)\n  for (int c = 0; c < N; c += 512)"),
    3,
  );
  assertEquals(
    copies("s += x;", "#pragma tri loop num_stages(1)\n  for (int c = 0; c < N; c += 512)"),
    undefined,
  );
  assertEquals(copies("s += exp(x);"), undefined, "functions take longer than loads");
  assertEquals(copies("s += x * *?(k < N - 8) (x0 + k + 8);"), undefined, "tiles of one tensor");
  assertEquals(copies("s += x; *(Y + M + c) = 1;"), undefined, "stores");
  assertEquals(copies("s += x; if (c > M) s += x;"), undefined, "branches");
});

/** Each row by itself, several rows a program, written where the text says. */
const turns = (params: string, stages: number): string =>
  `#pragma tri grid(P)
#pragma tri num_warps=2
__global__ void k(${params}, int M, int N, int P) {
  int k[${BLOCK}] = 0 ... ${BLOCK};
  #pragma tri loop num_stages(${stages})
  for (int row = get_program_id(0); row < M; row += get_num_programs(0)) {
    int x[${BLOCK}] = *?(k < N) (X + row * N + k);
    int total = x[+];
    *?(k < N) (Y + row * N + k) = x + total;
  }
}`;

/** The same, row after row, in memory. */
function inTurn(memory: bigint[], from: number, to: number, rows: number, columns: number): void {
  for (let row = 0; row < rows; row++) {
    const x = memory.slice(from + row * columns, from + (row + 1) * columns);
    const total = x.reduce((a, b) => a + b, 0n);
    x.forEach((one, k) => memory[to + row * columns + k] = one + total);
  }
}

Deno.test("load-ahead: rows in turn, whose results are elsewhere", () => {
  const random = freshRandom();
  const texts = [2, 3].map((stages) => turns("int *X __noalias, int *Y __noalias", stages));
  for (const kernel of texts.flatMap((text) => CompiledText.forAll(text))) {
    for (const [rows, columns] of [[1, 3], [5, BLOCK], [6, BLOCK - 1]] as const) {
      const x = Array.from({ length: rows * columns }, () => BigInt(random.below(1000) - 500));
      const y = new Array<Scalar>(rows * columns).fill(-7n);
      const expected = [...x, ...x];
      inTurn(expected, 0, x.length, rows, columns);
      const args = [
        { type: "int32", values: x },
        { type: "int32", values: y },
        int(rows),
        int(columns),
        int(2),
      ] as const;
      const [, found] = kernel.run(args, 2);
      assertEquals(found, expected.slice(x.length), `${rows} rows of ${columns}`);
    }
  }
});

Deno.test("load-ahead: no load passes a store that may write what it reads", () => {
  const random = freshRandom();
  // Y is the row behind X, so that each row is read after it was written.
  const text = turns("int *X", 2).replaceAll("(Y + ", "(X + N + ");
  for (const kernel of CompiledText.forAll(text)) {
    const [rows, columns] = [4, BLOCK - 3];
    const x = Array.from(
      { length: (rows + 1) * columns },
      () => BigInt(random.below(20) - 10),
    );
    const expected = [...x];
    inTurn(expected, 0, columns, rows, columns);
    const args = [{ type: "int32", values: x }, int(rows), int(columns), int(1)] as const;
    assertEquals(kernel.run(args, 1), [expected.map((one) => BigInt.asIntN(32, one))]);
  }
});

Deno.test("load-ahead: what a loop has copied is there before the program writes, and what it wrote before is copied", () => {
  const text = `${HEAD}__global__ void k(int *X, int *Y, int M, int N) {
  int r[${BLOCK}] = 0 ... ${BLOCK};
  for (int c = 0; c < N; c += ${BLOCK}) *?(c + r < N) (X + (N - 1 - c - r)) = c + r;
  int s = 0;
  #pragma tri loop num_stages(4)
  for (int c = 0; c < N; c += ${BLOCK}) {
    int x[${BLOCK}] = *?(c + r < N) (X + c + r);
    s = s * 3 + x[max];
  }
  for (int c = 0; c < N; c += ${BLOCK}) *?(c + r < N) (X + (N - 1 - c - r)) = s;
  *Y = s;
}`;
  for (const kernel of CompiledText.forAll(text)) {
    for (const columns of [1, BLOCK, 3 * BLOCK + 5]) {
      let s = 0n;
      for (let c = 0; c < columns; c += BLOCK) {
        s = BigInt.asIntN(32, s * 3n + BigInt(columns - 1 - c));
      }
      const args = [
        { type: "int32", values: new Array<Scalar>(columns).fill(-9n) },
        { type: "int32", values: [-9n] },
        int(1),
        int(columns),
      ] as const;
      assertEquals(kernel.run(args, 1), [new Array<Scalar>(columns).fill(s), [s]]);
    }
  }
});

Deno.test("load-ahead: a hint of the loop decides how many iterations are loaded ahead", () => {
  const slots = (hint: string): number | undefined => {
    const text = head() + ONLINE.replace("for (", `${hint}\n  for (`);
    const copies = new CompiledText(text, "sm_90").ptx.match(/cp\.async\.commit_group/g);
    return copies?.length;
  };
  // One group for each iteration before the loop, and one in it.
  assertEquals(slots(""), undefined);
  assertEquals(slots("#pragma tri loop num_stages(3)"), 3);
  assertEquals(slots("#pragma tri loop pipeline(off)"), undefined);
});

Deno.test("load-ahead: programs of several blocks, whose blocks load into registers", () => {
  const random = freshRandom();
  const text = head("float", "#pragma tri num_ctas=2\n") + ONLINE;
  const kernel = new CompiledText(text, "sm_90");
  assert(!kernel.ptx.includes("cp.async"));
  for (const columns of COLUMNS.slice(1)) {
    const values = rowsOf(random, columns, columns + 1);
    const y: Elements = { type: "float32", values: new Array<Scalar>(ROWS).fill(NaN) };
    const args = [
      { type: "float32", values } as const,
      y,
      int(ROWS),
      int(columns),
      int(columns + 1),
    ];
    const [, found = []] = kernel.run(args, ROWS);
    found.forEach((value, row) => {
      const start = row * (columns + 1);
      const exact = logSum(values.slice(start, start + columns));
      assert(Math.abs(Number(value) - exact) <= 2e-5 * Math.max(1, Math.abs(exact)), `${columns}`);
    });
  }
});
