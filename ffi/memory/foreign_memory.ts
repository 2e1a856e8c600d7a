/** Memory of a device that another library has allocated: tensors view it and do not free it. */
import { nameValue } from "../arguments/brands.ts";
import type { Driver } from "../driver.ts";
import { ArgumentError } from "../errors.ts";
import { StreamUses } from "./pool.ts";
import type { Stream } from "../stream.ts";
import { describeValue } from "../arguments/values.ts";

/** What a buffer has instead of memory of the pool. */
export class ForeignMemory {
  readonly address: bigint;
  readonly uses: StreamUses<Stream>;
  /** What is called when the memory is no longer used, and what has allocated it: reachable until then. */
  #owner: { readonly value: unknown; readonly release: (() => void) | undefined } | undefined;

  constructor(
    stream: Stream,
    { address, owner, release }: {
      readonly address: bigint;
      readonly owner: unknown;
      readonly release: (() => void) | undefined;
    },
  ) {
    this.address = address;
    this.uses = new StreamUses(stream);
    this.#owner = { value: owner, release };
  }

  /** Waits for queued work that uses the memory, then lets its owner have it. */
  release(): void {
    const owner = this.#owner;
    this.#owner = undefined;
    for (const stream of this.uses.streams) if (!stream.disposed) stream.synchronize();
    owner?.release?.();
  }
}

/** Throws `ArgumentError` for what cannot be called when the memory is given back. */
export function expectRelease(release: unknown): asserts release is (() => void) | undefined {
  if (release === undefined || typeof release === "function") return;
  const actual = nameValue(release);
  throw new ArgumentError({ argument: "release", expected: "a function", actual });
}

/** Throws `ArgumentError` unless all of the memory is the device's, according to its driver. */
export function expectDeviceMemory(
  driver: Driver,
  address: unknown,
  { bytes, align, device }: {
    readonly bytes: number;
    readonly align: number;
    readonly device: string;
  },
): asserts address is bigint {
  if (typeof address !== "bigint" || address < 0n || address >= 2n ** 64n) {
    const actual = describeValue(address);
    throw new ArgumentError({ argument: "address", expected: "an address, as a bigint", actual });
  }
  if (address % BigInt(align) !== 0n) {
    const expected = `a multiple of the element's ${align} bytes`;
    throw new ArgumentError({ argument: "address", expected, actual: hex(address) });
  }
  const end = address + BigInt(bytes);
  // What others map piece by piece is several allocations without gaps.
  for (let at = address; at < end;) {
    const found = driver.memoryAt(at);
    if (found === undefined || found.address + BigInt(found.bytes) <= at) {
      throw new ArgumentError({
        argument: "address",
        expected: `${bytes} bytes of memory of ${device} from ${hex(address)} on`,
        actual: `memory that its driver does not know at ${hex(at)}`,
      }, {
        hint: driver.watchesMemory
          ? "the emulator has only memory that it has allocated itself: copy the data with `device.tensor`"
          : "pass an address that this process has on this GPU, and the shape that it has memory for",
      });
    }
    at = found.address + BigInt(found.bytes);
  }
}

function hex(address: bigint): string {
  return `0x${address.toString(16)}`;
}
