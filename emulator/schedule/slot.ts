/** The memory that a cluster of blocks needs to run, as one piece. */
import type { RegisterFileLayout } from "../compile/layout.ts";
import { LANES } from "../register_file.ts";
import type { Slot } from "./grid.ts";
import type { LaunchFacts } from "./specials.ts";

/** Shared memory begins at multiples of this: swizzles go by addresses. */
export const SLOT_ALIGN = 1024;

const alignUp = (value: number, align: number): number => Math.ceil(value / align) * align;

/** How a slot is divided. */
export interface SlotShape {
  readonly warps: number;
  readonly registerFiles: number;
  readonly registerFileBytes: number;
  readonly blocks: number;
  readonly sharedStride: number;
  readonly localBytes: number;
  readonly bytes: number;
}

/** The shape of the slots of a launch. */
export function slotShape(
  launch: LaunchFacts,
  registerFileBytes: number,
  localBytes: number,
): SlotShape {
  const [bx, by, bz] = launch.block;
  const [cx, cy, cz] = launch.cluster;
  const blocks = cx * cy * cz;
  const warps = blocks * Math.ceil((bx * by * bz) / LANES);
  const registerFiles = alignUp(warps * registerFileBytes, SLOT_ALIGN);
  const sharedStride = alignUp(launch.sharedBytes, SLOT_ALIGN);
  const bytes = registerFiles + blocks * sharedStride + warps * LANES * localBytes;
  return { warps, registerFiles, registerFileBytes, blocks, sharedStride, localBytes, bytes };
}

/** A slot in memory that begins at a location; its register files get what is the same in all warps. */
export function makeSlot(
  u8: Uint8Array,
  start: number,
  shape: SlotShape,
  layout: RegisterFileLayout,
): Slot {
  const { warps, registerFiles, registerFileBytes, blocks, sharedStride, localBytes } = shape;
  for (let w = 0; w < warps; w++) {
    const at = start + w * registerFileBytes;
    layout.writeConstants(u8.subarray(at, at + registerFileBytes));
  }
  const shared = start + registerFiles;
  const local = shared + blocks * sharedStride;
  return { registerFiles: start, shared, sharedStride, local, localBytes, launch: undefined };
}

/** What new shared memory holds. */
const POISON = 0xdb;

/** Makes the shared memory of a slot that of a new block. */
export function poisonShared(
  u8: Uint8Array,
  slot: Slot,
  { blocks, sharedStride }: SlotShape,
): void {
  u8.fill(POISON, slot.shared, slot.shared + blocks * sharedStride);
}
