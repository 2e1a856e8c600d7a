/** Results in the memory of arguments: what is allowed and refused, and that what is allowed gives the same results. */
import type { CompiledKernel, CompileResult } from "../../../compiler/options.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { emulateAgain, int } from "../../support/emulate.ts";
import fc from "../../support/property.ts";
import { freshRandom } from "../../support/random.ts";

function compile(text: string): CompiledKernel {
  const { diagnostics, kernels: [kernel] } = tryCompile(text);
  return must(kernel, `${diagnostics.map(({ message }) => message)}: ${text}`);
}

function tryCompile(text: string): CompileResult {
  return compileFile({ name: "k.tc", text }, { targets: ["sm_80"] });
}

/** Arguments whose memory each result may take. */
function inPlaceOf({ instances: [instance] }: CompiledKernel): Readonly<Record<string, string>> {
  const { params } = must(instance, "instance").contract;
  return Object.fromEntries(
    params.flatMap((param) =>
      param.kind === "pointer" && param.inPlace !== undefined
        ? [[param.name, param.inPlace.join()]]
        : []
    ),
  );
}

const HEAD = `#pragma tri grid(cdiv(M, 4), cdiv(N, 32))
#pragma tri tensor X : in float[M, N] strides [ldx, 1]
#pragma tri tensor Y : out float[M, N] strides [ldy, 1]
`;
const MATRIX = "float *X, float *Y, int M, int N, int ldx, int ldy";
const INDICES = `int row[4] = get_program_id(0) * 4 + 0 ... 4;
  int col[32] = get_program_id(1) * 32 + 0 ... 32;
  bool check[4, 32] = row[:, newaxis] < M && col[newaxis, :] < N;
  float *px[4, 32] = X + row[:, newaxis] * ldx + col[newaxis, :];
  float *py[4, 32] = Y + row[:, newaxis] * ldy + col[newaxis, :];
`;
const matrix = (body: string, params = MATRIX, head = HEAD): string =>
  `${head}__global__ void k(${params}) {\n  ${INDICES}${body}\n}\n`;

const VECTOR = "#pragma tri grid(cdiv(N, 64))\n#pragma tri tensor X : in float[N]\n" +
  "#pragma tri tensor Y : out float[N]\n";
const vector = (body: string): string =>
  `${VECTOR}__global__ void k(float *X, float *Y, int N) {\n  ${body}\n}\n`;
const LANES = "int r[64] = get_program_id(0) * 64 + 0 ... 64;";

const ROWS = `#pragma tri grid(M)
#pragma tri tensor X : in float[M, N] strides [ldx, 1]
#pragma tri tensor Y : out float[M, N] strides [ldy, 1]
`;
const rows = (body: string): string =>
  `${ROWS}__global__ void k(${MATRIX}) {
  int row = get_program_id(0);
  float sum[32] = 0;
  ${body}
}
`;
const SUMS = `for (int k = 0; k < N; k += 32) {
    int c[32] = k + 0 ... 32;
    sum += *?(c < N) (X + row * ldx + c);
  }
  float all = sum[+];`;

/** Copies a matrix by groups of eight times four rows; so many programs do each. */
const groups = (programs: string): string =>
  matrix(
    "*?(check) py = *?(check) px;",
    MATRIX,
    HEAD.replace("cdiv(M, 4), cdiv(N, 32)", `${programs}, cdiv(N, 32), cdiv(M, 32)`),
  ).replace("get_program_id(0) * 4", "(get_program_id(2) * 8 + get_program_id(0)) * 4");

Deno.test("inPlaceParams() allows results of programs that read their own elements before they write them", () => {
  const allowed = {
    vector: vector(`${LANES} *?(r < N) (Y + r) = *?(r < N) (X + r) + 1;`),
    matrix: matrix("*?(check) py = *?(check) px * 2;"),
    rows: rows(`${SUMS}
  for (int k = 0; k < N; k += 32) {
    int c[32] = k + 0 ... 32;
    *?(c < N) (Y + row * ldy + c) = *?(c < N) (X + row * ldx + c) / all;
  }`),
    "rows of groups": groups("min(8, cdiv(M, 4))"),
    "rows in turn": matrix(
      "for (int k = 0; k < M; k += 32) { bool more[4, 32] = row[:, newaxis] < M - k && col[newaxis, :] < N; " +
        "*?(more) (py + k * ldy) = *?(more) (px + k * ldx); }",
      MATRIX,
      HEAD.replace("cdiv(M, 4)", "min(8, cdiv(M, 4))"),
    ),
    lengths: rows(`if (N <= 32) {
    int c[32] = 0 ... 32;
    *?(c < N) (Y + row * ldy + c) = *?(c < N) (X + row * ldx + c);
  } else {
    ${SUMS}
    int c[32] = 0 ... 32;
    *?(c < N) (Y + row * ldy + c) = all;
  }`),
  };
  for (const [what, text] of Object.entries(allowed)) {
    assertEquals(inPlaceOf(compile(text)), { Y: "X" }, what);
  }
});

Deno.test("inPlaceParams() allows none where a program may read what was written", () => {
  const refused = {
    "elements of other programs": vector(
      `${LANES} int s[64] = r + 1; *?(r < N) (Y + r) = *?(s < N) (X + s);`,
    ),
    "tiles that overlap": vector(
      "int r[64] = get_program_id(0) * 32 + 0 ... 64; *?(r < N) (Y + r) = *?(r < N) (X + r);",
    ),
    "a load after the store": vector(
      `${LANES} *?(r < N) (Y + r) = *?(r < N) (X + r); ` +
        "*?(r < N) (Y + r) = *?(r < N) (X + r) + 1;",
    ),
    "what an iteration before has written": rows(`for (int k = 0; k < N; k += 32) {
    int c[32] = k + 0 ... 32;
    int first[32] = 0 ... 32;
    *?(c < N) (Y + row * ldy + c) = *?(first < N) (X + row * ldx + first);
  }`),
    "iterations that overlap": rows(`for (int k = 0; k < N; k += 16) {
    int c[32] = k + 0 ... 32;
    *?(c < N) (Y + row * ldy + c) = *?(c < N) (X + row * ldx + c);
  }`),
    "columns without a bound": rows(`int c[32] = 0 ... 32;
  *?(c < N) (Y + row * ldy + c) = *(X + row * ldx + c);`),
    "the read-only cache": matrix('*?(check) py = load(px, check, 0, "nc");'),
    "promises of the result": matrix(
      "*?(check) py = *?(check) px;",
      MATRIX.replace("*Y", "*Y __noalias"),
    ),
    "promises of the argument": matrix(
      "*?(check) py = *?(check) px;",
      MATRIX.replace("*X", "*X __readonly"),
    ),
    "programs that share rows": matrix(
      "*?(check) py = *?(check) px;",
      MATRIX,
      HEAD.replace("cdiv(N, 32))", "cdiv(N, 32), 2)"),
    ),
    "groups that overlap": groups("min(9, cdiv(M, 4))"),
    "groups of any size": groups("cdiv(M, 4)"),
    "a transposition": matrix(
      "*?(^check) (Y + col[:, newaxis] * ldy + row[newaxis, :]) = ^(*?(check) px);",
      MATRIX,
      HEAD.replace("out float[M, N]", "out float[N, M]"),
    ),
    "another shape": matrix(
      "*?(check && col[newaxis, :] < 7) py = *?(check) px;",
      MATRIX,
      HEAD.replace("out float[M, N]", "out float[M, 7]"),
    ),
    "elements by a table": vector(
      `${LANES} int at[64] = (int[64])*?(r < N) (X + r); *?(r < N) (Y + r) = *?(r < N) (X + at);`,
    ),
    "a product": `#pragma tri grid(1)
#pragma tri tensor X : in float[16, 16]
#pragma tri tensor Y : out float[16, 16]
__global__ void k(float *X, float *Y) {
  int r[16] = 0 ... 16;
  float x[16, 16] = *(X + r[:, newaxis] * 16 + r[newaxis, :]);
  *(Y + r[:, newaxis] * 16 + r[newaxis, :]) = x @ x;
}
`,
  };
  for (const [what, text] of Object.entries(refused)) {
    assertEquals(inPlaceOf(compile(text)), {}, what);
  }
});

/** How a random program counts: `step * pid + lanes * stride + offset`, with or without a mask. */
const index = fc.record({
  step: fc.constantFrom(4, 8, 8, 8, 16),
  stride: fc.constantFrom(1, 1, 1, 2),
  offset: fc.constantFrom(0, 0, 0, 1),
  isMasked: fc.constantFrom(true, true, true, false),
});
type Index = typeof index extends fc.Arbitrary<infer T> ? T : never;

/** What a random program does with elements `k` on, and whether it does so in a loop. */
const BODIES: readonly ((load: string, store: string) => string)[] = [
  (load, store) => `${store} = ${load} * 3 + 1;`,
  (load, store) => `${store} = 5; ${store} = ${load} * 3 + 1;`,
  (load, store) => `float x[8] = ${load}; float y[8] = ${load}; ${store} = x * 3 + y;`,
  (load, store) => `if (N < 40) { ${store} = ${load} + 1; } else { ${store} = ${load} * 7; }`,
  (load, store) =>
    `if (get_program_id(0) == 1) { ${store} = ${load} + 1; } else { ${store} = ${load} * 7; }`,
];

Deno.test("inPlaceParams() allows nothing that changes the results of random programs", () => {
  const random = freshRandom();
  const ordinary: Index = { step: 8, stride: 1, offset: 0, isMasked: true };
  let allowed = 0;
  fc.assert(
    fc.property(
      index,
      // Often the same elements: few others may lie in place.
      fc.option(index, { freq: 1 }),
      fc.constantFrom(...BODIES),
      fc.constantFrom(0, 0, 4, 8, 16, 32),
      fc.integer({ min: 1, max: 90 }),
      // Then iterations and programs count as digits do.
      fc.boolean(),
      (to, other, body, repeat, extent, isLimited) => {
        const from = other ?? to;
        const of = (pointer: string, { step, stride, offset, isMasked }: Index): string => {
          const text = `(get_program_id(0) * ${step} + k + (0 ... 8) * ${stride} + ${offset})`;
          return `*?(${isMasked ? `${text} < N` : "(0 ... 8) >= 0"}) (${pointer} + ${text})`;
        };
        const inner = body(of("X", from), of("Y", to));
        const programs = `cdiv(N - ${to.offset}, ${to.step})`;
        const text = `#pragma tri grid(${isLimited ? `min(4, ${programs})` : programs})
#pragma tri tensor X : in float[N]
#pragma tri tensor Y : out float[N]
__global__ void k(float *X, float *Y, int N) {
  ${repeat === 0 ? `int k = 0; ${inner}` : `for (int k = 0; k < 48; k += ${repeat}) { ${inner} }`}
}
`;
        // Some contradict their grid.
        const { kernels: [kernel] } = tryCompile(text);
        if (kernel === undefined || inPlaceOf(kernel)["Y"] === undefined) return;
        allowed++;
        const ptx = must(kernel.modules[0], "module").ptx;
        const values = Float32Array.from({ length: 200 }, () => random.below(100));
        const run = (isInPlace: boolean): number[] => {
          const [x, y] = [values.slice(), values.slice()];
          const sameAddress = (addresses: readonly bigint[]): Uint8Array =>
            new Uint8Array(new BigUint64Array([addresses[0] ?? 0n]).buffer);
          emulateAgain(ptx, {
            args: [x, isInPlace ? { encode: sameAddress } : y, int(extent)],
            grid: [4, 1, 1],
            block: [must(kernel.modules[0]?.entries[0], "entry").threads, 1, 1],
          });
          return [...isInPlace ? x : y];
        };
        assertEquals(run(true), run(false), text);
      },
    ),
    { numRuns: 600, examples: [[ordinary, null, must(BODIES[0], "a body"), 0, 50, false]] },
  );
  assert(allowed > 0, "the example is allowed");
});
