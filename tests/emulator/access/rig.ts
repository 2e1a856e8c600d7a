/** A machine without a kernel: single instructions, written as PTX, run for the lanes of its warps. */
import type { Operand } from "../../../compiler/ptx/func.ts";
import { matchInstruction } from "../../../compiler/ptx/match.ts";
import { parsePtx } from "../../../compiler/ptx/parse.ts";
import { type TypeName, TYPES } from "../../../compiler/ptx/types.ts";
import { must } from "../../../compiler/support/bug.ts";
import { MEMORY } from "../../../emulator/access/mod.ts";
import { beginLaunch } from "../../../emulator/access/state.ts";
import type { AccessLaunch } from "../../../emulator/check/launch.ts";
import { DEFAULT_LEVELS } from "../../../emulator/check/levels.ts";
import { Fault } from "../../../emulator/fault.ts";
import { HEADER, LANES } from "../../../emulator/register_file.ts";
import { Heap } from "../../../emulator/heap.ts";
import type {
  BlockState,
  HandlerContext,
  Machine,
  WarpFunction,
  WarpState,
} from "../../../emulator/machine.ts";
import { newMemory, viewsOf, WINDOW, type Window } from "../../../emulator/memory.ts";
import { assert } from "../../support/assert.ts";

const REGISTER_FILE_BYTES = 16384;
const LOCAL_BYTES = 64;

export interface RigOptions {
  readonly blocks?: number;
  readonly warps?: number;
  readonly sharedBytes?: number;
  /** Whether the blocks are a cluster. */
  readonly cluster?: boolean;
  readonly checks?: boolean;
  readonly profile?: boolean;
  readonly granule?: number;
  /** Addresses of symbols. */
  readonly symbols?: Readonly<
    Record<string, { readonly space: Window; readonly location: number }>
  >;
  readonly launch?: Partial<AccessLaunch>;
}

type MutableBlock = BlockState & { phase: number };

export class Rig {
  readonly machine: Machine;
  readonly heap: Heap;
  readonly blocks: MutableBlock[] = [];
  readonly #options: RigOptions;
  readonly #rows = new Map<string, number>();
  #end = 64;

  constructor(options: RigOptions = {}) {
    this.#options = options;
    const { blocks = 1, warps = 1, sharedBytes = 1024, cluster = false } = options;
    const memory = newMemory(1 << 20);
    const views = viewsOf(memory);
    const heap = this.heap = new Heap({ memory, views });
    for (let linear = 0; linear < blocks; linear++) {
      const states: WarpState[] = [];
      const block: MutableBlock = {
        index: [linear, 0, 0],
        linear,
        threads: 32 * warps,
        shape: [32 * warps, 1, 1],
        shared: heap.allocate(sharedBytes, 256, "shared", "system"),
        sharedBytes,
        warps: states,
        cluster: [],
        rank: cluster ? linear : 0,
        phase: 0,
        async: undefined,
      };
      for (let index = 0; index < warps; index++) {
        const registerFile = heap.allocate(REGISTER_FILE_BYTES, 256, "register file", "system");
        const local = heap.allocate(LANES * LOCAL_BYTES, 256, "local", "system");
        states.push({ block, index, registerFile, phase: 0, async: undefined });
        views.u32[(registerFile + HEADER.live) / 4] = -1;
        views.u32[(registerFile + HEADER.local) / 4] = local;
        views.u32[(registerFile + HEADER.localBytes) / 4] = LOCAL_BYTES;
        views.u32[(registerFile + HEADER.shared) / 4] = block.shared;
        views.u32[(registerFile + HEADER.sharedBytes) / 4] = sharedBytes;
      }
      this.blocks.push(block);
    }
    const all = this.blocks;
    for (const block of all) Object.assign(block, { cluster: cluster ? all : [block] });
    const block = must(all[0], "block");
    this.machine = {
      memory,
      views,
      block,
      warp: must(block.warps[0], "warp"),
      checks: options.checks ?? false,
      profile: options.profile ?? false,
      yield: () => {},
    };
  }

  /** Begins a launch with what the heap has now. */
  begin(): this {
    const granule = this.#options.granule ?? 4;
    beginLaunch(this.machine, {
      allocations: this.heap.allocations(),
      arguments: [],
      constants: [],
      levels: DEFAULT_LEVELS,
      parameters: { name: "arguments", location: 0, bytes: 0 },
      shared: [],
      local: [],
      granules: { shared: granule, global: granule },
      usesAsyncProxy: false,
      startsEarly: false,
      ...this.#options.launch,
    });
    return this;
  }

  /** Makes a thread's warp the one that runs. */
  turn(warp: number, block = 0): this {
    this.machine.block = must(this.blocks[block], "block");
    this.machine.warp = must(this.machine.block.warps[warp], "warp");
    return this;
  }

  /** Ends a barrier of a block. */
  barrier(block = 0): this {
    must(this.blocks[block], "block").phase++;
    return this;
  }

  /** Offset of a register's row; it is made when first named. */
  row(name: string): number {
    const known = this.#rows.get(name);
    if (known !== undefined) return known;
    const row = this.#end;
    this.#end += 16 * LANES;
    this.#rows.set(name, row);
    return row;
  }

  /** Sets the 32-bit value of each lane of a register. */
  set(name: string, value: (lane: number) => number): this {
    const at = (this.machine.warp.registerFile + this.row(name)) / 4;
    for (let lane = 0; lane < LANES; lane++) this.machine.views.u32[at + lane] = value(lane);
    return this;
  }

  /** Sets the 64-bit value of each lane of a register. */
  set64(name: string, value: (lane: number) => bigint): this {
    const at = (this.machine.warp.registerFile + this.row(name)) / 8;
    for (let lane = 0; lane < LANES; lane++) {
      this.machine.views.u64[at + lane] = BigInt.asUintN(64, value(lane));
    }
    return this;
  }

  /** Sets a register to global addresses. */
  point(name: string, location: (lane: number) => number): this {
    return this.set64(name, (lane) => (BigInt(WINDOW.global) << 32n) + BigInt(location(lane)));
  }

  get(name: string, lane: number): number {
    return this.machine.views.u32[(this.machine.warp.registerFile + this.row(name)) / 4 + lane] ??
      0;
  }

  get64(name: string, lane: number): bigint {
    return this.machine.views.u64[(this.machine.warp.registerFile + this.row(name)) / 8 + lane] ??
      0n;
  }

  /** A piece of device memory, filled with bytes that all differ from their neighbours. */
  device(bytes: number, label = "x"): number {
    const location = this.heap.allocate(bytes, 1, label);
    this.machine.views = viewsOf(this.machine.memory);
    for (let i = 0; i < bytes; i++) this.machine.views.u8[location + i] = (i * 73 + 41) & 0xff;
    return location;
  }

  compile(text: string): WarpFunction {
    const instruction = parseInstruction(text);
    const match = matchInstruction(instruction);
    if (typeof match === "string") throw new Error(`${text}: ${match}`);
    const handler = must(MEMORY[match.opcode], `handler of ${match.opcode}`);
    return handler(match, this.#context(text));
  }

  run(text: string, mask = -1): this {
    this.compile(text)(this.machine.warp.registerFile, mask);
    return this;
  }

  /** The fault that an instruction ends with. */
  fault(text: string, mask = -1): Fault {
    const run = this.compile(text);
    try {
      run(this.machine.warp.registerFile, mask);
    } catch (error) {
      assert(error instanceof Fault, String(error));
      return error;
    }
    throw new Error(`no fault: ${text}`);
  }

  #context(text: string): HandlerContext {
    const row = (operand: Operand, type: TypeName): number => {
      if (operand.kind === "register") return this.row(operand.name);
      if (operand.kind === "integer") {
        const name = `literal ${operand.value}`;
        if (TYPES[type].bits > 32) this.set64(name, () => operand.value);
        else this.set(name, () => Number(BigInt.asUintN(32, operand.value)));
        return this.row(name);
      }
      return this.row(operand.kind);
    };
    return {
      machine: this.machine,
      site: { kernel: "test", text },
      sm: 90,
      row,
      rows: (operand, type) =>
        operand.kind === "vector"
          ? operand.elements.map((element) => row(element, type))
          : [row(operand, type)],
      predicate: (operand) => ({ row: row(operand, "pred"), invert: 0 }),
      shadow: () => undefined,
      literal: () => 0n,
      address: (operand) => {
        if (operand.kind !== "address") throw new Error("no address");
        const { base, offset } = operand;
        if (base?.kind === "register") {
          const bits = TYPES[base.type].bits === 64 ? 64 : 32;
          return { row: row(base, "b64"), bits, offset: Number(offset), symbol: undefined };
        }
        const name = base?.kind === "symbol" ? base.name : "";
        const symbol = this.#options.symbols?.[name];
        return {
          row: undefined,
          bits: 64,
          offset: (symbol?.location ?? 0) + Number(offset),
          symbol: name,
          ...(symbol === undefined ? {} : { space: symbol.space }),
        };
      },
    };
  }
}

function parseInstruction(text: string): Parameters<typeof matchInstruction>[0] {
  const { kernels } = parsePtx(`.version 8.8
.target sm_100a
.address_size 64
.global .b32 gvar;
.shared .b32 svar;
.visible .entry test(.param .u64 parameter) {
  .reg .pred %p<8>;
  .reg .b16 %h<40>;
  .reg .b32 %r<40>;
  .reg .b64 %d<40>;
  .reg .b128 %q<8>;
  ${text}
}`);
  const item = kernels[0]?.body.find(({ kind }) => kind === "instruction");
  if (item?.kind !== "instruction") throw new Error(`no instruction: ${text}`);
  return item;
}
