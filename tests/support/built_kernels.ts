/** The shipped kernels as `deno task build-kernels` left them in generated/: compiled and assembled once for all tests. */
import type { Resources } from "../../cli/tools/ptxas.ts";
import { must } from "../../compiler/support/bug.ts";
import type { TargetName } from "../../compiler/targets.ts";

const FOLDER = new URL("../../generated/", import.meta.url);

/** A kernel of the build. */
export interface BuiltKernel {
  readonly name: string;
  readonly instances: readonly {
    readonly symbol: string;
    /** Conditions on arguments; empty for the general instance. */
    readonly specialization: readonly string[];
    /** Targets that have it; absent: all. */
    readonly availableOn?: readonly string[];
  }[];
  /** What ptxas said of each entry, for the targets that it assembled. */
  readonly resources: Readonly<Partial<Record<string, Readonly<Record<string, Resources>>>>>;
  ptxFor(target: TargetName): string;
  /** The first lines of the same, which name the version of PTX. */
  headFor(target: TargetName): string;
}

/** Bytes that hold the first lines. */
const HEAD_BYTES = 512;

/** The parts of the manifest that are read here. */
interface Manifest {
  readonly sources: Readonly<
    Record<
      string,
      Readonly<Record<string, Omit<BuiltKernel, "ptxFor" | "headFor"> & { images: Image[] }>>
    >
  >;
}

interface Image {
  readonly kind: string;
  readonly target: string;
}

/** All kernels of the manifest. */
export function builtKernels(): BuiltKernel[] {
  const { sources }: Manifest = JSON.parse(
    Deno.readTextFileSync(new URL("manifest.json", FOLDER)),
  );
  return Object.entries(sources).flatMap(([stem, kernels]) =>
    Object.entries(kernels).map(([name, { instances, resources, images }]): BuiltKernel => {
      const fileFor = (target: TargetName): URL => {
        must(images.find((image) => image.kind === "ptx" && image.target === target), target);
        return new URL(`${stem}/${name}.${target}.ptx`, FOLDER);
      };
      return {
        name,
        instances,
        resources,
        ptxFor: (target) => Deno.readTextFileSync(fileFor(target)),
        headFor: (target) => readHead(fileFor(target)),
      };
    })
  );
}

function readHead(url: URL): string {
  using file = Deno.openSync(url);
  const bytes = new Uint8Array(HEAD_BYTES);
  return new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
}

/**
 * Whether the build may have run this ptxas: it has the permissions of `tri` in deno.json, and takes the newest that these
 * allow.
 */
export function isBuilder(path: string, allowed: readonly string[]): boolean {
  return allowed.includes(path) || path === firstOnPath("ptxas");
}

function firstOnPath(program: string): string | undefined {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  return folders.map((folder) => `${folder}/${program}`).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}
