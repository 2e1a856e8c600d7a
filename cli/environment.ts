/**
 * Questions to the system that are answered with undefined where Deno's permissions forbid them. Asking
 * first keeps Deno from prompting in the middle of a build.
 */

/** An environment variable; undefined when it is unset, empty or may not be read. */
export function readEnv(name: string): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: name });
  return state === "granted" ? Deno.env.get(name) || undefined : undefined;
}

/** Whether a program may be started. */
export function mayRun(path: string): boolean {
  return Deno.permissions.querySync({ name: "run", command: path }).state === "granted";
}

/** The real path of a file; undefined when there is none or it may not be seen. */
export function realFile(path: string): string | undefined {
  try {
    const real = Deno.realPathSync(path);
    return Deno.statSync(real).isFile ? real : undefined;
  } catch {
    return undefined;
  }
}

/** The names in a folder, sorted; none when there is no such folder. */
export function listFolder(path: string): string[] {
  try {
    return [...Deno.readDirSync(path)].map((entry) => entry.name).sort();
  } catch {
    return [];
  }
}
