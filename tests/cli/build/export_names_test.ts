/** Names that the user chooses for what wrappers export, from the command to wrappers that run. */
import { BUILDS_EXAMPLE } from "../../../cli/project/settings_docs.ts";
import { assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { typeErrors } from "../../support/tools/type_check.ts";
import { REAL_MAIN, type TriResult, Workspace } from "../support/tri_process.ts";

const test = testsInTurn(2);

const SCALE = `// Multiplies a vector.
__global__ void scale(const float *X, float *Y, int n) {
  int r[64] = get_program_id(0) * 64 + 0 ... 64;
  *?(r < n) (Y + r) = *?(r < n) (X + r) * FACTOR;
}
`;
const SHIFT = SCALE.replace("*?(r < n) (X + r) * FACTOR", "*?(r < n) (X + r) + 10");

function workspaceOf(tri: unknown, files: Readonly<Record<string, string>>): Workspace {
  return new Workspace({
    ...files,
    "deno.json": JSON.stringify({
      links: [new URL("../../../", import.meta.url).pathname],
      imports: { "@tri/tri": "jsr:@tri/tri@^0.1.0" },
      tri,
    }),
  });
}

async function tri(
  workspace: Workspace,
  command: string,
  ...more: string[]
): Promise<TriResult> {
  const out = command === "build" ? ["--out", "out", "--no-cubin"] : [];
  const words = [command, "kernels", "--arch", "sm_90", ...out, ...more];
  return await workspace.tri(words, { main: REAL_MAIN });
}

async function run(workspace: Workspace, lines: readonly string[]): Promise<string> {
  const program = [
    'import { Device } from "@tri/tri/ffi";',
    'using device = Device.open({ device: "emulator" });',
    "const x = device.tensor(Float32Array.from([1, 2, 3]), [3]);",
    ...lines,
  ];
  workspace.write("main.ts", program.join("\n"));
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "--no-check", "-A", "main.ts"],
    cwd: workspace.path,
    env: { NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder();
  return `${text.decode(stdout)}${text.decode(stderr)}`;
}

test("tri build gives the builds of a file wrappers and names of their own", async () => {
  using workspace = workspaceOf(BUILDS_EXAMPLE, { "kernels/scale.tc": SCALE });
  const built = await tri(workspace, "build");
  assertEquals(built.code, 0, built.stderr);
  assertEquals(
    [...workspace.files("out").keys()].filter((name) => !name.includes(".tri")).toSorted(),
    [
      "out/manifest.json",
      "out/mod.ts",
      "out/scale_large.ts",
      "out/scale_large/scale.sm_90.ptx",
      "out/scale_small.ts",
      "out/scale_small/scale.sm_90.ptx",
    ],
  );
  const manifest: { sources: Record<string, Record<string, { export?: string }>> } = JSON.parse(
    workspace.read("out/manifest.json"),
  );
  assertEquals(manifest.sources["scale_small"]?.["scale"]?.export, "scaleByTwo");
  const said = await run(workspace, [
    'import { scaleByThousand, type ScaleByThousandKernel, scaleByTwo } from "./out/mod.ts";',
    "const kernel: ScaleByThousandKernel = scaleByThousand;",
    'for (const one of [kernel, scaleByTwo]) console.log((await one(x).read()).join(" "));',
  ]);
  assertEquals(said, "1000 2000 3000\n2 4 6\n");
  assertEquals(await typeErrors(workspace.path, ["main.ts"]), "");
  assertMatch((await tri(workspace, "build")).stderr, /^nothing to do/);
  assertEquals((await tri(workspace, "check")).code, 0);
  const config = await tri(workspace, "config");
  assertMatch(
    config.stdout,
    /scale.tc as scale_small +export of scale +scaleByTwo +deno.json/,
  );

  const { files: { "kernels/scale.tc": { builds: { scale_small } } } } = BUILDS_EXAMPLE;
  workspace.write(
    "deno.json",
    JSON.stringify({ tri: { files: { "kernels/scale.tc": { builds: { scale_small } } } } }),
  );
  assertEquals((await tri(workspace, "build")).code, 0);
  const left = [...workspace.files("out").keys()].filter((name) => name.includes("large"));
  assertEquals(left, [], "what a build of the settings wrote goes with it");
});

test("tri build says where kernels of one name are exported, and how to choose names", async () => {
  const kernels = { "kernels/a.tc": SHIFT, "kernels/b.tc": SHIFT.replace("10", "20") };
  using workspace = workspaceOf({}, kernels);
  const alike = await tri(workspace, "build");
  assertStringIncludes(
    alike.stderr,
    'note: scale is exported by a, b; the index has an alias for each, scale and the path. Other names: "exports"',
  );
  workspace.write(
    "deno.json",
    workspace.read("deno.json").replace(
      '"tri":{}',
      '"tri":{"files":{"kernels/b.tc":{"exports":{"scale":"addTwenty"}}}}',
    ),
  );
  const chosen = await tri(workspace, "build");
  assertEquals([chosen.code, chosen.stderr.includes("note:")], [0, false], chosen.stderr);
  const said = await run(workspace, [
    'import { addTwenty, scale } from "./out/mod.ts";',
    'for (const one of [scale, addTwenty]) console.log((await one(x).read()).join(" "));',
  ]);
  assertEquals(said, "11 12 13\n21 22 23\n");
});

Deno.test("tri build --export names a kernel, as JavaScript too", async () => {
  using workspace = workspaceOf({}, { "kernels/a.tc": SHIFT });
  const built = await tri(workspace, "build", "--export", "scale=shift", "--emit", "js");
  assertEquals(built.code, 0, built.stderr);
  assertStringIncludes(workspace.read("out/a.js"), "export const shift");
  assertStringIncludes(workspace.read("out/a.d.ts"), "export interface ShiftKernel");
  for (
    const [value, problem] of [
      ["scale", "--export scale: not of the form KERNEL=NAME"],
      ["scale=a-b", "--export scale=a-b: Not a name that a module can export: a-b"],
      ["scale=delete", "--export scale=delete: delete is a word of TypeScript or of wrappers"],
      ["scal=shift", "--export scal: there is no such kernel"],
    ] as const
  ) {
    const { code, stderr } = await tri(workspace, "build", "--force", "--export", value);
    assertEquals(code, 2, stderr);
    assertStringIncludes(stderr, problem);
  }
});

Deno.test("tri check points at wrong names of exports and builds", async () => {
  const tri_ = (file: unknown): unknown => ({ files: { "kernels/a.tc": file } });
  const two = `${SHIFT}${SHIFT.replace("void scale", "void shift_all")}`;
  for (
    const [file, problem] of [
      [{ exports: { scal: "x" } }, "No kernel scal to export in this file"],
      [{ exports: { scale: "a b" } }, "Not a name that a module can export: a b"],
      [{ exports: { scale: "x", shift_all: "x" } }, "x is the name of scale already"],
      [{ exports: { scale: "shiftAll" } }, "scale is exported as shiftAll too"],
      [{ builds: { "a/b": {} } }, "Not the name of a build: a/b"],
      [{ builds: { a: { builds: {} } } }, 'Unknown key "builds" in "a"'],
    ] as const
  ) {
    using workspace = workspaceOf(tri_(file), { "kernels/a.tc": two });
    const { code, stderr } = await tri(workspace, "check");
    assertEquals(code, 1, stderr);
    assertStringIncludes(stderr, problem);
  }
});

Deno.test("tri build writes files of one name by builds of the settings", async () => {
  const files = { "a/scale.tc": SHIFT, "b/scale.tc": SHIFT };
  using clash = workspaceOf({}, files);
  const words = ["build", "a", "b", "--out", "out", "--no-cubin", "--arch", "sm_90"];
  const refused = await clash.tri(words, { main: REAL_MAIN });
  assertEquals(refused.code, 2);
  assertStringIncludes(
    refused.stderr,
    '{"tri": {"files": {"b/scale.tc": {"builds": {"NAME": {}}}}}}',
  );
  using mended = workspaceOf({ files: { "b/scale.tc": { builds: { other: {} } } } }, files);
  const built = await mended.tri(words, { main: REAL_MAIN });
  assertEquals(built.code, 0, built.stderr);
  assertStringIncludes(mended.read("out/mod.ts"), "scale as scale_other");
});
