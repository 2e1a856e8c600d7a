/** Rows that start anywhere, by aligned vectors and their ends (layout/rows/shifted_rows.ts), on the emulator. */
import { must } from "../../../../compiler/support/bug.ts";
import { assertEquals } from "../../../support/assert.ts";
import { emulateAgain, int } from "../../../support/emulate.ts";
import { type Compiled, compileForms } from "../../../support/forms/form_run.ts";
import fc from "../../../support/property.ts";
import { decode, encode, firstDifference } from "../../../support/typed_arrays.ts";

type Type = "float32" | "float16" | "int32" | "int8";

const SPELLED = { float32: "float", float16: "half", int32: "int", int8: "signed char" } as const;
const BYTES = { float32: 4, float16: 2, int32: 4, int8: 1 } as const;

interface Shape {
  readonly type: Type;
  /** Bytes of the tile, a row. */
  readonly bytes: number;
  readonly numWarps: number;
  /** Of a program. */
  readonly blocks: number;
  readonly beside: Beside;
}

const columnsOf = ({ type, bytes }: Shape): number => bytes / BYTES[type];

/** Elements that are not there are so. */
const FILL = 3;

/** What is loaded beside rows: nothing, rows that are shifted alike, or what is the same for all rows. */
type Beside = "nothing" | "rows" | "weights" | "two weights";

const ADDED: Readonly<Record<Beside, string>> = {
  nothing: "",
  rows: "x += load(Z + row * ldx + i, there, 0);",
  weights: "x += load(Z + i, there, 0);",
  "two weights": "x += load(Z + i, there, 0) + load(Z + i, there, 2);",
};

/** Sums, extremes, and rows with another element in the middle. All results are exact. */
function textOf(shape: Shape, more = ""): string {
  const [spelled, columns] = [SPELLED[shape.type], columnsOf(shape)];
  const wide = shape.type.startsWith("float") ? "float" : "int";
  return `#pragma tri specialize(off)
#pragma tri config ; num_warps=${shape.numWarps}, num_ctas=${shape.blocks}
__global__ void k(${spelled} *X, ${spelled} *Z, ${spelled} *Y, ${wide} *Of __noalias, int M, int N, int ldx, int ldy) {
  long row = get_program_id(0);
  int i[${columns}] = 0 ... ${columns};
  bool there[${columns}] = row < M && i < N;
  ${spelled} x[${columns}] = load(X + row * ldx + i, there, ${FILL});
  ${ADDED[shape.beside]}
  ${more}
  ${wide} w[${columns}] = (${wide}[${columns}])x;
  *(Of + 3 * row) = w[+];
  *(Of + 3 * row + 1) = w[max];
  *(Of + 3 * row + 2) = (-w)[min];
  *?(there) (Y + row * ldy + i) = i == N / 2 ? 7 : x;
}`;
}

/** Rows in memory. */
interface Rows {
  readonly count: number;
  readonly length: number;
  /** Elements before the first row, and after each. */
  readonly before: number;
  readonly gap: number;
  /** The stored rows are further apart, by so many vectors. */
  readonly apart: number;
}

const compiled = new Map<string, Compiled>();

function formOf(shape: Shape): { readonly ptx: string; readonly form: FormOfEntry } {
  const text = textOf(shape);
  const made = compiled.get(text) ?? compileForms(text, {});
  compiled.set(text, made);
  return { ptx: made.ptx, form: must(made.entries[0]?.forms?.[0], "a form") };
}

type FormOfEntry = NonNullable<Compiled["entries"][number]["forms"]>[number];

function check(shape: Shape, { count, length, before, gap, apart }: Rows): void {
  const { type, beside } = shape;
  const columns = columnsOf(shape);
  const n = Math.min(length, columns);
  const ldx = n + gap;
  const ldy = ldx + apart * 16 / BYTES[type];
  const { ptx, form } = formOf(shape);
  const sizeOf = (ld: number): number => before + (count - 1) * ld + n;
  const noise = (row: number, i: number): number =>
    (Math.imul(row * 7919 + i, 2654435761) >>> 0) % 5 + 1;
  const added = (row: number, i: number): number =>
    beside === "nothing" ? 0 : (i * 5 + (beside === "rows" ? row : 0)) % 3;
  const times = beside === "two weights" ? 2 : 1;
  const value = (row: number, i: number): number => noise(row, i) + times * added(row, i);
  const outside = beside === "two weights" ? FILL + 2 : FILL;
  const poison = 77;
  // What is beside rows is no number, where there is such a value.
  const x = new Array<number>(sizeOf(ldx)).fill(type.startsWith("float") ? NaN : 111);
  for (let row = 0; row < count; row++) {
    for (let i = 0; i < n; i++) x[before + row * ldx + i] = noise(row, i);
  }
  // Weights lie anywhere, and end with their memory.
  const z = beside.endsWith("weights")
    ? Array.from({ length: before + n }, (_, i) => added(0, i - before))
    : x.map((_, i) => added(Math.floor((i - before) / ldx), (i - before) % ldx));
  const own = type.startsWith("float") ? "float32" : "int32";
  const number = (one: number): number | bigint => type.startsWith("int") ? BigInt(one) : one;
  const ofRows = encode(own, new Array(3 * count + 1).fill(own === "int32" ? 77n : 77));
  const y = encode(type, new Array(sizeOf(ldy)).fill(number(poison)));
  const [blocks] = [shape.blocks * count];
  emulateAgain(ptx, {
    kernel: form.symbol,
    grid: [blocks, 1, 1],
    block: [form.threads, 1, 1],
    sharedBytes: form.sharedBytes,
    budget: 1_000_000_000,
    args: [
      { buffer: encode(type, x.map(number)), offset: before * BYTES[type] },
      { buffer: encode(type, z.map(number)), offset: before * BYTES[type] },
      { buffer: y, offset: before * BYTES[type] },
      ofRows,
      ...[count, n, ldx, ldy].map(int),
    ],
  });
  const rows = Array.from(
    { length: count },
    (_, row) => Array.from({ length: columns }, (_, i) => i < n ? value(row, i) : outside),
  );
  assertEquals(
    firstDifference(decode(own, ofRows).map(Number), [
      ...rows.flatMap((row) => [
        row.reduce((a, b) => a + b, 0),
        Math.max(...row),
        -Math.max(...row),
      ]),
      poison,
    ]),
    undefined,
  );
  const stored = new Array<number>(sizeOf(ldy)).fill(poison);
  rows.forEach((row, at) =>
    row.slice(0, n).forEach((one, i) =>
      stored[before + at * ldy + i] = i === Math.floor(n / 2) ? 7 : one
    )
  );
  assertEquals(firstDifference(decode(type, y).map(Number), stored), undefined);
}

const SHAPES: readonly Shape[] = [
  { type: "float32", bytes: 16384, numWarps: 8, blocks: 1, beside: "nothing" },
  { type: "float32", bytes: 32768, numWarps: 4, blocks: 2, beside: "weights" },
  { type: "float32", bytes: 16384, numWarps: 16, blocks: 1, beside: "rows" },
  { type: "int32", bytes: 16384, numWarps: 32, blocks: 1, beside: "weights" },
  { type: "float16", bytes: 16384, numWarps: 4, blocks: 1, beside: "weights" },
  { type: "float16", bytes: 32768, numWarps: 16, blocks: 4, beside: "rows" },
  { type: "float16", bytes: 2048, numWarps: 2, blocks: 1, beside: "weights" },
  { type: "float16", bytes: 4096, numWarps: 2, blocks: 1, beside: "two weights" },
  { type: "float16", bytes: 16384, numWarps: 4, blocks: 2, beside: "two weights" },
  { type: "int8", bytes: 16384, numWarps: 4, blocks: 1, beside: "nothing" },
  { type: "int8", bytes: 16384, numWarps: 8, blocks: 1, beside: "two weights" },
];

const anyRows = (columns: number): fc.Arbitrary<Rows> =>
  fc.record({
    count: fc.integer({ min: 1, max: 5 }),
    length: fc.oneof(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: columns - 40, max: columns }),
      fc.integer({ min: 1, max: columns }),
    ),
    before: fc.integer({ min: 0, max: 33 }),
    gap: fc.integer({ min: 0, max: 19 }),
    apart: fc.integer({ min: 0, max: 2 }),
  });

for (const shape of SHAPES) {
  const { type, numWarps, blocks, beside } = shape;
  Deno.test(`toShiftedForm() computes rows of ${type} wherever they start, ${numWarps} warps, ${blocks} blocks, beside ${beside}`, () => {
    fc.assert(
      fc.property(anyRows(columnsOf(shape)), (rows) => check(shape, rows)),
      { numRuns: 40 },
    );
  });
}

/** A row of X is one of zeros and small integers; what lies around rows is no number. */
const NORM = `#pragma tri specialize(off)
#pragma tri config ; num_warps=4
__global__ void k(half *X, half *W, half *Y, float *Of __noalias, int N, int ldx) {
  long row = get_program_id(0);
  int i[4096] = 0 ... 4096;
  float x[4096] = (float[4096])load(X + row * ldx + i, i < N, 0);
  *(Of + 2 * row) = (x + 0.0f)[+];
  float d[4096] = i < N ? x - 2 : 0;
  *(Of + 2 * row + 1) = (d * d)[+];
  *?(i < N) (Y + row * ldx + i) = (half[4096])(d * (float[4096])load(W + i, i < N, 0));
}`;

Deno.test("toShiftedForm() sums up what is zero outside of rows, and never gets -0", () => {
  const { ptx, entries } = compileForms(NORM, {});
  const form = must(entries[0]?.forms?.[0], "a form");
  fc.assert(
    fc.property(anyRows(4096), ({ count, length, before, gap }) => {
      const ldx = length + gap;
      const size = before + (count - 1) * ldx + length;
      const at = (row: number, i: number): number => row % 2 === 0 ? -0 : (row + i * 3) % 4;
      const x = new Array<number>(size).fill(NaN);
      const y = new Array<number>(size).fill(77);
      const of: number[] = [];
      const w = Array.from({ length: before + length }, (_, i) => i < before ? NaN : i % 5);
      const expected = y.slice();
      for (let row = 0; row < count; row++) {
        const elements = Array.from({ length }, (_, i) => at(row, i));
        elements.forEach((one, i) => {
          x[before + row * ldx + i] = one;
          expected[before + row * ldx + i] = (one - 2) * must(w[before + i], "weight");
        });
        of.push(
          elements.reduce((a, b) => a + b, 0),
          elements.reduce((a, b) => a + (b - 2) ** 2, 0),
        );
      }
      const buffers = [x, w, y].map((one) => encode("float16", one));
      const ofRows = encode("float32", new Array(2 * count).fill(77));
      emulateAgain(ptx, {
        kernel: form.symbol,
        grid: [count, 1, 1],
        block: [form.threads, 1, 1],
        sharedBytes: form.sharedBytes,
        budget: 1_000_000_000,
        args: [
          ...buffers.map((buffer) => ({ buffer, offset: 2 * before })),
          ofRows,
          ...[length, ldx].map(int),
        ],
      });
      assertEquals(decode("float32", ofRows).map(Number), of);
      const stored = decode("float16", must(buffers[2], "Y")).map(Number);
      assertEquals(firstDifference(stored, expected), undefined);
    }),
    { numRuns: 40 },
  );
});

Deno.test("toShiftedForm() asks that addresses and distances of rows are alike", () => {
  const when = (beside: Beside): string[] =>
    formOf({ ...must(SHAPES[0], "shape"), beside }).form.when.map(({ text }) => text).toSorted();
  const demands = ["X % 16 == Y % 16", "ldx % 4 == ldy % 4"];
  assertEquals(when("nothing"), demands);
  assertEquals(when("rows"), ["X % 16 == Y % 16", "X % 16 == Z % 16", "ldx % 4 == ldy % 4"]);
  assertEquals(when("weights"), demands);
});

Deno.test("toShiftedForm() loads weights of halves by three pieces a vector, those of floats by words", () => {
  const countOf = (shape: Partial<Shape>, access: string): number => {
    const { ptx, form } = formOf({ ...must(SHAPES[0], "shape"), beside: "weights", ...shape });
    const entry = must(
      ptx.split(".visible .entry ").find((one) => one.startsWith(form.symbol)),
      "entry",
    );
    return entry.match(new RegExp(`ld\\.global(\\.L2::256B)?\\.${access} `, "g"))?.length ?? 0;
  };
  // Four vectors of rows, and an element of the ends of each tensor.
  const halves = { type: "float16", bytes: 8192, numWarps: 4 } as const;
  assertEquals(countOf(halves, "v4.b32"), 4);
  assertEquals(countOf(halves, "v2.b32"), 3 * 4);
  assertEquals(countOf(halves, "b16"), 2);
  const floats = { numWarps: 8 } as const;
  assertEquals(countOf(floats, "v4.b32"), 4);
  assertEquals(countOf(floats, "b32"), 4 * 4 + 2);
});

Deno.test("toShiftedForm() leaves alone what it was not timed for, or would change", () => {
  const [shape] = SHAPES;
  const has = (changed: Partial<Shape>, more = ""): boolean => {
    const text = textOf({ ...must(shape, "shape"), ...changed }, more);
    return compileForms(text, {}).entries.some(({ forms }) => forms !== undefined);
  };
  assertEquals(has({}), true);
  // Short rows, of halves shorter ones; threads without whole vectors; scans; much to load element by element in clusters.
  assertEquals(has({ bytes: 8192 }), false);
  assertEquals(has({ type: "float16", bytes: 2048, numWarps: 2 }), true);
  assertEquals(has({ type: "float16", bytes: 1024, numWarps: 2 }), false);
  assertEquals(has({ numWarps: 32, blocks: 2 }), false);
  assertEquals(has({}, "x = cumsum(x, 0);"), false);
  const twice = "x += load(Z + i, there, 0) * load(Z + N + i, there, 0);";
  assertEquals(has({}, twice), true);
  assertEquals(has({ bytes: 32768, numWarps: 4, blocks: 2 }, twice), false);
  assertEquals(has({ type: "float16", bytes: 32768, numWarps: 4, blocks: 2 }, twice), true);
  // Fewer threads than what may be ends of a row.
  assertEquals(has({ type: "float16", bytes: 2048, numWarps: 1, beside: "nothing" }), true);
  assertEquals(has({ type: "float16", bytes: 2048, numWarps: 1, beside: "weights" }), false);
  assertEquals(has({}, "x = i > 5 && there ? x : 0;"), true);
});

Deno.test("toShiftedForm() knows no demands for rows at distances of other elements, or that are rounded", () => {
  const has = (row: (tensor: string, distance: string) => string, distance = "long"): boolean => {
    const text = `#pragma tri specialize(off)
__global__ void k(half *X, half *Y, float *Of, int N, ${distance} ldx, ${distance} ldy) {
  long row = get_program_id(0);
  int i[4096] = 0 ... 4096;
  float x[4096] = *?(i < N) (${row("X", "ldx")} + i);
  *(Of + row) = x[+];
  *?(i < N) (${row("Y", "ldy")} + i) = x;
}`;
    return compileForms(text, {}).entries.some(({ forms }) => forms !== undefined);
  };
  assertEquals(has((tensor, distance) => `(float*)${tensor} + row * ${distance}`), true);
  // Four halves are no vector of floats.
  assertEquals(has((tensor, distance) => `(float*)(${tensor} + row * ${distance})`), false);
  // -1.5 and 2.5 have a distance of four, -1 and 2 have not.
  assertEquals(has((tensor, start) => `(float*)${tensor} + (long)${start}`, "float"), false);
});
