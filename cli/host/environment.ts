/**
 * Questions to the system that are answered with undefined where Deno's permissions forbid them. Asking
 * first keeps Deno from prompting in the middle of a build.
 */
import process from "node:process";
import { isGranted } from "./deno.ts";

/** An environment variable; undefined when it is unset, empty or may not be read. */
export function readEnv(name: string): string | undefined {
  return isGranted({ name: "env", variable: name }) ? process.env[name] || undefined : undefined;
}

/** Whether a program may be started. */
export function mayRun(path: string): boolean {
  return isGranted({ name: "run", command: path });
}
