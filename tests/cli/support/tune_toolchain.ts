/** Two GPUs that are emulators, for tests of `tri tune`; `tune_child.ts` is the process that times on them. */
import { realToolchain } from "../../../cli/tools/real_toolchain.ts";
import type { Toolchain } from "../../../cli/tools/toolchain.ts";
import { type BenchGpu, startModule } from "../../../cli/tune/bench.ts";

const CHILD = new URL("tune_child.ts", import.meta.url);

const gpus = [0, 1].map((ordinal): BenchGpu => ({
  info: { ordinal, name: "Test GPU", arch: "sm_90", sm: 90, driverVersion: 0 },
  start: () => startModule(CHILD, ["--allow-read", "--allow-env"], []),
}));

export const tuneToolchain: Toolchain = {
  ...realToolchain,
  bench: () => Promise.resolve({ kind: "gpus", gpus }),
};
