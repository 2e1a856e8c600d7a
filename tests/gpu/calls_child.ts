/**
 * Runs a kernel that prints and asserts, in a process of its own: a failed assertion ends the context of the process,
 * and what kernels print goes to its standard output. Arguments: the value of n, which must be below 64, and `debug`.
 */
import { compileFile } from "../../compiler/mod.ts";
import { must } from "../../compiler/support/bug.ts";
import { CudaError, Device, EmulatorError } from "../../ffi/mod.ts";

const KERNEL = `#pragma tri specialize(off)
__global__ void k(int n, float f) {
  int r[4] = 0 ... 4;
  printf("%d %ld %g %f %%", n, (long)n << 40, f, 50.0);
  if (get_program_id(0) == 1) printf("%d\\n", r * n);
  assert(r + n < 64, "small");
}`;

const [n = "5", debug] = Deno.args;
const { kernels } = compileFile({ name: "k.tc", text: KERNEL }, {
  targets: ["sm_70"],
  debug: debug === "debug",
});
const module = must(kernels[0]?.modules[0], "a module");
using device = Device.open();
const { argumentBlock, launch } = device.loadModule(new TextEncoder().encode(module.ptx), "k")
  .function("k").prepare({
    block: [module.entries[0]?.threads ?? 0, 1, 1],
    sharedBytes: 0,
    parameterBytes: 8,
  });
const view = new DataView(argumentBlock.buffer, argumentBlock.byteOffset);
view.setInt32(0, Number(n), true);
view.setFloat32(4, 1.5, true);
try {
  launch(2, 1, 1, device.defaultStream.handle);
  device.synchronize();
} catch (error) {
  if (!(error instanceof CudaError || error instanceof EmulatorError)) throw error;
  // deno-lint-ignore no-console -- the parent process reads it
  console.error(error.message);
  Deno.exit(3);
}
