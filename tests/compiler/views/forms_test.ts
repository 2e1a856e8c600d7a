/** Forms with tensor maps on the emulator: equal to the plain code and to sums in double precision. */
import { must } from "../../../compiler/support/bug.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  type Arguments,
  compileForms,
  meets,
  runEntry,
  serves,
} from "../../support/forms/form_run.ts";
import { freshRandom } from "../../support/random.ts";
import { sampled, testsInTurn } from "../../support/sampled.ts";
import { bytesOfType, decode, encode, type Scalar } from "../../support/typed_arrays.ts";

const test = testsInTurn(2);

const TM = 64;
const TN = 64;
const TK = 32;

/** A product with its operands in either order; `Z` of them where there are batches. */
const PRODUCT = `
#pragma tri config; num_warps=4
#define TM ${TM}
#define TN ${TN}
#define TK ${TK}
__global__ void k(half *A __noalias, half *B __noalias, float *C __noalias, int M, int N, int K, int lda, int ldb, int sza) {
  int z = get_program_id(2);
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
#if ORDER & 1
  half *pa[TM, TK] = A + (long)z * sza + rm[:, newaxis] + rk[newaxis, :] * lda;
#define STEPA TK * lda
#else
  half *pa[TM, TK] = A + (long)z * sza + rm[:, newaxis] * lda + rk[newaxis, :];
#define STEPA TK
#endif
#if ORDER & 2
  half *pb[TK, TN] = B + rk[:, newaxis] + rn[newaxis, :] * ldb;
#define STEPB TK
#else
  half *pb[TK, TN] = B + rk[:, newaxis] * ldb + rn[newaxis, :];
#define STEPB TK * ldb
#endif
  float sum[TM, TN] = 0;
  for (int k = 0; k < K; k += TK) {
#if MASKED
    half a[TM, TK] = *?(rm[:, newaxis] < M && rk[newaxis, :] < K - k) pa;
    half b[TK, TN] = *?(rk[:, newaxis] < K - k && rn[newaxis, :] < N) pb;
#else
    half a[TM, TK] = *pa;
    half b[TK, TN] = *pb;
#endif
    sum += a @ b;
    pa += STEPA;
    pb += STEPB;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + ((long)z * M + rm)[:, newaxis] * N + rn[newaxis, :]) = sum;
}
`;

interface Size {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly z?: number;
}

/** Elements of a and b and how a program spells them, elements of the result, and the statement that multiplies. */
interface Types {
  readonly element: ScalarName;
  readonly type: string;
  readonly sum: "float32" | "int32";
  readonly statement?: string;
}

const HALF: Types = { element: "float16", type: "half", sum: "float32" };
/** Those that descriptors of the instruction name along k only. */
const NARROW: readonly Types[] = [
  { element: "float32", type: "float", sum: "float32", statement: 'sum = dot(a, b, sum, "tf32")' },
  { element: "int8", type: "int8", sum: "int32" },
  { element: "uint8", type: "uint8", sum: "int32" },
  { element: "float8e4", type: "float8e4", sum: "float32" },
  { element: "float8e5", type: "float8e5", sum: "float32" },
  {
    element: "float8e4",
    type: "float8e4",
    sum: "float32",
    statement: 'sum = dot(a, b, sum, "f32acc")',
  },
];

function textOf({ type, sum, statement }: Types): string {
  const text = PRODUCT.replace("sum += a @ b", statement ?? "$&").replaceAll("half", type);
  return sum === "int32"
    ? text.replace("float *C", "int *C").replace("float sum", "int sum")
    : text;
}

const whole = (extent: number, unit: number): number => Math.ceil(extent / unit) * unit;
const random = freshRandom();

/** Arguments of a product: rows are padded, and so much is after the tensors that loads without masks stay inside. */
function argumentsOf({ m, n, k, z = 1 }: Size, order: number, types = HALF): Arguments {
  const [turnedA, turnedB] = [(order & 1) !== 0, (order & 2) !== 0];
  const unit = 16 / bytesOfType(types.element);
  const [lda, ldb] = [whole(turnedA ? m : k, unit) + unit, whole(turnedB ? k : n, unit)];
  const rowsOf = (isTransposed: boolean, rows: number): number => isTransposed ? k : rows;
  const sza = rowsOf(turnedA, m) * lda;
  const spare = 128 * Math.max(lda, ldb);
  const one = (): Scalar =>
    types.sum === "int32"
      ? BigInt(random.below(128))
      : types === HALF
      ? (random.below(512) - 256) / 256
      : (random.below(16) - 8) / 8;
  const values = (count: number): Uint8Array =>
    encode(types.element, Array.from({ length: count + spare }, one));
  return {
    A: values(z * sza),
    B: values((turnedB ? n : k) * ldb),
    C: encode(types.sum, new Array<Scalar>(z * m * n).fill(types.sum === "int32" ? 77n : 77)),
    M: m,
    N: n,
    K: k,
    lda,
    ldb,
    sza,
  };
}

function expected(
  args: Arguments,
  { m, n, k, z = 1 }: Size,
  order: number,
  { element }: Types,
): number[] {
  const number = (name: string): number => Number(args[name]);
  const [a, b] = ["A", "B"].map((name) => decode(element, args[name] as Uint8Array).map(Number));
  const [lda, ldb, sza] = [number("lda"), number("ldb"), number("sza")];
  return Array.from({ length: z * m * n }, (_, at) => {
    const [batch, row, column] = [Math.floor(at / (m * n)), Math.floor(at / n) % m, at % n];
    let sum = 0;
    for (let i = 0; i < k; i++) {
      const left = batch * sza + ((order & 1) === 0 ? row * lda + i : i * lda + row);
      const right = (order & 2) === 0 ? i * ldb + column : column * ldb + i;
      sum += must(a?.[left], "a") * must(b?.[right], "b");
    }
    return sum;
  });
}

function results(args: Arguments, { sum }: Types): number[] {
  return decode(sum, args.C as Uint8Array).map(Number);
}

function checkForm(
  defines: Readonly<Record<string, number>>,
  sizes: readonly Size[],
  types = HALF,
): void {
  const compiled = compileForms(textOf(types), defines);
  for (const entry of compiled.entries) {
    const [form] = entry.forms ?? [];
    assert(form !== undefined, `${entry.symbol} has no form`);
    for (const size of sizes) {
      const order = defines.ORDER ?? 0;
      const args = argumentsOf(size, order, types);
      const { m, n, k, z = 1 } = size;
      const launch = { grid: [Math.ceil(m / TM), Math.ceil(n / TN), z], args } as const;
      if (!meets(entry.conditions, launch)) continue;
      assert(serves(form, launch), `the form does not serve ${JSON.stringify(size)}`);
      runEntry(compiled, form, launch);
      const sums = expected(args, size, order, types);
      // Products of values of nine bits are exact in float, and so are few sums of them.
      assertEquals(results(args, types), sums, `${form.symbol} ${m}x${n}x${k}`);
    }
  }
}

for (const order of [0, 1, 2, 3]) {
  test(`lowerTensorForm() multiplies masked operands in order ${order}`, () => {
    checkForm({ ORDER: order, MASKED: 1 }, [
      { m: 64, n: 64, k: 64 },
      { m: 70, n: 100, k: 45 },
      { m: 1, n: 1, k: 1 },
      { m: 65, n: 63, k: 96, z: 2 },
    ]);
  });
  test(`lowerTensorForm() multiplies operands without masks in order ${order}`, () => {
    checkForm({ ORDER: order, MASKED: 0 }, [
      { m: 64, n: 128, k: 64 },
      { m: 70, n: 100, k: 96 },
      { m: 1, n: 1, k: 32, z: 2 },
    ]);
  });
}

/** How operands lie that are not both across k, by the order of A and B. */
const ACROSS = { 0: "across k on the right", 2: "along k", 3: "across k on the left" } as const;

for (const [index, types] of NARROW.entries()) {
  const asked = types.statement?.includes("f32acc") === true ? ", with exact sums" : "";
  for (const order of sampled([0, 2, 3] as const, 1, index)) {
    test(`lowerTensorForm() multiplies ${types.element}${asked}, ${ACROSS[order]}`, () => {
      checkForm({ ORDER: order, MASKED: 1 }, [
        { m: 64, n: 64, k: 64 },
        { m: 70, n: 100, k: 45 },
        { m: 1, n: 1, k: 1 },
        { m: 65, n: 63, k: 96, z: 2 },
      ], types);
    });
  }
}

Deno.test("lowerTensorForm() leaves launches that break a condition to the plain code", () => {
  const { entries } = compileForms(PRODUCT, { ORDER: 0, MASKED: 0 });
  const form = must(entries[0]?.forms?.[0], "form");
  const size: Size = { m: 64, n: 64, k: 64 };
  const args = argumentsOf(size, 0);
  const launch = { grid: [1, 1, 1], args } as const;
  assert(serves(form, launch));
  const broken: readonly Arguments[] = [
    { K: 65 }, // is read up to 96
    { lda: 71 }, // no multiple of 16 bytes
    { lda: -72 },
    { ldb: 2 ** 30 }, // the step wraps
    { M: 0 },
    { M: 2 ** 30 + 1 },
  ];
  for (const one of broken) {
    const isServed = serves(form, { ...launch, args: { ...args, ...one } });
    assert(!isServed, JSON.stringify(one));
  }
  assert(!serves(form, { ...launch, grid: [2 ** 22 + 1, 1, 1] }));
});
