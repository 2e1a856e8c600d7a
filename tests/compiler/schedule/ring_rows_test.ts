/** Long rows in a ring of slots of blocks that do them in turn, on the emulator. */
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals } from "../../support/assert.ts";
import { emulateAgain, int } from "../../support/emulate.ts";
import { type Compiled, compileForms } from "../../support/forms/form_run.ts";
import fc from "../../support/property.ts";
import { decode, encode, firstDifference } from "../../support/typed_arrays.ts";

type Type = "float32" | "int32";

const SPELLED = { float32: "float", int32: "int" } as const;
/** Elements of a block. */
const PART = 16384;
/** Of the module's, the one that a launch takes programs from. */
const QUEUE = 3;

interface Shape {
  readonly type: Type;
  /** Of a program. */
  readonly blocks: number;
  /** Reductions of a row: with one, parts of two rows may be under way at once. */
  readonly reductions: 1 | 2;
  /** Tensors that belong to all rows. */
  readonly weights: 0 | 1 | 2;
  /** Rows and weights begin at 16 bytes. */
  readonly aligned: boolean;
}

const columnsOf = ({ blocks }: Shape): number => PART * blocks;

/** All results are exact. What `more` says comes before the row is stored. */
function textOf(
  shape: Shape,
  { more = "", load = "", there = "row < M && i < N", stored = "there", config = "" } = {},
): string {
  const [type, columns] = [SPELLED[shape.type], columnsOf(shape)];
  const second = shape.reductions === 1 ? "sum" : `sum + (there ? x ^ sum : 0)[max]`;
  const level = shape.type === "float32" && shape.reductions === 2
    ? "sum + (there ? x - sum : 0)[max]"
    : second;
  const { weights, aligned } = shape;
  const [w, v] = ["W", "V"].map((name, i) =>
    i < weights ? `load(${name} + i, there, 0, "nc")` : `${1 - i}`
  );
  return `#pragma tri specialize(${aligned ? "auto" : "off"})
#pragma tri config ; num_warps=16, num_ctas=${shape.blocks}${config}
__global__ void k(${type} *X, ${type} *Y, ${type} *W __noalias, ${type} *V __noalias, ${type} *Of __noalias, int M, int N, int ldx, int ldy) {
  long row = get_program_id(0);
  int i[${columns}] = 0 ... ${columns};
  bool there[${columns}] = ${there};
  ${type} x[${columns}] = load(X + row * ldx + i, there, 3);
  ${load}
  ${type} w[${columns}] = ${w};
  ${type} v[${columns}] = ${v};
  ${type} sum = x[+];
  ${type} level = ${level};
  *?(row < M) (Of + row) = level;
  ${more}
  *?(${stored}) (Y + row * ldy + i) = x * w + v + level;
}`;
}

/** Rows in memory, and the programs that do them. */
interface Rows {
  readonly count: number;
  /** Programs without a row. */
  readonly idle: number;
  /** Clusters that do them. */
  readonly clusters: number;
  readonly length: number;
  /** Elements before the first row, and after each. */
  readonly before: number;
  readonly gap: number;
  /** The stored rows are further apart, by so many vectors, and weights begin so many elements later. */
  readonly apart: number;
  /** They are stored where they are loaded. */
  readonly inPlace: boolean;
}

const compiled = new Map<string, Compiled>();

/** Forms of the entry itself, or of what is specialised for aligned rows. */
function formsOf(
  text: string,
  isAligned = false,
): { readonly ptx: string; readonly forms: readonly FormOfEntry[] } {
  const made = compiled.get(text) ?? compileForms(text, {});
  compiled.set(text, made);
  const entry = made.entries.find(({ conditions }) => conditions.length > 0 === isAligned);
  return { ptx: made.ptx, forms: entry?.forms ?? [] };
}

type FormOfEntry = NonNullable<Compiled["entries"][number]["forms"]>[number];

const isRing = ({ symbol }: FormOfEntry): boolean => symbol.endsWith("_ring");

/** The address that the first argument has, as bytes. */
function firstAddress([first]: readonly bigint[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(BigUint64Array.of(must(first, "address")).buffer);
}

/** `weighted`: rows are multiplied by weights before they are reduced. */
function check(
  shape: Shape,
  rows: Rows,
  changes: Parameters<typeof textOf>[1] = {},
  weighted = false,
): void {
  const { type, blocks, weights, aligned } = shape;
  const { count, idle, clusters, before, gap, apart, inPlace } = rows;
  const columns = columnsOf(shape);
  const n = Math.min(rows.length, columns);
  const ldx = n + gap;
  const ldy = inPlace ? ldx : ldx + 4 * apart;
  const { ptx, forms } = formsOf(textOf(shape, changes), aligned);
  const form = must(forms.find(isRing), "a form");
  const sizeOf = (ld: number): number => before + Math.max(count - 1, 0) * ld + (count > 0 ? n : 0);
  const noise = (row: number, i: number): number =>
    (Math.imul(row * 7919 + i, 2654435761) >>> 0) % 5 + 1;
  const reduced = (row: number, i: number): number =>
    weighted ? noise(row, i) * weight(i) : noise(row, i);
  const weight = (i: number): number => weights > 0 ? i * 5 % 3 : 1;
  const shift = (i: number): number => weights > 1 ? i * 3 % 7 : 0;
  const poison = 77;
  const number = (one: number): number | bigint => type === "int32" ? BigInt(one) : one;
  // What is beside rows is no number, where there is such a value.
  const x = new Array<number>(sizeOf(ldx)).fill(type === "float32" ? NaN : 111);
  for (let row = 0; row < count; row++) {
    for (let i = 0; i < n; i++) x[before + row * ldx + i] = noise(row, i);
  }
  const along = (of: (i: number) => number): number[] =>
    Array.from({ length: apart + n }, (_, i) => i < apart ? poison : of(i - apart));
  const ofRows = encode(type, new Array(count + 1).fill(number(poison)));
  const stored = inPlace ? [...x] : new Array<number>(sizeOf(ldy)).fill(poison);
  const memory = encode(type, x.map(number));
  const y = inPlace ? memory : encode(type, stored.map(number));
  const offset = before * 4;
  const programs = count + idle;
  emulateAgain(ptx, {
    kernel: form.symbol,
    grid: [blocks * Math.min(clusters, programs), 1, 1],
    block: [form.threads, 1, 1],
    sharedBytes: form.sharedBytes,
    budget: 1_000_000_000,
    args: [
      { buffer: memory, offset },
      inPlace ? { encode: firstAddress } : { buffer: y, offset },
      { buffer: encode(type, along(weight).map(number)), offset: 4 * apart },
      { buffer: encode(type, along(shift).map(number)), offset: 4 * apart },
      ofRows,
      ...[count, n, ldx, ldy, programs, QUEUE].map(int),
    ],
  });
  const levels = Array.from({ length: count }, (_, row) => {
    const own = Array.from(
      { length: columns },
      (_, i) => i < n ? reduced(row, i) : weighted ? 0 : 3,
    );
    const sum = own.reduce((a, b) => a + b, 0);
    if (shape.reductions === 1) return sum;
    const other = (one: number): number => type === "int32" ? one ^ sum : one - sum;
    return sum + own.reduce((top, one, i) => Math.max(top, i < n ? other(one) : 0), -Infinity);
  });
  assertEquals(firstDifference(decode(type, ofRows).map(Number), [...levels, poison]), undefined);
  levels.forEach((level, row) => {
    for (let i = 0; i < n; i++) {
      stored[before + row * ldy + i] = reduced(row, i) * weight(i) + shift(i) + level;
    }
  });
  assertEquals(firstDifference(decode(type, y).map(Number), stored), undefined);
}

const ANYWHERE = { weights: 2, aligned: false } as const;

const SHAPES: readonly Shape[] = [
  { type: "float32", blocks: 1, reductions: 2, ...ANYWHERE },
  { type: "int32", blocks: 1, reductions: 1, ...ANYWHERE },
  { type: "float32", blocks: 2, reductions: 1, ...ANYWHERE },
  { type: "int32", blocks: 4, reductions: 2, ...ANYWHERE },
  { type: "int32", blocks: 8, reductions: 2, weights: 0, aligned: false },
  { type: "float32", blocks: 8, reductions: 2, weights: 2, aligned: true },
  { type: "float32", blocks: 16, reductions: 1, weights: 1, aligned: true },
];

/** Few elements: an emulator has a thousand threads to run for each block. */
const anyRows = (columns: number, aligned = false): fc.Arbitrary<Rows> =>
  anywhere(columns).map((rows) => ({
    ...rows,
    ...(aligned
      ? {
        length: rows.length & -4,
        before: rows.before & -4,
        gap: rows.gap & -4,
        apart: 4 * rows.apart,
      }
      : {}),
  }));

const anywhere = (columns: number): fc.Arbitrary<Rows> =>
  fc.record({
    count: fc.integer({ min: 1, max: 6 }),
    idle: fc.integer({ min: 0, max: 2 }),
    clusters: fc.integer({ min: 1, max: 2 }),
    length: fc.oneof(
      fc.integer({ min: columns - 40, max: columns }),
      fc.integer({ min: 1, max: columns }),
      fc.integer({ min: 0, max: 20 }),
    ),
    before: fc.integer({ min: 0, max: 40 }),
    gap: fc.integer({ min: 0, max: 35 }),
    apart: fc.integer({ min: 0, max: 3 }),
    inPlace: fc.boolean(),
  });

for (const shape of SHAPES) {
  const { type, blocks, reductions, weights, aligned } = shape;
  const where = aligned ? "that are aligned" : "wherever they start";
  Deno.test(`ringRows computes rows of ${type} ${where}, ${blocks} blocks, ${reductions} reductions, ${weights} weights`, () => {
    fc.assert(
      fc.property(anyRows(columnsOf(shape), aligned), (rows) => check(shape, rows)),
      { numRuns: Math.ceil(8 / blocks) },
    );
  });
}

Deno.test("ringRows reduces nothing of rows of programs that there are not", () => {
  const shape: Shape = { type: "int32", blocks: 2, reductions: 1, ...ANYWHERE };
  for (const count of [1, 2, 3]) {
    const rows = { count, idle: 0, clusters: 1, length: 32760, before: 3, gap: 5, apart: 1 };
    check(shape, { ...rows, inPlace: false }, { there: "i < N" });
  }
});

Deno.test("ringRows has the weights that rows are reduced with before the first row is", () => {
  const load = 'x *= load(W + i, there, 0, "nc");';
  for (const blocks of [1, 4]) {
    const shape: Shape = { type: "float32", blocks, reductions: 1, ...ANYWHERE };
    for (const count of [1, 3]) {
      const rows = { count, idle: 1, clusters: 2, length: PART * blocks - 5, before: 3, gap: 5 };
      check(shape, { ...rows, apart: 2, inPlace: false }, { load }, true);
    }
  }
});

const has = (shape: Partial<Shape>, changes: Parameters<typeof textOf>[1] = {}): boolean => {
  const all: Shape = { type: "float32", blocks: 2, reductions: 1, ...ANYWHERE, ...shape };
  return formsOf(textOf(all, changes), all.aligned).forms.some(isRing);
};

Deno.test("ringRows asks that rows fill most of their tile and are alike in both tensors", () => {
  for (const [blocks, least] of [[1, 15872], [2, 24576]] as const) {
    const { forms } = formsOf(textOf({ type: "float32", blocks, reductions: 1, ...ANYWHERE }));
    const { when, persistent } = must(forms.find(isRing), "a form");
    const demands = [`N >= ${least}`, "X % 16 == Y % 16", "ldx % 4 == ldy % 4"];
    assertEquals(when.map(({ text }) => text).toSorted(), demands);
    assertEquals(persistent, "several");
  }
});

Deno.test("ringRows is for as many blocks as it takes to gain, by weights and alignment", () => {
  const gains = (aligned: boolean): number[][] =>
    ([0, 1, 2] as const).map((weights) =>
      [1, 2, 4, 8, 16].filter((blocks) => has({ blocks, weights, aligned }))
    );
  assertEquals(gains(false), [[2, 4, 8, 16], [2, 4, 8, 16], [1, 2, 4, 8, 16]]);
  assertEquals(gains(true), [[], [8, 16], [4, 8, 16]]);
  const shape = { type: "float32", blocks: 8, reductions: 1, weights: 2, aligned: true } as const;
  const { when, persistent } = must(formsOf(textOf(shape), true).forms.find(isRing), "a form");
  assertEquals([when.map(({ text }) => text), persistent], [["N >= 98304"], "several"]);
});

Deno.test("ringRows computes powers once where weights leave registers for them", () => {
  const powersOf = (weights: 0 | 2): number => {
    const load = "float top = x[max]; x = exp(x - top);";
    const shape: Shape = { type: "float32", blocks: 2, reductions: 1, weights, aligned: false };
    const { ptx, forms } = formsOf(textOf(shape, { load }));
    const { symbol, threads } = must(forms.find(isRing), "a form");
    const [, body = ""] = ptx.split(`.entry ${symbol}(`);
    return body.slice(0, body.indexOf("\n}")).split("ex2.").length - 1 - PART / threads;
  };
  assertEquals([powersOf(0), powersOf(2)], [0, 32]);
});

Deno.test("ringRows leaves alone what stores or loads other things", () => {
  assertEquals(has({}), true);
  // Each program has a row.
  assertEquals(has({}, { there: "i < N" }), true);
  assertEquals(has({}, { stored: "there && row < M - 1" }), false);
  assertEquals(has({ blocks: 1 }, { load: "x += load(X + row * ldx + i, there, 0);" }), false);
  assertEquals(has({}, { more: "*(Of + row) = level + 1;" }), false);
  assertEquals(has({}, { more: 'printf("%d", M);' }), false);
  assertEquals(has({}, { more: "atomic_add(Of + row, level);" }), false);
});
