/**
 * Tests of kernels: a kernel against a reference on drawn sizes, layouts and elements.
 *
 * @module
 */
export {
  checkKernel,
  type Expected,
  type KernelCheck,
  type Results,
  type Tolerance,
} from "./check.ts";
export { type Layout, LAYOUTS, VALUES, type Values } from "./draw.ts";
export type { Extent, Given, Inputs, Known, NumberInput, TensorInput } from "./inputs.ts";
export { KernelMismatch } from "./mismatch.ts";
