/** Every form of the shipped attention for sm_90a on the emulator, whichever configuration a timing would select. */
import { compileFile } from "../../compiler/mod.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { attentionReference, type AttentionSize } from "../support/kernels/attention.ts";
import { ROUNDING } from "../support/bounds.ts";
import { type Arguments, type Compiled, runEntry, serves } from "../support/forms/form_run.ts";
import { sampled, testsInTurn } from "../support/sampled.ts";
import { shipped } from "../support/shipped.ts";
import { randomNumbers } from "../support/numbers.ts";
import { decode, encode } from "../support/typed_arrays.ts";

const test = testsInTurn(2);

type Type = "float16" | "bfloat16";

/** The instances of one variant in all configurations; the others are taken out of the text. */
function compiled(type: Type, d: number): Compiled {
  const list = `TYPE in {${type === "float16" ? "half" : type}}, D in {${d}}`;
  const text = shipped("attention.tc").text.replace(/(?<=^#pragma tri variants ).*$/m, list)
    .replace(/^#pragma tri variant .*$/gm, "");
  const { kernels } = compileFile({ name: "attention.tc", text }, {
    targets: ["sm_90a"],
    configurations: "all",
    include: shipped,
    verify: true,
  });
  const { instances, modules } = must(kernels[0], "kernel");
  const { ptx, entries } = must(modules[0], "module");
  return {
    ptx,
    params: must(instances[0], "instance").contract.params.map(({ name }) => name),
    entries: entries.map((entry) => ({ ...entry, conditions: [] })),
  };
}

const bits = (value: number): number => must(new Int32Array(Float32Array.of(value).buffer)[0], "");

const long = (value: number): Arguments[string] => ({ bytes: 8, value: BigInt(value) });

/** Runs all forms on the same numbers. */
function check(made: Compiled, type: Type, size: AttentionSize, causal: boolean): void {
  const { batches, heads, keyHeads = heads, m, n, d } = size;
  const [q, k, v] = [heads * m, keyHeads * n, keyHeads * n]
    .map((rows) => randomNumbers(type, batches * rows * d, 1));
  const inputs = { q: must(q, "q"), k: must(k, "k"), v: must(v, "v") };
  const scale = Math.fround(3 / Math.sqrt(d));
  const expected = attentionReference(size, { ...inputs, scale, causal });
  let count = 0;
  for (const entry of made.entries) {
    // The first configuration is not named.
    const bm = Number(/_BM(\d+)_/.exec(entry.symbol)?.[1] ?? (d === 64 ? 256 : 128));
    const strides = (prefix: string, count: number, rows: number): Arguments => ({
      [`s${prefix}b`]: long(count * rows * d),
      [`s${prefix}h`]: long(rows * d),
      [`s${prefix}m`]: d,
      [`s${prefix}n`]: d,
    });
    const args: Arguments = {
      Q: encode(type, inputs.q),
      K: encode(type, inputs.k),
      V: encode(type, inputs.v),
      B: batches,
      H: heads,
      KH: keyHeads,
      M: m,
      N: n,
      ...strides("q", heads, m),
      ...strides("k", keyHeads, n),
      ...strides("v", keyHeads, n),
      ...strides("o", heads, m),
      scale: bits(scale),
      causal: { bytes: 1, value: causal ? 1 : 0 },
      window: size.window ?? 0,
    };
    for (const form of entry.forms ?? []) {
      count++;
      const o = encode(type, new Array<number>(batches * heads * m * d).fill(NaN));
      const lse = encode("float32", new Array<number>(batches * heads * m).fill(NaN));
      const grid = [Math.ceil(m / bm), heads, batches] as const;
      const launch = { grid, args: { ...args, O: o, Lse: lse } };
      assert(serves(form, launch), `${form.symbol} serves the launch`);
      runEntry(made, form, launch);
      const what = `${form.symbol} ${JSON.stringify(size)}${causal ? " causal" : ""}`;
      near(
        decode(type, o).map(Number),
        expected.o,
        3 * must(ROUNDING[type], "a float type") + 1e-5,
        `o of ${what}`,
      );
      near(decode("float32", lse).map(Number), expected.lse, 2e-5, `lse of ${what}`);
    }
  }
  assert(count > 0, "no entry has a form");
}

function near(
  actual: readonly number[],
  expected: readonly number[],
  tolerance: number,
  what: string,
): void {
  expected.forEach((value, i) => {
    const is = actual[i] ?? NaN;
    const fits = Object.is(is, value) || Math.abs(is - value) <= tolerance;
    assert(fits, `${what}[${i}]: ${is} instead of ${value}`);
  });
}

/** A run takes one of them. */
const VARIANTS = [["float16", 64], ["bfloat16", 128], ["bfloat16", 96], ["float16", 256]] as const;

for (const [type, d] of sampled(VARIANTS, 1)) {
  test(`attention() is right in every form, ${type}, ${d} elements a row`, () => {
    const made = compiled(type, d);
    for (const { symbol } of made.entries.flatMap(({ forms = [] }) => forms)) {
      const [, text = ""] = made.ptx.split(`.entry ${symbol}(`);
      const [body = ""] = text.split("\n}\n");
      // The warps of a program meet when its barriers are ready, and wait for each other nowhere else; results of 256
      // columns pass through the memory of the slots.
      assertEquals(body.match(/bar\.sync/g)?.length, d === 256 ? 3 : 1, symbol);
    }
    const of = (m: number, n: number): AttentionSize => ({ batches: 2, heads: 1, m, n, d });
    const cases: readonly (readonly [AttentionSize, causal: boolean])[] = [
      // Blocks of code that does programs in turn do three.
      [{ ...of(1, 1), heads: 4 }, false],
      [of(130, 300), false],
      [of(70, 256), true],
      // The first rows see nothing, those of the first block alone.
      [of(140, 5), true],
      [of(129, 400), true],
      [{ ...of(129, 400), window: 70 }, true],
      [{ batches: 2, heads: 6, keyHeads: 2, m: 65, n: 70, d }, true],
    ];
    for (const [size, causal] of sampled(cases, 1)) check(made, type, size, causal);
  });
}
