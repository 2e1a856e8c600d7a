/**
 * Tensors exchanged by DLPack with a Python in this process, both ways and without copying memory of a GPU: with torch
 * and cupy on a GPU; on the emulator with NumPy, by way of pinned host memory. Python is loaded as a library, of the
 * `python3` that is found first.
 *
 *     deno run -A scripts/interop/dlpack_python.ts numpy
 *     deno run -A scripts/interop/dlpack_python.ts torch cupy
 */
import { exportDLPack, importDLPack } from "../../ffi/dlpack/mod.ts";
import { Device, type PinnedArray, type Tensor } from "../../ffi/mod.ts";

const [RTLD_NOW, RTLD_GLOBAL] = [2, 0x100];
const encoder = new TextEncoder();

/** Asks Python for a value of sysconfig or sys. */
function ask(expression: string): string {
  const { stdout } = new Deno.Command("python3", {
    args: ["-c", `import sys, sysconfig; print(${expression})`],
  }).outputSync();
  return new TextDecoder().decode(stdout).trim();
}

/** Python as a library: where its variables say, or by its name. */
function pythonLibraries(): readonly string[] {
  const names = ["LDLIBRARY", "INSTSONAME"].map((name) =>
    ask(`sysconfig.get_config_var('${name}')`)
  ).filter((name) => name.includes(".so"));
  const folders = ask(
    "':'.join(str(sysconfig.get_config_var(name)) for name in ('LIBDIR', 'LIBPL'))",
  ).split(":");
  return [...folders.flatMap((folder) => names.map((name) => `${folder}/${name}`)), ...names];
}

const PYTHON_FUNCTIONS = {
  Py_InitializeEx: { parameters: ["i32"], result: "void" },
  PyRun_SimpleString: { parameters: ["buffer"], result: "i32" },
} as const;

/** Runs text in the Python of this process. */
function startPython(): (text: string) => void {
  // A virtual environment has the modules, and the Python that it was made from all else.
  Deno.env.set("PYTHONHOME", ask("sys.base_prefix"));
  Deno.env.set("PYTHONPATH", ask("sysconfig.get_path('purelib')"));
  // Extension modules look for Python's functions among those that all libraries see.
  const { symbols: { dlopen } } = Deno.dlopen("libc.so.6", {
    dlopen: { parameters: ["buffer", "i32"], result: "pointer" },
  });
  const candidates = pythonLibraries();
  const path = candidates.find((path) =>
    dlopen(encoder.encode(`${path}\0`), RTLD_NOW | RTLD_GLOBAL) !== null
  );
  if (path === undefined) throw new Error(`no Python library: ${candidates.join(", ")}`);
  const { symbols } = Deno.dlopen(path, PYTHON_FUNCTIONS);
  symbols.Py_InitializeEx(0);
  return (text) => {
    if (symbols.PyRun_SimpleString(encoder.encode(`${text}\0`)) !== 0) {
      throw new Error("Python failed; its message is above");
    }
  };
}

/** What both directions need: capsules of addresses, and addresses of capsules, which the caller then owns. */
const PYTHON = `
import ctypes
api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
NAME, USED = b"dltensor_versioned", b"used_dltensor_versioned"

class Lent:
    """A tensor of tri. Its elements are there, or the stream that reads them waits for them."""
    def __init__(self, address, device):
        self.address, self.device = address, device
    def __dlpack__(self, **options):
        return api.PyCapsule_New(self.address, NAME, None)
    def __dlpack_device__(self):
        return self.device

def take(tensor, result, **options):
    capsule = tensor.__dlpack__(max_version=(1, 0), **options)
    ctypes.c_uint64.from_address(result).value = api.PyCapsule_GetPointer(capsule, NAME)
    api.PyCapsule_SetName(capsule, USED)
`;

const result = new BigUint64Array(1);
const RESULT = Deno.UnsafePointer.value(Deno.UnsafePointer.of(result));

/** How a library of GPUs says what the exchange needs: a stream of its own, work on it, and a kernel that takes long. */
interface GpuLibrary {
  readonly stream: string;
  readonly handle: string;
  readonly use: string;
  readonly delay: string;
  readonly arange: string;
}

const GPU_LIBRARIES: Readonly<Record<string, GpuLibrary>> = {
  torch: {
    stream: "torch.cuda.Stream()",
    handle: "side.cuda_stream",
    use: "torch.cuda.stream(side)",
    delay: "torch.cuda._sleep(100_000_000)",
    arange: "torch.arange(12, dtype=torch.float32, device='cuda')",
  },
  cupy: {
    stream: "cupy.cuda.Stream(non_blocking=True)",
    handle: "side.ptr",
    use: "side",
    delay: "spin((1,), (1,), (cupy.int64(100_000_000),))",
    arange: "cupy.arange(12, dtype=cupy.float32)",
  },
};

/** Clocks that go by; cupy compiles it. */
const SPIN = `
spin = cupy.RawKernel(r'''
extern "C" __global__ void spin(long long clocks) {
  long long start = clock64();
  while (clock64() - start < clocks) {}
}''', "spin")
`;

const VALUES = Float32Array.of(1, 2, 3, 4, 5, 6);
const DOUBLED = VALUES.map((value) => 2 * value);

/** NumPy doubles pinned memory in place, and tri copies an array of NumPy. */
function exchangeOnHost(device: Device, python: (text: string) => void): void {
  using pinned = device.pinned("float32", [2, 3]);
  pinned.array.set(VALUES);
  using lent = exportDLPack(pinned);
  python(`
import numpy
lent = numpy.from_dlpack(Lent(${lent.address}, (1, 0)))
assert tuple(lent.shape) == (2, 3), lent.shape
lent *= 2
del lent
made = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)[:, 1:3]
take(made, ${RESULT})
`);
  expect("numpy doubled a tensor of tri", read(device, pinned).readSync(), DOUBLED);
  using made = importDLPack(device, result[0] ?? 0n);
  expect("tri reads a tensor of numpy", made.readSync(), MADE);
}

/** What `arange(12)` of 3 rows has in its columns 1 and 2. */
const MADE = Float32Array.of(1, 2, 5, 6, 9, 10);

/**
 * Python doubles a tensor of tri in place, and tri reads a tensor of Python, both while the other's work is still under way
 * on a stream of its own: only the order of the streams makes the elements right.
 */
function exchangeOnGpu(library: string, device: Device, python: (text: string) => void): void {
  const names = GPU_LIBRARIES[library];
  if (names === undefined) throw new Error(`libraries are numpy, torch and cupy, not ${library}`);
  const { stream, handle, use, delay, arange } = names;
  python(`
import ${library}
${library === "cupy" ? SPIN : ""}
side = ${stream}
with ${use}: # Everything once: loading a kernel waits for all streams.
    ${delay}
    warm = ${arange}
    warm *= 2
    warm += ${arange} * 0
    warm += 3
ctypes.c_uint64.from_address(${RESULT}).value = ${handle}
`);
  const side = result[0] ?? 0n;
  python(`side.synchronize()`);
  lendLate(library, device, side, use, python);

  python(`
with ${use}:
    made = ${arange}
    made *= 0
    ${delay}
    made += ${arange}
    made = made.reshape(3, 4)[:, 1:3]
    take(made, ${RESULT}, stream=${device.defaultStream.handle})
`);
  using made = importDLPack(device, result[0] ?? 0n);
  const before = device.event().record();
  const isLate = !before.done;
  expect(`tri reads a tensor of ${library}`, made.readSync(), MADE, isLate);
  made.fill(7);
  device.synchronize();
  python("assert float(made.sum()) == 42 and float(made[2, 1]) == 7");

  // The same without telling Python which stream will read: tri waits for theirs.
  python(`
with ${use}:
    other = ${arange} * 0
    ${delay}
    other += 3
    take(other, ${RESULT}, stream=${handle})
`);
  using other = importDLPack(device, result[0] ?? 0n, { stream: side });
  const isBusy = !device.event().record().done;
  expect(
    `tri waits for a stream of ${library}`,
    other.readSync(),
    new Float32Array(12).fill(3),
    isBusy,
  );
}

/** Bytes that take long enough to copy. */
const LARGE = 2 ** 30;

/** Lends a tensor whose elements are written behind copies of 100 GiB; Python's stream waits for them. */
function lendLate(
  library: string,
  device: Device,
  side: bigint,
  use: string,
  python: (text: string) => void,
): void {
  using values = device.tensor(VALUES, [2, 3]);
  using x = device.zeros("float32", [2, 3]);
  using from = device.zeros("uint8", [LARGE]);
  using to = device.empty("uint8", [LARGE]);
  device.synchronize();
  for (let i = 0; i < 100; i++) to.copyFrom(from);
  x.copyFrom(values);
  const written = device.event().record();
  using lent = exportDLPack(x, { stream: side });
  python(`
with ${use}:
    lent = ${library}.from_dlpack(Lent(${lent.address}, (2, ${device.info.ordinal})))
    assert tuple(lent.shape) == (2, 3), lent.shape
    lent *= 2
`);
  const isLate = !written.done;
  python("side.synchronize()\ndel lent");
  expect(`${library} doubled a tensor of tri`, x.readSync(), DOUBLED, isLate);
}

function read(device: Device, pinned: PinnedArray<"float32", 2>): Tensor {
  const tensor = device.empty("float32", [2, 3]);
  tensor.copyFrom(pinned);
  return tensor;
}

function expect(
  what: string,
  found: ArrayLike<unknown>,
  wanted: Float32Array,
  wasUnderWay?: boolean,
): void {
  const isRight = found.length === wanted.length && wanted.every((value, i) => found[i] === value);
  const order = wasUnderWay === undefined ? "" : wasUnderWay ? ", in order" : ", after the work";
  // deno-lint-ignore no-console -- a program for the terminal
  console.log(`${isRight ? "ok" : "WRONG"}: ${what}${order}: ${Array.from(found).join(" ")}`);
  if (!isRight) Deno.exitCode = 1;
}

const libraries = Deno.args.length > 0 ? Deno.args : ["numpy"];
const needsGpu = libraries.some((library) => library !== "numpy");
using device = Device.open(needsGpu ? { device: "gpu" } : { device: "emulator" });
const python = startPython();
python(PYTHON);
for (const library of libraries) {
  if (library === "numpy") exchangeOnHost(device, python);
  else exchangeOnGpu(library, device, python);
}
