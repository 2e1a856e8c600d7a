/** Addresses and threads in the words of the kernel's author: "element 24 of Y", "thread 33 of block 2". */
import { type Allocation, nearest, type TensorInfo } from "./allocations.ts";
import type { AccessLaunch, Extent } from "./launch.ts";
import { type BlockTrack, WHO } from "./order.ts";

/** A count of things: "1 byte", "4 bytes". */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** What an allocation is called: by its tensor, or by the arguments that point into it, or by its label. */
function holding(
  launch: AccessLaunch,
  { location, label, bytes, freed, tensor }: Allocation,
): string {
  const pointing = launch.arguments
    .filter((argument) =>
      argument.location >= location && argument.location < location + Math.max(1, bytes)
    )
    .map(({ name }) => name).join(" and ");
  const name = tensor?.name ?? (pointing === "" ? `\`${label}\`` : pointing);
  const size = tensor === undefined ? counted(bytes, "byte") : `${shapeOf(tensor)} ${tensor.dtype}`;
  return `${name} (${size})${freed ? ", which was freed" : ""}`;
}

function shapeOf({ shape }: TensorInfo): string {
  return shape.length === 0 ? "1" : shape.join(" × ");
}

/** Where bytes are in their allocation, or beside it; in elements if it has any. */
function position({ bytes, tensor }: Allocation, offset: number): string {
  if (offset < 0) return `${counted(-offset, "byte")} before`;
  const elementBytes = tensor?.elementBytes ?? 1;
  const rest = offset % elementBytes;
  const element = `${tensor === undefined ? "byte" : "element"} ${(offset - rest) / elementBytes}`;
  const within = rest === 0 ? element : `byte ${rest} of ${element}`;
  if (offset < bytes) return `${within} of`;
  return `${within}, ${counted(offset - bytes, "byte")} past the end of`;
}

/** Farther from an allocation than its size and this, a location has nothing to do with it. */
const FAR = 2 ** 20;

/** A location in global memory: "element 24 of Y (24 float32)". */
export function describeGlobal(launch: AccessLaunch, location: number): string {
  const found = nearest(launch.allocations.all(), location);
  const far = Math.max(found?.allocation.bytes ?? 0, FAR);
  if (found === undefined || found.offset < -far || found.offset > 2 * far) {
    return `address 0x${location.toString(16)}, where nothing is allocated`;
  }
  const { allocation, offset } = found;
  return `${position(allocation, offset)} ${holding(launch, allocation)}`;
}

/** An offset in shared memory: "shared memory at tile + 64". */
export function describeShared({ shared }: AccessLaunch, offset: number): string {
  return describeOffset(shared, offset, "shared memory");
}

/** An offset in a thread's local memory: "byte 8 of buffer in local memory". */
export function describeLocal({ local }: AccessLaunch, offset: number): string {
  return describeOffset(local, offset, "local memory");
}

function describeOffset(extents: AccessLaunch["shared"], offset: number, memory: string): string {
  const variable = findExtent(extents, offset, 1);
  if (variable === undefined) return `offset ${offset} of ${memory}`;
  const rest = offset - variable.location;
  return `${variable.name}${rest === 0 ? "" : ` + ${rest}`} in ${memory}`;
}

/**
 * A location in constant memory or beside it: "byte 260, 4 bytes past the end of AD (256 bytes) in constant memory".
 */
export function describeConstant(constants: readonly Extent[], location: number): string {
  const known = constants.map(({ name, ...extent }) => ({ ...extent, label: name, freed: false }));
  const found = nearest(known.toSorted((a, b) => a.location - b.location), location);
  if (found === undefined || Math.abs(found.offset) > FAR) {
    return `address 0x${location.toString(16)}, which is not in constant memory`;
  }
  const { allocation, offset } = found;
  const { label, bytes } = allocation;
  return `${position(allocation, offset)} ${label} (${counted(bytes, "byte")}) in constant memory`;
}

/** The variable that bytes are in. */
export function findExtent(
  extents: readonly Extent[],
  location: number,
  bytes: number,
): Extent | undefined {
  return extents.find((each) =>
    location >= each.location && location + bytes <= each.location + each.bytes
  );
}

/** Who made an access, seen from a block: "thread 33", "thread 33 of block 2". */
export function describeWho(who: number, from: BlockTrack): string {
  const block = (who >>> WHO.blockShift) & WHO.block;
  const thread = `thread ${who & WHO.thread}`;
  return block === from.id ? thread : `${thread} of block ${block}`;
}
