/**
 * Kernels as functions. In: the facts that generated wrappers carry, and the arguments of a call. Out: checked arguments,
 * the instance and the grid that fit them, and its launch. Generated wrappers import this.
 */
export { cdiv, exact, nextPow2, quotient, remainder } from "./arithmetic.ts";
export { ConstantBuffer, type ConstantBuffers, defineConstants } from "./constants.ts";
export { defineKernel } from "./define.ts";
export type {
  Access,
  ArgumentFacts,
  BlockFacts,
  ChoiceFacts,
  Condition,
  ConfigurationFacts,
  ConstantFacts,
  ContractFacts,
  Dimension,
  Expression,
  ImageFacts,
  InstanceFacts,
  KernelFacts,
  MeasuredFacts,
  ParamFacts,
  PointerFacts,
  PointFacts,
  RangeFacts,
  ScalarFacts,
  TensorCallFacts,
  TensorFacts,
  TuningFacts,
  Values,
  VariantFacts,
} from "./facts.ts";
export type {
  CallOptions,
  Grid,
  GridCallOptions,
  GridSize,
  KernelDescription,
  PreparedCall,
  Profiling,
  TuneOptions,
  TuneResult,
  VariantOptions,
} from "./types.ts";
