/**
 * Writes through the generic proxy that the asynchronous one may not see yet. Products of warp groups, bulk and tensor
 * copies access shared memory through the asynchronous proxy; stores, atomics, `cp.async` and the initialisation of
 * mbarriers use the generic one. A proxy fence must come between the two, after the write and in an order with
 * it: by the thread that wrote, or by one that what was written has been passed to.
 *
 * Kept only while accesses are checked, and only of kernels that use the asynchronous proxy.
 * Source: PTX ISA 9.0, 8.5 "Proxies", 8.9.4 "Proxy-preserved base causality order", 9.7.9.25.2 "Async proxy".
 */
import { accessOf } from "../access/state.ts";
import { Fault, type Site } from "../fault.ts";
import { LANES } from "../register_file.ts";
import type { BlockState, Machine } from "../machine.ts";
import { attend, isOrdered, WHO, whoIs } from "./order.ts";
import { report } from "./report.ts";

/** What is written: bytes, or an mbarrier by its initialisation. */
type Written = "bytes" | "mbarrier";

interface GenericWrite {
  readonly who: number;
  readonly tick: number;
  readonly what: Written;
}

/** The asynchronous proxy accesses 16 bytes at a time, an mbarrier has 8. */
const GRAIN_SHIFT = 3;

/** Writes that no fence has followed, by their location in the block's shared memory. */
const tables = new WeakMap<BlockState, Map<number, GenericWrite>>();

/** Notes that a lane of the running warp writes bytes of the shared memory of a block. */
export function noteGenericWrite(
  machine: Machine,
  block: BlockState,
  offset: number,
  bytes: number,
  lane: number,
  what: Written = "bytes",
): void {
  const { launch, order } = accessOf(machine);
  if (!launch.usesAsyncProxy || launch.levels.proxies === "off") return;
  let table = tables.get(block);
  if (table === undefined) tables.set(block, table = new Map());
  const write = { who: whoIs(order, machine) | lane, tick: order.now, what };
  for (let at = offset >> GRAIN_SHIFT; at << GRAIN_SHIFT < offset + bytes; at++) {
    table.set(at, write);
  }
}

/** What the asynchronous proxy has written is not in the way of its reads. */
export function noteAsyncWrite(block: BlockState, offset: number, bytes: number): void {
  const table = tables.get(block);
  if (table === undefined || table.size === 0) return;
  for (let at = offset >> GRAIN_SHIFT; at << GRAIN_SHIFT < offset + bytes; at++) table.delete(at);
}

/** Lanes of the running warp have a fence between the proxies, or the one for initialised mbarriers only. */
export function fenceProxies(machine: Machine, mask: number, only?: "mbarrier"): void {
  const { order, launch } = accessOf(machine);
  if (!launch.usesAsyncProxy) return;
  attend(order, machine);
  const me = whoIs(order, machine) & WHO.identity;
  const lane = 31 - Math.clz32(mask & -mask);
  for (const block of machine.block.cluster) {
    const table = tables.get(block);
    if (table === undefined) continue;
    for (const [at, { who, tick, what }] of table) {
      if (only !== undefined && what !== only) continue;
      const isOwn = (who & WHO.warp) === (me & WHO.warp) && ((mask >>> (who & WHO.lane)) & 1) !== 0;
      if (isOwn || isOrdered(order, who, tick, lane)) table.delete(at);
    }
  }
}

/** Reports a use of shared memory through the asynchronous proxy before a fence made it ready. */
export function checkProxy(
  machine: Machine,
  block: BlockState,
  offset: number,
  bytes: number,
  at: { readonly site: Site; readonly lane: number },
): void {
  const table = tables.get(block);
  if (table === undefined || table.size === 0) return;
  for (let grain = offset >> GRAIN_SHIFT; grain << GRAIN_SHIFT < offset + bytes; grain++) {
    const write = table.get(grain);
    if (write === undefined) continue;
    const { who, what } = write;
    const thread = who & WHO.thread;
    const detail = what === "mbarrier"
      ? `the mbarrier at offset ${
        grain << GRAIN_SHIFT
      } of shared memory was initialised by thread ${thread}, ` +
        "and no fence.mbarrier_init or fence.proxy.async came after that"
      : `the bytes at offset ${
        grain << GRAIN_SHIFT
      } of shared memory were written by thread ${thread} ` +
        `(warp ${Math.floor(thread / LANES)}), and no fence.proxy.async came after that`;
    table.delete(grain);
    report(machine, new Fault("missing fence", detail, at.lane, at.site));
    return;
  }
}
