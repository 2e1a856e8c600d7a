/** Runs a program of a test's folder as a user would. */
import { assertEquals } from "../../support/assert.ts";
import { typeErrors } from "../../support/tools/type_check.ts";
import type { Workspace } from "./tri_process.ts";

const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

/** What the program prints, after TypeScript has checked it. */
export async function runChecked(workspace: Workspace, name: string): Promise<string> {
  assertEquals(await typeErrors(workspace.path, [`./${name}`]), "");
  return await runUnchecked(workspace, name);
}

/** What the program prints. */
export async function runUnchecked(workspace: Workspace, name: string): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "-A", "--no-check", "--config", CONFIG, `./${name}`],
    cwd: workspace.path,
    env: { TRI_DEVICE: "emulator" },
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}
