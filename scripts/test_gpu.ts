/**
 * The suites that need a GPU: the kernels and examples are built, then each file of tests/gpu runs as a process of its own, several at
 * a time, as most of their work is the processor's. Long files run in parts (`TRI_PART=0/4`). A line per process, the
 * output of those that failed, and the counts; arguments choose files by a part of their names.
 */
import { countsOf, describeSkipped, runSuites, say, since, type Suite } from "./suites.ts";

const FOLDER = "tests/gpu/";

/** Files whose tests take the part of the work that `TRI_PART` names, and how many parts there are. */
const PARTS: Readonly<Record<string, number>> = { "forms_test.ts": 4, "random_test.ts": 4 };

/** A suite for each file or part of it, those in parts first: they take longest. */
export function suitesOf(files: readonly string[]): Suite[] {
  return files
    .toSorted((a, b) => (PARTS[b] ?? 1) - (PARTS[a] ?? 1) || (a < b ? -1 : 1))
    .flatMap((file) => {
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

async function main(wanted: readonly string[]): Promise<number> {
  const start = performance.now();
  // Programs of examples/ run on several GPUs.
  const builds = ["build-kernels", "build-examples"].map((task) =>
    new Deno.Command(Deno.execPath(), { args: ["task", "-q", task] }).spawn().status
  );
  if ((await Promise.all(builds)).some(({ success }) => !success)) return 1;
  say(`kernels and examples built, ${since(start)}`);
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) =>
    name.endsWith("_test.ts") && (wanted.length === 0 || wanted.some((part) => name.includes(part)))
  );
  const finished = await runSuites(suitesOf(files));
  describeSkipped(finished).forEach(say);
  say(`${countsOf(finished)}, ${since(start)}`);
  const broken = finished.filter(({ isRight }) => !isRight).length;
  if (broken > 0) say(`failed: ${broken} of ${finished.length} processes`);
  return broken === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
