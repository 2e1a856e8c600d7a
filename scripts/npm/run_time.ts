/** `@tri/tri`: the run time. `deno pack` writes its modules and declarations, from a copy of what it is made of. */
import * as path from "node:path";
import config from "../../deno.json" with { type: "json" };
import { runTimeFields, runTimeModules } from "./package_json.ts";
import { addTexts, copyTree, originUrl, type Packed, packFolder, ROOT, run } from "./tarball.ts";

/** The most that the tarball may be. */
export const RUN_TIME_BUDGET = 700e3;

/** Folders that those of its entry points import; of the compiler it needs PTX, which the emulator reads. */
const IMPORTED = ["emulator", "compiler/ptx", "compiler/support"] as const;
const FILES = ["mod.ts", "compiler/targets.ts"] as const;

/** `deno pack` would check all types, which `deno task check` has done; declarations do not need it. */
const UNCHECKED = "// @ts-nocheck\n";

/** Changes the texts of the modules of a folder; JavaScript and declarations are modules too. */
async function changeModules(folder: string, change: (text: string) => string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const at = path.join(folder, name);
    if (isDirectory) await changeModules(at, change);
    else if (/\.[jt]s$/.test(name)) {
      await Deno.writeTextFile(at, change(await Deno.readTextFile(at)));
    }
  }
}

/** What no entry point imports stays as it was. */
async function removeSources(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const at = path.join(folder, name);
    if (isDirectory) await removeSources(at);
    else if (/(?<!\.d)\.ts$/.test(name)) await Deno.remove(at);
  }
}

/** Makes the tarball in a folder. */
export async function packRunTime(destination: string): Promise<Packed> {
  const work = await Deno.makeTempDir({ prefix: "tri-pack-" });
  try {
    const source = path.join(work, "source");
    const own = runTimeModules().map(([, module]) => module.split("/").slice(1, -1)[0] ?? "");
    const folders = new Set([...own.filter((folder) => folder !== ""), ...IMPORTED]);
    for (const folder of folders) {
      await copyTree(
        path.join(ROOT, folder),
        path.join(source, folder),
        (name) => !name.endsWith(".md"),
      );
    }
    for (const file of FILES) await Deno.copyFile(path.join(ROOT, file), path.join(source, file));
    await changeModules(source, (text) => UNCHECKED + text);
    const { name, version, license, imports, compilerOptions: { types: _, ...compilerOptions } } =
      config;
    const settings = { name, version, license, imports, compilerOptions };
    await Deno.writeTextFile(
      path.join(source, "deno.json"),
      JSON.stringify({ ...settings, exports: Object.fromEntries(runTimeModules()) }),
    );
    const base = path.join(work, "base.tgz");
    const flags = ["-q", "--allow-dirty", "--no-source-maps", "--ignore=deno.json,deno.lock"];
    await run(source, Deno.execPath(), "pack", ...flags, "-o", base);
    await run(work, "tar", "-xzf", base);
    const folder = path.join(work, "package");
    await removeSources(folder);
    await changeModules(folder, (text) => text.replace(UNCHECKED, ""));
    await addTexts(folder, "tri.md", runTimeFields(".", await originUrl()));
    return await packFolder(folder, destination, RUN_TIME_BUDGET);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}
