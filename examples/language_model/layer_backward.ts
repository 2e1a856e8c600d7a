/** The derivatives of a layer by its input and its weights, from what the forward pass kept. All sums have a fixed order. */
import type { Tensor } from "@tri/tri/ffi";
import {
  attentionBackwardKeys,
  attentionBackwardQueries,
  attentionBackwardRows,
} from "../../generated/attention_backward.ts";
import { matmul } from "../../generated/matmul.ts";
import { rmsNormBackwardWeights } from "../../generated/norm_weights.ts";
import { rmsNormBackward } from "../../generated/rms_norm.ts";
import { rotate, swigluBackward } from "../../generated/examples/language_model/layers.ts";
import { byHead, queryHeads } from "./layer.ts";
import { add, flat, type LayerTrace, type LayerWeights, type ModelSizes } from "./model.ts";

type Matrix = Tensor<"float32", 2>;

/** The derivatives by the input of a layer and by its weights. */
export interface LayerGradients {
  readonly dx: Matrix;
  readonly weights: LayerWeights<"float32">;
}

/** The derivatives of Y = X @ ^W: DX = DY @ W and DW = ^DY @ X. */
export function linearBackward(x: Matrix, weights: Matrix, dy: Matrix): { dx: Matrix; dw: Matrix } {
  return { dx: matmul(dy, weights), dw: matmul(dy.transpose(), x) };
}

/** The derivatives of Y = rms_norm(X) * W. */
export function normBackward(
  x: Matrix,
  weights: Tensor<"float32", 1>,
  rstd: Tensor<"float32", 1>,
  dy: Matrix,
): { dx: Matrix; dw: Tensor<"float32", 1> } {
  const dw = x.device.empty("float32", [1, x.shape[1]]);
  rmsNormBackwardWeights(x, dy, rstd, { out: dw });
  return { dx: rmsNormBackward(x, dy, weights, rstd), dw: dw.reshape([dw.elements]) };
}

/** `dy` is the derivative by what the layer gave, [T, width]. */
export function layerBackward(
  sizes: ModelSizes,
  weights: LayerWeights<"float32">,
  trace: LayerTrace<"float32">,
  dy: Matrix,
): LayerGradients {
  const hidden = hiddenBackward(weights, trace, dy);
  using dMiddle = add(dy, hidden.dx);
  hidden.dx.dispose();
  const attended = attentionPart(sizes, weights, trace, dMiddle);
  const dx = add(dMiddle, attended.dx);
  attended.dx.dispose();
  return { dx, weights: { ...hidden.weights, ...attended.weights } };
}

/** The gated activation and the normalisation before it. */
function hiddenBackward(
  weights: LayerWeights<"float32">,
  { middle, hiddenRstd, hiddenNormed, gate, up, gated }: LayerTrace<"float32">,
  dy: Matrix,
): { dx: Matrix; weights: Pick<LayerWeights<"float32">, "hiddenNorm" | "gate" | "up" | "down"> } {
  const down = linearBackward(gated, weights.down, dy);
  using dGated = down.dx;
  const { dGate, dUp } = swigluBackward(flat(gate), flat(up), flat(dGated));
  using ownedGate = dGate;
  using ownedUp = dUp;
  const byGate = linearBackward(hiddenNormed, weights.gate, ownedGate.reshape(gate.shape));
  const byUp = linearBackward(hiddenNormed, weights.up, ownedUp.reshape(up.shape));
  using dGateIn = byGate.dx;
  using dUpIn = byUp.dx;
  using dNormed = add(dGateIn, dUpIn);
  const { dx, dw: hiddenNorm } = normBackward(middle, weights.hiddenNorm, hiddenRstd, dNormed);
  return { dx, weights: { hiddenNorm, gate: byGate.dw, up: byUp.dw, down: down.dw } };
}

/** Attention, its projections and the normalisation before them. */
function attentionPart(
  sizes: ModelSizes,
  weights: LayerWeights<"float32">,
  { x, attentionRstd, normed, q, k, v, attended, lse }: LayerTrace<"float32">,
  dy: Matrix,
): {
  dx: Matrix;
  weights: Pick<LayerWeights<"float32">, "attentionNorm" | "query" | "key" | "value" | "output">;
} {
  const { heads, keyHeads, headSize, rotaryBase: base } = sizes;
  const { device, shape: [tokens] } = x;
  // As in the forward pass: heads that share keys are the heads of a batch, which has one head of keys.
  const headed = (tensor: Matrix): Tensor<"float32", 4> => queryHeads(tensor, sizes);
  const shared = (tensor: Matrix): Tensor<"float32", 4> =>
    tensor.reshape([tokens, keyHeads, 1, headSize]).permute([1, 2, 0, 3]);
  const projected = linearBackward(attended, weights.output, dy);
  using dAttended = projected.dx;
  const options = { scale: headSize ** -0.5, causal: true };
  using rows = attentionBackwardRows(headed(attended), headed(dAttended), lse);
  const inputs = [headed(q), shared(k), shared(v), headed(dAttended), rows] as const;
  const empty = (count: number): Matrix => device.empty("float32", [tokens, count * headSize]);
  using dq = empty(heads);
  using dk = empty(keyHeads);
  using dv = empty(keyHeads);
  attentionBackwardQueries(...inputs, { ...options, out: headed(dq) });
  attentionBackwardKeys(...inputs, { ...options, out: { dk: shared(dk), dv: shared(dv) } });
  const back = { first: 0, base, direction: -1 };
  using turnedQ = empty(heads);
  using turnedK = empty(keyHeads);
  rotate(byHead(dq, heads), { ...back, out: byHead(turnedQ, heads) });
  rotate(byHead(dk, keyHeads), { ...back, out: byHead(turnedK, keyHeads) });
  const byQuery = linearBackward(normed, weights.query, turnedQ);
  const byKey = linearBackward(normed, weights.key, turnedK);
  const byValue = linearBackward(normed, weights.value, dv);
  using dQueryIn = byQuery.dx;
  using dKeyIn = byKey.dx;
  using dValueIn = byValue.dx;
  using two = add(dQueryIn, dKeyIn);
  using dNormed = add(two, dValueIn);
  const { dx, dw: attentionNorm } = normBackward(x, weights.attentionNorm, attentionRstd, dNormed);
  return {
    dx,
    weights: {
      attentionNorm,
      query: byQuery.dw,
      key: byKey.dw,
      value: byValue.dw,
      output: projected.dw,
    },
  };
}
