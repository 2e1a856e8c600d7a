/** `tri`: the command itself. */
import { realToolchain } from "./tools/real_toolchain.ts";
import { runTri } from "./run.ts";

if (import.meta.main) Deno.exit(await runTri(Deno.args, realToolchain));
