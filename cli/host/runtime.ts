/** Which runtime this is. */
import process from "node:process";
import { deno } from "./deno.ts";

/** Names and versions: the runtime first, then what it is made of. */
export function runtimeVersions(): Readonly<Record<string, string>> {
  if (deno !== undefined) return { ...deno.version };
  const { bun, node, v8 } = process.versions;
  return bun === undefined ? { node, v8 } : { bun, node };
}

/** For people: `Deno 2.9.6`. */
export function runtimeName(): string {
  const [[name, version] = ["an unknown runtime", ""]] = Object.entries(runtimeVersions());
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} ${version}`;
}
