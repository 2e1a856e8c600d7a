/** The builds that tests read, as jobs of a run. */
import { type TargetName, TARGETS } from "../compiler/targets.ts";
import type { Job } from "./jobs.ts";
import { type Finished, say, since, V8_FLAGS } from "./suites.ts";

const BUILD = "build-kernels";
const EXAMPLES = "build-examples";
/** Names of the jobs, for those that wait for them. */
export const BUILDS: readonly string[] = [BUILD, EXAMPLES];

/** The parts of a manifest that are read here. */
interface Manifest {
  readonly sources: Readonly<
    Record<string, Readonly<Record<string, { readonly images: readonly Image[] }>>>
  >;
}

interface Image {
  readonly kind: string;
  readonly target: string;
}

/** A command of Deno as a job; its output is shown when it ends. */
export function denoJob(
  name: string,
  args: readonly string[],
  after: readonly string[],
): Job<Finished> {
  const run = async (): Promise<Finished> => {
    const start = performance.now();
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...args],
      stdin: "null",
    }).output();
    const output = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("").trim();
    if (output !== "") say(output);
    say(`${name}: ${success ? "done" : "failed"}, ${since(start)}`);
    return { cases: [], isRight: success };
  };
  return { name, after, run };
}

/** The kernels, with options of `tri build` besides; with more memory than the task `build-kernels` it takes a sixth less time. */
export function kernelsJob(options: readonly string[]): Job<Finished> {
  const words = ["cli/main.ts", "build", "kernels", "--out", "generated"];
  return denoJob(BUILD, ["run", "-q", "-P=tri", V8_FLAGS, ...words, ...options], []);
}

/** The kernels of examples/. */
export function examplesJob(options: readonly string[]): Job<Finished> {
  return denoJob(EXAMPLES, ["task", "-q", EXAMPLES, ...options], []);
}

/** The images in generated/; none where there is no build that can be read. */
export function builtImages(): readonly Image[] {
  try {
    const text = Deno.readTextFileSync(new URL("../generated/manifest.json", import.meta.url));
    const { sources }: Manifest = JSON.parse(text);
    return Object.values(sources).flatMap((kernels) =>
      Object.values(kernels).flatMap(({ images }) => images)
    );
  } catch {
    return [];
  }
}

/** The target whose images an architecture takes before all others (`chooseImages` of ffi/kernel/images/image.ts). */
export function targetFor(sm: number): TargetName | undefined {
  return Object.values(TARGETS)
    .filter((target) => target.name.endsWith("a") ? target.sm === sm : target.sm <= sm)
    .toSorted((a, b) => b.sm - a.sm || b.name.length - a.name.length)[0]?.name;
}
