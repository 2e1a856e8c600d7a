/**
 * The suites that need a GPU: each file of tests/gpu runs as a process of its own, several at a time, as most of their work is the
 * processor's. Files that take long run in parts (`TRI_PART=0/4`: tests/support/gpu.ts). Those that read generated/ wait for the
 * builds, the others begin at once. A line per process, the output of those that failed, and the counts; arguments
 * choose files by a part of their names.
 */
import { findGpus } from "../cli/tools/gpus.ts";
import { BUILDS, builtImages, examplesJob, kernelsJob, targetFor } from "./builds.ts";
import { needsBuild } from "./needs_build.ts";
import { countsOf, describeSkipped, jobOf, runAll, say, since, type Suite } from "./suites.ts";

const FOLDER = "tests/gpu/";

/** How many parts files have that take long, those that take longest first. */
const PARTS: Readonly<Record<string, number>> = {
  "forms_test.ts": 8,
  "corpus_test.ts": 4,
  "random_test.ts": 4,
  "attention_test.ts": 4,
  "transpose_test.ts": 4,
  "matmul_fused_test.ts": 3,
  "models_test.ts": 3,
  "copy_test.ts": 3,
  "rows_test.ts": 3,
  "attention_backward_test.ts": 3,
  "products_test.ts": 2,
  "matmul_test.ts": 2,
};
const LONGEST = Object.keys(PARTS);

/** A suite for each file or part of it, in the order in which they start. */
export function suitesOf(files: readonly string[]): Suite[] {
  const rank = (file: string): number =>
    LONGEST.includes(file) ? LONGEST.indexOf(file) : LONGEST.length;
  return files.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).flatMap((file) => {
    const parts = PARTS[file] ?? 1;
    const paths = [FOLDER + file];
    return Array.from({ length: parts }, (_, nth): Suite => {
      const part = `${nth}/${parts}`;
      return parts === 1
        ? { name: file, paths }
        : { name: `${file} ${part}`, paths, env: { TRI_PART: part } };
    });
  });
}

/**
 * What is built: only what the GPUs here read, unless there is a build for other targets, which is kept up to date. The
 * programs of examples/ run on several GPUs.
 */
async function kernelOptions(): Promise<readonly string[]> {
  const gpus = await findGpus();
  const devices = gpus.kind === "found" ? gpus.devices : [];
  const wanted = [...new Set<string>(devices.flatMap(({ sm }) => targetFor(sm) ?? []))];
  const isOther = ({ target }: { readonly target: string }): boolean => !wanted.includes(target);
  if (wanted.length === 0 || builtImages().some(isOther)) return [];
  return ["--arch", wanted.join()];
}

async function main(wanted: readonly string[]): Promise<number> {
  const start = performance.now();
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) =>
    name.endsWith("_test.ts") && (wanted.length === 0 || wanted.some((part) => name.includes(part)))
  );
  const finished = await runAll([
    kernelsJob(await kernelOptions()),
    examplesJob([]),
    ...suitesOf(files).map((suite) => jobOf(suite, suite.paths.some(needsBuild) ? BUILDS : [])),
  ]);
  describeSkipped(finished).forEach(say);
  say(`${countsOf(finished)}, ${since(start)}`);
  const broken = finished.filter(({ isRight }) => !isRight).length;
  if (broken > 0) say(`failed: ${broken} of ${finished.length} processes`);
  return broken === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
