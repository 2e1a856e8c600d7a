/**
 * Questions to the system that are answered with undefined where Deno's permissions forbid them. Asking
 * first keeps Deno from prompting in the middle of a build.
 */
import { deno, isGranted } from "./deno.ts";
import { nodeProcess } from "./node_process.ts";

/** An environment variable; undefined when it is unset, empty or may not be read. */
export function readEnv(name: string): string | undefined {
  if (!isGranted({ name: "env", variable: name })) return undefined;
  return (deno === undefined ? nodeProcess().env[name] : deno.env.get(name)) || undefined;
}

/** Whether a program may be started. */
export function mayRun(path: string): boolean {
  return isGranted({ name: "run", command: path });
}
