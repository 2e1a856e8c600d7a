/** A model of the Llama shape in double precision, written as the formulas say, to compare the example with. */
import type { ModelSizes } from "../../examples/language_model/model.ts";
import { must } from "../../compiler/support/bug.ts";

/** Row-major numbers. */
export interface Numbers {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float64Array;
}

/** A layer's weights by the names that the example has for them. */
export interface ReferenceWeights {
  readonly table: Numbers;
  readonly layers: readonly Readonly<Record<string, Numbers>>[];
  readonly lastNorm: Numbers;
  readonly head: Numbers;
}

const at = ({ columns, values }: Numbers, i: number, j: number): number =>
  must(values[i * columns + j], "element");

function make(rows: number, columns: number, value: (i: number, j: number) => number): Numbers {
  const values = Float64Array.from(
    { length: rows * columns },
    (_, at) => value(Math.floor(at / columns), at % columns),
  );
  return { rows, columns, values };
}

function sum(count: number, term: (i: number) => number): number {
  let total = 0;
  for (let i = 0; i < count; i++) total += term(i);
  return total;
}

function linear(x: Numbers, w: Numbers): Numbers {
  return make(x.rows, w.rows, (i, j) => sum(x.columns, (k) => at(x, i, k) * at(w, j, k)));
}

function norm(x: Numbers, w: Numbers, eps: number): Numbers {
  const scale = Array.from(
    { length: x.rows },
    (_, i) => 1 / Math.sqrt(sum(x.columns, (k) => at(x, i, k) ** 2) / x.columns + eps),
  );
  return make(x.rows, x.columns, (i, j) => at(x, i, j) * must(scale[i], "row") * at(w, 0, j));
}

/** Positions: element i of a head is paired with element i + half. */
function rotate(x: Numbers, size: number, base: number): Numbers {
  const half = size / 2;
  return make(x.rows, x.columns, (t, j) => {
    const [start, i] = [j - j % size, j % size];
    const angle = t * base ** (-2 * (i % half) / size);
    const [a, b] = [at(x, t, start + i % half), at(x, t, start + i % half + half)];
    return i < half
      ? a * Math.cos(angle) - b * Math.sin(angle)
      : b * Math.cos(angle) + a * Math.sin(angle);
  });
}

function attend(q: Numbers, k: Numbers, v: Numbers, sizes: ModelSizes): Numbers {
  const { heads, keyHeads, headSize: size } = sizes;
  const result = make(q.rows, q.columns, () => 0);
  for (let head = 0; head < heads; head++) {
    const [ofQ, ofK] = [head * size, Math.floor(head * keyHeads / heads) * size];
    for (let t = 0; t < q.rows; t++) {
      const scores = Array.from(
        { length: t + 1 },
        (_, n) => sum(size, (d) => at(q, t, ofQ + d) * at(k, n, ofK + d)) / Math.sqrt(size),
      );
      const top = Math.max(...scores);
      const total = scores.reduce((a, score) => a + Math.exp(score - top), 0);
      for (let d = 0; d < size; d++) {
        result.values[t * q.columns + ofQ + d] = sum(
          t + 1,
          (n) => Math.exp(must(scores[n], "score") - top) / total * at(v, n, ofK + d),
        );
      }
    }
  }
  return result;
}

const plus = (a: Numbers, b: Numbers): Numbers =>
  make(a.rows, a.columns, (i, j) => at(a, i, j) + at(b, i, j));

/** The scores of the token after each token, [T, vocabulary]. */
export function referenceScores(
  sizes: ModelSizes,
  weights: ReferenceWeights,
  tokens: readonly number[],
): Numbers {
  const { eps, headSize, rotaryBase } = sizes;
  let x = make(
    tokens.length,
    sizes.width,
    (t, e) => at(weights.table, must(tokens[t], "token"), e),
  );
  for (const layer of weights.layers) {
    const of = (name: string): Numbers => must(layer[name], name);
    const normed = norm(x, of("attentionNorm"), eps);
    const q = rotate(linear(normed, of("query")), headSize, rotaryBase);
    const k = rotate(linear(normed, of("key")), headSize, rotaryBase);
    const attended = attend(q, k, linear(normed, of("value")), sizes);
    const middle = plus(x, linear(attended, of("output")));
    const hidden = norm(middle, of("hiddenNorm"), eps);
    const [gate, up] = [linear(hidden, of("gate")), linear(hidden, of("up"))];
    const gated = make(
      gate.rows,
      gate.columns,
      (i, j) => at(gate, i, j) / (1 + Math.exp(-at(gate, i, j))) * at(up, i, j),
    );
    x = plus(middle, linear(gated, of("down")));
  }
  return linear(norm(x, weights.lastNorm, eps), weights.head);
}

/** The mean cross-entropy of the labels. */
export function referenceLoss(
  sizes: ModelSizes,
  weights: ReferenceWeights,
  tokens: readonly number[],
  labels: readonly number[],
): number {
  const scores = referenceScores(sizes, weights, tokens);
  const losses = labels.map((label, t) => {
    const row = [...scores.values.subarray(t * scores.columns, (t + 1) * scores.columns)];
    const top = Math.max(...row);
    return top + Math.log(row.reduce((a, x) => a + Math.exp(x - top), 0)) -
      must(row[label], "score");
  });
  return losses.reduce((a, b) => a + b) / losses.length;
}
