/** The GPUs of this machine as `tri tune` uses them: a process for each, which can be ended when a kernel does not end. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import process from "node:process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { DeviceInfo } from "../../ffi/driver.ts";
import { mayRun } from "../host/environment.ts";
import { deno } from "../host/deno.ts";
import { environmentError } from "../failure.ts";
import { findGpus } from "../tools/gpus.ts";
import { childEnvironment } from "../tools/process.ts";

/** All GPUs, or why there are none. */
export type Bench =
  | { readonly kind: "gpus"; readonly gpus: readonly BenchGpu[] }
  | { readonly kind: "none"; readonly reason: string; readonly remedy: string };

/** A process with pipes to its standard streams. */
export type TimingChild = ChildProcessByStdio<Writable, Readable, null>;

/** One GPU. */
export interface BenchGpu {
  readonly info: Pick<DeviceInfo, "ordinal" | "name" | "arch" | "sm" | "driverVersion">;
  /** Starts a process that runs `serveTimings()` on it. */
  readonly start: () => TimingChild;
}

/** The GPUs that the driver has. */
export async function findBench(): Promise<Bench> {
  const found = await findGpus();
  if (found.kind === "none") return found;
  const own = import.meta.url;
  // A module or, in a package, JavaScript beside this.
  const child = new URL(`./child${own.slice(own.lastIndexOf("."))}`, own);
  return {
    kind: "gpus",
    gpus: found.devices.map((info) => ({
      info,
      start: () =>
        startModule(child, ["--allow-read", "--allow-env", "--allow-ffi"], [info.ordinal]),
    })),
  };
}

/** Permissions name Deno as PATH does, where its program is often a link. */
function ownProgram(): string {
  const found = [process.execPath, "deno"].find(mayRun);
  if (found !== undefined) return found;
  throw environmentError(
    "tri may not start the process that times on a GPU",
    'Use the task "tune", or run deno with --allow-run.',
  );
}

/** Starts another process of this runtime; messages are exchanged through its standard streams. */
export function startModule(
  module: URL,
  permissions: readonly string[],
  args: readonly (string | number)[],
): TimingChild {
  const start = deno === undefined
    ? [fileURLToPath(module)]
    : ["run", "-q", "--no-prompt", ...permissions, module.href];
  return spawn(ownProgram(), [...start, ...args.map(String)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: childEnvironment(),
  });
}
