/** Where there is no shared memory, as in a page without cross-origin isolation, launches give the same. */
import { assert, assertEquals } from "../support/assert.ts";
import { testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(3);

const ROOT = new URL("../../", import.meta.url).pathname;
const PROGRAM = `${ROOT}tests/emulator/unshared_program.ts`;

async function outputOf(kind: "shared" | "unshared"): Promise<string> {
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--config", `${ROOT}deno.json`, PROGRAM, kind],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

test("the emulator gives equal results without SharedArrayBuffer", async () => {
  const [shared, unshared] = await Promise.all([outputOf("shared"), outputOf("unshared")]);
  assert(shared.includes('"kind":"race"'));
  assertEquals(unshared, shared);
});
