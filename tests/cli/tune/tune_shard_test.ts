/** `tri tune --shard` and `--merge`: parts of the work for several machines, here two emulators with a made-up clock. */
import { assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { type TriResult, TUNE_MAIN, Workspace } from "../support/tri_process.ts";

const test = testsInTurn(2);

const SCALE = `#pragma tri configs TM in {64, 128}
__global__ void scale(float *X, float *Y, int n) {
  int r[TM] = get_program_id(0) * TM + 0 ... TM;
  *?(r < n) (Y + r) = *?(r < n) (X + r) * 2;
}
`;
const SIZES = [96, 1000, 4096].flatMap((n) => ["--size", `n=${n}`]);

async function tune(
  workspace: Workspace,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<TriResult> {
  return await workspace.tri(["tune", ...args], { main: TUNE_MAIN, env });
}

const headings = ({ stdout }: TriResult): readonly string[] =>
  stdout.split("\n").filter((line) => line.startsWith("scale"));

test("Parts of tri tune together time each run once, and merged are what one machine writes", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  const first = await tune(workspace, ["kernels", ...SIZES, "--shard", "1/2"]);
  assertEquals(first.code, 0, first.stderr);
  assertStringIncludes(first.stderr, "part 1 of 2 (--shard): ");
  const second = await tune(workspace, ["kernels", ...SIZES], {
    SLURM_ARRAY_TASK_ID: "7",
    SLURM_ARRAY_TASK_MIN: "5",
    SLURM_ARRAY_TASK_STEP: "2",
    SLURM_ARRAY_TASK_COUNT: "2",
  });
  assertStringIncludes(second.stderr, "part 2 of 2 (SLURM_ARRAY_TASK_ID): ");
  assertEquals([...headings(first), ...headings(second)].toSorted(), [
    "scale default a16 n=1000 on Test GPU",
    "scale default a16 n=4096 on Test GPU",
    "scale default a16 n=96 on Test GPU",
  ]);
  const parts = ["1", "2"].map((i) => `kernels/scale.tune.${i}-of-2.json`);
  // A part that is done is known when it runs again, and its file keeps its bytes.
  const before = workspace.read("kernels/scale.tune.2-of-2.json");
  const again = await tune(workspace, ["kernels", ...SIZES], {
    JOB_COMPLETION_INDEX: "1",
    JOB_COMPLETIONS: "2",
  });
  assertStringIncludes(again.stdout, "; 2 of 2 were known");
  assertEquals(workspace.read("kernels/scale.tune.2-of-2.json"), before);

  const half = await tune(workspace, ["--merge", `${workspace.path}/${parts[0]}`]);
  assertStringIncludes(half.stderr, "not merged, because not stated: part 2 of 2");
  const paths = parts.map((name) => `${workspace.path}/${name}`);
  assertEquals((await tune(workspace, ["--merge", ...paths.toReversed()])).code, 0);
  const merged = workspace.read("kernels/scale.tune.json");
  assertEquals((await tune(workspace, ["kernels", "--merge", ...paths])).code, 0);
  assertEquals(workspace.read("kernels/scale.tune.json"), merged);
  for (const name of [...parts, "kernels/scale.tune.json"]) workspace.remove(name);
  await tune(workspace, ["kernels", ...SIZES]);
  assertEquals(workspace.read("kernels/scale.tune.json"), merged);
});

Deno.test("A part without runs leaves a file, so that the merge misses nothing", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  const { code, stderr } = await tune(workspace, ["kernels", "--size", "n=96", "--shard", "9/9"]);
  assertEquals(code, 0, stderr);
  assertStringIncludes(stderr, "part 9 of 9 (--shard): 0 of 1 runs");
  assertStringIncludes(workspace.read("kernels/scale.tune.9-of-9.json"), '"gpus": {}');
});

Deno.test("tri tune refuses parts that are none", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  const wrong: readonly [string[], Record<string, string>, string][] = [
    [["--shard", "3"], {}, "--shard 3: not of the form i/n"],
    [["--shard", "0/2"], {}, "of 2 parts there is no part 0"],
    [["--shard", "3/2"], {}, "of 2 parts there is no part 3"],
    [["--shard", "1/0"], {}, "the number of parts is from 1 to 10000"],
    [[], { JOB_COMPLETION_INDEX: "0" }, "JOB_COMPLETIONS is not set"],
    [[], { JOB_COMPLETION_INDEX: "2", JOB_COMPLETIONS: "2" }, "is not less than JOB_COMPLETIONS=2"],
    [[], { SLURM_ARRAY_TASK_ID: "3" }, "SLURM_ARRAY_TASK_COUNT is not set"],
    [
      [],
      { SLURM_ARRAY_TASK_ID: "4", SLURM_ARRAY_TASK_COUNT: "3", SLURM_ARRAY_TASK_MIN: "1" },
      "SLURM_ARRAY_TASK_ID=4 is none of the 3 tasks from 1 in steps of 1",
    ],
  ];
  for (const [args, env, message] of wrong) {
    const { code, stderr } = await tune(workspace, ["kernels", ...args], env);
    assertEquals(code, 2);
    assertStringIncludes(stderr, message);
  }
});

Deno.test("A merge refuses files of other kernels, of two splits and of no source, and writes nothing", async () => {
  const timings = (kernel: string): string =>
    JSON.stringify({
      format: 1,
      gpus: { G: { arch: "sm_90", kernels: { [kernel]: { default: { general: { any: {} } } } } } },
    });
  using workspace = new Workspace({
    "kernels/scale.tc": SCALE,
    "kernels/scale.tune.1-of-2.json": timings("scale"),
    "kernels/scale.tune.2-of-3.json": timings("scale"),
    "other/scale.tune.json": timings("shift"),
    "other/broken.json": "{",
    "other/any.json": timings("scale"),
  });
  const at = (name: string): string => `${workspace.path}/${name}`;
  const wrong: readonly [string[], number, string][] = [
    [["kernels"], 2, "no file of timings is stated"],
    [[at("kernels/scale.tc"), at("other/scale.tune.json")], 2, "has timings of shift"],
    [
      [at("kernels/scale.tune.1-of-2.json"), at("kernels/scale.tune.2-of-3.json")],
      2,
      "scale.tune.2-of-3.json is no part of a split into 2",
    ],
    [[at("other/scale.tune.json")], 2, "there is no "],
    [[at("other/any.json")], 2, "the name does not say which source"],
    [[at("kernels/scale.tc"), at("other/broken.json")], 3, "other/broken.json: "],
    [[at("kernels/scale.tc"), at("other/none.json")], 2, "No such file"],
  ];
  for (const [args, status, message] of wrong) {
    const { code, stderr } = await tune(workspace, ["--merge", ...args]);
    assertEquals([code, stderr.includes(message)], [status, true], stderr);
  }
  assertEquals(workspace.files("kernels").has("kernels/scale.tune.json"), false);
  // With its source stated, a file may have any name.
  const { code, stdout } = await tune(workspace, [
    at("kernels/scale.tc"),
    "--merge",
    at("other/any.json"),
  ]);
  assertEquals(code, 0);
  assertStringIncludes(stdout, "1 file merged into ");
});
