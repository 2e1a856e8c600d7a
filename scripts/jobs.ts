/** Jobs with an order: several run at a time, and some need what others make. */

/** Something to do, once. */
export interface Job<Result> {
  readonly name: string;
  /** Names of jobs that must have ended, well or not. */
  readonly after: readonly string[];
  run(): Promise<Result>;
}

/** Runs all jobs, at most so many at a time; the first that may begin begins. Results are in the order in which they come. */
export async function runJobs<Result>(
  jobs: readonly Job<Result>[],
  atOnce: number,
): Promise<Result[]> {
  const waiting = [...jobs];
  const ended = new Set<string>();
  const running = new Set<Promise<void>>();
  const results: Result[] = [];
  const isReady = ({ after }: Job<Result>): boolean => after.every((name) => ended.has(name));
  while (waiting.length > 0 || running.size > 0) {
    const next = running.size < atOnce ? waiting.findIndex(isReady) : -1;
    if (next < 0) {
      if (running.size === 0) {
        throw new Error(`no job may begin: ${waiting.map(({ name }) => name)}`);
      }
      await Promise.race(running);
      continue;
    }
    const [job] = waiting.splice(next, 1);
    if (job === undefined) continue;
    const run: Promise<void> = job.run().then((result) => {
      results.push(result);
      ended.add(job.name);
      running.delete(run);
    });
    running.add(run);
  }
  return results;
}
