/** Starts a command line and ends the process with its exit code. */
import process from "node:process";
import { realToolchain } from "./tools/real_toolchain.ts";
import { EXIT } from "./failure.ts";
import { runTri } from "./run.ts";

export async function runToExit(words: readonly string[]): Promise<never> {
  // These two end by themselves when they are interrupted.
  const isOwn = words[0] === "lsp" || words.includes("--watch");
  if (!isOwn) process.on("SIGINT", () => process.exit(EXIT.interrupted));
  process.exit(await runTri(words, realToolchain));
}
