/** Whether there is a GPU for the tests that need one, asked once. */
import { openCudaDriver } from "../../ffi/cuda/library.ts";

const probe = tryGpu();

export const hasGpu: boolean = probe.reason === undefined;

/** Why there is none; empty when there is one. */
export const gpuReason: string = probe.reason ?? "";

/** The first GPU's architecture, such as 90; 0 without one. */
export const gpuArch: number = probe.sm ?? 0;

/** How many there are. */
export const gpuCount: number = probe.count ?? 0;

function tryGpu(): { readonly reason?: string; readonly sm?: number; readonly count?: number } {
  try {
    const driver = openCudaDriver();
    const count = driver.deviceCount();
    const sm = count > 0 ? driver.deviceInfo(0).sm : 0;
    driver.close();
    return count > 0 ? { sm, count } : { reason: "the driver sees no GPU" };
  } catch (error) {
    const message = error instanceof Error ? error.message : `${error}`;
    return { reason: message.split("\n")[0] ?? message };
  }
}

/** `TRI_PART=1/4`: every fourth test of a file that is divided among processes (scripts/test_gpu.ts), from the second on. */
const [PART = 0, PARTS = 1] = (Deno.env.get("TRI_PART") ?? "0/1").split("/").map(Number);
let declared = 0;

/**
 * A test that needs a GPU; without one, or where `unfit` gives a reason, it is skipped and its title says why. Those of other
 * parts are not declared.
 */
export function gpuTest(name: string, fn: () => void | Promise<void>, unfit?: string): void {
  if (declared++ % PARTS !== PART) return;
  const reason = hasGpu ? unfit : gpuReason;
  const ignore = reason !== undefined;
  Deno.test({ name: ignore ? `${name} [skipped: ${reason}]` : name, ignore, fn });
}
