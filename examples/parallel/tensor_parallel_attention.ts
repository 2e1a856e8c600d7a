/**
 * An attention block whose heads are split among devices (Shoeybi et al., "Megatron-LM", 2019): each has the columns of the
 * queries', keys' and values' weights that make its heads, and the same rows of the output's weights. Heads do not read
 * each other, so that nothing is communicated before one all-reduce adds the parts of the result.
 */
import { Tensor } from "@tri/tri/ffi";
import { type Communicator, group } from "@tri/tri/ffi/nccl";
import { attention } from "../../generated/attention.ts";
import { matmul } from "../../generated/matmul.ts";
import type { HostMatrix } from "./tensor_parallel.ts";

/** Elements of a head; the kernel has variants for 64 and 128. */
export const HEAD_SIZE = 64;

/** Weights of a block: [inputs, heads * HEAD_SIZE] three times, and [heads * HEAD_SIZE, outputs]. */
export interface AttentionWeights<Matrix> {
  readonly query: Matrix;
  readonly key: Matrix;
  readonly value: Matrix;
  readonly output: Matrix;
}

/** The weights of one device. */
export type AttentionPart = AttentionWeights<Tensor<"float32", 2>>;

/** Gives each rank its heads. The number of ranks divides that of heads. */
export function splitHeads(
  ranks: readonly Communicator[],
  { query, key, value, output }: AttentionWeights<HostMatrix>,
): readonly AttentionPart[] {
  const heads = query.columns / HEAD_SIZE;
  const width = query.columns / ranks.length;
  if (!Number.isInteger(width / HEAD_SIZE)) {
    throw new RangeError(`${heads} heads do not divide among ${ranks.length} ranks`);
  }
  return ranks.map(({ device, rank }) => {
    const columns = ({ rows, columns, values }: HostMatrix): Tensor<"float32", 2> => {
      const part = new Float32Array(rows * width);
      for (let row = 0; row < rows; row++) {
        const start = row * columns + rank * width;
        part.set(values.subarray(start, start + width), row * width);
      }
      return device.tensor(part, [rows, width]);
    };
    const from = rank * width * output.columns;
    const rows = output.values.slice(from, from + width * output.columns);
    return {
      query: columns(query),
      key: columns(key),
      value: columns(value),
      output: device.tensor(rows, [width, output.columns]),
    };
  });
}

/** Causal attention over the rows of x, the same on every rank; `inputs` has the same rows x on each. */
export function tensorParallelAttention(
  ranks: readonly Communicator[],
  weights: readonly AttentionPart[],
  inputs: readonly Tensor<"float32", 2>[],
): readonly Tensor<"float32", 2>[] {
  const results = weights.map((part, rank) => {
    const x = inputs[rank];
    if (x === undefined) throw new RangeError(`there is no input for rank ${rank}`);
    return ownHeads(x, part);
  });
  group(() => {
    for (const [i, communicator] of ranks.entries()) {
      const result = results[i];
      if (result !== undefined) communicator.allReduce(result, result);
    }
  });
  return results;
}

/** What the heads of one rank add to the result. */
function ownHeads(
  x: Tensor<"float32", 2>,
  { query, key, value, output }: AttentionPart,
): Tensor<"float32", 2> {
  using q = matmul(x, query);
  using k = matmul(x, key);
  using v = matmul(x, value);
  using attended = x.device.empty("float32", q.shape);
  const { lse } = attention(heads(q), heads(k), heads(v), {
    scale: HEAD_SIZE ** -0.5,
    causal: true,
    window: 0,
    out: { o: heads(attended) },
  });
  lse.dispose();
  return matmul(attended, output);
}

/** [rows, heads * HEAD_SIZE] as what the kernel calls a batch of heads: [1, heads, rows, HEAD_SIZE]. */
function heads(x: Tensor<"float32", 2>): Tensor<"float32", 4> {
  const [rows, width] = x.shape;
  return new Tensor<"float32", 4>(x.buffer, {
    dtype: x.dtype,
    shape: [1, width / HEAD_SIZE, rows, HEAD_SIZE],
    strides: [0, HEAD_SIZE, width, 1],
    offset: x.offset,
  });
}
