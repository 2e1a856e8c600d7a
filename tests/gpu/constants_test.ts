/** Kernels that read constant memory, on a GPU: what the host sets is there in every launch that follows. */
import { type TargetName, TARGETS } from "../../compiler/mod.ts";
import { Device } from "@tri/tri/ffi";
import { gpuArch, gpuTest } from "../support/gpu.ts";
import {
  checkLookUp,
  checkScale,
  checkTableConvolution,
  compileTables,
} from "../support/compiler/tables.ts";
import { groupTargets } from "../support/targets.ts";

/** What this GPU runs; the driver assembles the text. */
const OURS = Object.values(TARGETS).filter(({ name, sm }) =>
  name.endsWith("a") ? sm === gpuArch : sm <= gpuArch
).map(({ name }): TargetName => name);

const tablesFor = compileTables(OURS);

for (const { first: target, targets } of groupTargets((name) => tablesFor(name).ptx, OURS)) {
  const names = targets.join(", ");
  gpuTest(`table_conv() finds its taps through constant memory, for ${names}`, () => {
    using device = Device.open();
    const tables = tablesFor(target);
    for (const [channels, height, width, filters] of [[3, 33, 29, 37], [8, 20, 20, 64]] as const) {
      checkTableConvolution(device, tables, {
        pictures: 3,
        channels,
        height,
        width,
        filters,
        filterHeight: 3,
        filterWidth: 5,
      });
    }
  });

  gpuTest(`look_up() reads what was set last, again and again, for ${names}`, () => {
    using device = Device.open();
    const tables = tablesFor(target);
    for (const length of [1, 127, 100_003, 1008, 5]) checkLookUp(device, tables, length);
  });

  gpuTest(`scale() reads constant memory in vectors, rows and scalars, for ${names}`, () => {
    using device = Device.open();
    const tables = tablesFor(target);
    for (const shape of [[1, 1], [33, 31], [48, 16], [1008, 32]] as const) {
      checkScale(device, tables, shape);
    }
  });
}

gpuTest("a table that is set once is there on devices that are opened later", () => {
  const tables = tablesFor(OURS.at(-1) ?? "sm_70");
  for (let round = 0; round < 2; round++) {
    using first = Device.open();
    using second = Device.open();
    for (const device of [first, second, first]) checkLookUp(device, tables, 77);
  }
});
