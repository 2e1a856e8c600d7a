/** Occupancy, worked out by hand. */
import { occupancyOf } from "../../../cli/report/occupancy.ts";
import { TARGETS } from "../../../compiler/targets.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("occupancyOf() is bounded by warps, blocks, registers or shared memory", () => {
  const needs = { threads: 128, registers: 32, sharedBytes: 0 };
  const at = (name: keyof typeof TARGETS, more: Partial<typeof needs>): unknown => {
    const { blocks, warps, share, limit } = occupancyOf(TARGETS[name], { ...needs, ...more });
    return [blocks, warps, share, limit];
  };
  assertEquals(at("sm_80", {}), [16, 64, 1, "warps"]);
  assertEquals(at("sm_75", {}), [8, 32, 1, "warps"]);
  assertEquals(at("sm_86", { threads: 32 }), [16, 16, 1 / 3, "blocks"]);
  // 255 registers of 32 lanes round up to 8192: two warps in each quarter of 65536.
  assertEquals(at("sm_90", { registers: 255 }), [2, 8, 1 / 8, "registers"]);
  assertEquals(at("sm_90", { registers: 168 }), [3, 12, 12 / 64, "registers"]);
  // One KiB for the system: (48 + 1) KiB four times in 228.
  assertEquals(at("sm_90", { sharedBytes: 49152 }), [4, 16, 1 / 4, "shared memory"]);
  assertEquals(at("sm_70", { sharedBytes: 49152 }), [2, 8, 1 / 8, "shared memory"]);
  assertEquals(at("sm_120", { sharedBytes: 101376 }), [1, 4, 1 / 12, "shared memory"]);
});

Deno.test("occupancyOf() lets one block have what a block can have at most", () => {
  for (const target of Object.values(TARGETS)) {
    const needs = { threads: 1024, registers: 64, sharedBytes: target.sharedBytesPerBlock };
    assertEquals(occupancyOf(target, needs).blocks, 1, target.name);
  }
});
