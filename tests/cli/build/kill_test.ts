/**
 * Commands that are killed at random moments: the next one ends as if nothing had happened, nothing is torn, nothing is
 * left. `TRI_KILLS=200 deno test -A tests/cli/build/kill_test.ts` kills more.
 */
import { BANNER } from "../../../cli/build/bundle.ts";
import { parseTuneFile } from "../../../ffi/kernel/tuning/tune_file.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { freshRandom, type Random } from "../../support/random.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { type RunOptions, TUNE_MAIN, Workspace } from "../support/tri_process.ts";

const FEW = 4;
const KILLS = Number(Deno.env.get("TRI_KILLS") ?? FEW);
const test = testsInTurn(KILLS > FEW ? 1 : 2);
const STEMS = ["a", "b", "c", "nn/a", "nn/d", "nn/deep/e"];
const BUILD = ["build", "kernels", "--out", "out", "--arch", "sm_80,sm_90", "--no-cubin"];

/** Up to three kernels; a source may go, and may be without one. */
function changeSources(workspace: Workspace, random: Random): void {
  for (const stem of STEMS) {
    const name = `kernels/${stem}.tc`;
    const choice = random.below(4);
    if (choice === 0 && stem !== "a") {
      if (workspace.files("kernels").has(name)) workspace.remove(name);
    } else if (choice > 1 || stem === "a") {
      const count = stem === "a" ? 1 : random.below(4);
      const lines = Array.from(
        { length: count },
        (_, i) => `kernel ${stem.replaceAll("/", "_")}_${i}_${random.below(3)}\n`,
      );
      workspace.write(name, lines.join(""));
    }
  }
}

/** What a build of these sources gives where nothing was before. */
async function freshOutput(workspace: Workspace, args: readonly string[]): Promise<unknown> {
  using fresh = new Workspace();
  for (const name of workspace.files("kernels").keys()) fresh.write(name, workspace.read(name));
  assertEquals((await fresh.tri(args)).code, 0);
  return fresh.files("out");
}

function start(
  workspace: Workspace,
  args: readonly string[],
  options?: RunOptions,
): Deno.ChildProcess {
  return workspace.command(args, options).spawn();
}

/** Lets it run for a while; whether it had not ended by then. */
async function kill(child: Deno.ChildProcess, milliseconds: number): Promise<boolean> {
  const timer = setTimeout(() => {
    try {
      child.kill("SIGKILL");
    } catch (error) {
      // It has ended by itself, and its status has not arrived yet.
      if (!(error instanceof TypeError)) throw error;
    }
  }, milliseconds);
  const [{ signal }] = await Promise.all([
    // Not after the streams: a process that has ended by itself cannot be killed.
    child.status.finally(() => clearTimeout(timer)),
    // Both are read to their ends: writing to a closed pipe would end the process before it is killed.
    child.stdout.pipeTo(new WritableStream()),
    child.stderr.pipeTo(new WritableStream()),
  ]);
  return signal === "SIGKILL";
}

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

test("tri build after builds that were killed gives what a first build gives, and leaves nothing", async () => {
  const random = freshRandom();
  const where = `seed ${random.seed}`;
  using workspace = new Workspace();
  changeSources(workspace, random);
  const usual = await millisecondsOf(() => workspace.process(BUILD));
  let killed = 0;
  for (let i = 0; i < KILLS; i++) {
    const rounds = 1 + random.below(3);
    for (let round = 0; round < rounds; round++) {
      changeSources(workspace, random);
      // The first one does not end by itself, so that one at least is killed whatever the machine's speed.
      const isFirst = i === 0 && round === 0;
      const more = isFirst
        ? ["--watch"]
        : [[], ["--force"], ["--emit", "js"], ["--watch"]][random.below(4)] ?? [];
      const child = start(workspace, [...BUILD, ...more]);
      const other = random.below(4) === 0 ? start(workspace, BUILD) : undefined;
      if (await kill(child, usual * (0.3 + random.unit()))) killed++;
      if (other === undefined) continue;
      const { code, stderr } = await other.output();
      assertEquals(code, 0, `${where}: ${new TextDecoder().decode(stderr)}`);
    }
    const { code, stderr } = await workspace.tri(BUILD);
    assertEquals(code, 0, `${where}: ${stderr}`);
    assertEquals(workspace.files("out"), await freshOutput(workspace, BUILD), where);
  }
  // Others may have been faster than their end.
  assert(killed >= 1, where);
  if (KILLS > FEW) Deno.stderr.writeSync(new TextEncoder().encode(`${killed} builds killed\n`));
});

Deno.test({
  name: "tri build --bundle after one that was killed gives a whole bundle, and leaves nothing",
  // esbuild takes a minute for each.
  ignore: KILLS <= FEW,
  fn: async () => {
    const random = freshRandom();
    const where = `seed ${random.seed}`;
    using workspace = new Workspace();
    const args = [...BUILD, "--bundle", "out/all.js"];
    changeSources(workspace, random);
    const usual = await millisecondsOf(() => workspace.process(args));
    let killed = 0;
    for (let i = 0; i < Math.ceil(KILLS / 16); i++) {
      changeSources(workspace, random);
      if (await kill(start(workspace, args), usual * (0.3 + random.unit() * 0.9))) killed++;
      if (workspace.files("out").has("out/all.js")) {
        const text = workspace.read("out/all.js");
        assert(text.startsWith(BANNER) && /^export \{$[^]*\};\n$/m.test(text), where);
      }
      const { code, stderr } = await workspace.tri(args);
      assertEquals(code, 0, `${where}: ${stderr}`);
      assertEquals(workspace.files("out"), await freshOutput(workspace, args), where);
    }
    if (KILLS > FEW) Deno.stderr.writeSync(new TextEncoder().encode(`${killed} bundles killed\n`));
  },
});

/** Processes that run in the folder. */
function processesIn(folder: string): number {
  return [...Deno.readDirSync("/proc")].filter(({ name }) => {
    try {
      return /^\d+$/.test(name) && Deno.readLinkSync(`/proc/${name}/cwd`) === folder;
    } catch {
      return false;
    }
  }).length;
}

Deno.test({
  name:
    "tri tune after one that was killed times the rest; its processes end and it leaves nothing",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const random = freshRandom();
    const where = `seed ${random.seed}`;
    using workspace = new Workspace({
      "kernels/scale.tc": `#pragma tri configs TM in {64, 128}
__global__ void scale(float *X, float *Y, int n) {
  int r[TM] = get_program_id(0) * TM + 0 ... TM;
  *?(r < n) (Y + r) = *?(r < n) (X + r) * 2;
}
`,
    });
    const options: RunOptions = { main: TUNE_MAIN, permissions: ["-A"] };
    const sizes = [1, 2].flatMap((n) => ["--size", `n=${n * 1000}`]);
    const args = ["tune", "kernels", ...sizes];
    const usual = await millisecondsOf(() => workspace.tri(args, options));
    const names = [...workspace.files("kernels").keys()].sort();
    const expected = workspace.read("kernels/scale.tune.json");
    let killed = 0;
    for (let i = 0; i < Math.ceil(KILLS / 4); i++) {
      workspace.remove("kernels/scale.tune.json");
      if (await kill(start(workspace, args, options), usual * (0.3 + random.unit() * 0.7))) {
        killed++;
      }
      if (workspace.files("kernels").has("kernels/scale.tune.json")) {
        assert(typeof parseTuneFile(workspace.read("kernels/scale.tune.json")) !== "string", where);
      }
      while (processesIn(workspace.path) > 0) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const { code, stderr } = await workspace.tri(args, { main: TUNE_MAIN });
      assertEquals(code, 0, `${where}: ${stderr}`);
      assertEquals(workspace.read("kernels/scale.tune.json"), expected, where);
      assertEquals([...workspace.files("kernels").keys()].sort(), names, where);
    }
    if (KILLS > FEW) Deno.stderr.writeSync(new TextEncoder().encode(`${killed} tunes killed\n`));
  },
});
