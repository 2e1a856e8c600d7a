/** The error of a kernel that differs from its reference. */
import type { Case } from "./draw.ts";
import { type Inputs, isTensorInput, shapeOf } from "./inputs.ts";

/** What is known about it. */
interface Mismatch {
  readonly seed: number;
  /** Cases that were right before. */
  readonly index: number;
  readonly inputs: Inputs;
  /** The smallest case. */
  readonly one: Case;
  readonly reason: string;
}

/** A kernel differs from its reference. The message has the smallest case and the seed that repeats it. */
export class KernelMismatch extends Error {
  /** The class. */
  override readonly name = "KernelMismatch";
  /** Repeats the run, as `TRI_SEED` or as the option `seed`. */
  readonly seed: number;
  /** The sizes of the smallest case that fails. */
  readonly sizes: Readonly<Record<string, number>>;

  /** Made by `checkKernel`. */
  constructor({ seed, index, inputs, one, reason }: Mismatch) {
    const sizes = Object.entries(one.sizes).map(([name, size]) => `${name}=${size}`).join(", ");
    const lines = Object.entries(inputs).flatMap(([name, input]) => {
      if (!isTensorInput(input)) return [];
      const shape = shapeOf(input, one.sizes).join(", ");
      return [`${name}: ${input.dtype}[${shape}], ${one.layouts[name]}, ${one.values[name]}`];
    });
    super(
      [
        `the kernel differs from its reference: ${reason}`,
        ...(sizes === "" ? [] : [`sizes: ${sizes}`]),
        ...lines,
        `case ${index + 1}; TRI_SEED=${seed} repeats it`,
      ].join("\n  "),
    );
    this.seed = seed;
    this.sizes = one.sizes;
  }
}
