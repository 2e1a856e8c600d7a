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
  CodeFacts,
  Condition,
  ConfigurationFacts,
  ConstantFacts,
  ContractFacts,
  CostFacts,
  Dimension,
  Expression,
  FormFacts,
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
  TensorMapFacts,
  TuningFacts,
  Values,
  VariantFacts,
} from "./facts.ts";
export type {
  CallOptions,
  FormChoice,
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
