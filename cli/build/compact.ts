/**
 * `--compact`: the fewest images that lose nothing, for packages. A target whose PTX is that of a target before it is served by
 * that one's image. Cubins are made only where they save seconds: the driver compiles the PTX of most kernels in less
 * than three, and keeps the result.
 */
import { brotliCompress, constants } from "node:zlib";
import { promisify } from "node:util";
import type { ModuleOutline } from "../../compiler/options.ts";
import { ALL_TARGETS, type Target } from "../../compiler/targets.ts";
import { must } from "../../compiler/support/bug.ts";
import { groupBy } from "../../compiler/support/group_by.ts";
import { sha256 } from "../files/hash.ts";

/** A module of a kernel for one target. */
export interface TargetCode {
  readonly arch: string;
  /** What {@linkcode codeIdentity} says of it. */
  readonly code: string;
  readonly ptx: { readonly bytes: number };
}

/** ptxas 13.0 takes 6 to 10 seconds for the PTX of 3 MB of `matmul`, and at most 2.5 for modules below this. */
const SLOW_PTX_BYTES = 1.25e6;

/** The same for modules that differ only in their target and in the PTX version that it asks for. */
export function codeIdentity(ptx: string, entries: ModuleOutline["entries"]): string {
  return sha256(`${ptx.replaceAll(/^\.(?:target|version) .*$/gm, "")}${JSON.stringify(entries)}`);
}

/**
 * The modules of a kernel whose PTX is written; the others have the code of the newest of these that their GPUs can run. In any
 * order, as the result.
 */
export function ownPtx<Module extends TargetCode>(modules: readonly Module[]): readonly Module[] {
  const sorted = modules.map((module) => ({ module, target: recordOf(module) }))
    .sort((a, b) => a.target.sm - b.target.sm || Number(a.target.exact) - Number(b.target.exact));
  const kept = new Set<Module>();
  let serving: string | undefined;
  for (const { module, target } of sorted) {
    if (module.code === serving) continue;
    kept.add(module);
    if (!target.exact) serving = module.code;
  }
  return modules.filter((module) => kept.has(module));
}

/** The modules of a kernel that get a cubin. It runs on GPUs of its own major version, from its minor one on. */
export function ownCubins<Module extends TargetCode>(
  modules: readonly Module[],
): readonly Module[] {
  const exact = modules.map(recordOf).filter((target) => target.exact);
  const families = groupBy(modules, (module) => Math.floor(recordOf(module).sm / 10));
  return [...families.values()].flatMap(ownPtx).filter((module) => {
    const target = recordOf(module);
    const isServed = !target.exact && exact.some(({ sm }) => sm === target.sm);
    return module.ptx.bytes >= SLOW_PTX_BYTES && !isServed;
  });
}

function recordOf({ arch }: TargetCode): Target {
  const targets: Readonly<Record<string, Target>> = ALL_TARGETS;
  return must(targets[arch], "the record of a target");
}

const compressAsync = promisify(brotliCompress);

/** What the run time decompresses; PTX becomes a twentieth. */
export async function compress(bytes: Uint8Array): Promise<Uint8Array> {
  return await compressAsync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      // Entries of a module repeat what is megabytes before them.
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}
