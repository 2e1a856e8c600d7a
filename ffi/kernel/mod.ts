/** What generated wrappers import. */
export { cdiv, exact, nextPow2, quotient, remainder } from "./arithmetic.ts";
export { defineKernel } from "./define.ts";
export type {
  Access,
  ArgumentFacts,
  BlockFacts,
  Condition,
  ContractFacts,
  Dimension,
  Expression,
  ImageFacts,
  InstanceFacts,
  KernelFacts,
  ParamFacts,
  PointerFacts,
  RangeFacts,
  ScalarFacts,
  TensorCallFacts,
  TensorFacts,
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
  VariantOptions,
} from "./types.ts";
