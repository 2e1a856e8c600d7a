/** The body of a thread that helps the emulator; see `ffi/emulator/workers/`. */
import { parentPort } from "node:worker_threads";
import type { Job } from "../emulator/workers/job.ts";
import { Helper } from "../emulator/workers/run.ts";

const helper = new Helper();
parentPort?.on("message", (job: Job) => helper.run(job));
