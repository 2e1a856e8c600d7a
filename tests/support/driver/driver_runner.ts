/** Runs compiled kernels on a driver, be it the emulator or libcuda: buffers are copied there and back. */
import { withoutChecks } from "../../../compiler/ptx/checks.ts";
import type { Driver } from "../../../ffi/driver.ts";
import { must } from "../../../compiler/support/bug.ts";
import type { CompiledLaunch, Runner } from "../generate/compare.ts";
import { loadText } from "../emulator/run_forms.ts";

/** The size of an argument in its block, which is also its alignment. */
function sizeOf(argument: CompiledLaunch["args"][number]): number {
  return "value" in argument ? argument.bytes : 8;
}

/** The driver's context must be current. */
export function driverRunner(driver: Driver): Runner {
  return (ptx, { kernel, args, constants, grid, block, sharedBytes }) => {
    const module = loadText(driver, withoutChecks(ptx), kernel);
    const stream = driver.createStream();
    for (const [name, content] of Object.entries(constants)) {
      // A buffer that nothing reads is no variable of the module.
      const variable = driver.findVariable(module, name);
      if (variable !== undefined) {
        driver.copyToDevice(variable.address, new Uint8Array(content), stream);
      }
    }
    const offsets: number[] = [];
    let end = 0;
    for (const argument of args) {
      const size = sizeOf(argument);
      const at = Math.ceil(end / size) * size;
      offsets.push(at);
      end = at + size;
    }
    const shape = { block, sharedBytes, parameterBytes: end };
    const launch = driver.prepareLaunch(driver.getFunction(module, kernel), shape, kernel);
    const { buffer, byteOffset, byteLength } = launch.argumentBlock;
    const view = new DataView(buffer, byteOffset, byteLength);
    const copies = args.flatMap((argument, nth) => {
      const at = must(offsets[nth], "an offset");
      if ("value" in argument) {
        const value = BigInt.asUintN(64, BigInt(argument.value));
        for (let b = 0; b < argument.bytes; b++) {
          view.setUint8(at + b, Number((value >> BigInt(8 * b)) & 255n));
        }
        return [];
      }
      if (!(argument instanceof Uint8Array)) throw new TypeError("buffers are bytes here");
      const bytes = new Uint8Array(argument);
      const address = driver.allocate(Math.max(16, bytes.length));
      driver.copyToDevice(address, bytes, stream);
      view.setBigUint64(at, address, true);
      return [{ address, bytes, argument }];
    });
    launch.launch(...grid, stream);
    for (const { address, bytes } of copies) driver.copyToHost(bytes, address, stream);
    driver.synchronizeStream(stream);
    for (const { address, bytes, argument } of copies) {
      argument.set(bytes);
      driver.free(address);
    }
    driver.destroyStream(stream);
    driver.unloadModule(module);
  };
}
