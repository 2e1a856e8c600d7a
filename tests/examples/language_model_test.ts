/** The language model against a reference in double precision: scores, derivatives, and a few steps of training. */
import { Device, type Tensor } from "../../ffi/mod.ts";
import { generate, Session } from "../../examples/language_model/generate.ts";
import type { ModelSizes, ModelWeights } from "../../examples/language_model/model.ts";
import { Adam, lossAndGradients } from "../../examples/language_model/train.ts";
import { initialWeights, takeWeights } from "../../examples/language_model/weights.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { numbersOf } from "../support/numbers.ts";
import { freshRandom } from "../support/random.ts";
import {
  type Numbers,
  referenceLoss,
  referenceScores,
  type ReferenceWeights,
} from "./reference_model.ts";
import { sampled, testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(2);

const SIZES: ModelSizes = {
  vocabulary: 23,
  width: 32,
  layers: 2,
  heads: 2,
  keyHeads: 2,
  headSize: 64,
  hidden: 24,
  eps: 1e-5,
  rotaryBase: 1e4,
};

/** The same random weights on the device and as doubles. */
function randomWeights(
  device: Device,
  sizes: ModelSizes,
): { weights: ModelWeights<"float32">; reference: ReferenceWeights } {
  const random = freshRandom();
  const weights = takeWeights<"float32">(sizes, false, (_, [rows = 0, columns]) => {
    const size = columns === undefined ? 1 : 2 / Math.sqrt(columns);
    const values = Float32Array.from(
      { length: rows * (columns ?? 1) },
      () => (2 * random.unit() - 1) * size,
    );
    return device.tensor(values, columns === undefined ? [rows] : [rows, columns]);
  });
  return { weights, reference: referenceOf(weights) };
}

const doubles = (x: Tensor): Numbers => ({
  rows: x.shape.length === 1 ? 1 : must(x.shape[0], "rows"),
  columns: must(x.shape.at(-1), "columns"),
  values: Float64Array.from(numbersOf(x)),
});

function referenceOf({ table, layers, lastNorm, head }: ModelWeights<"float32">): ReferenceWeights {
  return {
    table: doubles(table),
    layers: layers.map((layer) =>
      Object.fromEntries(Object.entries(layer).map(([name, x]) => [name, doubles(x)]))
    ),
    lastNorm: doubles(lastNorm),
    head: doubles(head),
  };
}

function randomTokens(count: number): number[] {
  const random = freshRandom();
  return Array.from({ length: count }, () => random.below(SIZES.vocabulary));
}

for (const keyHeads of sampled([2, 1], 1)) {
  test(`a session gives the scores of the formulas, ${keyHeads} heads of keys for 2 of queries`, () => {
    using device = Device.open({ device: "emulator", workers: 1 });
    const sizes = { ...SIZES, keyHeads };
    const { weights, reference } = randomWeights(device, sizes);
    const tokens = randomTokens(7);
    const expected = referenceScores(sizes, reference, tokens).values;
    // In one go, and in pieces that continue from the cache.
    for (const pieces of sampled([[7], [3, 1, 3]], 1)) {
      using session = new Session(sizes, weights, 9);
      const found = pieces.flatMap((count) => {
        const piece = tokens.slice(session.length, session.length + count);
        return numbersOf(session.advance(device.tensor(Int32Array.from(piece))));
      });
      assertEquals(found.length, expected.length);
      // Ten sums in a row of at most 128 products each, all of them of order 1, in float.
      found.forEach((score, i) => {
        const reference = must(expected[i], "score");
        assert(Math.abs(score - reference) < 1e-3, `score ${i}: ${score}, not ${reference}`);
      });
    }
  });
}

Deno.test("a session refuses more tokens than it has room for", () => {
  using device = Device.open({ device: "emulator", workers: 1 });
  const { weights } = randomWeights(device, { ...SIZES, layers: 0 });
  using session = new Session({ ...SIZES, layers: 0 }, weights, 2);
  let message = "";
  try {
    session.advance(device.tensor(Int32Array.of(1, 2, 3)));
  } catch (error) {
    message = error instanceof RangeError ? error.message : "";
  }
  assertEquals(message, "a session of 2 tokens has no room for 3 after 0");
});

test("lossAndGradients() gives the slopes of the loss", () => {
  using device = Device.open({ device: "emulator", workers: 1 });
  const { weights, reference } = randomWeights(device, SIZES);
  const [tokens, labels] = [randomTokens(5), randomTokens(5)];
  const { loss, weights: gradients } = lossAndGradients(
    SIZES,
    weights,
    device.tensor(Int32Array.from(tokens)),
    device.tensor(BigInt64Array.from(labels, BigInt)),
  );
  const mean = numbersOf(loss).reduce((a, b) => a + b) / 5;
  const expected = referenceLoss(SIZES, reference, tokens, labels);
  assert(Math.abs(mean - expected) < 1e-3, `loss ${mean}, not ${expected}`);
  const found = referenceOf(gradients);
  const random = freshRandom();
  const check = (name: string, weight: Numbers, gradient: Numbers, at: number): void => {
    // Of the second order: the error is the third derivative, of order 1, times step² / 6.
    const step = 1e-4;
    const kept = must(weight.values[at], "weight");
    const [above, below] = [kept + step, kept - step].map((value) => {
      weight.values[at] = value;
      return referenceLoss(SIZES, reference, tokens, labels);
    });
    weight.values[at] = kept;
    const slope = (must(above, "loss") - must(below, "loss")) / (2 * step);
    const value = must(gradient.values[at], "gradient");
    assert(Math.abs(value - slope) < 1e-4, `${name}[${at}]: ${value}, not ${slope}`);
  };
  const pick = (x: Numbers): number => random.below(x.values.length);
  const token = must(tokens[0], "token") * SIZES.width;
  check("table", reference.table, found.table, token + random.below(SIZES.width));
  check("head", reference.head, found.head, pick(reference.head));
  check("lastNorm", reference.lastNorm, found.lastNorm, pick(reference.lastNorm));
  reference.layers.forEach((layer, i) => {
    for (const [name, weight] of Object.entries(layer)) {
      check(`layer ${i} ${name}`, weight, must(found.layers[i]?.[name], name), pick(weight));
    }
  });
});

test("generate() takes the token with the largest score, each after the tokens before", async () => {
  using device = Device.open({ device: "emulator", workers: 1 });
  const sizes = { ...SIZES, layers: 1 };
  const { weights, reference } = randomWeights(device, sizes);
  const tokens = randomTokens(2);
  using session = new Session(sizes, weights, 5);
  for await (const token of generate(device, session, Int32Array.from(tokens), 3)) {
    const scores = [...referenceScores(sizes, reference, tokens).values].slice(-sizes.vocabulary);
    // Two tokens may be closer to each other than rounding is.
    assert(must(scores[token], "score") > Math.max(...scores) - 2e-3, `${token} of ${scores}`);
    tokens.push(token);
  }
  assertEquals([tokens.length, session.length], [5, 4]);
});

Deno.test("Adam moves weights as its formulas say", () => {
  using device = Device.open({ device: "emulator", workers: 1 });
  const random = freshRandom();
  const sizes = { ...SIZES, layers: 0 };
  const weights = initialWeights(device, sizes, () => random.unit());
  const gradients = initialWeights(device, sizes, () => random.unit());
  const [start, slopes] = [weights, gradients].map((x) => numbersOf(x.head));
  using adam = new Adam(device, weights);
  const [rate, decay, steps] = [0.01, 0.1, 3];
  for (let step = 0; step < steps; step++) adam.step(gradients, { rate, decay });
  numbersOf(weights.head).forEach((value, i) => {
    const slope = must(slopes?.[i], "gradient");
    let [weight, mean, square] = [must(start?.[i], "weight"), 0, 0];
    for (let step = 1; step <= steps; step++) {
      mean = 0.9 * mean + 0.1 * slope;
      square = 0.99 * square + 0.01 * slope ** 2;
      const scaled = Math.sqrt(square / (1 - 0.99 ** step)) + 1e-8;
      weight -= rate * (mean / (1 - 0.9 ** step) / scaled + decay * weight);
    }
    assert(Math.abs(value - weight) < 1e-5, `weight ${i}: ${value}, not ${weight}`);
  });
});
