/** `tri` with the stub compiler, to be run as a process. */
import { runTri } from "../../../cli/run.ts";
import { stubToolchain } from "./stub_toolchain.ts";

Deno.exit(await runTri(Deno.args, stubToolchain));
