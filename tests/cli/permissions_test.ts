import config from "../../deno.json" with { type: "json" };
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { fakePtxas, Workspace } from "./support/tri_process.ts";

const STUB_MAIN = must(import.meta.dirname, "the folder of this test") + "/support/stub_main.ts";
const ROOT = new URL("../../", import.meta.url);

interface Outcome {
  readonly code: number;
  readonly stderr: string;
}

/** Runs with a permission set of deno.json as it is, moved to a project of its own. */
async function runWithSet(
  workspace: Workspace,
  set: keyof typeof config.permissions,
  args: readonly string[],
): Promise<Outcome> {
  const imports = Object.fromEntries(
    Object.entries(config.imports).map(([name, target]) => [
      name,
      target.startsWith("./") ? new URL(target, ROOT).href : target,
    ]),
  );
  workspace.write("deno.json", JSON.stringify({ permissions: config.permissions, imports }));
  workspace.writeProgram("bin/ptxas", fakePtxas({ version: "99.1", archs: ["sm_80"] }));
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "--config", "deno.json", `-P=${set}`, "--no-prompt", STUB_MAIN, ...args],
    cwd: workspace.path,
    // Machines with CUDA usually set the latter, and Deno is careful with it.
    env: { PATH: `${workspace.path}/bin:/bin`, LD_LIBRARY_PATH: "/usr/local/lib" },
    stdout: "piped",
    stderr: "piped",
  }).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}

const BUILD = ["build", "kernels", "--arch", "sm_80", "--out"];

Deno.test("the permission set tri is enough to build into generated/", async () => {
  using workspace = new Workspace({ "kernels/a.tc": "kernel foo\n" });
  const { code, stderr } = await runWithSet(workspace, "tri", [...BUILD, "generated"]);
  assertEquals(code, 0, stderr);
  assertEquals(workspace.read("generated/a/foo.sm_80.cubin"), "\x7fELFimage 99.1 -arch=sm_80");
  const again = await runWithSet(workspace, "tri", [...BUILD, "generated"]);
  assertStringIncludes(again.stderr, "nothing to do");
});

Deno.test("the permission set tri does not let a build write anywhere else", async () => {
  using workspace = new Workspace({ "kernels/a.tc": "kernel foo\n" });
  const { code, stderr } = await runWithSet(workspace, "tri", [...BUILD, "elsewhere"]);
  assertEquals(code, 3);
  assertStringIncludes(stderr, "Requires write access");
  assertEquals(workspace.files("elsewhere").size, 0);
});

Deno.test("the permission set doctor is enough for tri doctor", async () => {
  using workspace = new Workspace();
  const { code, stderr } = await runWithSet(workspace, "doctor", ["doctor", "--json"]);
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("deno.json's tasks use permission sets that exist, and only tests run with all", () => {
  const sets = Object.keys(config.permissions);
  for (const [name, { command }] of Object.entries(config.tasks)) {
    for (const [, set = ""] of command.matchAll(/-P=(\w+)/g)) assert(sets.includes(set), name);
    if (["tri", "doctor", "demo", "build-kernels"].includes(name)) {
      assert(!/ -A | --allow-all/.test(command), name);
    }
  }
});
