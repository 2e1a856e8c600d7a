/** GPT-2 from a small file with the names of its checkpoints, against the formulas in double precision. */
import { Device, type Tensor } from "../../ffi/mod.ts";
import { writeSafetensors } from "../../formats/mod.ts";
import { CheckpointError } from "../../examples/language_model/checkpoint.ts";
import { generate } from "../../examples/language_model/generate.ts";
import { Gpt2Session } from "../../examples/language_model/gpt2.ts";
import { type Gpt2Weights, loadGpt2 } from "../../examples/language_model/gpt2_weights.ts";
import type { Float } from "../../examples/language_model/model.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { numbersOf } from "../support/numbers.ts";
import { freshRandom } from "../support/random.ts";
import { sampled, testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(2);

const VOCABULARY = 23;
const POSITIONS = 11;
const HEAD = 64;

/** What a model consists of. */
interface Size {
  /** Elements of a row: heads of 64. */
  readonly width: number;
  readonly layers: number;
}

const TWO_HEADS: Size = { width: 2 * HEAD, layers: 1 };
const TWO_LAYERS: Size = { width: HEAD, layers: 2 };

interface Stored {
  readonly shape: readonly number[];
  readonly data: Float32Array<ArrayBuffer>;
}

/** Random weights by the names of checkpoints. */
function randomModel({ width, layers }: Size): Map<string, Stored> {
  const random = freshRandom();
  const model = new Map<string, Stored>();
  const add = (name: string, shape: readonly number[], size: number, middle = 0): void => {
    const length = shape.reduce((a, b) => a * b);
    const data = Float32Array.from({ length }, () => middle + (2 * random.unit() - 1) * size);
    model.set(name, { shape, data });
  };
  const linear = (name: string, inputs: number, outputs: number): void => {
    add(`${name}.weight`, [inputs, outputs], 2 / Math.sqrt(inputs));
    add(`${name}.bias`, [outputs], 0.5);
  };
  const norm = (name: string): void => {
    add(`${name}.weight`, [width], 0.5, 1);
    add(`${name}.bias`, [width], 0.5);
  };
  add("wte.weight", [VOCABULARY, width], 1);
  add("wpe.weight", [POSITIONS, width], 1);
  for (let layer = 0; layer < layers; layer++) {
    norm(`h.${layer}.ln_1`);
    linear(`h.${layer}.attn.c_attn`, width, 3 * width);
    linear(`h.${layer}.attn.c_proj`, width, width);
    norm(`h.${layer}.ln_2`);
    linear(`h.${layer}.mlp.c_fc`, width, 4 * width);
    linear(`h.${layer}.mlp.c_proj`, 4 * width, width);
  }
  norm("ln_f");
  return model;
}

type Rows = readonly (readonly number[])[];

/** The scores after each token, as the formulas say. */
function referenceScores(
  model: ReadonlyMap<string, Stored>,
  { width, layers }: Size,
  tokens: readonly number[],
): Rows {
  const of = (name: string): Stored => must(model.get(name), name);
  const at = (values: ArrayLike<number>, i: number): number => must(values[i], "element");
  const row = (name: string, i: number): number[] => [
    ...of(name).data.subarray(i * width, (i + 1) * width),
  ];
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  const plus = (a: Rows, b: Rows): Rows =>
    a.map((values, t) => values.map((x, i) => x + at(must(b[t], "row"), i)));
  const norm = (x: Rows, name: string): Rows =>
    x.map((values) => {
      const mean = sum(values) / width;
      const variance = sum(values.map((value) => (value - mean) ** 2)) / width;
      return values.map((value, i) =>
        (value - mean) / Math.sqrt(variance + 1e-5) * at(of(`${name}.weight`).data, i) +
        at(of(`${name}.bias`).data, i)
      );
    });
  const linear = (x: Rows, name: string): Rows => {
    const { shape: [, outputs = 0], data } = of(`${name}.weight`);
    return x.map((values) =>
      Array.from(
        { length: outputs },
        (_, j) =>
          sum(values.map((value, k) => value * at(data, k * outputs + j))) +
          at(of(`${name}.bias`).data, j),
      )
    );
  };
  const gelu = (x: number): number =>
    0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
  const attend = (all: Rows): Rows =>
    all.map((query, t) =>
      Array.from({ length: width }, (_, i) => {
        const head = i - i % HEAD;
        const scores = all.slice(0, t + 1).map((key) =>
          sum(
            Array.from({ length: HEAD }, (_, d) => at(query, head + d) * at(key, width + head + d)),
          ) / Math.sqrt(HEAD)
        );
        const top = Math.max(...scores);
        const weights = scores.map((score) => Math.exp(score - top));
        const values = all.slice(0, t + 1).map((value) => at(value, 2 * width + i));
        return sum(weights.map((weight, n) => weight * at(values, n))) / sum(weights);
      })
    );
  let x: Rows = tokens.map((token, t) => {
    const place = row("wpe.weight", t);
    return row("wte.weight", token).map((value, i) => value + at(place, i));
  });
  for (let layer = 0; layer < layers; layer++) {
    const name = `h.${layer}`;
    const attended = attend(linear(norm(x, `${name}.ln_1`), `${name}.attn.c_attn`));
    x = plus(x, linear(attended, `${name}.attn.c_proj`));
    const hidden = linear(norm(x, `${name}.ln_2`), `${name}.mlp.c_fc`);
    x = plus(x, linear(hidden.map((values) => values.map(gelu)), `${name}.mlp.c_proj`));
  }
  return norm(x, "ln_f").map((values) =>
    Array.from(
      { length: VOCABULARY },
      (_, token) => sum(row("wte.weight", token).map((weight, i) => weight * at(values, i))),
    )
  );
}

function inFile(test: (path: string) => void | Promise<void>): () => Promise<void> {
  return async () => {
    const folder = Deno.makeTempDirSync();
    try {
      await test(`${folder}/model.safetensors`);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  };
}

function tensorsOf({ table, positions, layers, lastNorm }: Gpt2Weights<Float>): Tensor[] {
  const parts = [lastNorm, ...layers.flatMap((layer) => Object.values(layer))];
  return [table, positions, ...parts.flatMap(({ weight, bias }): Tensor[] => [weight, bias])];
}

const SESSIONS = [
  { prefix: "", size: TWO_HEADS },
  { prefix: "transformer.", size: TWO_LAYERS },
  { prefix: "transformer.", size: TWO_HEADS },
  { prefix: "", size: TWO_LAYERS },
];

for (const { prefix, size } of sampled(SESSIONS, 1)) {
  const { width, layers } = size;
  test(
    `Gpt2Session gives the scores of the formulas, rows of ${width}, ${layers} layers, for names with the prefix "${prefix}"`,
    inFile(async (path) => {
      using device = Device.open({ device: "emulator", workers: 1 });
      const model = randomModel(size);
      writeSafetensors(
        path,
        Object.fromEntries([
          ...[...model].map(([name, stored]) => [`${prefix}${name}`, stored] as const),
          // What checkpoints have besides.
          [`${prefix}h.0.attn.bias`, { data: new Float32Array(4), shape: [1, 1, 2, 2] }],
        ]),
      );
      const weights = loadGpt2(device, path);
      const random = freshRandom();
      const tokens = Array.from({ length: 5 }, () => random.below(VOCABULARY));
      const expected = referenceScores(model, size, tokens).flat();
      // In one go, or in pieces that continue from the cache.
      for (const pieces of sampled([[5], [2, 1, 2]], 1)) {
        using session = new Gpt2Session(weights, 9);
        const found = pieces.flatMap((count) => {
          const piece = tokens.slice(session.length, session.length + count);
          using input = device.tensor(Int32Array.from(piece));
          using scores = session.advance(input);
          return numbersOf(scores);
        });
        assertEquals(found.length, expected.length);
        for (const [i, score] of found.entries()) {
          const wanted = must(expected[i], "score");
          assert(Math.abs(score - wanted) < 1e-3, `score ${i}: ${score}, not ${wanted}`);
        }
      }
      using session = new Gpt2Session(weights, POSITIONS);
      const said: number[] = [];
      for await (const token of generate(device, session, Int32Array.from(tokens), 2)) {
        said.push(token);
      }
      const last = expected.slice(-VOCABULARY);
      assertEquals(said.length, 2);
      assert(must(last[must(said[0], "token")], "score") > Math.max(...last) - 2e-3);
      for (const tensor of tensorsOf(weights)) tensor.buffer[Symbol.dispose]();
    }),
  );
}

Deno.test(
  "loadGpt2() and Gpt2Session refuse what does not fit",
  inFile((path) => {
    using device = Device.open({ device: "emulator", workers: 1 });
    const model = randomModel(TWO_HEADS);
    const write = (changes: Readonly<Record<string, Stored>>): void =>
      writeSafetensors(path, { ...Object.fromEntries(model), ...changes });
    const zeros = (...shape: number[]): Stored => ({
      shape,
      data: new Float32Array(shape.reduce((a, b) => a * b)),
    });
    write({ "wte.weight": zeros(VOCABULARY, 100) });
    assertThrows(() => loadGpt2(device, path), CheckpointError, "its rows are not heads of 64");
    write({ "h.0.mlp.c_fc.weight": zeros(8 * HEAD, 2 * HEAD) });
    assertThrows(
      () => loadGpt2(device, path),
      CheckpointError,
      "h.0.mlp.c_fc.weight is float32[512, 128], not float32[128, 512]",
    );
    write({});
    const weights = loadGpt2(device, path);
    assertThrows(() => new Gpt2Session(weights, 12), RangeError, "the model has 11 positions");
    for (const tensor of tensorsOf(weights)) tensor.buffer[Symbol.dispose]();
  }),
);

test(
  "continue.ts prints what follows with a file of safetensors, or why it cannot",
  inFile(async (path) => {
    const module = new URL("../../examples/language_model/continue.ts", import.meta.url).pathname;
    const run = async (count: number): Promise<{ code: number; out: string; err: string }> => {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-q", "-A", "--no-check", module, path, "1,2", `${count}`],
        env: { TRI_DEVICE: "emulator" },
      }).output();
      const text = new TextDecoder();
      return { code, out: text.decode(stdout), err: text.decode(stderr) };
    };
    writeSafetensors(path, Object.fromEntries(randomModel({ width: HEAD, layers: 1 })));
    const continued = await run(2);
    assertEquals(continued.code, 0, continued.err);
    assert(/^\d+,\d+\n$/.test(continued.out), continued.out);
    const long = await run(POSITIONS);
    assertEquals(long.code, 1);
    assert(long.err.includes("the model has 11 positions, not the 13"), long.err);
    writeSafetensors(path, { x: { data: [1] } });
    const other = await run(1);
    assertEquals(other.code, 1);
    assert(
      other.err.includes("the file has no tensor `wte.weight`") ||
        other.err.includes('the file has no tensor "wte.weight"'),
      other.err,
    );
  }),
);
