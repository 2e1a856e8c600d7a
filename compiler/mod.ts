/**
 * The compiler: Triton-C text in, PTX and contracts out. Pure: no files, no processes, no Deno.
 *
 * @example
 * ```ts
 * import { compileFile } from "@tri/tri/compiler";
 *
 * const file = { name: "copy.tc", text: "__global__ void copy(float *X, float *Y) { *Y = *X; }" };
 * const { diagnostics, kernels } = compileFile(file, { targets: ["sm_80"] });
 * ```
 *
 * @module
 */
export { compileFile } from "./driver/compile_file.ts";
export { type KernelConfigurations, listConfigurations } from "./driver/configurations.ts";
export { inspect, type Phase, type Selection } from "./driver/inspect/inspect.ts";
export { inspectIr, type IrMistake, type IrRequest } from "./driver/inspect/inspect_ir.ts";
export { namesOf } from "./driver/names_of.ts";
export { PASS_NAMES as passNames } from "./driver/passes/passes.ts";
export type {
  CompileClock,
  CompiledEntry,
  CompiledKernel,
  CompiledModule,
  CompileOptions,
  CompileResult,
  ConfigurationChoice,
  Configurations,
  ConstantBuffer,
  Define,
  EntryForm,
  IncludeRefusal,
  IncludeResolver,
  KernelOutline,
  ModuleOutline,
  Override,
  StepTime,
  TensorAxisPlan,
  TensorMapPlan,
  WindowsPlan,
} from "./options.ts";
export type {
  Access,
  AccessRange,
  ConfigurationInfo,
  ContractExpr,
  ContractOperator,
  ContractParam,
  InstanceInfo,
  KernelContract,
  Requirement,
  TensorContract,
} from "./contract/types.ts";
export type {
  LoopRange,
  NamedValue,
  ProgramReader,
  RegisterState,
  SourceNames,
  WarpRegister,
} from "./support/variables.ts";
export { printExpr } from "./contract/expr.ts";
export { CODES } from "./support/codes.ts";
export {
  type Code,
  type Diagnostic,
  type Fix,
  type Note,
  type Severity,
} from "./support/diagnostic.ts";
export { renderDiagnostic, type RenderOptions } from "./support/render.ts";
export { type ScalarName, SCALARS } from "./support/scalar.ts";
export type { Expansion, SourceFile, Span } from "./support/source.ts";
export { ALL_TARGETS, type MmaName, type Target, type TargetName, TARGETS } from "./targets.ts";
