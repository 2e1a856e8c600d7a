/**
 * The suites that need a GPU: the kernels are built, then each file of tests/gpu runs as a process of its own, several at
 * a time, as most of their work is the processor's. Long files run in parts (`TRI_PART=0/4`). A line per process, the
 * output of those that failed, and the counts; arguments choose files by a part of their names.
 */
import { describeSkipped, readJunit } from "./test.ts";

const FOLDER = new URL("../tests/gpu/", import.meta.url);

/** Files whose tests take the part of the work that `TRI_PART` names, and how many parts there are. */
const PARTS: Readonly<Record<string, number>> = { "forms_test.ts": 4, "random_test.ts": 4 };

interface Job {
  readonly file: string;
  readonly part: string | undefined;
}

/** One job for each file or part of it, those in parts first: they take longest. */
export function jobsOf(files: readonly string[]): Job[] {
  return files
    .toSorted((a, b) => (PARTS[b] ?? 1) - (PARTS[a] ?? 1) || (a < b ? -1 : 1))
    .flatMap((file) => {
      const parts = PARTS[file] ?? 1;
      return Array.from({ length: parts }, (_, nth): Job => ({
        file,
        part: parts === 1 ? undefined : `${nth}/${parts}`,
      }));
    });
}

type Cases = ReturnType<typeof readJunit>;

interface Finished {
  readonly cases: Cases;
  readonly isRight: boolean;
}

async function run({ file, part }: Job): Promise<Finished> {
  const report = await Deno.makeTempFile({ suffix: ".xml" });
  const start = performance.now();
  const path = new URL(file, FOLDER).pathname;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--no-check", `--junit-path=${report}`, path],
    env: part === undefined ? {} : { TRI_PART: part },
  }).output();
  const cases = readJunit(await Deno.readTextFile(report).catch(() => ""));
  await Deno.remove(report);
  const name = part === undefined ? file : `${file} ${part}`;
  const passed = cases.filter(({ outcome }) => outcome === "passed").length;
  say(
    `${name}: ${passed} of ${cases.length} passed, ${since(start)}${code === 0 ? "" : ", FAILED"}`,
  );
  if (code !== 0) say(new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
  return { cases, isRight: code === 0 };
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Seconds since a moment. */
const since = (start: number): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;

async function main(wanted: readonly string[]): Promise<number> {
  const start = performance.now();
  const build = await new Deno.Command(Deno.execPath(), { args: ["task", "-q", "build-kernels"] })
    .spawn().status;
  if (!build.success) return 1;
  say(`kernels built, ${since(start)}`);
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) =>
    name.endsWith("_test.ts") && (wanted.length === 0 || wanted.some((part) => name.includes(part)))
  );
  const jobs = jobsOf(files);
  const finished: Finished[] = [];
  const work = async (): Promise<void> => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      finished.push(await run(job));
    }
  };
  await Promise.all(Array.from({ length: navigator.hardwareConcurrency }, work));
  const cases = finished.flatMap((one) => one.cases);
  const count = (outcome: Cases[number]["outcome"]): number =>
    cases.filter((one) => one.outcome === outcome).length;
  describeSkipped(cases).forEach(say);
  const broken = finished.filter(({ isRight }) => !isRight).length;
  const counts = `${count("passed")} passed, ${count("failed")} failed, ${
    count("skipped")
  } skipped`;
  say(`${counts}, ${since(start)}`);
  if (broken > 0) say(`failed: ${broken} of ${finished.length} processes`);
  return broken === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
