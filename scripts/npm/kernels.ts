/** `@tri/kernels`: the shipped kernels, by `tri build --emit js --compact`. Their sources stay, because declarations lead there. */
import * as path from "node:path";
import { kernelsFields } from "./package_json.ts";
import { addTexts, copyTree, originUrl, type Packed, packFolder, ROOT, run } from "./tarball.ts";

/** The most that the tarball may be. */
export const KERNELS_BUDGET = 10e6;

/** What of the kernels is packed. */
export interface KernelsOptions {
  /** As the option of `tri build`; every architecture when absent. */
  readonly arch?: string;
  /** Whether `--compact` may add cubins; it may when absent. */
  readonly cubins?: boolean;
  /** Names of sources without `.tc`; all when absent. */
  readonly sources?: readonly string[];
}

/** Makes the tarball in a folder. */
export async function packKernels(
  destination: string,
  options: KernelsOptions = {},
): Promise<Packed> {
  const folder = await Deno.makeTempDir({ prefix: "tri-pack-" });
  try {
    await makeKernels(folder, options);
    return await packFolder(folder, destination, KERNELS_BUDGET);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The package's folder: sources in `kernels/`, what is compiled of them in `dist/`. */
async function makeKernels(folder: string, options: KernelsOptions): Promise<void> {
  const { arch = "all", cubins = true, sources } = options;
  const isWanted = (name: string): boolean => {
    if (name.endsWith(".h")) return true;
    return name.endsWith(".tc") && (sources?.includes(path.basename(name, ".tc")) ?? true);
  };
  const tuned = (name: string): boolean => isWanted(name.replace(/\.tune\.json$/, ".tc"));
  const kernels = path.join(folder, "kernels");
  // Without the benchmarks.
  await copyTree(path.join(ROOT, "kernels"), kernels, tuned);
  await run(
    folder,
    Deno.execPath(),
    ...["run", "-A", "-q", "--config", path.join(ROOT, "deno.json")],
    ...[path.join(ROOT, "cli/main.ts"), "build", "kernels", "--out", "dist", "--emit", "js"],
    ...["--compact", "--arch", arch, ...cubins ? [] : ["--no-cubin"]],
  );
  await Deno.remove(path.join(folder, "dist/.tri-build.json"));
  for await (const { name } of Deno.readDir(kernels)) {
    if (name.endsWith(".tune.json")) await Deno.remove(path.join(kernels, name));
  }
  await addTexts(folder, "kernels.md", kernelsFields(await originUrl()));
}
