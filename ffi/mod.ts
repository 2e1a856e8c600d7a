/**
 * The run time of the wrappers that tri generates, and all that a program needs beside them: devices, tensors,
 * streams and typed errors.
 *
 * ```ts
 * import { Device } from "@tri/tri/ffi";
 * import { transpose } from "./generated/transpose.ts";
 *
 * using device = Device.open();
 * using x = device.tensor(new Float32Array(6), [2, 3]);
 * using y = transpose(x);
 * console.log(await y.read());
 * ```
 *
 * @module
 */
export {
  type BlockTables,
  blockTables,
  type PackedBlockTables,
  packedBlockTables,
} from "./block_tables.ts";
export { type GatheredBlockTables, gatheredBlockTables } from "./gathered_blocks.ts";
export { DeviceBuffer } from "./memory/buffer.ts";
export { Device, type TensorOptions, type WrapOptions } from "./device.ts";
export type {
  Contents,
  DeviceInfo,
  Driver,
  FunctionInfo,
  LaunchShape,
  ParameterInfo,
  PeerCalls,
  PreparedLaunch,
  RecordedGraph,
} from "./driver.ts";
export {
  type DType,
  type DTypeOf,
  DTYPES,
  fromBfloat16,
  type HalfArray,
  type HalfValues,
  type HostArray,
  type HostArrays,
  type HostBytes,
  type HostData,
  type HostNumbers,
  type NaturalDTypes,
  toBfloat16,
} from "./dtype.ts";
export type { EmulatorSettings } from "../emulator/driver/settings.ts";
export type { CheckChoice, CheckLevel, CheckName } from "../emulator/check/levels.ts";
export type { BlockState, WarpState } from "../emulator/machine.ts";
export type { Window } from "../emulator/memory.ts";
export type { FaultFacts, FaultKind, FaultOrigin, Site } from "../emulator/fault.ts";
export type {
  Breakpoint,
  BreakpointAnswer,
  DebugLaunch,
  DebugState,
  Finding,
  Focus,
  RegisterValue,
  StopReason,
  Triple,
  Until,
  Watchpoint,
} from "../emulator/debug/debug_launch.ts";
export type {
  LoopRange,
  NamedValue,
  ProgramReader,
  RegisterState,
  SourceNames,
  WarpRegister,
} from "../compiler/support/variables.ts";
export type { Expansion, SourceFile, Span } from "../compiler/support/source.ts";
export type { Quantity } from "../emulator/debug/condition.ts";
export type {
  CopyFacts,
  ObservedAccess,
  Observer,
  Step,
  SyncEvent,
} from "../emulator/debug/observer.ts";
export * from "./errors.ts";
export { DeviceEvent, type EventOptions } from "./event.ts";
export { Graph } from "./graph.ts";
export * from "./kernel/mod.ts";
export { KernelFunction, KernelModule } from "./module.ts";
export type { DeviceName, OpenOptions } from "./open.ts";
export { PinnedArray } from "./memory/pinned.ts";
export type {
  AccessProfile,
  EmulatorWarning,
  GlobalTraffic,
  LaunchProfile,
  Profiled,
  SharedTraffic,
} from "./profile.ts";
export { canAccessPeer, viewPeer } from "./memory/peers.ts";
export { openShared, type SharedTensor, shareTensor } from "./memory/shared_memory.ts";
export type { Shape, Shapes } from "./tensors/shape.ts";
export { Stream } from "./stream.ts";
export { type CopyOptions, Tensor, type TensorLayout } from "./tensors/tensor.ts";
export type { TensorMap, TensorTypeName } from "./tensor_map.ts";
export type { TensorWindow } from "./tensor_windows.ts";
export { ModuleVariable } from "./variable.ts";
