/** Values of the source by name: what the compiler says of an entry's registers, and what they hold now. */
import { accessOf } from "../access/state.ts";
import type { Site } from "../fault.ts";
import type { ObservedInstruction } from "./observed_launch.ts";
import type {
  LoopRange,
  NamedValue,
  ProgramReader,
  RegisterState,
  SourceNames,
  WarpRegister,
} from "../../compiler/support/variables.ts";
import type { LaunchNames } from "./launch_names.ts";
import { isInside, type TrackedWarp } from "./track.ts";
import type { Where } from "./where.ts";

/** The emulator keeps arguments of calls in local memory (`compiler/ptx/inline.ts`). */
const plain = (text: string): string => text.replace(/\b(ld|st)\.param\./, "$1.local.");

/** Names that fit the code of a launch; undefined where they are of other code. */
export function fitNames(
  instructions: readonly ObservedInstruction[],
  names: SourceNames,
): LaunchNames | undefined {
  // A guarded instruction of a whole warp is a branch and the instruction, of one site.
  const numbers: number[] = [];
  const sites: Site[] = [];
  for (const { site } of instructions) {
    if (site !== sites.at(-1)) sites.push(site);
    numbers.push(sites.length - 1);
  }
  const fits = sites.length === names.instructions.length &&
    sites.every(({ text }, number) => plain(text) === plain(names.instructions[number] ?? ""));
  if (!fits) return undefined;
  const loops = names.loops.map(({ first, last }) => ({
    first: numbers.indexOf(first),
    last: numbers.lastIndexOf(last),
  }));
  return { names, numbers, loops };
}

const NOWHERE: WarpRegister = { state: "gone", lanes: 0, read: () => 0n };

/** The variables where the focused warp is, and what reads them. */
export function namedValues(
  where: Where,
  warps: readonly TrackedWarp[],
): { readonly names: readonly string[]; readonly read: (name: string) => NamedValue | undefined } {
  const { named, focus } = where;
  const warp = warps[focus.warp];
  const number = warp && named?.numbers[warp.pc];
  if (named === undefined || number === undefined) return { names: [], read: () => undefined };
  return {
    names: named.names.at(number),
    read: named.names.reading(number, readerOf(where, named, warps)),
  };
}

function readerOf(
  { launch, track, machine, focus }: Where,
  named: LaunchNames,
  warps: readonly TrackedWarp[],
): ProgramReader {
  const { allocations, parameters } = accessOf(machine).launch;
  const bytesAt = (at: number, bytes: number): Uint8Array => machine.views.u8.slice(at, at + bytes);
  const allocationAt = (address: bigint) => allocations.liveAt(Number(address & 0xffff_ffffn));
  return {
    program: focus.program,
    grid: launch.launch.grid,
    warp: focus.warp,
    lane: focus.lane,
    register(name, index, within): WarpRegister {
      const [register, number] = [launch.registers.get(name), track.numbers.get(name)];
      const warp = warps[index];
      if (register === undefined || number === undefined || warp === undefined) return NOWHERE;
      const loop = within === undefined ? undefined : named.loops[within];
      if (loop !== undefined && !isInside(loop, warp.pc)) return NOWHERE;
      return {
        state: stateOf(number, named.names.carried.get(name), warp, warps[focus.warp], named),
        lanes: warp.written[number] ?? 0,
        read: (lane) => launch.read(register, warp.warp, lane),
      };
    },
    parameter: (offset, bytes) =>
      offset + bytes > parameters.bytes ? undefined : bytesAt(parameters.location + offset, bytes),
    memory(address, bytes, others): Uint8Array | undefined {
      const found = allocationAt(address);
      const location = Number(address & 0xffff_ffffn);
      if (found === undefined || location + bytes > found.location + found.bytes) return undefined;
      const isShared = others.some((other) => allocationAt(other)?.location === found.location);
      return isShared ? undefined : bytesAt(location, bytes);
    },
  };
}

/**
 * Whether a register that has been written holds the value of the iteration that the focused warp is in. A register that
 * a loop carries does so until the end of the iteration writes it; others once the iteration has written them.
 */
function stateOf(
  register: number,
  carriedBy: number | undefined,
  warp: TrackedWarp,
  focused: TrackedWarp | undefined,
  { loops }: LaunchNames,
): RegisterState {
  const { pc } = warp;
  const written = warp.last[register] ?? -1;
  const behind = (loop: number): RegisterState | undefined => {
    const [own, wanted] = [warp.iterations[loop] ?? 0, focused?.iterations[loop] ?? 0];
    return own === wanted ? undefined : own < wanted ? "not set" : "gone";
  };
  const carrying = carriedBy === undefined ? undefined : loops[carriedBy];
  if (carriedBy !== undefined && carrying !== undefined && isInside(carrying, pc)) {
    return behind(carriedBy) ??
      (written < (warp.entered[carriedBy] ?? 0) ? "set" : "gone");
  }
  const writer = warp.writers[register] ?? 0;
  const common = innermost(loops, writer, pc);
  if (common === undefined) return "set";
  return behind(common) ?? (written >= (warp.entered[common] ?? 0) ? "set" : "not set");
}

/** The smallest loop that has both instructions. */
function innermost(loops: readonly LoopRange[], a: number, b: number): number | undefined {
  let found: number | undefined;
  let size = Infinity;
  loops.forEach((loop, number) => {
    const own = loop.last - loop.first;
    if (own >= size || !isInside(loop, a) || !isInside(loop, b)) return;
    [found, size] = [number, own];
  });
  return found;
}
