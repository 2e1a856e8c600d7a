/** The GPUs of this machine as `tri tune` uses them: a process for each, which can be ended when a kernel does not end. */
import type { DeviceInfo } from "../../ffi/driver.ts";
import { mayRun } from "../environment.ts";
import { environmentError } from "../failure.ts";
import { findGpus } from "../tools/gpus.ts";
import { childEnvironment } from "../tools/process.ts";

/** All GPUs, or why there are none. */
export type Bench =
  | { readonly kind: "gpus"; readonly gpus: readonly BenchGpu[] }
  | { readonly kind: "none"; readonly reason: string; readonly remedy: string };

/** One GPU. */
export interface BenchGpu {
  readonly info: Pick<DeviceInfo, "ordinal" | "name" | "arch" | "sm">;
  /** Starts a process that runs `serveTimings()` on it. */
  readonly start: () => Deno.ChildProcess;
}

/** The GPUs that the driver has. */
export async function findBench(): Promise<Bench> {
  const found = await findGpus();
  if (found.kind === "none") return found;
  const child = new URL("./child.ts", import.meta.url);
  return {
    kind: "gpus",
    gpus: found.devices.map((info) => ({
      info,
      start: () => startDeno(child, ["--allow-read", "--allow-env", "--allow-ffi"], [info.ordinal]),
    })),
  };
}

/** Permissions name Deno as PATH does, where its program is often behind a link. */
function ownProgram(): string {
  const path = Deno.execPath();
  return mayRun(path) ? path : "deno";
}

/** Starts another Deno; messages are exchanged through its standard streams. */
export function startDeno(
  module: URL,
  permissions: readonly string[],
  args: readonly (string | number)[],
): Deno.ChildProcess {
  try {
    return new Deno.Command(ownProgram(), {
      args: ["run", "-q", "--no-prompt", ...permissions, module.href, ...args.map(String)],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
      ...childEnvironment(),
    }).spawn();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
    throw environmentError(
      "tri may not start the process that times on a GPU",
      'Use the task "tune", or run deno with --allow-run.',
    );
  }
}
