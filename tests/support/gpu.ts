/** Whether there is a GPU for the tests that need one, asked once. */
import { openCudaDriver } from "../../ffi/cuda/library.ts";

const probe = tryGpu();

export const hasGpu: boolean = probe.reason === undefined;

/** Why there is none; empty when there is one. */
export const gpuReason: string = probe.reason ?? "";

function tryGpu(): { readonly reason?: string } {
  try {
    const driver = openCudaDriver();
    const count = driver.deviceCount();
    driver.close();
    return count > 0 ? {} : { reason: "the driver sees no GPU" };
  } catch (error) {
    const message = error instanceof Error ? error.message : `${error}`;
    return { reason: message.split("\n")[0] ?? message };
  }
}

/** A test that needs a GPU; without one it is skipped and its title says why. */
export function gpuTest(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name: hasGpu ? name : `${name} [skipped: ${gpuReason}]`, ignore: !hasGpu, fn });
}
