/** Threads for the emulator. */
import type { Worker as Helper } from "../emulator/workers/team.ts";

/** Starts a thread that runs jobs of the emulator; undefined if the program may not start one. */
export function spawnWorker(): Helper | undefined {
  try {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    return {
      send: (job) => worker.postMessage(job),
      end: () => worker.terminate(),
    };
  } catch {
    return undefined;
  }
}
