/** The scripts of examples/fleet: their parts together are all of the work. */
import { assertEquals, assertMatch } from "../support/assert.ts";
import { missingSlurm, startSlurm } from "./slurm.ts";
import { TUNE_MAIN, Workspace } from "../cli/support/tri_process.ts";
import { testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(3);

const FLEET = new URL("../../examples/fleet/", import.meta.url);

const SCALE = `#pragma tri configs TM in {64, 128}
__global__ void scale(float *X, float *Y, int n) {
  int r[TM] = get_program_id(0) * TM + 0 ... TM;
  *?(r < n) (Y + r) = *?(r < n) (X + r) * 2;
}
`;

const SIZES = ["--size", "n=96", "--size", "n=1000"];
const SCRIPT = new URL("tune.sbatch", FLEET).pathname;
const TRI = { TRI: `${Deno.execPath()} run -q -A ${TUNE_MAIN}` };

/** Merges two parts and compares the keys with those of all work. */
async function assertMerged(workspace: Workspace): Promise<void> {
  const parts = [1, 2].map((i) => `${workspace.path}/kernels/scale.tune.${i}-of-2.json`);
  const merged = await workspace.tri(["tune", "--merge", ...parts], { main: TUNE_MAIN });
  assertEquals([merged.code, merged.stderr], [0, ""]);
  const { gpus } = JSON.parse(workspace.read("kernels/scale.tune.json"));
  const keys = Object.keys(gpus["Test GPU"].kernels.scale.default.a16);
  assertEquals(keys, ["n=96", "n=1000"]);
}

test("Tasks of the Slurm script, started with Slurm's variables, each write their part", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  const task = (id: number): Promise<Deno.CommandOutput> =>
    new Deno.Command("sh", {
      args: [SCRIPT, "kernels", ...SIZES],
      cwd: workspace.path,
      env: {
        ...TRI,
        SLURM_ARRAY_TASK_ID: `${id}`,
        SLURM_ARRAY_TASK_MIN: "0",
        SLURM_ARRAY_TASK_STEP: "1",
        SLURM_ARRAY_TASK_COUNT: "2",
      },
    }).output();
  const ended = await Promise.all([task(0), task(1)]);
  const texts = ended.map(({ stderr }) => new TextDecoder().decode(stderr));
  assertEquals(ended.map(({ code }) => code), [0, 0], texts.join());
  assertMatch(texts[1] ?? "", /part 2 of 2 \(SLURM_ARRAY_TASK_ID\): 1 of 2 runs/);
  await assertMerged(workspace);
});

const missing = missingSlurm();

test("An array of jobs of a real Slurm tunes all kernels", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  using cluster = new Workspace();
  const slurm = await startSlurm(cluster.path);
  if (typeof slurm === "string") {
    // deno-lint-ignore no-console -- a test that did not run must be visible
    console.log(`skipped: Slurm does not start here: ${slurm}`);
    return;
  }
  await using _ = slurm;
  const { code, stderr } = await new Deno.Command("/usr/bin/sbatch", {
    args: ["--array=0-1", "--wait", "--output=log-%a", SCRIPT, "kernels", ...SIZES],
    cwd: workspace.path,
    env: { ...slurm.env, ...TRI },
  }).output();
  const logs = [...workspace.files(".").keys()].filter((name) => name.includes("log-"))
    .map((name) => workspace.read(name));
  assertEquals(code, 0, `${new TextDecoder().decode(stderr)}\n${logs.join("\n")}`);
  await assertMerged(workspace);
}, missing);

Deno.test("The manifest of the Job says its number of parts twice, and alike", () => {
  const text = Deno.readTextFileSync(new URL("job.yaml", FLEET));
  const [, completions] = /^ {2}completions: (\d+)$/m.exec(text) ?? [];
  const [, stated] = /name: JOB_COMPLETIONS\n +value: "(\d+)"/.exec(text) ?? [];
  assertMatch(text, /completionMode: Indexed/);
  assertMatch(completions ?? "", /^\d+$/);
  assertEquals(stated, completions);
});
