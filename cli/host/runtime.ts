/** Which runtime this is. */
import { deno } from "./deno.ts";
import { nodeProcess } from "./node_process.ts";

/** Names and versions: the runtime first, then what it is made of. */
export function runtimeVersions(): Readonly<Record<string, string>> {
  if (deno !== undefined) return { ...deno.version };
  const { bun, node, v8 } = nodeProcess().versions;
  return bun === undefined ? { node, v8 } : { bun, node };
}

/** For people: `Deno 2.9.6`. */
export function runtimeName(): string {
  const [[name, version] = ["an unknown runtime", ""]] = Object.entries(runtimeVersions());
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} ${version}`;
}
