/** What is remembered of the warps of an observed launch while it runs: their lines, and the registers they wrote. */
import type { LoopRange } from "../../compiler/support/variables.ts";
import type { BlockState, WarpState } from "../machine.ts";
import { LANES } from "../register_file.ts";
import type { ObservedInstruction, ObservedLaunch } from "./observed_launch.ts";
import type { Step } from "./observer.ts";

/** A warp that runs. */
export interface TrackedWarp {
  readonly warp: WarpState;
  /** The instruction that it runs next or ran last, and for which lanes. */
  pc: number;
  mask: number;
  /** The line of its statement, and the file; 0 before the first one. */
  line: number;
  file: string;
  /** By register: the lanes that have written it, and the step in which any did last. */
  readonly written: Int32Array;
  readonly last: Float64Array;
  /** By register: the instruction that wrote it last. */
  readonly writers: Int32Array;
  /** By loop: the step in which its last iteration began, and how many have begun. */
  readonly entered: Float64Array;
  readonly iterations: Uint32Array;
}

/** Whether a loop has an instruction. */
export const isInside = ({ first, last }: LoopRange, pc: number): boolean =>
  first <= pc && pc <= last;

export interface Track {
  /** Registers by number, which is the index in `written` and `last`. */
  readonly numbers: ReadonlyMap<string, number>;
  /** The warps of a block that runs. */
  warpsOf(block: BlockState): readonly TrackedWarp[];
  /** The blocks that run. */
  readonly blocks: ReadonlyMap<number, BlockState>;
  /** Notes a step; whether a statement of the warp begins with it. */
  step(at: Step): { readonly warp: TrackedWarp; readonly begins: boolean };
  block(block: BlockState, event: "begins" | "ends"): void;
}

/** Lanes for which an instruction does anything. */
function activeLanes(
  launch: ObservedLaunch,
  { guard }: ObservedInstruction,
  warp: WarpState,
  mask: number,
): number {
  if (guard === undefined) return mask;
  let lanes = 0;
  for (let lane = 0; lane < LANES; lane++) {
    if ((mask >>> lane & 1) === 0) continue;
    const holds = launch.read(guard.register, warp, lane) !== 0n;
    if (holds !== guard.negated) lanes |= 1 << lane;
  }
  return lanes;
}

/** Iterations are counted of these loops. */
export function newTrack(launch: ObservedLaunch, loops: readonly LoopRange[] = []): Track {
  const numbers = new Map([...launch.registers.keys()].map((name, i) => [name, i]));
  const writes = launch.instructions.map((each) =>
    each.writes.map(({ name }) => numbers.get(name) ?? 0)
  );
  const blocks = new Map<number, BlockState>();
  const warps = new Map<BlockState, TrackedWarp[]>();
  let pending:
    | { readonly warp: TrackedWarp; pc: number; lanes: number; number: number }
    | undefined;
  const settle = (): void => {
    if (pending === undefined) return;
    const { warp: { written, last, writers }, pc, lanes, number } = pending;
    pending = undefined;
    for (const register of writes[pc] ?? []) {
      written[register] = (written[register] ?? 0) | lanes;
      last[register] = number;
      writers[register] = pc;
    }
  };
  return {
    numbers,
    blocks,
    warpsOf: (block) => warps.get(block) ?? [],
    step(at): ReturnType<Track["step"]> {
      settle();
      const { pc, mask, number } = at;
      const warp = warps.get(at.warp.block)?.[at.warp.index];
      if (warp === undefined) throw new RangeError("a warp runs whose block has not begun");
      const instruction = launch.instructions[pc];
      [warp.pc, warp.mask] = [pc, mask];
      for (const [loop, { first }] of loops.entries()) {
        if (first !== pc) continue;
        warp.entered[loop] = number;
        warp.iterations[loop] = (warp.iterations[loop] ?? 0) + 1;
      }
      if (instruction === undefined) return { warp, begins: false };
      const lanes = activeLanes(launch, instruction, at.warp, mask);
      pending = { warp, pc, lanes, number };
      const { line, file = "" } = instruction.site;
      if (line === undefined || (line === warp.line && file === warp.file)) {
        return { warp, begins: false };
      }
      [warp.line, warp.file] = [line, file];
      return { warp, begins: true };
    },
    block(block, event): void {
      settle();
      if (event === "ends") {
        blocks.delete(block.linear);
        warps.delete(block);
        return;
      }
      blocks.set(block.linear, block);
      warps.set(
        block,
        block.warps.map((warp) => ({
          warp,
          pc: 0,
          mask: 0,
          line: 0,
          file: "",
          written: new Int32Array(numbers.size),
          last: new Float64Array(numbers.size).fill(-1),
          writers: new Int32Array(numbers.size),
          entered: new Float64Array(loops.length),
          iterations: new Uint32Array(loops.length),
        })),
      );
    },
  };
}
