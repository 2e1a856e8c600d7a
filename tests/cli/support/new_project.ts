/** A project made by `tri new` of this checkout, which links it in place of the package that it imports from JSR. */
import { assertEquals } from "../../support/assert.ts";

const ROOT = new URL("../../../", import.meta.url);

/** Runs `tri new` in a folder; the result is the project's folder. */
export async function newProject(
  folder: string,
  name: string,
  ...options: string[]
): Promise<string> {
  const config = new URL("deno.json", ROOT).pathname;
  const main = new URL("cli/main.ts", ROOT).pathname;
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "-A", "--no-check", "--config", config, main, "new", name, ...options],
    cwd: folder,
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  return `${folder}/${name}`;
}
