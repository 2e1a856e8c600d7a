/** The page of resources; tests/compiler/lower/assemble_test.ts holds shipped kernels to its rule that none spills. */
import { printPage, readEntries } from "../../scripts/resource_page.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";

/** Two entries of a kernel for two targets. */
function manifestOf(spillStoreBytes: number): string {
  const entries = ["k_float32", "k_float32_a16"].map((symbol) => ({
    symbol,
    threads: 128,
    sharedBytes: 1024,
  }));
  const resources = { registers: 40, sharedBytes: 24, stackBytes: 0, spillLoadBytes: 0 };
  return JSON.stringify({
    sources: {
      k: {
        k: {
          images: ["sm_80", "sm_90a"].map((target) => ({ kind: "cubin", target, entries })),
          resources: {
            sm_80: {
              k_float32: { ...resources, spillStoreBytes },
              k_float32_a16: { ...resources, spillStoreBytes: 0 },
            },
          },
        },
      },
    },
  });
}

Deno.test("readEntries() joins what ptxas says with what the launch adds", () => {
  const entries = readEntries(manifestOf(0));
  assertEquals(
    entries.map(({ symbol, target, resources, occupancy }) => [
      symbol,
      target.name,
      resources.sharedBytes,
      occupancy.blocks,
    ]),
    [["k_float32", "sm_80", 1048, 12], ["k_float32_a16", "sm_80", 1048, 12]],
  );
});

Deno.test("printPage() folds equal entries and names those that spill", () => {
  const page = printPage(readEntries(manifestOf(0)), ["13.0.88"]);
  assertStringIncludes(page, "**No entry spills**");
  assertStringIncludes(
    page,
    "| `float32`, `float32_a16` | 128     | –     | 40 · 1048 · 12 (75 % r) |",
  );
  const spilled = printPage(readEntries(manifestOf(8)), ["13.0.88"]);
  assertStringIncludes(spilled, "**Entries that spill: 1**: k_float32 (sm_80)");
});
