/**
 * A multilayer perceptron whose weights are split among devices (Shoeybi et al., "Megatron-LM", 2019): each has some of the
 * columns of the first matrix and the same rows of the second, so that between the two nothing is communicated; one
 * all-reduce adds the parts of the result.
 */
import type { Tensor } from "@tri/tri/ffi";
import { type Communicator, group } from "@tri/tri/ffi/nccl";
import { relu } from "../../generated/examples/parallel/network.ts";
import { matmul } from "../../generated/matmul.ts";

/** A matrix on the host, row by row. */
export interface HostMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

/** The weights of one device: [inputs, hidden / ranks] and [hidden / ranks, outputs]. */
export interface WeightPart {
  readonly first: Tensor<"float32", 2>;
  readonly second: Tensor<"float32", 2>;
}

/** Gives each rank its columns of the first matrix and its rows of the second. The number of ranks divides `hidden`. */
export function splitWeights(
  ranks: readonly Communicator[],
  first: HostMatrix,
  second: HostMatrix,
): readonly WeightPart[] {
  const width = first.columns / ranks.length;
  if (!Number.isInteger(width)) {
    throw new RangeError(`${first.columns} hidden elements do not divide among ${ranks.length}`);
  }
  return ranks.map(({ device, rank }) => {
    const from = rank * width;
    const columns = new Float32Array(first.rows * width);
    for (let row = 0; row < first.rows; row++) {
      const start = row * first.columns + from;
      columns.set(first.values.subarray(start, start + width), row * width);
    }
    const rows = second.values.slice(from * second.columns, (from + width) * second.columns);
    return {
      first: device.tensor(columns, [first.rows, width]),
      second: device.tensor(rows, [width, second.columns]),
    };
  });
}

/** relu(x @ first) @ second, the same on every rank; `inputs` has the same rows x on each. */
export function tensorParallel(
  ranks: readonly Communicator[],
  weights: readonly WeightPart[],
  inputs: readonly Tensor<"float32", 2>[],
): readonly Tensor<"float32", 2>[] {
  const results = weights.map(({ first, second }, rank) => {
    const x = inputs[rank];
    if (x === undefined) throw new RangeError(`there is no input for rank ${rank}`);
    const hidden = matmul(x, first);
    const active = hidden.device.empty("float32", hidden.shape);
    relu(flat(hidden), { out: flat(active) });
    hidden.dispose();
    const part = matmul(active, second);
    active.dispose();
    return part;
  });
  group(() => {
    for (const [i, communicator] of ranks.entries()) {
      const result = results[i];
      if (result !== undefined) communicator.allReduce(result, result);
    }
  });
  return results;
}

/** All elements in one dimension. */
function flat(tensor: Tensor<"float32", 2>): Tensor<"float32", 1> {
  return tensor.reshape([tensor.elements]);
}
