/** Convolutions along one axis by one index over places and channels, on the emulator: compared with double precision. */
import fc from "../../support/property.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import {
  type Arguments,
  type Compiled,
  compileForms,
  meets,
  runEntry,
  serves,
} from "../../support/forms/form_run.ts";
import { freshRandom } from "../../support/random.ts";
import { decode, encode } from "../../support/typed_arrays.ts";

/** Rows of X by columns of places and channels, or the other way round; steps of so many columns. */
const textOf = (
  { isTurned = false, columns = 32, place = "at / C", channel = "at % C", mask = "" }: {
    readonly isTurned?: boolean;
    readonly columns?: number;
    readonly place?: string;
    readonly channel?: string;
    readonly mask?: string;
  },
): string => {
  const [rows, across] = isTurned
    ? ["[newaxis, :]", "[:, newaxis]"]
    : ["[:, newaxis]", "[newaxis, :]"];
  const shape = isTurned ? `${columns}, 64` : `64, ${columns}`;
  return `
#pragma tri config; num_warps=4
__global__ void k(half *X __noalias, half *F __noalias, float *Y __noalias, int T, int C, int K, int R, int pad) {
  int b = get_program_id(2);
  int rm[64] = get_program_id(0) * 64 + 0 ... 64;
  int rn[64] = get_program_id(1) * 64 + 0 ... 64;
  int rk[${columns}] = 0 ... ${columns};
  float sum[64, 64] = 0;
  for (int k = 0; k < R * C; k += ${columns}) {
    int at[${columns}] = k + rk;
    int place[${columns}] = ${place};
    int t[${shape}] = rm${rows} + place${across} - pad;
    bool inside[${shape}] = t >= 0 && t < T && at${across} < R * C${mask};
    half x[${shape}] = *?(inside) (X + (b * T + t) * C + (${channel})${across});
    half f[${columns}, 64] = *?(at[:, newaxis] < R * C && rn[newaxis, :] < K) (F + at[:, newaxis] * K + rn[newaxis, :]);
    sum += ${isTurned ? "^x" : "x"} @ f;
  }
  *?(rm[:, newaxis] < T && rn[newaxis, :] < K) (Y + (b * T + rm[:, newaxis]) * K + rn[newaxis, :]) = sum;
}
`;
};

interface Convolution {
  readonly b: number;
  readonly t: number;
  readonly c: number;
  readonly k: number;
  readonly r: number;
  readonly pad: number;
}

const random = freshRandom();
const numbers = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(64) - 32) / 32);

function check(compiled: Compiled, { b, t, c, k, r, pad }: Convolution): void {
  const [x, f] = [numbers(b * t * c), numbers(r * c * k)];
  const exact = Array.from({ length: b * t * k }, (_, at) => {
    const [picture, row, filter] = [Math.floor(at / (t * k)), Math.floor(at / k) % t, at % k];
    let sum = 0;
    for (let place = 0; place < r; place++) {
      const from = row + place - pad;
      for (let i = 0; from >= 0 && from < t && i < c; i++) {
        sum += must(x[(picture * t + from) * c + i], "x") *
          must(f[(place * c + i) * k + filter], "f");
      }
    }
    return sum;
  });
  const [entry] = compiled.entries;
  const form = must(must(entry, "entry").forms?.[0], "form");
  for (const code of [must(entry, "entry"), form]) {
    const args: Arguments = {
      ...{ X: encode("float16", x), F: encode("float16", f) },
      Y: encode("float32", new Array<number>(exact.length).fill(77)),
      ...{ T: t, C: c, K: k, R: r, pad },
    };
    const launch = { grid: [Math.ceil(t / 64), Math.ceil(k / 64), b] as const, args };
    if (code === form) {
      assert(serves(form, launch), JSON.stringify({ b, t, c, k, r, pad }));
    }
    runEntry(compiled, code, launch);
    assertEquals(decode("float32", args.Y as Uint8Array).map(Number), exact, code.symbol);
  }
}

for (
  const [title, way] of [
    ["rows by columns", {}],
    ["columns by rows", { isTurned: true }],
    ["64 columns", { columns: 64 }],
  ] as const
) {
  Deno.test(`tensor-views copies rows that places shift: ${title}`, () => {
    const compiled = compileForms(textOf(way), {});
    assertStringIncludes(compiled.ptx, "cp.async.bulk.tensor");
    check(compiled, { b: 2, t: 70, c: 64, k: 72, r: 3, pad: 1 });
    check(compiled, { b: 1, t: 1, c: 64, k: 8, r: 4, pad: 3 });
    fc.assert(
      fc.property(
        fc.record({
          b: fc.integer({ min: 1, max: 3 }),
          t: fc.integer({ min: 1, max: 140 }),
          c: fc.constantFrom(64, 128),
          k: fc.constantFrom(8, 40),
          r: fc.integer({ min: 1, max: 4 }),
          pad: fc.integer({ min: 1, max: 9 }),
        }),
        (convolution) => check(compiled, convolution),
      ),
      { numRuns: 6 },
    );
  });
}

Deno.test("rows that places shift are copied only where all columns of a tile have one place", () => {
  const [entry] = compileForms(textOf({}), {}).entries;
  const form = must(entry?.forms?.[0], "form");
  const args = { X: 256, F: 256, Y: 256, T: 9, K: 8, R: 3, pad: 1 };
  assert(meets(form.when, { grid: [1, 1, 1], args: { ...args, C: 96 } }));
  assert(!meets(form.when, { grid: [1, 1, 1], args: { ...args, C: 40 } }));
});

for (
  const [title, way] of [
    ["channels are others", { channel: "(at + 1) % C" }],
    ["places are of other columns", { place: "(at + 8) / C" }],
    ["places do not follow each other", { place: "at / C / 2" }],
    ["the mask bounds rows before they are shifted", { mask: " && rm[:, newaxis] < T - 1" }],
    ["the mask bounds channels", { mask: " && (at % C)[newaxis, :] < C - 1" }],
    ["128 columns may have two places", { columns: 128 }],
  ] as const
) {
  Deno.test(`rows that places shift are not copied where ${title}`, () => {
    // The filters still come by copies.
    const { entries } = compileForms(textOf(way), {});
    const copied = entries.flatMap(({ forms = [] }) => forms).flatMap(({ maps }) => maps);
    assertEquals(copied.filter(({ param }) => param === "X"), []);
  });
}
