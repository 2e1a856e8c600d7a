/**
 * `deno task pack`: the npm packages as tarballs, without JSR. Prints their paths and sizes; a package that is larger than
 * its budget is an error. The first argument is the folder to write to.
 */
import * as path from "node:path";
import { packKernels } from "./kernels.ts";
import { packCli } from "./pack_cli.ts";
import { packRunTime } from "./run_time.ts";
import type { Packed } from "./tarball.ts";

/** How each package is made, by name. */
export const PACKAGES: Readonly<Record<string, (destination: string) => Promise<Packed>>> = {
  "@tri/tri": packRunTime,
  "@tri/cli": packCli,
  "@tri/kernels": packKernels,
};

/** A line about a tarball. */
export function describePacked({ file, bytes, unpackedBytes }: Packed): string {
  const kilobytes = (size: number): string => `${Math.ceil(size / 1e3)} kB`;
  return `${file} (${kilobytes(bytes)}, installed ${kilobytes(unpackedBytes)})\n`;
}

if (import.meta.main) {
  const destination = path.resolve(Deno.args[0] ?? "npm");
  for (const pack of Object.values(PACKAGES)) {
    const line = describePacked(await pack(destination));
    await Deno.stdout.write(new TextEncoder().encode(line));
  }
}
