/** The body of a thread that helps the emulator; see `ffi/emulator/workers/`. */
import type { Job } from "../emulator/workers/job.ts";
import { Helper } from "../emulator/workers/run.ts";

const helper = new Helper();
globalThis.addEventListener("message", (event) => {
  if (!(event instanceof MessageEvent)) return;
  const job: Job = event.data;
  helper.run(job);
});
