import config from "../../deno.json" with { type: "json" };
import { packageScript } from "../../cli/new/package_script.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { testsInTurn } from "../support/sampled.ts";
import { typeErrors } from "../support/tools/type_check.ts";
import { newProject } from "./support/new_project.ts";
import { REAL_MAIN, Workspace } from "./support/tri_process.ts";

const test = testsInTurn(2);

const CLI = "@tri/tri/cli";

async function deno(cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd,
    env: { NO_COLOR: "1", TRI_DEVICE: "emulator" },
  }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assertEquals(code, 0, text);
  return text;
}

test("tri new makes a project that builds, is clean, and passes its test on the emulator", async () => {
  using workspace = new Workspace();
  const project = await newProject(workspace.path, "my_kernel");

  const build = ["tri", "build", "kernels", "--out", "generated"];
  await deno(project, "task", "-q", ...build, "--arch", "sm_90", "--no-cubin");
  const programs = ["tests/my_kernel_test.ts", "bench/my_kernel.ts"];
  assertEquals(await typeErrors(project, programs), "");
  assertStringIncludes(await deno(project, "test", "--no-check", "-P=gpu", "tests/"), "1 passed");
  // With the settings, lint would ask JSR about the package.
  await deno(project, "lint", "-q", "--no-config", "tests", "bench");
  await deno(project, "fmt", "--check", "kernels", "tests", "bench", "README.md");
});

test("tri bench may write where a new project's settings let it", async () => {
  using workspace = new Workspace();
  const project = await newProject(workspace.path, "my_kernel");
  const recording = new URL("../../docs/plots/transpose.json", import.meta.url);
  Deno.copyFileSync(recording, `${project}/recorded.json`);
  for (const folder of ["bench", "generated/bench"]) {
    await deno(project, "run", "-q", "-P=bench", CLI, "bench", "recorded.json", "--save", folder);
    assert(Deno.statSync(`${project}/${folder}/transpose.svg`).isFile);
  }
});

Deno.test("tri new in a project adds a kernel, and writes nothing where a file is there", async () => {
  using workspace = new Workspace({ "deno.json": "{}", "sub/x": "" });
  const main = { main: REAL_MAIN };
  const { code, stderr } = await workspace.tri(["new", "scale"], main);
  assertEquals(code, 0, stderr);
  assertStringIncludes(stderr, "written: kernels/scale.tc\n");
  assertStringIncludes(workspace.read("tests/scale_test.ts"), "../generated/scale.ts");
  assertEquals(workspace.read("deno.json"), "{}");
  workspace.remove("kernels");
  const again = await workspace.tri(["new", "scale"], main);
  assertEquals(again.code, 2);
  assertStringIncludes(again.stderr, "tests/scale_test.ts is there already");
  assertEquals(workspace.files("kernels").size, 0);
});

Deno.test("tri new refuses what cannot be the name of a kernel", async () => {
  using workspace = new Workspace({ "taken/x": "" });
  const main = { main: REAL_MAIN };
  for (const name of ["Kernel", "1st", "a/b", "float", "device", "taken", "../x"]) {
    const { code, stderr } = await workspace.tri(["new", name], main);
    assertEquals(code, 2, `${name}: ${stderr}`);
  }
  assertEquals((await workspace.tri(["new"], main)).code, 2);
  assertEquals([...workspace.files(".").keys()], ["./taken/x"]);
});

Deno.test("tri new depends on its own version of the run time", () => {
  assert(packageScript().includes(`"@tri/tri": "^${config.version}"`));
});
