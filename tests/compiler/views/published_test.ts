/** Products as published kernels have them (tests/golden/views/published.tc), on the emulator: compared with double precision. */
import { must } from "../../../compiler/support/bug.ts";
import { assert } from "../../support/assert.ts";
import {
  type Arguments,
  compileForms,
  meets,
  runEntry,
  serves,
} from "../../support/forms/form_run.ts";
import { freshRandom } from "../../support/random.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { decode, encode } from "../../support/typed_arrays.ts";

const TEXT = Deno.readTextFileSync(new URL("../../golden/views/published.tc", import.meta.url));
const TILE = 64;

interface Case {
  readonly title: string;
  readonly defines: Readonly<Record<string, number>>;
  /** Rows, columns and the depth. */
  readonly sizes: readonly (readonly [m: number, n: number, k: number])[];
}

// Only the first one may read nothing but the matrices where they end within a tile. Sums are in float where there are parts.
const CASES: readonly Case[] = [
  {
    title: "indices wrap around",
    defines: { CASE: 0, PARTS: 1 },
    sizes: [[100, 72, 88], [1, 8, 8]],
  },
  {
    title: "tiles are loaded for the next iteration",
    defines: { CASE: 1, PARTS: 1 },
    sizes: [[192, 192, 72]],
  },
  {
    title: "they are all loaded where there is one, and K is divided",
    defines: { CASE: 2, PARTS: 2 },
    sizes: [[192, 128, 256]],
  },
  {
    title: "rows before the first one are masked off",
    defines: { CASE: 3, PARTS: 1 },
    sizes: [[100, 72, 72]],
  },
];

const test = testsInTurn(2);
const random = freshRandom();
const numbers = (count: number): number[] =>
  Array.from({ length: count }, () => (random.below(512) - 256) / 256);

for (const { title, defines, sizes } of CASES) {
  test(`a product has a form with tensor copies: ${title}`, () => {
    const compiled = compileForms(TEXT, defines);
    const parts = must(defines.PARTS, "parts");
    const shifts = defines.CASE === 3 ? [-1, 0, 1] : [0];
    for (const [m, n, k] of sizes) {
      const [lda, ldb] = [k + 8, n + 8];
      const [a, b] = [numbers(m * lda), numbers(shifts.length * k * ldb)];
      const grid = [Math.ceil(m / TILE) * Math.ceil(n / TILE), 1, parts] as const;
      for (const entry of compiled.entries) {
        const forms = must(entry.forms, "forms");
        for (const code of [entry, ...forms]) {
          const args: Arguments = {
            A: encode("float16", a),
            B: encode("float16", b),
            C: encode("float32", new Array<number>(m * n).fill(parts === 1 ? NaN : 0)),
            ...{ M: m, N: n, K: k, lda, ldb },
          };
          const launch = { grid, args };
          if (!meets(entry.conditions, launch)) continue;
          if ("maps" in code) assert(serves(code, launch), "the form does not serve the launch");
          runEntry(compiled, code, launch);
          check(decode("float32", args.C as Uint8Array).map(Number), { a, b, m, n, k, shifts });
        }
      }
    }
  });
}

interface Product {
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Of the rows of A that are multiplied with parts of B. */
  readonly shifts: readonly number[];
}

function check(found: readonly number[], { a, b, m, n, k, shifts }: Product): void {
  const [lda, ldb] = [k + 8, n + 8];
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let sum = 0;
      for (const [part, shift] of shifts.entries()) {
        const from = row + shift;
        for (let i = 0; from >= 0 && from < m && i < k; i++) {
          sum += must(a[from * lda + i], "a") * must(b[(part * k + i) * ldb + column], "b");
        }
      }
      const value = must(found[row * n + column], "c");
      // Products of such halves are exact; so are their sums in float, nearly.
      assert(Math.abs(value - sum) < 1e-4 * (1 + k), `${value} at ${row}, ${column} is not ${sum}`);
    }
  }
}
