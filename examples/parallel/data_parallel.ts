/**
 * Training of a network of two layers on several devices: each has all weights and a part of the samples, and before
 * each step the gradients are added up. So all devices make the same step, the one that a single device makes of all
 * samples, within rounding.
 */
import type { Tensor } from "@tri/tri/ffi";
import { type Communicator, group } from "@tri/tri/ffi/nccl";
import { descend, error, relu, reluBackward } from "../../generated/examples/parallel/network.ts";
import { matmul } from "../../generated/matmul.ts";

type Matrix = Tensor<"float32", 2>;

/** The weights of a device; each step replaces them. */
export interface Weights {
  readonly first: Matrix;
  readonly second: Matrix;
}

/** The samples of a device: [samples, inputs] and [samples, outputs]. */
export interface Samples {
  readonly inputs: Matrix;
  readonly wanted: Matrix;
}

/** Copies the weights of rank 0 to all others, so that all begin alike. */
export function shareWeights(ranks: readonly Communicator[], weights: readonly Weights[]): void {
  group(() => {
    for (const [i, rank] of ranks.entries()) {
      for (const tensor of Object.values(weights[i] ?? {})) rank.broadcast(tensor, 0);
    }
  });
}

/** One step by the mean squared error of the samples of all ranks. Disposes the old weights and returns the new ones. */
export function trainStep(
  ranks: readonly Communicator[],
  weights: readonly Weights[],
  samples: readonly Samples[],
  rate: number,
): readonly Weights[] {
  const total = samples.reduce((sum, { wanted }) => sum + wanted.elements, 0);
  const gradients = weights.map((own, rank) => {
    const part = samples[rank];
    if (part === undefined) throw new RangeError(`there are no samples for rank ${rank}`);
    return gradientsOf(own, part, 2 / total);
  });
  group(() => {
    for (const [i, rank] of ranks.entries()) {
      for (const tensor of Object.values(gradients[i] ?? {})) rank.allReduce(tensor, tensor);
    }
  });
  return weights.map((own, rank) => {
    const { first, second } = gradients[rank] ?? own;
    const next = { first: step(own.first, first, rate), second: step(own.second, second, rate) };
    for (const tensor of [own.first, own.second, first, second]) tensor.dispose();
    return next;
  });
}

/** Derivatives by the weights of scale / 2 times the sum of the squared errors. */
function gradientsOf(
  { first, second }: Weights,
  { inputs, wanted }: Samples,
  scale: number,
): Weights {
  const { device } = inputs;
  const hidden = matmul(inputs, first);
  const active = device.empty("float32", hidden.shape);
  relu(flat(hidden), { out: flat(active) });
  const outputs = matmul(active, second);
  const errors = device.empty("float32", outputs.shape);
  error(flat(outputs), flat(wanted), { scale, out: flat(errors) });
  const bySecond = matmul(active.transpose(), errors);
  const byActive = matmul(errors, second.transpose());
  const byHidden = device.empty("float32", hidden.shape);
  reluBackward(flat(active), flat(byActive), { out: flat(byHidden) });
  const byFirst = matmul(inputs.transpose(), byHidden);
  for (const one of [hidden, active, outputs, errors, byActive, byHidden]) one.dispose();
  return { first: byFirst, second: bySecond };
}

function step(weights: Matrix, gradient: Matrix, rate: number): Matrix {
  const next = weights.device.empty("float32", weights.shape);
  descend(flat(weights), flat(gradient), { rate, out: flat(next) });
  return next;
}

/** All elements in one dimension. */
function flat(tensor: Matrix): Tensor<"float32", 1> {
  return tensor.reshape([tensor.elements]);
}
