/** The body of a thread that helps the emulator; see `emulator/workers/`. */
import type { Job } from "../../emulator/workers/job.ts";
import { Helper } from "../../emulator/workers/run.ts";
import { theProcess } from "../runtime/builtin.ts";

const { parentPort } = theProcess().getBuiltinModule("node:worker_threads");
const helper = new Helper();
parentPort?.on("message", (job: Job) => helper.run(job));
