/** Tile IR after all passes (`driver/passes/passes.ts`) to PTX: emits one entry. */
import type { PtxDirective, PtxFunction, PtxKernel, PtxParam, PtxVariable } from "../ptx/func.ts";
import { dropDead } from "../ptx/drop_dead.ts";
import { QUEUES } from "./memory/queue.ts";
import { waitForGrids } from "../ptx/wait_for_grids.ts";
import type { Func, Op } from "../ir/func.ts";
import { partitionsOf, persistenceOf } from "../ir/program_loop.ts";
import { holds, walkOps } from "../ir/walk.ts";
import { fitsShared, type Target } from "../targets.ts";
import type { AxisFacts } from "../tile/axis.ts";
import { must } from "../support/bug.ts";
import { CONSTANT_ALIGN } from "../support/constants.ts";
import type { FloatOptions } from "../support/float_options.ts";
import { CallTable } from "./calls/call_table.ts";
import { partitionOfThread } from "./addresses.ts";
import type { LowerContext } from "./context.ts";
import { emitDeferred } from "./values.ts";
import { beginTogether } from "./reduce/cluster.ts";
import { repeatedLoads } from "./memory/repeated_loads.ts";
import { endTogether, meet, SHARED_SYMBOL } from "./memory/shared.ts";
import { exchangeBytes } from "../layout/exchanges.ts";
import { receiveParts } from "./reduce/reduce.ts";
import { limitChain } from "./chain_length.ts";
import { productRegisters } from "./dots/dot.ts";
import { Emitter, int } from "./emitter.ts";
import { HomeRecorder, type Homes } from "./homes.ts";
import { inductionBases } from "../tile/induction.ts";
import { swizzleAlignment } from "../layout/warp_group.ts";
import { dropIdleLocations, type FileTable } from "./source_locations.ts";
import { nameRegisters } from "./name_registers.ts";
import { lowerParam, paramType } from "./params.ts";
import { lowerOp } from "./rules.ts";
import { mapParam, producerWarps } from "./memory/tensor_copy.ts";
import { Unsupported } from "./unsupported.ts";
import { times } from "../support/times.ts";

/** How an entry is emitted. */
export interface EmitOptions {
  readonly target: Target;
  readonly numWarps: number;
  /** Blocks of a program. */
  readonly numCtas: number;
  /** Registers that a thread may use. */
  readonly maxRegisters: number | undefined;
  /** Entry name in the module. */
  readonly symbol: string;
  /** What pragmas say of floats. */
  readonly floats: FloatOptions;
  /** Checks are part of the program, not only for those who do not leave them out (`ptx/checks.ts`). */
  readonly debug: boolean;
  /** Files of the module, if its instructions shall say where they come from. */
  readonly files: FileTable | undefined;
  /** Called with where elements are, for someone who wants to look at them. */
  readonly onHomes?: ((homes: Homes) => void) | undefined;
  /** Launches begin when what is before them has ended, also where targets could start them early. */
  readonly startsLate?: boolean;
}

export interface EmittedEntry {
  /** Without directives, which may differ between targets that have the same code. */
  readonly kernel: PtxKernel;
  /** Variables of the module that the entry uses. */
  readonly globals: readonly PtxVariable[];
  /** Functions that the entry calls, to be declared. */
  readonly externs: readonly PtxFunction[];
  readonly threads: number;
  /** Dynamic shared memory to ask for at launch; 0 when the entry's own variables hold it. */
  readonly sharedBytes: number;
  readonly directivesOn: (target: Target) => readonly PtxDirective[];
}

/** Of a grid. */
const AXES = 3;

/** The parameters that code has whose blocks do several programs in turn, from an index on. */
function turnParams(
  func: Func,
  from: number,
  nameOf: (index: number) => string,
): LowerContext["turns"] {
  const names = (at: number, length: number): string[] =>
    times(length, (axis) => nameOf(from + at + axis));
  switch (persistenceOf(func)) {
    case undefined:
      return { programs: [], steps: [] };
    case "x":
      return { programs: names(0, 1), steps: [] };
    case "several":
      return { programs: names(0, 1), steps: [], queue: nameOf(from + 1) };
    case "all":
      return { programs: names(0, AXES), steps: [] };
    case "xyz":
      return { programs: names(0, AXES), steps: names(AXES, AXES) };
  }
}

const queueOf = ({ queue }: LowerContext["turns"]): string[] => queue === undefined ? [] : [queue];

/** Static shared memory that an entry may declare (PTX ISA, `.shared`); more must be dynamic. */
const STATIC_SHARED_BYTES = 48 * 1024;

/** Emits a function. Throws {@linkcode Unsupported} where the target has no room for it. */
export function emitEntry(func: Func, options: EmitOptions, axisInfo: AxisFacts): EmittedEntry {
  const { sharedBytes = 0 } = func;
  requireShared(func, options.target);
  const paramName = (index: number): string => `${options.symbol}_param_${index}`;
  const maps = func.maps.map((map, i) => ({ ...map, symbol: paramName(func.params.length + i) }));
  const turns = turnParams(func, func.params.length + maps.length, paramName);
  const partitions = partitionsOf(func);
  const numWarps = partitions * options.numWarps;
  const helpers = producerWarps(func, numWarps);
  const emitter = new Emitter(options.target, options.files, options.floats);
  const ownPartition = partitions === 1 ? undefined : partitionOfThread(emitter, options.numWarps);
  const barrier = ownPartition === undefined ? int(1) : emitter.add("b32", ownPartition, int(1));
  const cx: LowerContext = {
    emitter,
    numWarps: options.numWarps,
    partitions: ownPartition === undefined ? undefined : { count: partitions, own: ownPartition },
    numCtas: options.numCtas,
    remote: { hasReads: false, isMeeting: false, phases: new Map(), awaited: [] },
    // Barrier 0 is that of all threads.
    blockBarrier: helpers === 0 ? [int(0)] : [barrier, int(32 * options.numWarps)],
    hasDots: holds(func.body, DOTS),
    values: new Map(),
    threadParts: new Map(),
    chainLengths: new Map(),
    constants: new Map(),
    maps,
    turns,
    calls: new CallTable(options.symbol, options.debug),
    repeated: repeatedLoads(func),
    loaded: { registers: 0 },
    slices: { slice: undefined, loaded: undefined, zero: undefined },
    copied: new Map(),
    unfinished: new Map(),
    unrolled: { isFollowed: false },
    fresh: new Set(),
    deferred: [],
    homes: options.onHomes === undefined ? undefined : new HomeRecorder(),
    lowerOps: (ops) => {
      for (const op of ops) {
        emitter.from(op.span);
        if (op.regions.length > 0) {
          emitDeferred(cx);
          // All threads wait once, whatever branches they take and loops they do.
          meet(cx);
          receiveParts(cx);
        }
        lowerOp(cx, op, axisInfo);
        limitChain(cx, op);
        if (cx.homes !== undefined && hasElements(op)) {
          cx.homes.lowered(emitter.scope, op.results);
        }
      }
      emitDeferred(cx);
      receiveParts(cx);
    },
    inductionBase: inductionBases(func),
  };
  cx.homes?.watch(cx);
  cx.homes?.lowered(emitter.scope, func.params);
  const params = func.params.map((param, i) => {
    const name = paramName(i);
    lowerParam(cx, param, name);
    return { name, type: paramType(param.type.element) };
  });
  beginTogether(cx, func);
  cx.lowerOps(func.body.ops);
  if (cx.remote.hasReads) endTogether(cx);
  emitter.emit("ret", []);

  emitter.onEnd?.(emitter.scope);
  const needed = dropDead(emitter.body);
  const { startsLate = false, target: { startsEarly } } = options;
  const kept = startsEarly && !startsLate ? waitForGrids(needed) : needed;
  const body = dropIdleLocations(kept);
  const { registers, appears } = nameRegisters(body);
  if (cx.homes !== undefined) {
    const ofPartitions = { count: partitions, warps: options.numWarps };
    options.onHomes?.(cx.homes.finish(kept, appears, emitter.spans, ofPartitions));
  }
  const threads = 32 * (numWarps + helpers);
  const dynamic = sharedBytes > STATIC_SHARED_BYTES;
  const use: Use = {
    threads,
    registers: cx.loaded.registers +
      productRegisters(func, options.numWarps, options.target) + SPARE_REGISTERS,
    sharedBytes,
    maxRegisters: options.maxRegisters,
    numCtas: options.numCtas,
  };
  return {
    kernel: {
      name: options.symbol,
      params: [
        ...params,
        ...maps.map(({ symbol }) => mapParam(symbol)),
        ...[...turns.programs, ...turns.steps, ...queueOf(turns)].map((name): PtxParam => ({
          name,
          type: "u32",
        })),
      ],
      directives: [],
      registers,
      variables: [
        ...sharedBytes === 0 ? [] : [
          sharedVariable(dynamic, sharedBytes, Math.max(SHARED_ALIGN, swizzleAlignment(func))),
        ],
        ...cx.calls.variables,
      ],
      body,
    },
    globals: [
      ...constantVariables(cx.constants),
      ...queueOf(turns).map(() => QUEUES),
      ...cx.calls.globals,
    ],
    externs: cx.calls.externs,
    threads,
    sharedBytes: dynamic ? sharedBytes : 0,
    directivesOn: directivesFor(use),
  };
}

const DOTS: ReadonlySet<Op["name"]> = new Set(["dot", "warp_group_dot", "register_group_dot"]);

/** Whether threads have the elements of its results: of an atomic operation that nothing asks for its result none do. */
function hasElements(op: Op): boolean {
  return !((op.name === "atomic" || op.name === "atomic_cas") && op.attrs.unused === true);
}

/** Throws where the target has less shared memory for a block than the function needs. */
function requireShared({ body, sharedBytes = 0 }: Func, target: Target): void {
  if (fitsShared(target, sharedBytes)) return;
  const conversions: Op[] = [];
  walkOps(body, (op) => {
    if (op.name === "convert_layout" && exchangeBytes(op) > 0) conversions.push(op);
  });
  // A function that needs shared memory has an operation that does.
  const first = body.ops.find(({ name }) => name !== "shared_buffer");
  const what = conversions.length > 0 ? "layout conversion" : "this kernel";
  throw new Unsupported({
    code: "E7008",
    what: `${what} needs ${sharedBytes / 1024} KiB of shared memory`,
    span: must(conversions[0] ?? first, "operation that needs shared memory").span,
    hint: "make the tile smaller, or build for other architectures with `--arch`",
  });
}

/** What exchanges need of the address of shared memory. */
const SHARED_ALIGN = 16;

function sharedVariable(dynamic: boolean, bytes: number, align: number): PtxVariable {
  const variable = { space: "shared", name: SHARED_SYMBOL, type: "b8", align } as const;
  return dynamic ? { ...variable, count: 0, extern: true } : { ...variable, count: bytes };
}

/** The host finds them by their names. */
function constantVariables(buffers: ReadonlyMap<string, number>): PtxVariable[] {
  return [...buffers].map(([name, count]) => {
    const declaration = { space: "const", name, type: "b8", align: CONSTANT_ALIGN } as const;
    return { ...declaration, count, visible: true };
  });
}

/** Outside of {@linkcode emitEntry}, whose instructions it would keep in memory as long as there are targets to come. */
const directivesFor = (use: Use) => (target: Target): readonly PtxDirective[] => [
  { name: "reqntid", values: [use.threads, 1, 1] },
  occupancy(use, target),
  ...use.numCtas === 1 ? [] : [{ name: "reqnctapercluster", values: [use.numCtas, 1, 1] }],
];

/** What a block of the entry takes of a multiprocessor. */
interface Use {
  readonly threads: number;
  /** Of a thread, roughly. */
  readonly registers: number;
  readonly sharedBytes: number;
  readonly maxRegisters: number | undefined;
  /** Blocks of its cluster. */
  readonly numCtas: number;
}

/** A thread's registers are allotted in such steps (CUDA C++ Programming Guide, 256 for a warp). */
const REGISTER_UNIT = 8;
/** Registers a thread needs beside the elements it loads: addresses, masks, indices. */
const SPARE_REGISTERS = 48;
/** Shared memory that a block takes beside its own: what newer targets reserve; a bound for the older ones. */
const BLOCK_SHARED_BYTES = 1024;

/**
 * `.minnctapersm`: without an occupancy target ptxas saves registers by interleaving loads with their uses, which
 * halves the bytes in flight; with one too high it spills. 512 threads an SM leave 128 registers each, enough to
 * keep 16 KiB of a float tile in flight per block. A kernel with `max_registers` gets `.maxnreg` instead.
 */
function occupancy(
  { threads, registers, sharedBytes, maxRegisters }: Use,
  target: Target,
): PtxDirective {
  if (maxRegisters !== undefined) {
    // A block that wants more than a multiprocessor has would not be launched.
    const most = REGISTER_UNIT * Math.floor(target.registersPerSm / (threads * REGISTER_UNIT));
    return { name: "maxnreg", values: [Math.min(maxRegisters, most)] };
  }
  const byShared = sharedBytes === 0
    ? target.blocksPerSm
    : Math.floor(target.sharedBytesPerSm / (sharedBytes + BLOCK_SHARED_BYTES));
  const byRegisters = Math.floor(target.registersPerSm / (threads * registers));
  const blocks = Math.max(
    1,
    Math.min(Math.floor(512 / threads), byShared, byRegisters, target.blocksPerSm),
  );
  return { name: "minnctapersm", values: [blocks] };
}
