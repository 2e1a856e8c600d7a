/** Kernels that read constant memory, on the emulator: for two targets, or for every one, with every check. */
import {
  checkLookUp,
  checkScale,
  checkTableConvolution,
  compileTables,
  type TableConvolution,
} from "../support/compiler/tables.ts";
import { sampled } from "../support/sampled.ts";
import { groupTargets, TARGET_NAMES } from "../support/targets.ts";
import { deviceFor } from "./devices.ts";

const TRIED = sampled(TARGET_NAMES, 2);
const tablesFor = compileTables(TRIED);

const CONVOLUTIONS: readonly TableConvolution[] = [
  { pictures: 2, channels: 3, height: 6, width: 7, filters: 5, filterHeight: 3, filterWidth: 2 },
  { pictures: 1, channels: 5, height: 5, width: 4, filters: 48, filterHeight: 2, filterWidth: 3 },
  { pictures: 4, channels: 12, height: 5, width: 5, filters: 48, filterHeight: 2, filterWidth: 2 },
  { pictures: 1, channels: 1, height: 1, width: 1, filters: 1, filterHeight: 1, filterWidth: 1 },
];

for (const { first, targets } of groupTargets((target) => tablesFor(target).ptx, TRIED)) {
  const names = targets.join(", ");

  Deno.test(`table_conv() finds its taps through constant memory, for ${names}`, () => {
    using device = deviceFor(first);
    for (const convolution of CONVOLUTIONS) {
      checkTableConvolution(device, tablesFor(first), convolution);
    }
  });

  Deno.test(`look_up() reads any entry of a table, each lane its own, for ${names}`, () => {
    using device = deviceFor(first);
    for (const length of [1, 127, 1000, 1008]) checkLookUp(device, tablesFor(first), length);
  });

  Deno.test(`scale() reads constant memory in vectors, rows and scalars, for ${names}`, () => {
    using device = deviceFor(first);
    for (const shape of [[1, 1], [33, 31], [48, 16], [5, 32], [32, 32]] as const) {
      checkScale(device, tablesFor(first), shape);
    }
  });
}
