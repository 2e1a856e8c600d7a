import { CudaDriver } from "../../../ffi/cuda/driver.ts";
import {
  type CudaLibrary,
  type CudaSymbols,
  IS_IPC_HANDLE_ON_STACK,
  SYMBOLS,
} from "../../../ffi/cuda/symbols.ts";
import type { PreparedLaunch } from "../../../ffi/driver.ts";
import { CudaError, ImageError, NoDeviceError, OutOfMemoryError } from "../../../ffi/errors.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "../../support/assert.ts";

type Call = readonly [name: string, ...args: unknown[]];

interface FakeLibrary extends CudaLibrary {
  readonly calls: Call[];
  readonly closed: () => boolean;
}

/** A libcuda whose functions succeed and do nothing, but for those that the test gives. Records its calls. */
function fakeLibrary(functions: Partial<CudaSymbols> = {}): FakeLibrary {
  const calls: Call[] = [];
  let closed = false;
  // Memory lies where its number says: addresses are handed out when they are first asked for.
  const addresses = new Map<ArrayBufferLike, bigint>();
  const texts = new Map<bigint, string>([[1n, "CUDA_ERROR_INVALID_VALUE"], [
    2n,
    "invalid argument",
  ]]);
  const write = (to: ArrayBufferView<ArrayBuffer> | null, value: bigint): number => {
    assert(to instanceof BigUint64Array);
    to[0] = value;
    return 0;
  };
  const given: Partial<CudaSymbols> = {
    cuGetErrorName: (_, to) => write(to, 1n),
    cuGetErrorString: (_, to) => write(to, 2n),
    ...functions,
  };
  const recorded = Object.keys(SYMBOLS).map((name) => {
    const fn: unknown = Reflect.get(given, name);
    if (fn === null) return [name, null];
    const call = (...args: unknown[]): unknown => {
      calls.push([name, ...args]);
      return typeof fn === "function" ? fn(...args) : 0;
    };
    return [name, call];
  });
  return {
    calls,
    closed: () => closed,
    path: "libfake.so",
    // Built from the names of SYMBOLS, which no type can follow.
    symbols: Object.fromEntries(recorded) as CudaSymbols,
    addressOf: ({ buffer, byteOffset }) => {
      const base = addresses.get(buffer) ?? BigInt(addresses.size + 1) * 0x1_0000n;
      addresses.set(buffer, base);
      return base + BigInt(byteOffset);
    },
    readText: (address) => texts.get(address) ?? "",
    close: () => {
      closed = true;
    },
  };
}

function setInt(to: ArrayBufferView<ArrayBuffer> | null, value: number): number {
  assert(to instanceof Int32Array);
  to[0] = value;
  return 0;
}

function setWord(to: ArrayBufferView<ArrayBuffer> | null, value: bigint): number {
  assert(to instanceof BigUint64Array);
  to[0] = value;
  return 0;
}

function setText(to: ArrayBufferView<ArrayBuffer> | null, text: string): number {
  assert(to instanceof Uint8Array);
  new TextEncoder().encodeInto(`${text}\0`, to);
  return 0;
}

Deno.test("CudaDriver closes the library and says so when there is no GPU", () => {
  const library = fakeLibrary({ cuInit: () => 100 });
  const error = assertThrows(
    () => new CudaDriver(library),
    NoDeviceError,
    "libfake.so is there but sees no GPU",
  );
  assert(error.cause instanceof CudaError);
  assert(library.closed());
});

Deno.test("CudaDriver puts the driver's words and the remedy into its errors", () => {
  const driver = new CudaDriver(fakeLibrary({ cuMemFree_v2: () => 1 }));
  const error = assertThrows(
    () => driver.free(5n),
    CudaError,
    "cuMemFree failed with CUDA_ERROR_INVALID_VALUE (1): invalid argument",
  );
  assertEquals([error.call, error.code, error.cudaName], [
    "cuMemFree",
    1,
    "CUDA_ERROR_INVALID_VALUE",
  ]);
});

Deno.test("CudaDriver copes with errors that the driver cannot name", () => {
  const driver = new CudaDriver(
    fakeLibrary({ cuGetErrorName: () => 1, cuGetErrorString: () => 1, cuMemFree_v2: () => 12345 }),
  );
  assertThrows(
    () => driver.free(5n),
    CudaError,
    "CUDA_ERROR_UNKNOWN (12345): unknown to this driver",
  );
});

Deno.test("CudaDriver.peers asks by the devices' handles, and takes access that is there already", () => {
  const library = fakeLibrary({
    cuDeviceGet: (to, ordinal) => setInt(to, ordinal + 40),
    cuDeviceCanAccessPeer: (to, device, peer) => {
      assertEquals([device, peer], [40, 41]);
      return setInt(to, 1);
    },
    cuDevicePrimaryCtxRetain: (to, device) => setWord(to, BigInt(device)),
    cuCtxEnablePeerAccess: (context) => {
      assertEquals(context, 41n);
      return 704;
    },
  });
  const { peers } = new CudaDriver(library);
  assert(peers.canAccess(0, 1));
  peers.enableAccess(1);
  peers.copy(1n, 2n, 3, 4n);
  assertEquals(library.calls.slice(-3).map(([name]) => name), [
    "cuDeviceGet",
    "cuDevicePrimaryCtxRelease_v2",
    "cuMemcpyAsync",
  ]);
  assertEquals(library.calls.at(-1), ["cuMemcpyAsync", 1n, 2n, 3n, 4n]);
  const broken = new CudaDriver(fakeLibrary({ cuCtxEnablePeerAccess: () => 217 }));
  assertThrows(() => broken.peers.enableAccess(1), CudaError, "cuCtxEnablePeerAccess failed");
});

Deno.test("CudaDriver.deviceInfo() queries by the device's handle and cuda.h's numbers", () => {
  const facts: Record<number, number> = {
    1: 1024,
    5: 2147483647,
    6: 65535,
    7: 65535,
    16: 132,
    75: 9,
    76: 0,
    97: 232448,
  };
  const driver = new CudaDriver(fakeLibrary({
    cuDriverGetVersion: (to) => setInt(to, 13000),
    cuDeviceGet: (to, ordinal) => setInt(to, ordinal + 40),
    cuDeviceGetName: (to, length, device) => {
      assertEquals([length, device], [256, 43]);
      return setText(to, "NVIDIA H200");
    },
    cuDeviceTotalMem_v2: (to, device) => setWord(to, device === 43 ? 150_000_000_000n : 0n),
    cuDeviceGetAttribute: (to, attribute, device) =>
      setInt(to, device === 43 ? facts[attribute] ?? -1 : -1),
  }));
  assertEquals(driver.deviceInfo(3), {
    kind: "gpu",
    ordinal: 3,
    name: "NVIDIA H200",
    arch: "sm_90",
    sm: 90,
    multiprocessors: 132,
    memoryBytes: 150_000_000_000,
    maxThreadsPerBlock: 1024,
    maxSharedBytes: 232448,
    maxGrid: [2147483647, 65535, 65535],
    driverVersion: 13000,
  });
});

Deno.test("CudaDriver.makeCurrent() switches only when the context changes", () => {
  const library = fakeLibrary();
  const driver = new CudaDriver(library);
  for (const context of [7n, 7n, 8n, 8n, 7n]) driver.makeCurrent(context);
  driver.releaseContext(0);
  driver.makeCurrent(7n);
  const switches = library.calls.filter(([name]) => name === "cuCtxSetCurrent").map(([, context]) =>
    context
  );
  assertEquals(switches, [7n, 8n, 7n, 7n]);
});

Deno.test("CudaDriver.makeCurrent() shares the thread's context among the drivers of all GPUs", () => {
  let current = 0n;
  const symbols: Partial<CudaSymbols> = {
    cuCtxSetCurrent: (context) => {
      current = context;
      return 0;
    },
  };
  const [first, second] = [1, 2].map(() => new CudaDriver(fakeLibrary(symbols)));
  assert(first !== undefined && second !== undefined);
  for (const [driver, context] of [[first, 7n], [second, 8n], [first, 7n]] as const) {
    driver.makeCurrent(context);
    assertEquals(current, context);
  }
});

Deno.test("CudaDriver.allocate() reports a shortage with numbers", () => {
  const driver = new CudaDriver(fakeLibrary({
    cuMemAlloc_v2: () => 2,
    cuMemGetInfo_v2: (free, total) => setWord(free, 1000n) + setWord(total, 5000n),
  }));
  const error = assertThrows(
    () => driver.allocate(4096),
    OutOfMemoryError,
    "Cannot allocate 4096 bytes of device memory: 1000 of 5000 bytes are free",
  );
  assertEquals(error.requestedBytes, 4096);
  assert(error.cause instanceof CudaError);
});

Deno.test("CudaDriver.isEventDone() distinguishes not ready from failed", () => {
  let status = 600;
  const driver = new CudaDriver(
    fakeLibrary({ cuEventQuery: () => status, cuStreamQuery: () => status }),
  );
  assertEquals([driver.isEventDone(1n), driver.isStreamDone(1n)], [false, false]);
  status = 0;
  assertEquals([driver.isEventDone(1n), driver.isStreamDone(1n)], [true, true]);
  status = 700;
  assertThrows(() => driver.isEventDone(1n), CudaError, "cuEventQuery failed");
});

Deno.test("CudaDriver.loadModule() puts the assembler's log into the error", () => {
  const library = fakeLibrary();
  const logs: ArrayBufferView<ArrayBuffer>[] = [];
  const driver = new CudaDriver({
    ...library,
    addressOf: (memory) => {
      logs.push(memory);
      return library.addressOf(memory);
    },
    symbols: {
      ...library.symbols,
      cuModuleLoadDataEx: (_module, image, count, options, values) => {
        assert(image instanceof Uint8Array && image.at(-1) === 0);
        assertEquals([count, options], [4, new Int32Array([3, 4, 5, 6])]);
        // Info log, its size, error log, its size.
        const [info, errors] = logs;
        assert(info !== undefined && errors !== undefined);
        assertEquals(
          values,
          new BigUint64Array([library.addressOf(info), 8192n, library.addressOf(errors), 8192n]),
        );
        setText(errors, "ptxas application ptx input, line 4; fatal: Parsing error");
        return 1;
      },
    },
  });
  const error = assertThrows(
    () => driver.loadModule(new TextEncoder().encode(".version 7.0\nnonsense"), "scale.ptx"),
    ImageError,
    "Cannot use kernel image scale.ptx: CUDA_ERROR_INVALID_VALUE (1), invalid argument\nptxas application ptx input, line 4",
  );
  assert(error.cause instanceof CudaError);
});

Deno.test("CudaDriver.getFunction() passes a NUL-terminated name", () => {
  const driver = new CudaDriver(fakeLibrary({
    cuModuleGetFunction: (to, module, name) => {
      assertEquals([module, name], [9n, new TextEncoder().encode("scale\0")]);
      return setWord(to, 77n);
    },
  }));
  assertEquals(driver.getFunction(9n, "scale"), 77n);
});

Deno.test("CudaDriver.findVariable() gives address and size, or nothing where there is no such variable", () => {
  const driver = new CudaDriver(fakeLibrary({
    cuModuleGetGlobal_v2: (to, bytes, module, name) => {
      assertEquals(module, 9n);
      const text = new TextDecoder().decode(name ?? undefined);
      if (text === "none\0") return 500;
      if (text !== "AD\0") return 1;
      setWord(bytes, 256n);
      return setWord(to, 0x7f00_0000_1000n);
    },
  }));
  assertEquals(driver.findVariable(9n, "AD"), { address: 0x7f00_0000_1000n, bytes: 256 });
  assertEquals(driver.findVariable(9n, "none"), undefined);
  assertThrows(() => driver.findVariable(9n, "bad"), CudaError, "cuModuleGetGlobal (bad) failed");
});

Deno.test("CudaDriver.functionInfo() counts parameters until the driver refuses", () => {
  const parameters = [[0n, 8n], [8n, 4n]] as const;
  const driver = new CudaDriver(fakeLibrary({
    cuFuncGetAttribute: (to, attribute) => setInt(to, 100 + attribute),
    cuFuncGetParamInfo: (_fn, index, offset, bytes) => {
      const parameter = parameters[Number(index)];
      return parameter === undefined
        ? 1
        : setWord(offset, parameter[0]) + setWord(bytes, parameter[1]);
    },
  }));
  assertEquals(driver.functionInfo(5n), {
    maxThreadsPerBlock: 100,
    staticSharedBytes: 101,
    localBytes: 103,
    registers: 104,
    maxDynamicSharedBytes: 108,
    clusterBlocks: 111,
    parameters: [{ offset: 0, bytes: 8 }, { offset: 8, bytes: 4 }],
  });
  const old = new CudaDriver(fakeLibrary({ cuFuncGetParamInfo: null }));
  assertEquals(old.functionInfo(5n).parameters, undefined);
});

Deno.test("CudaDriver.prepareLaunch() points the driver at the argument block and its size", () => {
  const library = fakeLibrary({
    cuFuncGetAttribute: (to, fact) => setInt(to, fact === 8 ? 49152 : 0),
  });
  const driver = new CudaDriver(library);
  driver.makeCurrent(3n);
  const prepared = driver.prepareLaunch(5n, {
    block: [32, 4, 1],
    sharedBytes: 1024,
    parameterBytes: 20,
  }, "scale");
  const { argumentBlock } = prepared;
  assertEquals(argumentBlock.length, 20);
  assertEquals(argumentBlock.byteOffset % 16, 0);
  prepared.launch(7, 8, 9, 6n);
  const launch = library.calls.at(-1) ?? [];
  const extra = library.addressOf(new Uint8Array(argumentBlock.buffer));
  assertEquals(launch, ["cuLaunchKernel", 5n, 7, 8, 9, 32, 4, 1, 1024, 6n, 0n, extra]);
  // CU_LAUNCH_PARAM_BUFFER_POINTER, block, CU_LAUNCH_PARAM_BUFFER_SIZE, address of the size, CU_LAUNCH_PARAM_END, the size
  assertEquals(
    [...new BigUint64Array(argumentBlock.buffer, 0, 6)],
    [1n, extra + BigInt(argumentBlock.byteOffset), 2n, extra + 40n, 0n, 20n],
  );
  assertEquals(library.calls.some(([name]) => name === "cuFuncSetAttribute"), false);
});

/** A kernel that waits for what is before it, prepared on a driver of a version. */
function prepareEarly(
  overrides: Parameters<typeof fakeLibrary>[0],
  version: number,
): { readonly library: ReturnType<typeof fakeLibrary>; readonly prepared: PreparedLaunch } {
  const library = fakeLibrary({
    cuFuncGetAttribute: (to, fact) => setInt(to, fact === 8 ? 49152 : 0),
    cuDriverGetVersion: (to) => setInt(to, version),
    ...overrides,
  });
  const driver = new CudaDriver(library);
  driver.makeCurrent(3n);
  const shape = { block: [32, 4, 1], sharedBytes: 1024, parameterBytes: 20 } as const;
  return { library, prepared: driver.prepareLaunch(5n, { ...shape, startsEarly: true }, "scale") };
}

Deno.test("CudaDriver.prepareLaunch() lets kernels that wait for what is before them start early", () => {
  const { library, prepared: { argumentBlock, launch } } = prepareEarly({}, 12030);
  assertEquals([argumentBlock.length, argumentBlock.byteOffset % 16], [20, 0]);
  launch(7, 8, 9, 6n);
  const extra = library.addressOf(new Uint8Array(argumentBlock.buffer));
  assertEquals(library.calls.at(-1), ["cuLaunchKernelEx", extra + 48n, 5n, 0n, extra]);
  const header = new BigUint64Array(argumentBlock.buffer, 0, 6);
  assertEquals([header[1], header[5]], [extra + BigInt(argumentBlock.byteOffset), 20n]);
  // CUlaunchConfig: grid, block, shared memory, padding; stream, attributes and their number.
  const words = [...new Uint32Array(argumentBlock.buffer, 48, 8)];
  assertEquals(words, [7, 8, 9, 32, 4, 1, 1024, 0]);
  const longs = [...new BigUint64Array(argumentBlock.buffer, 80, 3)];
  assertEquals(longs, [6n, extra + 48n + 56n, 1n]);
  // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION and its value.
  assertEquals([...new Uint32Array(argumentBlock.buffer, 104, 3)], [6, 0, 1]);
});

Deno.test("PreparedLaunch.launch() is an ordinary launch where drivers know or allow no other", () => {
  const last = ({ library, prepared }: ReturnType<typeof prepareEarly>): unknown[] => {
    prepared.launch(1, 1, 1, 0n);
    prepared.launch(1, 1, 1, 0n);
    return library.calls.map(([name]) => name).filter((name) => name.startsWith("cuLaunch"));
  };
  assertEquals(last(prepareEarly({}, 12020)), ["cuLaunchKernel", "cuLaunchKernel"]);
  assertEquals(last(prepareEarly({ cuLaunchKernelEx: null }, 13000)), [
    "cuLaunchKernel",
    "cuLaunchKernel",
  ]);
  assertEquals(last(prepareEarly({ cuLaunchKernelEx: () => 801 }, 13000)), [
    "cuLaunchKernelEx",
    "cuLaunchKernel",
    "cuLaunchKernel",
  ]);
});

Deno.test("CudaDriver.prepareLaunch() requests large shared memory", () => {
  const library = fakeLibrary({
    cuFuncGetAttribute: (to, fact) => setInt(to, fact === 8 ? 49152 : 0),
  });
  new CudaDriver(library).prepareLaunch(5n, {
    block: [32, 1, 1],
    sharedBytes: 50000,
    parameterBytes: 0,
  }, "scale");
  assertEquals(library.calls.at(-1), ["cuFuncSetAttribute", 5n, 8, 50000]);
});

Deno.test("CudaDriver.prepareLaunch() asks how many clusters fit, as they are launched", () => {
  const shape = { block: [1024, 1, 1], sharedBytes: 50000, parameterBytes: 0 } as const;
  const prepare = (blocks: number, status: number): readonly unknown[] => {
    const library = fakeLibrary({
      cuFuncGetAttribute: (to, fact) => setInt(to, fact === 11 ? blocks : 0),
      cuOccupancyMaxActiveClusters: (to) => status === 0 ? setInt(to, 30) : status,
    });
    const { clustersAtOnce } = new CudaDriver(library).prepareLaunch(5n, shape, "scale");
    return [clustersAtOnce, library.calls.at(-1)?.[0]];
  };
  assertEquals(prepare(4, 0), [30, "cuOccupancyMaxActiveClusters"]);
  assertEquals(prepare(4, 1), [undefined, "cuOccupancyMaxActiveClusters"]);
  assertEquals(prepare(1, 0), [undefined, "cuFuncSetAttribute"]);
});

Deno.test("PreparedLaunch.launch() makes its context current and names kernel and sizes when it fails", () => {
  const library = fakeLibrary({ cuLaunchKernel: () => 1 });
  const driver = new CudaDriver(library);
  driver.makeCurrent(3n);
  const prepared = driver.prepareLaunch(5n, {
    block: [32, 1, 1],
    sharedBytes: 0,
    parameterBytes: 8,
  }, "scale");
  driver.makeCurrent(4n);
  const error = assertThrows(() => prepared.launch(7, 1, 1, 6n), CudaError);
  assertStringIncludes(
    error.message,
    "cuLaunchKernel (kernel scale, grid 7×1×1, block 32×1×1) failed",
  );
  assertMatch(error.hint ?? "", /grid and block/);
  assertEquals(library.calls.findLast(([name]) => name === "cuCtxSetCurrent"), [
    "cuCtxSetCurrent",
    3n,
  ]);
});

Deno.test("CudaDriver.endCapture() destroys the recording once it can be launched, or cannot", () => {
  const library = fakeLibrary({
    cuStreamEndCapture: (_stream, to) => setWord(to, 50n),
    cuGraphGetNodes: (graph, nodes, to) => setWord(to, graph + nodes - 47n),
    cuGraphInstantiateWithFlags: (to, graph) => setWord(to, graph + 1n),
  });
  assertEquals(new CudaDriver(library).endCapture(6n), { handle: 51n, nodes: 3 });
  assertEquals(library.calls.at(-1), ["cuGraphDestroy", 50n]);
  const failing = fakeLibrary({ cuGraphInstantiateWithFlags: () => 1 });
  assertThrows(
    () => new CudaDriver(failing).endCapture(6n),
    CudaError,
    "cuGraphInstantiateWithFlags failed",
  );
  assert(failing.calls.some(([name]) => name === "cuGraphDestroy"));
});

Deno.test("CudaDriver.pin() registers aligned memory, and unpin() gives the same back", () => {
  const library = fakeLibrary();
  const driver = new CudaDriver(library);
  const room = new Uint8Array(3 * 4096).subarray(100);
  const pages = driver.pin(room, 4096);
  assertEquals([library.addressOf(pages) % 4096n, pages.length], [0n, room.length - 4096]);
  assert(pages.byteOffset >= room.byteOffset && pages.byteOffset < room.byteOffset + 4096);
  driver.unpin(pages);
  const calls = library.calls.filter(([name]) => name.startsWith("cuMemHost"));
  assertEquals(calls, [
    ["cuMemHostRegister_v2", pages, BigInt(pages.length), 0],
    ["cuMemHostUnregister", pages],
  ]);
});

Deno.test("CudaDriver.importMemory() passes the 64 bytes of a handle by value", () => {
  const handle = Uint8Array.from({ length: 64 }, (_, i) => 3 * i + 1);
  const library = fakeLibrary({
    cuIpcGetMemHandle: (to) => {
      assert(to instanceof Uint8Array);
      to.set(handle);
      return 0;
    },
    cuIpcOpenMemHandle_v2: (...args) => {
      const [to] = args;
      assert(typeof to === "object");
      return setWord(to, 0x7000n);
    },
  });
  const driver = new CudaDriver(library);
  assertEquals(driver.exportMemory(0x5000n), handle);
  assertEquals(driver.importMemory(handle), 0x7000n);
  driver.closeMemory(0x7000n);
  const [, , ...given] = library.calls.find(([name]) => name === "cuIpcOpenMemHandle_v2") ?? [""];
  // On the stack, after the registers, or by a pointer: as the machine's ABI wants it.
  const onStack = [1, 0n, 0n, 0n, 0n, ...new BigUint64Array(handle.buffer)];
  assertEquals(given, IS_IPC_HANDLE_ON_STACK ? onStack : [handle, 1]);
});
