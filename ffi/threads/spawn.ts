/**
 * Threads for the emulator, as Deno, Node and Bun all have them: `node:worker_threads`, asked for when the first one is
 * needed, so that programs without large launches do not load it.
 */
import { hostProcess } from "../runtime/builtin.ts";
import type { Worker as Helper } from "../../emulator/workers/pool.ts";

/** Starts a thread that runs jobs of the emulator; undefined if the program may not start one. */
export function spawnWorker(): Helper | undefined {
  try {
    const process = hostProcess();
    if (process === undefined) return undefined;
    const { Worker } = process.getBuiltinModule("node:worker_threads");
    // Published modules end in .js; in a bundle there is no such file, and no thread helps.
    const own = import.meta.url;
    const worker = new Worker(new URL(`./worker${own.slice(own.lastIndexOf("."))}`, own));
    // A thread that cannot start, for want of a permission, only does not help.
    worker.on("error", () => {});
    worker.unref();
    return {
      send: (job) => worker.postMessage(job),
      end: () => void worker.terminate(),
    };
  } catch {
    return undefined;
  }
}
