/** What profiles say of asynchronous copies. */
import { accessOf } from "../../../emulator/access/state.ts";
import { encodeTensorMap } from "../../../emulator/async/tensor_map.ts";
import { type AccessCounters, newCounters } from "../../../emulator/count/counters.ts";
import { sumCounters } from "../../../emulator/count/log.ts";
import { assertEquals } from "../../support/assert.ts";
import { ALL, Bench } from "./bench.ts";

function profiled(): Bench {
  const bench = new Bench({ checks: false, sharedBytes: 0x8000 });
  bench.machine.profile = true;
  return bench;
}

function counters(bench: Bench): AccessCounters {
  return sumCounters(accessOf(bench.machine).counters.sites());
}

Deno.test("cp.async counts as a load and a store", () => {
  const bench = profiled();
  bench.set("r1", (lane) => lane * 16);
  bench.setLong("rd1", (lane) => bench.pointer(lane * 16));
  bench.run("cp.async.cg.shared.global [%r1], [%rd1], 16;", ALL);
  const whole = { requests: 1, bytes: 512, sectors: 16, idealSectors: 16, lines: 4 };
  assertEquals(counters(bench), { ...newCounters(), ...whole, sharedRequests: 1, wavefronts: 4 });

  // Lanes that read nothing write zeros; 128 bytes apart, eight lanes want the same banks.
  const sparse = profiled();
  sparse.set("r1", (lane) => lane * 128);
  sparse.setLong("rd1", (lane) => sparse.pointer(lane * 64));
  sparse.set("r3", (lane) => lane < 8 ? 16 : 0);
  sparse.run("cp.async.cg.shared.global [%r1], [%rd1], 16, %r3;", ALL);
  assertEquals(counters(sparse), {
    ...newCounters(),
    requests: 1,
    bytes: 128,
    sectors: 8,
    idealSectors: 4,
    lines: 4,
    sharedRequests: 1,
    wavefronts: 32,
    bankConflicts: 28,
  });
});

Deno.test("Bulk copies count what they move of global memory, side by side as one request", () => {
  const bench = profiled();
  bench.setLong("rd1", bench.pointer(0x1010));
  bench.set("r1", 0x400);
  bench.run("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 1024;", 1);
  const expected = { requests: 1, bytes: 1024, sectors: 33, idealSectors: 32, lines: 9 };
  assertEquals(counters(bench), { ...newCounters(), ...expected });

  const boxes = profiled();
  const map = {
    type: "float16",
    address: boxes.pointer(0),
    extents: [128, 16],
    strides: [256],
    box: [64, 8],
    elementStrides: [1, 1],
    interleave: "none",
    swizzle: "128B",
    promotion: "none",
    fill: "zero",
  } as const;
  boxes.globalBytes.set(encodeTensorMap(map), 0x8000);
  boxes.setLong("rd1", boxes.pointer(0x8000));
  boxes.set("r1", 1024);
  boxes.set("r10", 64);
  boxes.set("r11", 8);
  boxes.run(
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r10, %r11}], [%r1];",
    1,
  );
  const rows = { requests: 8, bytes: 1024, sectors: 32, idealSectors: 32, lines: 8 };
  assertEquals(counters(boxes), { ...newCounters(), ...rows });
});
