/** What a newcomer runs first works without a GPU: the demo. tests/docs runs the programs in README.md. */
import { must } from "../../compiler/support/bug.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";

const ROOT = `${must(import.meta.dirname, "the folder of this test")}/../..`;

async function deno(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env,
  }).output();
  const decoder = new TextDecoder();
  assertEquals([code, decoder.decode(stderr)], [0, ""]);
  return decoder.decode(stdout);
}

Deno.test("scripts/demo.ts transposes on the emulator, says why, and shows counters", async () => {
  const output = await deno(["run", "-q", "-P=gpu", "scripts/demo.ts"], { TRI_DEVICE: "emulator" });
  assertStringIncludes(output, "on tri emulator (sm_90), because TRI_DEVICE is emulator\n");
  assertStringIncludes(output, "transpose(x), 3 x 2:\n  1 4\n  2 5\n  3 6\n");
  assertStringIncludes(output, "0 bank conflicts\n");
});
