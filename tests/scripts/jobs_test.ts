import { type Job, runJobs } from "../../scripts/jobs.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";

/** Jobs that end when the test says so, and the names of those that began. */
class Jobs {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  job(name: string, after: readonly string[] = []): Job<string> {
    const run = async (): Promise<string> => {
      this.begun.push(name);
      await new Promise<void>((end) => this.#ends.set(name, end));
      return name;
    };
    return { name, after, run };
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    for (let i = 0; i < 10; i++) await Promise.resolve();
  }
}

Deno.test("runJobs() begins so many at once, and another when one ends", async () => {
  const jobs = new Jobs();
  const all = runJobs(["a", "b", "c"].map((name) => jobs.job(name)), 2);
  assertEquals(jobs.begun, ["a", "b"]);
  await jobs.end("b");
  assertEquals(jobs.begun, ["a", "b", "c"]);
  await jobs.end("c");
  await jobs.end("a");
  assertEquals(await all, ["b", "c", "a"]);
});

Deno.test("runJobs() lets a job wait for others, and begins later ones meanwhile", async () => {
  const jobs = new Jobs();
  const all = runJobs([jobs.job("build"), jobs.job("user", ["build"]), jobs.job("other")], 2);
  assertEquals(jobs.begun, ["build", "other"]);
  await jobs.end("other");
  assertEquals(jobs.begun, ["build", "other"]);
  await jobs.end("build");
  assertEquals(jobs.begun, ["build", "other", "user"]);
  await jobs.end("user");
  assertEquals(await all, ["other", "build", "user"]);
});

Deno.test("runJobs() says which jobs wait for what never comes", async () => {
  const jobs = new Jobs();
  await assertRejects(() => runJobs([jobs.job("a", ["b"])], 2), Error, "no job may begin: a");
});
