/** `tri`: the command itself. */
import { realToolchain } from "./tools/real_toolchain.ts";
import { EXIT } from "./failure.ts";
import { runTri } from "./run.ts";

if (import.meta.main) {
  // These two end by themselves when they are interrupted.
  const isOwn = Deno.args[0] === "lsp" || Deno.args.includes("--watch");
  if (!isOwn) Deno.addSignalListener("SIGINT", () => Deno.exit(EXIT.interrupted));
  Deno.exit(await runTri(Deno.args, realToolchain));
}
