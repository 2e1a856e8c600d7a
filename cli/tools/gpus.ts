/** The devices of this machine, through the run time itself. */
import { isGranted } from "../host/deno.ts";
import type { DeviceInfo } from "../../ffi/driver.ts";

export type Gpus =
  | { readonly kind: "found"; readonly devices: readonly DeviceInfo[] }
  | { readonly kind: "none"; readonly reason: string; readonly remedy: string };

/** Looks without making a context, so that a busy or full GPU is found too. */
export async function findGpus(): Promise<Gpus> {
  if (!isGranted({ name: "ffi" })) {
    return {
      kind: "none",
      reason: "tri may not load the NVIDIA driver",
      remedy: "Run deno with --allow-ffi; the task doctor has it.",
    };
  }
  const [{ openCudaDriver }, { TriError }] = await Promise.all([
    import("../../ffi/cuda/library.ts"),
    import("../../ffi/errors.ts"),
  ]);
  try {
    const driver = openCudaDriver();
    try {
      const devices = Array.from(
        { length: driver.deviceCount() },
        (_, ordinal) => driver.deviceInfo(ordinal),
      );
      if (devices.length > 0) return { kind: "found", devices };
      return { kind: "none", reason: "the NVIDIA driver has no GPU", remedy: "Check nvidia-smi." };
    } finally {
      driver.close();
    }
  } catch (error) {
    if (!(error instanceof TriError)) throw error;
    const [reason] = error.message.split("\nhint: ");
    return {
      kind: "none",
      reason: reason ?? error.message,
      remedy: `To use a GPU: ${error.hint ?? "check nvidia-smi"}.`,
    };
  }
}

/** What a program with tri's permissions and environment gets. */
export type DefaultDevice =
  | { readonly kind: "device"; readonly name: string; readonly why: string }
  | { readonly kind: "error"; readonly reason: string; readonly remedy: string };

/** What `Device.open()` would take, without opening it. */
export async function findDefaultDevice(): Promise<DefaultDevice> {
  const [{ chooseDriver }, { TriError }] = await Promise.all([
    import("../../ffi/open.ts"),
    import("../../ffi/errors.ts"),
  ]);
  try {
    const { driver, ordinal, why } = chooseDriver({ notice: false });
    try {
      return { kind: "device", name: driver.deviceInfo(ordinal).name, why };
    } finally {
      driver.close();
    }
  } catch (error) {
    if (!(error instanceof TriError)) throw error;
    const [reason = error.message] = error.message.split("\nhint: ");
    return { kind: "error", reason, remedy: error.hint ?? "see above" };
  }
}

/** The architectures that the emulator can be. */
export async function emulatedArchitectures(): Promise<readonly string[]> {
  const { ARCHITECTURES } = await import("../../emulator/driver/architectures.ts");
  return [...ARCHITECTURES.keys()];
}
