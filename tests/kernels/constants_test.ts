/** Kernels that read constant memory, on the emulator: for every target, with every check. */
import { type TargetName, TARGETS } from "../../compiler/mod.ts";
import { Device } from "../../ffi/mod.ts";
import {
  checkLookUp,
  checkScale,
  checkTableConvolution,
  compileTables,
  type TableConvolution,
} from "../support/tables.ts";

const NAMES = Object.values(TARGETS).map(({ name }): TargetName => name);
const tablesFor = compileTables(NAMES);

const CONVOLUTIONS: readonly TableConvolution[] = [
  { pictures: 2, channels: 3, height: 6, width: 7, filters: 5, filterHeight: 3, filterWidth: 2 },
  { pictures: 1, channels: 5, height: 5, width: 4, filters: 48, filterHeight: 2, filterWidth: 3 },
  { pictures: 4, channels: 12, height: 5, width: 5, filters: 48, filterHeight: 2, filterWidth: 2 },
  { pictures: 1, channels: 1, height: 1, width: 1, filters: 1, filterHeight: 1, filterWidth: 1 },
];

for (const target of NAMES) {
  const open = (): Device => Device.open({ device: "emulator", arch: target.replace(/a$/, "") });

  Deno.test(`table_conv() finds its taps through constant memory, for ${target}`, () => {
    using device = open();
    for (const convolution of CONVOLUTIONS) {
      checkTableConvolution(device, tablesFor(target), convolution);
    }
  });

  Deno.test(`look_up() reads any place of a table, each lane its own, for ${target}`, () => {
    using device = open();
    for (const length of [1, 127, 1000, 1008]) checkLookUp(device, tablesFor(target), length);
  });

  Deno.test(`scale() reads constant memory in vectors, rows and scalars, for ${target}`, () => {
    using device = open();
    for (const shape of [[1, 1], [33, 31], [48, 16], [5, 32], [32, 32]] as const) {
      checkScale(device, tablesFor(target), shape);
    }
  });
}
