/** Where NVIDIA's command-line tools can be: explicit lists, PATH, the toolkit's variables, usual folders. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import { delimiter } from "node:path";
import process from "node:process";
import { mayRun, readEnv } from "../host/environment.ts";
import { joinPath } from "../files/paths.ts";

/** A program that was found. */
export interface FoundTool {
  readonly path: string;
  /** False: Deno was not given the permission to start it. */
  readonly allowed: boolean;
}

const WINDOWS = process.platform === "win32";

/** Every path at which a tool is found, without repeats of the same real file; `listVariable` may name more. */
export function findTools(name: string, listVariable?: string): FoundTool[] {
  const listed = listVariable === undefined ? [] : splitList(listVariable);
  const file = WINDOWS ? `${name}.exe` : name;
  const seen = new Map<string, FoundTool>();
  for (const path of [...listed, ...toolFolders().map((folder) => joinPath(folder, file))]) {
    const real = realFile(path);
    if (real === undefined) continue;
    const allowed = mayRun(path);
    // The first path wins, unless only a later one may be started.
    const earlier = seen.get(real);
    if (earlier === undefined || (!earlier.allowed && allowed)) seen.set(real, { path, allowed });
  }
  return [...seen.values()];
}

function toolFolders(): string[] {
  const toolkits = ["CUDA_HOME", "CUDA_PATH"].flatMap((variable) => readEnv(variable) ?? []);
  const local = listFolder("/usr/local").filter((name) => name.startsWith("cuda")).map((name) =>
    `/usr/local/${name}`
  );
  return [
    ...splitList("PATH"),
    ...[...toolkits, ...local, "/usr/lib/nvidia-cuda-toolkit", "/opt/cuda"].map((root) =>
      joinPath(root, "bin")
    ),
  ];
}

function splitList(variable: string): string[] {
  return (readEnv(variable) ?? "").split(delimiter).filter((part) => part !== "");
}

/** The real path of a file; undefined when there is none or it may not be seen. */
function realFile(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return statSync(real).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}

/** The names in a folder, sorted; none when there is no such folder. */
function listFolder(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch {
    return [];
  }
}
