/** What can be seen of the focused thread where a launch is. */
import { accessOf } from "../access/state.ts";
import type { Machine } from "../machine.ts";
import { WINDOW, type Window } from "../memory.ts";
import { HEADER } from "../register_file.ts";
import type { DebugState, Focus, RegisterValue } from "./debug_launch.ts";
import { namedValues } from "./named_values.ts";
import type { TrackedWarp } from "./track.ts";
import type { Where } from "./where.ts";

/** The state at one place of a launch; what it gives later is of a later place. */
export function stateOf(where: Where): DebugState {
  const { launch, track, focus, machine } = where;
  const block = [...track.blocks.values()]
    .find(({ index }) => index.every((at, axis) => at === focus.program[axis]));
  const warps = block === undefined ? [] : track.warpsOf(block);
  const warp = warps[focus.warp];
  const instruction = warp === undefined ? undefined : launch.instructions[warp.pc];
  const values = namedValues(where, warps);
  return {
    site: instruction?.site,
    mask: warp?.mask ?? 0,
    warps: warps.length,
    registers: (lane = focus.lane) => warp === undefined ? [] : registersOf(where, warp, lane),
    values: () => values.names,
    value: (name) => values.read(name),
    memory(space, from, bytes): Uint8Array | undefined {
      const at = locate(
        machine,
        space,
        from,
        bytes,
        block?.shared,
        block?.sharedBytes,
        warp,
        focus,
      );
      return at === undefined ? undefined : machine.views.u8.slice(at, at + bytes);
    },
  };
}

function registersOf(
  { launch, track }: Where,
  { warp, written }: TrackedWarp,
  lane: number,
): RegisterValue[] {
  return [...launch.registers.values()].map((register) => ({
    name: register.name,
    type: register.type,
    bits: launch.read(register, warp, lane),
    isSet: ((written[track.numbers.get(register.name) ?? 0] ?? 0) >>> lane & 1) === 1,
  }));
}

/** The location of bytes of a state space; undefined where they are not all there. */
function locate(
  machine: Machine,
  space: Window,
  from: number,
  bytes: number,
  shared: number | undefined,
  sharedBytes: number | undefined,
  warp: TrackedWarp | undefined,
  { lane }: Focus,
): number | undefined {
  const within = (base: number | undefined, size: number | undefined): number | undefined =>
    base === undefined || size === undefined || from < 0 || from + bytes > size
      ? undefined
      : base + from;
  const { allocations, parameters } = accessOf(machine).launch;
  const { u32 } = machine.views;
  switch (space) {
    case "shared":
      return within(shared, sharedBytes);
    case "param":
      return within(parameters.location, parameters.bytes);
    case "local": {
      if (warp === undefined) return undefined;
      const { registerFile } = warp.warp;
      const own = u32[(registerFile + HEADER.localBytes) >>> 2] ?? 0;
      return within((u32[(registerFile + HEADER.local) >>> 2] ?? 0) + lane * own, own);
    }
    default: {
      const address = BigInt(Math.trunc(from));
      if (space === "global" && address >> 32n !== BigInt(WINDOW.global)) return undefined;
      const location = Number(address & 0xffffffffn);
      const found = allocations.liveAt(location);
      const isInside = found !== undefined && location + bytes <= found.location + found.bytes;
      return isInside ? location : undefined;
    }
  }
}
