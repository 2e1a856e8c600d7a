import fc from "../../support/property.ts";
import { mapPool, runProcess } from "../../../cli/tools/process.ts";
import { assert, assertEquals } from "../../support/assert.ts";

Deno.test("runProcess() passes more bytes than a pipe holds in both directions", async () => {
  const input = new Uint8Array(1 << 20).map((_, index) => index * 31);
  const { code, stdout, stderr } = await runProcess("/bin/cat", [], input);
  assertEquals([code, stderr], [0, ""]);
  assert(stdout.length === input.length && stdout.every((byte, index) => byte === input[index]));
});

Deno.test("runProcess() does not mind a program that reads nothing", async () => {
  const { code, stderr } = await runProcess(
    "/bin/sh",
    ["-c", "echo no >&2; exit 7"],
    "x".repeat(1 << 20),
  );
  assertEquals([code, stderr], [7, "no\n"]);
});

Deno.test("runProcess() gives 127 and the reason for a program that is not there", async () => {
  const { code, stderr } = await runProcess("/nowhere/program", []);
  assertEquals(code, 127);
  assert(stderr !== "");
});

Deno.test("mapPool() keeps the order and never does more at once than allowed", async () => {
  const delays = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(delays, fc.integer({ min: 1, max: 4 }), async (ticks, limit) => {
      let running = 0;
      let most = 0;
      const results = await mapPool(ticks, limit, async (count) => {
        most = Math.max(most, ++running);
        for (let i = 0; i < count; i++) await Promise.resolve();
        running--;
        return count * 2;
      });
      assertEquals(results, ticks.map((count) => count * 2));
      assert(most <= limit);
    }),
  );
});
