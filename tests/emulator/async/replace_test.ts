import { assertEquals, assertThrows } from "../../support/assert.ts";
import type { TensorMap } from "../../../ffi/tensor_map.ts";
import { decodeTensorMap, encodeTensorMap } from "../../../emulator/async/tensor_map.ts";
import { Fault } from "../../../emulator/fault.ts";
import { Bench } from "./bench.ts";

const BEFORE: TensorMap = {
  type: "float16",
  address: 0x7f10_0000_1000n,
  extents: [64, 32],
  strides: [128],
  box: [64, 8],
  elementStrides: [1, 1],
  interleave: "none",
  swizzle: "128B",
  promotion: "none",
  fill: "zero",
};

Deno.test("tensormap.replace changes each field, in global and in shared memory", () => {
  for (const space of ["global", "shared::cta"]) {
    const bench = new Bench({ checks: false });
    const bytes = space === "global" ? bench.globalBytes : bench.sharedBytes();
    bytes.set(encodeTensorMap(BEFORE), 64);
    bench.setLong("rd1", space === "global" ? bench.pointer(64) : 64n);
    const replace = (field: string, type: string, value: string, axis?: number): void => {
      const ordinal = axis === undefined ? "" : `${axis}, `;
      bench.run(
        `tensormap.replace.tile.${field}.${space}.b1024.${type} [%rd1], ${ordinal}${value};`,
        1,
      );
    };
    bench.setLong("rd2", 0x7f10_0002_0000n);
    bench.setLong("rd3", 4096n);
    for (const [name, value] of [["r1", 2], ["r2", 100], ["r3", 16], ["r4", 3]] as const) {
      bench.set(name, value);
    }
    replace("global_address", "b64", "%rd2");
    replace("rank", "b32", "%r1");
    replace("global_dim", "b32", "%r2", 1);
    replace("global_dim", "b32", "%r4", 2);
    replace("box_dim", "b32", "%r3", 0);
    replace("global_stride", "b64", "%rd3", 1);
    replace("element_stride", "b32", "%r4", 1);
    replace("element_stride", "b32", "%r4", 2);
    replace("elemtype", "b32", "10");
    replace("swizzle_mode", "b32", "2");
    replace("fill_mode", "b32", "1");
    assertEquals(decodeTensorMap(bytes.slice(64, 192)), {
      ...BEFORE,
      type: "bfloat16",
      address: 0x7f10_0002_0000n,
      extents: [64, 100, 3],
      strides: [128, 4096],
      box: [16, 8, 1],
      elementStrides: [1, 3, 3],
      swizzle: "64B",
      fill: "nan",
    });
  }
});

Deno.test("tensormap.replace faults where there is no tensor map", () => {
  const bench = new Bench();
  bench.setLong("rd1", bench.pointer(0));
  const run = (): void =>
    bench.run("tensormap.replace.tile.fill_mode.global.b1024.b32 [%rd1], 1;", 1);
  assertThrows(run, Fault, "no tensor map");
  bench.setLong("rd1", bench.pointer(32));
  assertThrows(run, Fault, "not a multiple of 64");
});

Deno.test("tensormap.cp_fenceproxy copies a tensor map to global memory", () => {
  const bench = new Bench({ checks: false });
  bench.sharedBytes().set(encodeTensorMap(BEFORE), 128);
  bench.set("r1", 128);
  bench.setLong("rd1", bench.pointer(256));
  bench.run(
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 128;",
  );
  assertEquals(decodeTensorMap(bench.globalBytes.slice(256, 384)), BEFORE);
});
