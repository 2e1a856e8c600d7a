/** A cluster of blocks in a small memory, and instructions as text: runs handlers one by one, in any warp and lanes. */
import { matchInstruction } from "../../../compiler/ptx/match.ts";
import type { Operand } from "../../../compiler/ptx/func.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { bug, must } from "../../../compiler/support/bug.ts";
import { beginLaunch } from "../../../emulator/access/state.ts";
import { ASYNC } from "../../../emulator/async/mod.ts";
import { allocationsOf } from "../../../emulator/check/allocations.ts";
import { DEFAULT_LEVELS } from "../../../emulator/check/levels.ts";
import { HEADER } from "../../../emulator/register_file.ts";
import type { BlockState, HandlerContext, Machine, WarpState } from "../../../emulator/machine.ts";
import { newMemory, viewsOf, WINDOW } from "../../../emulator/memory.ts";

const GLOBAL = 0x40000;
const GLOBAL_BYTES = 0x20000;
const SHARED = 0x80000;
const REGISTER_FILES = 0x4000;
const REGISTER_FILE_BYTES = 0x2000;

export const ALL = -1;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface BenchOptions {
  readonly blocks?: number;
  readonly warps?: number;
  readonly sharedBytes?: number;
  readonly checks?: boolean;
}

export class Bench {
  readonly machine: Writable<Machine>;
  readonly blocks: readonly (BlockState & { readonly warps: WarpState[] })[];
  readonly global: number = GLOBAL;
  yields = 0;
  readonly #rows = new Map<string, number>();

  constructor({ blocks = 1, warps = 1, sharedBytes = 0x4000, checks = true }: BenchOptions = {}) {
    const memory = newMemory(2 << 20);
    const cluster: (BlockState & { readonly warps: WarpState[] })[] = [];
    for (let rank = 0; rank < blocks; rank++) {
      const block = {
        index: [rank, 0, 0] as const,
        linear: rank,
        threads: 32 * warps,
        shape: [32 * warps, 1, 1] as const,
        shared: SHARED + rank * sharedBytes,
        sharedBytes,
        warps: new Array<WarpState>(),
        cluster,
        rank,
        phase: 0,
        async: undefined,
      };
      for (let index = 0; index < warps; index++) {
        const registerFile = REGISTER_FILES + (rank * warps + index) * REGISTER_FILE_BYTES;
        block.warps.push({ block, index, registerFile, phase: 0, async: undefined });
      }
      cluster.push(block);
    }
    this.blocks = cluster;
    const block = must(cluster[0], "block");
    this.machine = {
      memory,
      views: viewsOf(memory),
      warp: must(block.warps[0], "warp"),
      block,
      checks,
      profile: false,
      yield: (): void => void this.yields++,
    };
    for (const { warps } of cluster) {
      for (const { registerFile } of warps) {
        this.machine.views.i32[(registerFile + HEADER.live) / 4] = -1;
      }
    }
    beginLaunch(this.machine, {
      levels: DEFAULT_LEVELS,
      allocations: allocationsOf([
        { location: GLOBAL, bytes: GLOBAL_BYTES, label: "buffer", freed: false },
      ]),
      constants: [],
      parameters: { name: "parameters", location: 0, bytes: 0 },
      arguments: [],
      shared: [],
      local: [],
      granules: { shared: 4, global: 4 },
      usesAsyncProxy: false,
      startsEarly: false,
    });
  }

  /** Makes a warp the one that runs. */
  enter(block: number, warp: number): void {
    this.machine.block = must(this.blocks[block], "block");
    this.machine.warp = must(this.machine.block.warps[warp], "warp");
  }

  #row(name: string): number {
    const row = this.#rows.get(name) ?? 64 + 256 * this.#rows.size;
    this.#rows.set(name, row);
    return row;
  }

  #rowOf(operand: Operand): number {
    if (operand.kind === "register") return this.#row(operand.name);
    if (operand.kind === "sink") return this.#row("_");
    if (operand.kind !== "integer") return bug(`no row for ${operand.kind}`);
    const row = this.#row(`literal ${operand.value}`);
    const at = (this.machine.warp.registerFile + row) >> 2;
    this.machine.views.u32.fill(Number(operand.value), at, at + 32);
    return row;
  }

  /** Runs an instruction in lanes of the warp that runs. */
  run(text: string, mask: number = ALL): void {
    const module = parsePtx(`
      .version 8.6
      .target sm_90a
      .address_size 64
      .entry k() {
        .reg .b32 %r<32>;
        .reg .b64 %rd<32>;
        .reg .pred %p<8>;
        .reg .b16 %h<8>;
        ${text}
      }`);
    const item = module.kernels[0]?.body.find(({ kind }) => kind === "instruction");
    if (item?.kind !== "instruction") return bug(`no instruction in ${text}`);
    const match = matchInstruction(item);
    if (typeof match === "string") return bug(`${text}: ${match}`);
    const context: HandlerContext = {
      machine: this.machine,
      site: { kernel: "k", text },
      sm: 90,
      row: (operand) => this.#rowOf(operand),
      rows: (operand) =>
        (operand.kind === "vector" ? operand.elements : [operand]).map((each) => this.#rowOf(each)),
      predicate: (operand) => ({ row: this.#rowOf(operand), invert: 0 }),
      shadow: () => undefined,
      literal: (operand) => operand.kind === "integer" ? operand.value : bug("no literal"),
      address: (operand) => {
        if (operand.kind !== "address" || operand.base?.kind !== "register") {
          return bug("no address");
        }
        return {
          row: this.#row(operand.base.name),
          bits: operand.base.type === "b64" ? 64 : 32,
          offset: Number(operand.offset),
          symbol: undefined,
        };
      },
    };
    must(ASYNC[match.opcode], `handler of ${match.opcode}`)(match, context)(
      this.machine.warp.registerFile,
      mask,
    );
  }

  /** Sets a 32-bit register in all lanes: to a value, or to one for each lane. */
  set(name: string, value: number | ((lane: number) => number)): void {
    const at = (this.machine.warp.registerFile + this.#row(name)) >> 2;
    for (let lane = 0; lane < 32; lane++) {
      this.machine.views.u32[at + lane] = typeof value === "number" ? value : value(lane);
    }
  }

  /** Sets a 64-bit register in all lanes. */
  setLong(name: string, value: bigint | ((lane: number) => bigint)): void {
    const at = (this.machine.warp.registerFile + this.#row(name)) >> 3;
    for (let lane = 0; lane < 32; lane++) {
      this.machine.views.u64[at + lane] = typeof value === "bigint" ? value : value(lane);
    }
  }

  get(name: string, lane = 0): number {
    const at = (this.machine.warp.registerFile + this.#row(name)) >> 2;
    return must(this.machine.views.u32[at + lane], "lane");
  }

  /** The address of a location in the global buffer. */
  pointer(offset: number): bigint {
    return (BigInt(WINDOW.global) << 32n) | BigInt(GLOBAL + offset);
  }

  /** The bytes of the global buffer. */
  get globalBytes(): Uint8Array {
    return this.machine.views.u8.subarray(GLOBAL, GLOBAL + GLOBAL_BYTES);
  }

  /** The bytes of a block's shared memory. */
  sharedBytes(block = 0): Uint8Array {
    const { shared, sharedBytes } = must(this.blocks[block], "block");
    return this.machine.views.u8.subarray(shared, shared + sharedBytes);
  }

  /** All threads of all blocks meet. */
  barrier(): void {
    for (const block of this.blocks) block.phase++;
  }
}
