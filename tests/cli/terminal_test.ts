/** What commands do when their output is not read, or cannot be written. */
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { STUB_MAIN, Workspace } from "./support/tri_process.ts";
import { Shop } from "./support/shop.ts";

const BAD = { "kernels/a.tc": "kernel foo\nerror oops\n" };
const GOOD = { "kernels/a.tc": "kernel foo\n" };

/** Runs `tri` with its streams as a shell redirects them; `{}` is the command. */
async function shell(workspace: Workspace, line: string, ...args: string[]): Promise<string> {
  const tri = [Deno.execPath(), "run", "-q", "-A", "--no-check", STUB_MAIN, ...args];
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", line.replace("{}", tri.map((word) => `'${word}'`).join(" "))],
    cwd: workspace.path,
    stderr: "null",
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("tri keeps its exit code when its output is closed, and prints no stack trace", async () => {
  using workspace = new Workspace(BAD);
  for (const args of [["check", "kernels"], ["check", "kernels", "--json"]]) {
    assertEquals(
      await shell(workspace, "{ {}; echo $? >&3; } 2>&1 3>code | true; cat code", ...args),
      "1",
    );
  }
});

Deno.test("tri build finishes when its output is closed", async () => {
  using workspace = new Workspace(GOOD);
  const args = ["build", "kernels", "--out", "out", "--arch", "sm_80", "--no-cubin", "--json"];
  assertEquals(
    await shell(workspace, "{ {}; echo $? >&3; } 2>&1 3>code | true; cat code", ...args),
    "0",
  );
  assert(workspace.files("out").has("out/mod.ts"));
});

Deno.test("tri with closed streams says what it can and exits as ever", async () => {
  using workspace = new Workspace(BAD);
  for (const streams of ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]) {
    assertEquals(
      await shell(workspace, `{} ${streams}; echo $? >code; cat code`, "check", "kernels"),
      "1",
    );
  }
});

Deno.test({
  name: "tri exits with 3 and a reason where its result cannot be written",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    using workspace = new Workspace(GOOD);
    const args = ["inspect", "kernels/a.tc", "--stage", "ptx"];
    const said = await shell(workspace, "{} 2>&1 >/dev/full; echo $?", ...args);
    assertStringIncludes(said, "No space left on device");
    assertStringIncludes(said, "\n3");
    assert(!said.includes("    at "), said);
    const json = await shell(
      workspace,
      "{} 2>&1 >/dev/full; echo $?",
      "check",
      "kernels",
      "--json",
    );
    assert(json.endsWith("\n3") && !json.includes("    at "), json);
  },
});

Deno.test("tri build --watch ends when its output is closed", async () => {
  using shop = new Shop(GOOD);
  const args = ["build", "kernels", "--out", "out", "--arch", "sm_80", "--no-cubin", "--watch"];
  const child = shop.command(args, shop.options).spawn();
  await child.stderr.cancel();
  await child.stdout.cancel();
  assertEquals((await child.status).code, 0);
  assert(shop.files("out").has("out/mod.ts"));
});
