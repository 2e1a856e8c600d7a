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

/** Runs text in the Python of this process. */
function startPython(): (text: string) => void {
  const path = ask(
    "sysconfig.get_config_var('LIBDIR') + '/' + sysconfig.get_config_var('LDLIBRARY')",
  );
  // A virtual environment has the modules, and the Python that it was made from all else.
  Deno.env.set("PYTHONHOME", ask("sys.base_prefix"));
  Deno.env.set("PYTHONPATH", ask("sysconfig.get_path('purelib')"));
  // Extension modules look for Python's functions among those that all libraries see.
  const { symbols: { dlopen } } = Deno.dlopen("libc.so.6", {
    dlopen: { parameters: ["buffer", "i32"], result: "pointer" },
  });
  dlopen(encoder.encode(`${path}\0`), RTLD_NOW | RTLD_GLOBAL);
  const { symbols } = Deno.dlopen(path, {
    Py_InitializeEx: { parameters: ["i32"], result: "void" },
    PyRun_SimpleString: { parameters: ["buffer"], result: "i32" },
  });
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
    """A tensor of tri; its elements are there, so that no stream has to wait."""
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

/** Python doubles a tensor of tri in place, and tri reads a tensor of Python. */
function exchange(library: string, device: Device, python: (text: string) => void): void {
  const values = Float32Array.of(1, 2, 3, 4, 5, 6);
  const onGpu = library !== "numpy";
  using x = device.tensor(values, [2, 3]);
  using pinned = device.pinned("float32", [2, 3]);
  x.copyTo(pinned);
  using lent = exportDLPack(onGpu ? x : pinned);
  const place = onGpu ? `(2, ${device.info.ordinal})` : "(1, 0)";
  python(`
import ${library}
lent = ${library}.from_dlpack(Lent(${lent.address}, ${place}))
assert tuple(lent.shape) == (2, 3), lent.shape
lent *= 2
made = ${library}.arange(12, dtype=${library}.float32${
    library === "torch" ? ', device="cuda"' : ""
  })
made = made.reshape(3, 4)[:, 1:3]
${library === "torch" ? "torch.cuda.synchronize()" : ""}
${library === "cupy" ? "cupy.cuda.Device().synchronize()" : ""}
take(made, ${RESULT}${onGpu ? `, stream=${device.defaultStream.handle}` : ""})
`);
  const doubled = onGpu ? x : read(device, pinned);
  expect(
    `${library} doubled a tensor of tri`,
    doubled.readSync(),
    values.map((value) => 2 * value),
  );
  using made = importDLPack(device, result[0] ?? 0n);
  expect(`tri reads a tensor of ${library}`, made.readSync(), Float32Array.of(1, 2, 5, 6, 9, 10));
  if (!onGpu) return;
  made.fill(7);
  device.synchronize();
  python("assert float(made.sum()) == 42 and float(made[2, 1]) == 7");
}

function read(device: Device, pinned: PinnedArray<"float32", 2>): Tensor {
  const tensor = device.empty("float32", [2, 3]);
  tensor.copyFrom(pinned);
  return tensor;
}

function expect(what: string, found: ArrayLike<unknown>, wanted: Float32Array): void {
  const isRight = found.length === wanted.length && wanted.every((value, i) => found[i] === value);
  // deno-lint-ignore no-console -- a program for the terminal
  console.log(`${isRight ? "ok" : "WRONG"}: ${what}: ${Array.from(found).join(" ")}`);
  if (!isRight) Deno.exitCode = 1;
}

const libraries = Deno.args.length > 0 ? Deno.args : ["numpy"];
const needsGpu = libraries.some((library) => library !== "numpy");
using device = Device.open(needsGpu ? { device: "gpu" } : { device: "emulator" });
const python = startPython();
python(PYTHON);
for (const library of libraries) exchange(library, device, python);
