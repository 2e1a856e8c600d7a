/** `tri` with two GPUs that are emulators, to be run as a process. */
import { runTri } from "../../../cli/run.ts";
import { tuneToolchain } from "./tune_toolchain.ts";

Deno.exit(await runTri(Deno.args, tuneToolchain));
