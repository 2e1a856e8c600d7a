/** Tile IR to PTX: lays a function out, orders its memory operations, and emits one entry. */
import type { PtxDirective, PtxFunction, PtxKernel, PtxVariable } from "../ptx/func.ts";
import { dropDead } from "../ptx/drop_dead.ts";
import { renumber } from "../ptx/renumber.ts";
import { axisAnalysis } from "../tile/axis.ts";
import type { Func, Op } from "../ir/func.ts";
import { walkOps } from "../ir/walk.ts";
import { fitsShared, type Target, watchTarget } from "../targets.ts";
import { must } from "../support/bug.ts";
import { CONSTANT_ALIGN } from "../support/constants.ts";
import type { FloatOptions } from "../support/float_options.ts";
import { assignLayouts } from "../layout/assign.ts";
import { CallTable } from "./call_table.ts";
import type { LowerContext } from "./context.ts";
import { emitAside } from "./values.ts";
import { placeStages, SHARED_SYMBOL } from "./shared.ts";
import { conversionOf, hasBlockBarrier } from "../layout/exchanges.ts";
import { limitDeferred } from "./deferred.ts";
import { productRegisters } from "./dot.ts";
import { Emitter } from "./emitter.ts";
import { orderMemory } from "../schedule/memory_order.ts";
import { originsOf } from "../tile/induction.ts";
import { dropIdlePlaces, type FileTable } from "./places.ts";
import { lowerParam, paramType } from "./params.ts";
import { lowerOp } from "./rules.ts";
import { stageProducts } from "../schedule/stage_operands.ts";
import { Unsupported } from "./unsupported.ts";

export { Unsupported };

export interface LowerOptions {
  readonly target: Target;
  readonly numWarps: number;
  /** Slots for what loops load for products; chosen if absent. */
  readonly numStages?: number | undefined;
  /** Registers that a thread may use. */
  readonly maxRegisters?: number | undefined;
  /** Loops have to do with `numStages`, whatever their hints say: more does not fit. */
  readonly isCramped?: boolean;
  /** Entry name in the module. */
  readonly symbol: string;
  /** What pragmas say of floats. */
  readonly floats?: FloatOptions;
  /** Checks are part of the program, not only for those who do not leave them out (`ptx/checks.ts`). */
  readonly debug?: boolean;
  /** Files of the module, if its instructions shall say where they come from. */
  readonly files?: FileTable;
  /** Receives the laid-out function. */
  readonly onLayout?: (func: Func) => void;
}

export interface LoweredKernel {
  readonly kernel: PtxKernel;
  /** Variables of the module that the entry uses. */
  readonly globals: readonly PtxVariable[];
  /** Functions that the entry calls, to be declared. */
  readonly externs: readonly PtxFunction[];
  readonly threads: number;
  /** Dynamic shared memory to ask for at launch; 0 when the entry's own variables hold it. */
  readonly sharedBytes: number;
  /** Another target has the same code; only directives are its own. */
  readonly agrees: (other: Target) => boolean;
  readonly directivesOn: (target: Target) => readonly PtxDirective[];
}

/** Static shared memory that an entry may declare (PTX ISA, `.shared`); more must be dynamic. */
const STATIC_SHARED_BYTES = 48 * 1024;

/** Lowers one function for one target. Throws {@linkcode Unsupported} for what the target has no room for. */
export function lowerFunc(func: Func, options: LowerOptions): LoweredKernel {
  const { view, agrees } = watchTarget(options.target);
  const { use, kernel, ...lowered } = lowerFor(func, { ...options, target: view });
  return {
    ...lowered,
    kernel: { ...kernel, directives: directivesOn(options.target, use) },
    agrees,
    directivesOn: (target) => directivesOn(target, use),
  };
}

/** What comes of one target but its directives, and what decides those. */
interface LoweredCode extends Omit<LoweredKernel, "agrees" | "directivesOn"> {
  readonly use: Use;
}

function lowerFor(func: Func, options: LowerOptions): LoweredCode {
  const axisInfo = axisAnalysis(func);
  const laidOut = assignLayouts(func, {
    target: options.target,
    numWarps: options.numWarps,
    axisInfo,
  });
  const stages = stageProducts(laidOut, {
    target: options.target,
    numStages: options.numStages,
    isCramped: options.isCramped === true,
    axisInfo: axisAnalysis(laidOut),
  });
  const laidOutAxisInfo = axisAnalysis(laidOut);
  orderMemory(laidOut, hasBlockBarrier, laidOutAxisInfo);
  options.onLayout?.(laidOut);

  const emitter = new Emitter(options.target, options.files, options.floats);
  const cx: LowerContext = {
    emitter,
    numWarps: options.numWarps,
    values: new Map(),
    deferred: new Map(),
    shared: { bytes: 0, read: "nothing" },
    stages,
    constants: new Map(),
    calls: new CallTable(options.symbol, options.debug === true),
    loaded: { registers: 0 },
    aside: [],
    lowerOps: (ops) => {
      for (const op of ops) {
        emitter.from(op.span);
        if (op.regions.length > 0) emitAside(cx);
        lowerOp(cx, op, laidOutAxisInfo);
        limitDeferred(cx, op);
      }
      emitAside(cx);
    },
    originOf: originsOf(laidOut),
  };
  const params = laidOut.params.map((param, i) => {
    const name = `${options.symbol}_param_${i}`;
    lowerParam(cx, param, name);
    return { name, type: paramType(param.type.element) };
  });
  cx.lowerOps(laidOut.body.ops);
  emitter.emit("ret", []);

  const placed = placeStages(emitter.body, stages, cx.shared.bytes);
  cx.shared.bytes = placed.bytes;
  const fits = fitsShared(options.target, cx.shared.bytes);
  if (!fits && stages.isPipelined) {
    return lowerFor(func, { ...options, numStages: 1, isCramped: true });
  }
  const live = renumber(dropIdlePlaces(dropDead(placed.body)));
  const threads = 32 * options.numWarps;
  const dynamic = cx.shared.bytes > STATIC_SHARED_BYTES;
  if (!fits) {
    const exchanges: Op[] = [];
    walkOps(laidOut.body, (op) => {
      if (op.name === "convert_layout" && conversionOf(op).kind === "shared") exchanges.push(op);
    });
    const at = must(
      exchanges[0] ?? laidOut.body.ops.find(({ name }) => name !== "shared_buffer"),
      "exchange",
    );
    const what = exchanges.length > 0 ? "layout conversion" : "this kernel";
    throw new Unsupported({
      code: "E7008",
      what: `${what} needs ${cx.shared.bytes / 1024} KiB of shared memory`,
      span: at.span,
      hint: "make the tile smaller, or build for other architectures with `--arch`",
    });
  }
  const use: Use = {
    threads,
    registers: cx.loaded.registers +
      productRegisters(laidOut, options.numWarps, options.target) + SPARE_REGISTERS,
    sharedBytes: cx.shared.bytes,
    maxRegisters: options.maxRegisters,
  };
  return {
    kernel: {
      name: options.symbol,
      params,
      directives: [],
      registers: live.registers,
      variables: [
        ...cx.shared.bytes === 0 ? [] : [sharedVariable(dynamic, cx.shared.bytes)],
        ...cx.calls.variables,
      ],
      body: live.body,
    },
    globals: [...constantVariables(cx.constants), ...cx.calls.globals],
    externs: cx.calls.externs,
    threads,
    sharedBytes: dynamic ? cx.shared.bytes : 0,
    use,
  };
}

function sharedVariable(dynamic: boolean, bytes: number): PtxVariable {
  const variable = { space: "shared", name: SHARED_SYMBOL, type: "b8", align: 16 } as const;
  return dynamic ? { ...variable, count: 0, extern: true } : { ...variable, count: bytes };
}

/** The host finds them by their names. */
function constantVariables(buffers: ReadonlyMap<string, number>): PtxVariable[] {
  return [...buffers].map(([name, count]) => {
    const place = { space: "const", name, type: "b8", align: CONSTANT_ALIGN } as const;
    return { ...place, count, visible: true };
  });
}

const directivesOn = (target: Target, use: Use): PtxDirective[] => [
  { name: "reqntid", values: [use.threads, 1, 1] },
  occupancy(use, target),
];

/** What a block of the entry takes of a multiprocessor. */
interface Use {
  readonly threads: number;
  /** Of a thread, roughly. */
  readonly registers: number;
  readonly sharedBytes: number;
  readonly maxRegisters: number | undefined;
}

/** Registers a thread needs beside the elements it loads: addresses, masks, indices. */
const SPARE_REGISTERS = 48;
const REGISTERS_PER_SM = 65536;

/**
 * `.minnctapersm`: without an occupancy target ptxas saves registers by interleaving loads with their uses, which
 * halves the bytes in flight; with one too high it spills. 512 threads an SM leave 128 registers each, enough to
 * keep 16 KiB of a float tile in flight per block. Whoever writes `max_registers` has decided: `.maxnreg` then.
 */
function occupancy(
  { threads, registers, sharedBytes, maxRegisters }: Use,
  target: Target,
): PtxDirective {
  if (maxRegisters !== undefined) return { name: "maxnreg", values: [maxRegisters] };
  const byShared = sharedBytes === 0
    ? target.blocksPerSm
    : Math.floor(target.sharedBytesPerSm / (sharedBytes + 1024));
  const byRegisters = Math.floor(REGISTERS_PER_SM / (threads * registers));
  const blocks = Math.max(
    1,
    Math.min(Math.floor(512 / threads), byShared, byRegisters, target.blocksPerSm),
  );
  return { name: "minnctapersm", values: [blocks] };
}
