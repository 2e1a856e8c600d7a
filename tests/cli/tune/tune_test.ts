/** `tri tune` on two GPUs that are emulators with a made-up clock, and what `tri build` makes of its timings. */
import { Device, type LaunchProfile } from "../../../ffi/mod.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { testsInTurn } from "../../support/sampled.ts";
import {
  REAL_MAIN,
  type RunOptions,
  type TriResult,
  TUNE_MAIN,
  Workspace,
} from "../support/tri_process.ts";

const test = testsInTurn(2);

const BODY = `__global__ void scale(float *X, float *Y, int n) {
  int r[TM] = get_program_id(0) * TM + 0 ... TM;
  *?(r < n) (Y + r) = *?(r < n) (X + r) * 2;
}
`;
const SCALE = `#pragma tri configs TM in {256, 64, 128}\n${BODY}`;

async function tune(
  workspace: Workspace,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<TriResult> {
  return await workspace.tri(["tune", "kernels", ...args], { main: TUNE_MAIN, env });
}

/** As a process that may do what it needs. */
function tuneProcess(workspace: Workspace, env: Readonly<Record<string, string>>): RunOptions {
  return {
    main: TUNE_MAIN,
    permissions: [
      "--allow-read",
      `--allow-write=${workspace.path}/kernels`,
      "--allow-env",
      `--allow-run=${Deno.execPath()}`,
    ],
    env,
  };
}

async function build(workspace: Workspace, ...args: readonly string[]): Promise<TriResult> {
  return await workspace.tri(
    ["build", "kernels", "--out", "out", "--arch", "sm_90", "--no-cubin", ...args],
    { main: REAL_MAIN },
  );
}

interface Timed {
  readonly microseconds?: number;
  readonly rounds?: number;
  readonly failed?: string;
}

/** Timings of `scale` by specialisation and key. */
function timings(workspace: Workspace): Record<string, Record<string, Record<string, Timed>>> {
  return JSON.parse(workspace.read("kernels/scale.tune.json")).gpus["Test GPU"].kernels.scale
    .default;
}

/** The keys of specialised code, as far as there are any yet. */
function keysOf(workspace: Workspace): readonly string[] {
  const there = workspace.files("kernels").has("kernels/scale.tune.json");
  return there ? Object.keys(timings(workspace)["a16"] ?? {}) : [];
}

test("tri tune times configurations by key, prunes the slow, and writes one sorted line for each", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  const { code, stdout, stderr } = await workspace.tri(
    ["tune", "kernels", "--size", "n=96", "--size", "n=1000"],
    tuneProcess(workspace, {}),
  );
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, "scale default a16 n=96 on Test GPU\n  TM=64   64000 µs\n");
  assertStringIncludes(stdout, "  TM=128  128000 µs  2.00 times as long\n");
  const lines = workspace.read("kernels/scale.tune.json").split("\n")
    .map((line) => line.replace(/"code": "[0-9a-f]{16}"/, "CODE"));
  assertEquals(lines, [
    "{",
    '  "format": 1,',
    '  "gpus": {',
    '    "Test GPU": {',
    '      "arch": "sm_90",',
    '      "kernels": {',
    '        "scale": {',
    '          "default": {',
    '            "a16": {',
    ...[96, 1000].flatMap((n) => [
      `              "n=${n}": {`,
      '                "TM=64": { CODE, "microseconds": 64000, "rounds": 9 },',
      '                "TM=128": { CODE, "microseconds": 128000, "rounds": 3 },',
      '                "TM=256": { CODE, "microseconds": 256000, "rounds": 3 }',
      n === 96 ? "              }," : "              }",
    ]),
    "            }",
    "          }",
    "        }",
    "      }",
    "    }",
    "  }",
    "}",
    "",
  ]);
  assertEquals(
    [...workspace.files("kernels").keys()],
    [
      "kernels/scale.tc",
      "kernels/scale.tune.json",
    ].filter((name) => workspace.files("kernels").has(name)),
  );
});

test("tri tune times what has no timing yet: new configurations, changed code, or all with --force", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  await tune(workspace, ["--size", "n=96"]);
  const first = workspace.read("kernels/scale.tune.json");
  const again = await tune(workspace, ["--size", "n=96"]);
  assertStringIncludes(again.stdout, "3 of 3 were known");
  assertEquals(workspace.read("kernels/scale.tune.json"), first);

  workspace.write(
    "kernels/scale.tc",
    `// Longer.\n#pragma tri configs TM in {512, 64, 128}\n\n${BODY}`,
  );
  const added = await tune(workspace, ["--size", "n=96"]);
  assertStringIncludes(added.stdout, "2 of 3 were known");
  assertEquals(Object.keys(timings(workspace)["a16"]?.["n=96"] ?? {}), [
    "TM=64",
    "TM=128",
    "TM=256",
    "TM=512",
  ]);

  workspace.write("kernels/scale.tc", SCALE.replace("* 2", "* 3"));
  assertStringIncludes((await tune(workspace, ["--size", "n=96"])).stdout, "n=96 on Test GPU\n");
  const forced = await tune(workspace, ["--size", "n=96", "--force"]);
  assertStringIncludes(forced.stdout, "n=96 on Test GPU\n");
});

test("tri tune continues where it was interrupted", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  const sizes = ["--size", "n=96", "--size", "n=1000", "--size", "n=4096"];
  // The two GPUs are done with a run of 18 timings each, and one is at the third.
  const process = workspace.command(
    ["tune", "kernels", ...sizes, "--timeout", "600"],
    tuneProcess(workspace, { TRI_TEST_HANG_AFTER: "20" }),
  ).spawn();
  while (keysOf(workspace).length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  process.kill("SIGINT");
  const [{ signal }] = await Promise.all([
    process.status,
    process.stdout.cancel(),
    process.stderr.cancel(),
  ]);
  assertEquals([signal, keysOf(workspace)], ["SIGINT", ["n=96", "n=1000"]]);
  const { code, stdout } = await tune(workspace, sizes);
  assertEquals(code, 0);
  assertEquals(
    stdout.split("\n").filter((line) => line.startsWith("scale")),
    [
      "n=96 on Test GPU; 3 of 3 were known",
      "n=1000 on Test GPU; 3 of 3 were known",
      "n=4096 on Test GPU",
    ]
      .map((end) => `scale default a16 ${end}`),
  );
});

test("tri tune continues without configurations that fail, do not fit, or do not compile", async () => {
  using workspace = new Workspace({
    "kernels/scale.tc": SCALE.replace("{256, 64, 128}", "{256, 64, 128, 100}"),
  });
  const { code, stdout, stderr } = await tune(workspace, ["--size", "n=96"], {
    TRI_TEST_FAULT: "TM=64",
  });
  assertEquals(code, 0);
  assertMatch(stderr, /dropped: scale, TM=100: E\d{4} /);
  assertStringIncludes(stdout, "  TM=64   dropped: cuEventQuery failed with CUDA_ERROR_ILLEGAL");
  const found = timings(workspace)["a16"]?.["n=96"] ?? {};
  assertStringIncludes(found["TM=64"]?.failed ?? "", "CUDA_ERROR_ILLEGAL_ADDRESS");
  assertEquals([found["TM=128"]?.rounds, found["TM=256"]?.rounds], [9, 3]);
});

test("tri tune ends the process of a configuration that never ends or crashes, and continues without it", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  const sizes = ["--size", "n=96"];
  const first = await tune(workspace, [...sizes, "--timeout", "3"], {
    TRI_TEST_HANG: "TM=64",
    TRI_TEST_CRASH: "TM=128",
  });
  assertEquals([first.code, first.stderr], [0, ""]);
  const found = timings(workspace)["a16"]?.["n=96"] ?? {};
  assertEquals(found["TM=64"]?.failed, "did not end within 3 s");
  assertEquals(found["TM=128"]?.failed, "the process that timed it ended with code 7");
  assertEquals(found["TM=256"]?.rounds, 9);
  const again = await tune(workspace, sizes);
  assertStringIncludes(again.stdout, "n=96 on Test GPU; 3 of 3 were known");
  assertStringIncludes(again.stdout, "  TM=64   dropped: did not end within 3 s");
});

Deno.test("tri tune says what it lacks: a choice, a parameter, a sound file of timings", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  const unknown = await tune(workspace, ["--size", "m=96"]);
  assertEquals(unknown.code, 2);
  assertStringIncludes(unknown.stderr, "no kernel here has a parameter m");
  const never = await tune(workspace, ["--timeout", "soon"]);
  assertEquals(never.code, 2);
  assertStringIncludes(never.stderr, "--timeout soon is not a number of seconds");
  const alone = await workspace.tri(["tune", "kernels", "--size", "n=96"], {
    main: TUNE_MAIN,
    permissions: ["--allow-read", "--allow-env"],
  });
  assertEquals(alone.code, 3);
  assertStringIncludes(alone.stderr, "may not start the process that times on a GPU");
  workspace.write("kernels/scale.tune.json", '{"format": 1, "gpus": {"X": 3}}');
  const broken = await tune(workspace, ["--size", "n=96"]);
  assertEquals(broken.code, 3);
  assertStringIncludes(broken.stderr, "scale.tune.json: not what tri tune writes");
  workspace.write("kernels/scale.tc", SCALE.replace("{256, 64, 128}", "{64}"));
  const none = await tune(workspace, []);
  assertEquals(none.code, 2);
  assertStringIncludes(none.stderr, "no kernel here has more than one configuration");
});

test("tri tune --estimate ranks by a model, says so, and writes nothing", async () => {
  using workspace = new Workspace({
    "kernels/scale.tc": `#pragma tri configs TM in {32, 256}; num_warps in {1, 8}\n${BODY}`,
  });
  const args = ["tune", "kernels", "--size", "n=16777216"];
  const options = { main: REAL_MAIN, permissions: ["--allow-read", "--allow-env"] };
  const asked = await workspace.tri([...args, "--estimate"], options);
  assertEquals([asked.code, asked.stderr], [0, ""]);
  const [note, , head, columns, ...rows] = asked.stdout.trimEnd().split("\n");
  assertMatch(note ?? "", /^An estimate .* nothing was timed, nothing is written\.$/);
  assertEquals(head, "scale default a16 n=16777216 for sm_90");
  assertMatch(columns ?? "", /^ {2}configuration +registers .* estimate$/);
  assertEquals(rows.length, 4);
  // One element a thread in blocks of one warp is the slowest way; the best is the unit.
  assertMatch(rows[0] ?? "", /^ {2}TM=256; .* 1\.00$/);
  assertMatch(rows[3] ?? "", /^ {2}TM=32; /);
  // Without a GPU the same is what there is to say, and the exit code says that it is not what was asked for.
  const instead = await workspace.tri(args, options);
  assertEquals([instead.code, instead.stdout], [3, asked.stdout]);
  assertStringIncludes(instead.stderr, "No GPU to time on: ");
  // A machine of a fleet has nothing to say without one.
  const part = await workspace.tri([...args, "--shard", "1/2"], options);
  assertEquals([part.code, part.stdout], [3, ""]);
  assertStringIncludes(part.stderr, "No GPU to time on: ");
  assertEquals([...workspace.files("kernels").keys()], ["kernels/scale.tc"]);
});

/** The kernel as the built wrapper has it. */
interface Scale {
  launch(args: Record<string, unknown>, options: { profile: true }): LaunchProfile;
}

test("tri build ships the winners, and their wrapper launches the one for the key", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  assertEquals((await build(workspace)).code, 0);
  const untuned = workspace.read("out/scale.ts");
  assert(!untuned.includes("tuning"));
  const line = (config: string, microseconds: number): string =>
    `"${config}": { "code": "x", "microseconds": ${microseconds}, "rounds": 9 }`;
  const keys = `"n=1024": { ${line("TM=64", 1)}, ${line("TM=256", 2)} },
    "n=16384": { ${line("TM=8192", 1)}, ${line("TM=128", 2)}, ${line("TM=64", 3)} }`;
  workspace.write(
    "kernels/scale.tune.json",
    `{"format": 1, "gpus": {"Some GPU": {"arch": "sm_90", "kernels": {"scale": {"default": {"a16": {${keys}}}}}}}}`,
  );
  const checked = await build(workspace, "--check");
  assertEquals(checked.code, 1);
  assertStringIncludes(checked.stdout + checked.stderr, "the options changed");
  assertEquals((await build(workspace)).code, 0);
  assertEquals(
    [...new Set(workspace.read("out/manifest.json").match(/\bscale_a16\w*|TM=\d+/g))],
    ["scale_a16", "scale_a16_TM64", "scale_a16_TM128", "TM=256", "TM=64", "TM=128"],
  );

  const { scale }: { scale: Scale } = await import(`file://${workspace.path}/out/scale.ts`);
  using device = Device.open({ device: "emulator", arch: "sm_90" });
  const launched: [number, string][] = [];
  for (const n of [16, 1024, 2048, 8192, 16384, 1023]) {
    using X = device.tensor(new Float32Array(n).fill(n), [n]);
    using Y = device.zeros("float32", [n]);
    launched.push([n, scale.launch({ X, Y, n }, { profile: true }).kernel]);
    assertEquals(new Set(await Y.read()), new Set([2 * n]));
  }
  assertEquals(launched, [
    [16, "scale_a16_TM64"],
    [1024, "scale_a16_TM64"],
    [2048, "scale_a16_TM64"],
    [8192, "scale_a16_TM128"],
    [16384, "scale_a16_TM128"],
    [1023, "scale"],
  ]);

  assertEquals((await build(workspace, "--configs", "first")).code, 0);
  assertEquals(workspace.read("out/scale.ts"), untuned);
  assertEquals((await build(workspace, "--configs", "all")).code, 0);
  assertStringIncludes(workspace.read("out/manifest.json"), "scale_TM128");
  const wrong = await build(workspace, "--configs", "some");
  assertEquals([wrong.code, wrong.stdout], [2, ""]);
});

Deno.test("tri tune refuses a --kernel that no source has", async () => {
  using workspace = new Workspace({ "kernels/scale.tc": SCALE });
  const { code, stderr } = await tune(workspace, ["--kernel", "scael", "--num-warps", "4"]);
  assertEquals(code, 2, stderr);
  assertStringIncludes(stderr, "--kernel scael: there is no such kernel\nDid you mean scale?");
});
