/** Every public operation of the run time, with right arguments and what each argument may be. */
import * as runtime from "../../../ffi/mod.ts";
import type { Objects, World } from "./world.ts";

/** An argument: a right value, and which others may be right too. */
export interface Argument {
  readonly right: unknown;
  /** False: the operation must refuse the value. */
  readonly allows: (value: unknown) => boolean;
}

export interface Operation {
  /** `Class.method`, or the name of a function. */
  readonly name: string;
  readonly run: (...args: readonly unknown[]) => unknown;
  readonly positional?: readonly Argument[];
  /** The last argument, by name; names that are not here are refused. */
  readonly named?: Readonly<Record<string, Argument>>;
  /** More arguments than there are must be refused. */
  readonly refusesMore?: boolean;
}

type Allows = Argument["allows"];

const isInteger = (least: number, most = Number.MAX_SAFE_INTEGER): Allows => (value) =>
  typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
const isNumber: Allows = (value) => typeof value === "number";
const isAnything: Allows = () => true;
const isOneOf = (...values: readonly unknown[]): Allows => (value) => values.includes(value);
const isFunction: Allows = (value) => typeof value === "function";
/** Typed arrays whose memory is there; a subclass may say anything. */
const isArray: Allows = (value) =>
  ArrayBuffer.isView(value) && !(value instanceof DataView) && value.buffer.byteLength > 0 ||
  value instanceof Uint8Array && value.length === 0;
/** What `device.tensor` takes; whether its elements fit, the operation says. */
const isData: Allows = (value) => typeof value === "object" && value !== null;
const isView: Allows = (value) => ArrayBuffer.isView(value);
const isShape: Allows = (value) =>
  Array.isArray(value) && value.length <= 64 && Array.from(value).every(isInteger(0));
const isGrid: Allows = (value) =>
  isShape(value) && Object(value).length >= 1 && Object(value).length <= 3;
const isDType: Allows = (value) =>
  typeof value === "string" && Object.hasOwn(runtime.DTYPES, value);
const isName: Allows = (value) => typeof value === "string" && !value.includes("\0");
const or = (...all: readonly Allows[]): Allows => (value) => all.some((allows) => allows(value));
const optional = (allows: Allows): Allows => or(isOneOf(undefined), allows);

/** All operations on new objects of a world. */
export function operationsOf(
  world: World,
  objects: Objects,
): readonly Operation[] {
  const { device, foreign, kernel, factor, ptx } = world;
  const { x, out, stream, event, graph, module, fn, variable, pinned } = objects;
  const { buffer } = x;
  const is = (...these: readonly unknown[]): Allows => isOneOf(...these);
  const streams = is(stream, device.defaultStream);
  const tensors = is(x, out);
  const bytes = new Uint8Array(4);
  const a = (right: unknown, allows: Allows): Argument => ({ right, allows });
  const unary = (name: string, of: object, argument: Argument): Operation => ({
    name,
    run: bound(of, name),
    positional: [argument],
  });
  const nullary = (name: string, of: object): Operation => ({ name, run: bound(of, name) });
  const data = new Float32Array(6);
  const common = {
    stream: a(stream, optional(streams)),
    variant: a("scaled", optional(is("scaled", "scaled_a16"))),
    grid: a([1, 1], optional(isGrid)),
  };
  const scalars = { M: 2, N: 3, ldx: 3, ldy: 3 };
  const sizes = Object.fromEntries(
    Object.entries(scalars).map((
      [name, value],
    ) => [name, a(value, isInteger(-(2 ** 31), 2 ** 31 - 1))]),
  );
  const own = {
    alpha: a(2, isNumber),
    out: a(out, optional(is(out))),
    ...common,
  };
  const layout = { strides: a([3, 1], optional(isShape)), stream: common.stream };
  const shape = a([2, 3], isShape);
  const dtype = a("float32", isDType);
  return [
    {
      name: "kernel",
      run: kernel,
      positional: [a(x, tensors)],
      named: { ...own, profile: a(true, optional(is(true, false))) },
      refusesMore: true,
    },
    {
      name: "kernel.prepare",
      run: (...args) => kernel.prepare(...args)(),
      positional: [a(x, tensors)],
      named: { ...own, profile: a(undefined, optional(is(false))) },
      refusesMore: true,
    },
    {
      name: "kernel.launch, arguments",
      run: kernel.launch,
      named: { X: a(x, tensors), Y: a(out, is(out)), ...sizes, alpha: a(1, isNumber) },
    },
    {
      name: "kernel.launch, options",
      run: (...args) => kernel.launch({ X: x, Y: out, ...scalars, alpha: 1 }, ...args),
      named: { ...common, profile: a(true, optional(is(true, false))) },
      refusesMore: true,
    },
    {
      name: "kernel.grid, sizes",
      run: kernel.grid,
      named: {
        M: a(2, isInteger(0, 2 ** 31 - 1)),
        N: a(3, isInteger(0, 2 ** 31 - 1)),
      },
    },
    {
      name: "kernel.grid, options",
      run: (...args) => kernel.grid({ M: 2, N: 3 }, ...args),
      named: { variant: common.variant },
      refusesMore: true,
    },
    {
      name: "ConstantBuffer.set",
      run: bound(factor, "ConstantBuffer.set"),
      positional: [
        a(Float32Array.of(1), or(isView, (value) => value instanceof ArrayBuffer)),
        a(0, optional(isInteger(0, 8))),
      ],
    },
    {
      name: "ConstantBuffer.constructor",
      run: (...args) => Reflect.construct(runtime.ConstantBuffer, args),
      positional: [a("NAME", (value) => typeof value === "string"), a(8, isInteger(0))],
    },
    {
      name: "Device.open",
      run: (...args) => Reflect.apply(runtime.Device.open, runtime.Device, args),
      named: {
        notice: a(false, optional(is(true, false))),
        device: a("emulator", isOneOf(undefined, "emulator", "cuda", 0, 1, 2, 3, 6, 255, 256)),
        arch: a("sm_80", optional(is("sm_80"))),
        checks: a(true, isAnything),
        budget: a(1000, optional(isInteger(1))),
        workers: a(1, optional(isInteger(1))),
        print: a(() => {}, optional(isFunction)),
        warn: a(() => {}, optional(isFunction)),
      },
    },
    {
      name: "Device.fromDriver",
      run: (...args) => Reflect.apply(runtime.Device.fromDriver, runtime.Device, args),
      positional: [a(device.driver, is(device.driver)), a(0, optional(isInteger(0, 0)))],
    },
    {
      name: "Device.tensor",
      run: bound(device, "Device.tensor"),
      positional: [a(data, isData), a([2, 3], optional(isShape))],
      named: { ...layout, dtype: a("float32", optional(isDType)) },
    },
    {
      name: "Device.empty",
      run: bound(device, "Device.empty"),
      positional: [dtype, shape],
      named: layout,
    },
    {
      name: "Device.zeros",
      run: bound(device, "Device.zeros"),
      positional: [dtype, shape],
      named: layout,
    },
    {
      name: "Device.event",
      run: bound(device, "Device.event"),
      named: { timing: a(true, optional(is(true, false))) },
    },
    {
      name: "Device.loadModule",
      run: bound(device, "Device.loadModule"),
      positional: [a(ptx, is(ptx)), a("module", isName)],
    },
    ...[
      "stream",
      "synchronize",
      "trim",
      "arch",
      "label",
      "disposed",
      "enter",
      "toString",
      "memoryInfo",
    ]
      .map((name) => nullary(`Device.${name}`, device)),
    {
      name: "Device.order",
      run: bound(device, "Device.order"),
      positional: [a(device.defaultStream, streams), a(stream, streams)],
    },
    unary("Device.retire", device, a(stream, streams)),
    unary("Device.forget", device, a(module, is(module))),
    {
      name: "Device.wrap",
      run: bound(device, "Device.wrap"),
      positional: [a(x.address, (value) => typeof value === "bigint"), dtype, shape],
      named: {
        ...layout,
        owner: a(data, isAnything),
        release: a(() => {}, optional(isFunction)),
      },
    },
    unary("Device.forgetPinned", device, a(pinned, is(pinned, foreign.pinned))),
    {
      name: "Device.pinned",
      run: bound(device, "Device.pinned"),
      positional: [dtype, shape],
    },
    {
      name: "PinnedArray.constructor",
      run: (...args) => Reflect.construct(runtime.PinnedArray, args),
      positional: [a(device, is(device)), dtype, shape],
    },
    ...[
      "disposed",
      "array",
      "bytes",
      "toString",
      "done",
      "finished",
      "synchronize",
      "dispose",
    ].map((name) => nullary(`PinnedArray.${name}`, pinned)),
    {
      name: "DeviceBuffer.constructor",
      run: (...args) => Reflect.construct(runtime.DeviceBuffer, args),
      positional: [a(device, is(device)), a(4, isInteger(0)), a(stream, streams)],
    },
    {
      name: "DeviceBuffer.use",
      run: bound(buffer, "DeviceBuffer.use"),
      positional: [a(stream, streams), a(false, isAnything)],
    },
    {
      name: "DeviceBuffer.upload",
      run: bound(buffer, "DeviceBuffer.upload"),
      positional: [a(bytes, isView), a(0, isInteger(0, 24))],
    },
    {
      name: "DeviceBuffer.download",
      run: bound(buffer, "DeviceBuffer.download"),
      positional: [
        a(bytes, (value) => ArrayBuffer.isView(value) && value.buffer instanceof ArrayBuffer),
        a(0, isInteger(0, 24)),
        a(stream, optional(streams)),
      ],
    },
    unary("DeviceBuffer.fill", buffer, a(0, isInteger(0, 255))),
    ...["address", "disposed", "stream"].map((name) => nullary(`DeviceBuffer.${name}`, buffer)),
    {
      name: "DeviceEvent.constructor",
      run: (...args) => Reflect.construct(runtime.DeviceEvent, args),
      positional: [a(device, is(device))],
      named: { timing: a(true, optional(is(true, false))) },
    },
    unary("DeviceEvent.record", event, a(stream, optional(streams))),
    unary("DeviceEvent.millisecondsSince", event, a(event, is(event))),
    ...["handle", "done", "synchronize", "finished"].map((name) =>
      nullary(`DeviceEvent.${name}`, event)
    ),
    {
      name: "Graph.constructor",
      run: (...args) => Reflect.construct(runtime.Graph, args),
      positional: [a(stream, streams), a(1n, () => false), a(null, () => false)],
    },
    nullary("Graph.disposed", graph),
    unary("Graph.launch", graph, a(stream, optional(streams))),
    {
      name: "KernelModule.constructor",
      run: (...args) => Reflect.construct(runtime.KernelModule, args),
      positional: [
        a(device, is(device)),
        a(new TextEncoder().encode(ptx), () => false),
        a("module", isName),
      ],
    },
    unary("KernelModule.function", module, a("scaled", is("scaled"))),
    unary("KernelModule.variable", module, a("FACTOR", isName)),
    nullary("KernelModule.disposed", module),
    {
      name: "KernelFunction.constructor",
      run: (...args) => Reflect.construct(runtime.KernelFunction, args),
      positional: [
        a(module, is(module, foreign.module)),
        a("scaled", isName),
        a(1n, (value) => typeof value === "bigint"),
      ],
    },
    {
      name: "KernelFunction.prepare",
      run: bound(fn, "KernelFunction.prepare"),
      named: {
        block: a([128, 1, 1], isShape),
        sharedBytes: a(0, isInteger(0)),
        parameterBytes: a(36, isInteger(36)),
        parameterNames: a(undefined, or(isOneOf(undefined), Array.isArray)),
        startsEarly: a(undefined, isOneOf(undefined, true, false)),
      },
    },
    nullary("KernelFunction.info", fn),
    {
      name: "ModuleVariable.constructor",
      run: (...args) =>
        Reflect.construct(runtime.ModuleVariable, [...args, { address: 1n, bytes: 1 }]),
      positional: [a(module, is(module, foreign.module)), a("FACTOR", isAnything)],
    },
    {
      name: "ModuleVariable.use",
      run: bound(variable, "ModuleVariable.use"),
      positional: [a(stream, streams), a(false, isAnything)],
    },
    {
      name: "ModuleVariable.upload",
      run: bound(variable, "ModuleVariable.upload"),
      positional: [a(bytes, isView), a(0, isInteger(0, 8))],
    },
    unary("ModuleVariable.uploadFirst", variable, a(bytes, isView)),
    ...["address", "disposed"].map((name) => nullary(`ModuleVariable.${name}`, variable)),
    {
      name: "Stream.constructor",
      run: (...args) => Reflect.construct(runtime.Stream, args),
      positional: [a(device, is(device))],
    },
    unary(
      "Stream.waitFor",
      stream,
      a(event, or(streams, is(event, foreign.stream, foreign.event))),
    ),
    unary("Stream.capture", stream, a(() => {}, isFunction)),
    {
      name: "Stream.capture, what its body does",
      run: (value) => stream.capture(() => void kernel(value, { alpha: 1, stream })),
      positional: [a(x, tensors)],
    },
    ...["handle", "disposed", "done", "synchronize", "finished"].map((name) =>
      nullary(`Stream.${name}`, stream)
    ),
    {
      name: "Tensor.constructor",
      run: (first, second) => Reflect.construct(runtime.Tensor, [first, second]),
      positional: [a(buffer, is(buffer))],
      named: {
        dtype,
        shape: a([2], isShape),
        strides: a([1], optional(isShape)),
        offset: a(0, isInteger(0, 24)),
      },
    },
    unary("Tensor.write", x, a(data, isData)),
    {
      name: "Tensor.readInto",
      run: bound(x, "Tensor.readInto"),
      positional: [a(data, isArray)],
      named: { stream: common.stream },
    },
    {
      name: "Tensor.copyFrom",
      run: bound(x, "Tensor.copyFrom"),
      positional: [a(pinned, is(x, out, pinned, foreign.x, foreign.out))],
      named: { stream: common.stream },
    },
    {
      name: "Tensor.copyTo",
      run: bound(x, "Tensor.copyTo"),
      positional: [a(pinned, is(pinned))],
      named: { stream: common.stream },
    },
    unary("Tensor.fill", x, a(1, isNumber)),
    unary("Tensor.cast", x, a("int32", isDType)),
    unary("Tensor.permute", x, a([1, 0], isShape)),
    unary("Tensor.reshape", x, a([6], isShape)),
    {
      name: "Tensor.narrow",
      run: bound(x, "Tensor.narrow"),
      positional: [
        a(0, isInteger(0, 1)),
        a(0, isInteger(0, 2)),
        a(1, isInteger(0, 2)),
        a(1, optional(isInteger(1))),
      ],
    },
    ...[
      "address",
      "disposed",
      "isContiguous",
      "toString",
      "inspect",
      "read",
      "readSync",
      "transpose",
      "clone",
      "contiguous",
      "dispose",
    ]
      .map((name) => nullary(`Tensor.${name}`, x)),
    {
      name: "blockTables",
      run: (...args) => Reflect.apply(runtime.blockTables, undefined, args),
      positional: [a([1, 0, 1, 1, 0, 0], isArrayLike), a(2, isInteger(0)), a(3, isInteger(0))],
    },
    {
      name: "packedBlockTables",
      run: (...args) => Reflect.apply(runtime.packedBlockTables, undefined, args),
      positional: [
        ...[a([1, 0, 1, 1, 0, 0], isArrayLike), a(2, isInteger(0)), a(3, isInteger(0))],
        ...[a(1, isInteger(1)), a(2, isInteger(1))],
      ],
    },
    {
      name: "gatheredBlockTables",
      run: (...args) => Reflect.apply(runtime.gatheredBlockTables, undefined, args),
      positional: [
        ...[a([1, 0, 1, 1, 0, 0], isArrayLike), a(2, isInteger(0)), a(3, isInteger(0))],
        ...[a(1, isInteger(1)), a(2, isInteger(1)), a(1, optional(isInteger(1)))],
        a(2, optional(isInteger(1, 2))),
      ],
    },
    { ...pure("canAccessPeer"), positional: [a(device, is(device)), a(device, is(device))] },
    { ...pure("viewPeer"), positional: [a(device, is(device)), a(x, tensors)] },
    // The emulator shares memory with no other process.
    { ...pure("shareTensor"), positional: [a(x, () => false)] },
    {
      ...pure("openShared"),
      positional: [a(device, () => false)],
      named: {
        handle: a("0".repeat(128), () => false),
        byteOffset: a(0, () => false),
        dtype,
        shape,
        strides: layout.strides,
      },
    },
    { ...pure("toBfloat16"), positional: [a(1, isNumber)] },
    { ...pure("fromBfloat16"), positional: [a(1, isInteger(0, 0xffff))] },
    ...["cdiv", "quotient", "remainder"].map((name) => ({
      ...pure(name),
      positional: [a(7, isNumber), a(2, isNumber)],
    })),
    { ...pure("exact"), positional: [a(1, isNumber)] },
    { ...pure("nextPow2"), positional: [a(1, isNumber)] },
    {
      ...pure("defineKernel"),
      positional: [a(kernel, () => false)],
    },
    {
      ...pure("wrapKernel"),
      positional: [a(kernel, () => false)],
    },
    { ...pure("defineConstants"), positional: [a([], Array.isArray)] },
  ];
}

const isArrayLike: Allows = (value) =>
  typeof value === "object" && value !== null && Object(value).length === 6;

function pure(name: string): Operation {
  const functions: Readonly<Record<string, unknown>> = runtime;
  const found = functions[name];
  return {
    name,
    run: (...args) => typeof found === "function" ? Reflect.apply(found, undefined, args) : found,
  };
}

/** The method or accessor of an object that an operation's name ends in. */
function bound(of: object, name: string): (...args: readonly unknown[]) => unknown {
  const key = name.slice(name.indexOf(".") + 1);
  return (...args) => {
    const found: unknown = Reflect.get(of, key);
    return typeof found === "function" ? Reflect.apply(found, of, args) : found;
  };
}
