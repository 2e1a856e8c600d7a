/**
 * Stages operands of dots in shared memory. Replaces the layout conversions before dots.
 *
 * Operands that a loop loads for its dot are prefetched some iterations earlier (pipeline/pipeline.ts); operands from
 * outside of a loop may stay resident. All others get buffers of their own right before the dot, with one barrier for
 * both:
 *
 *     barrier; store a; store b; barrier; load a; load b; dot
 *
 *     in   laid-out IR with a layout conversion before each operand that needs one
 *     out  buffers, and operations that fill and read them
 */
import { loopOf } from "../ir/flow.ts";
import { type Func, type Op, type OpOf, type Region, setAttrs, type Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { bodyOfProgram } from "../ir/program_loop.ts";
import { cloneFunc, countUses, holds, restoreBody, walkOps } from "../ir/walk.ts";
import { dropDead } from "../tile/drop_dead.ts";
import { fitsShared, query } from "../targets.ts";
import { conversionOf, hasBlockBarrier } from "../layout/exchanges.ts";
import { aligned, bytesApart, exchangesApart, sharedBytes } from "./allocate_shared.ts";
import type { Pass, TargetContext } from "../tile/pass.ts";
import { rewriteChain } from "./chains/chain_loop.ts";
import { buffersOf, type ChainPlan, planChain } from "./chains/chain_plan.ts";
import { withVectors } from "./chains/chain_vectors.ts";
import { overlaps } from "./chains/overlapped_chain.ts";
import { leaveEarly } from "./chains/early_return.ts";
import { growsWithProgram, startLastFirst } from "./programs/longest_first.ts";
import { pipelineLoop } from "./pipeline/pipeline.ts";
import type { Reuse } from "./warp_groups/slot_ring.ts";
import { ScheduleBuilder } from "./builder.ts";
import { repeats } from "./repeats.ts";
import { type InBuffer, residentOperands, stagedOperandsOf } from "./staged_operand.ts";
import { StagingArea } from "./staging_area.ts";

export const stageOperands: Pass<TargetContext> = {
  name: "stage-operands",
  doc: "operands of dots in slots of shared memory, prefetched by loops",
  run: (func, context) => {
    if (!hasDots(func)) return false;
    if (func.maps.length > 0) leaveEarly(func);
    // Facts of the function as it is now.
    const axisInfo = context.axisInfo();
    const asked = { ...context, axisInfo: () => axisInfo };
    for (;;) {
      const before = cloneFunc(func);
      const isPrefetched = stage(func, asked, true);
      // Exchanges need shared memory too, so only now it is known whether all of it fits.
      if (!isPrefetched || fitsShared(context.target, sharedBytes(func))) return true;
      restoreBody(func, before);
      if (!takeSlot(func)) break;
    }
    stage(func, asked, false);
    return true;
  },
};

/** Slots with which one iteration is copied while another one is multiplied. */
const LEAST_SLOTS = 2;

/** Takes a slot from the operands of loops of boxes that blocks do for several programs; false where there are too few. */
function takeSlot(func: Func): boolean {
  let isTaken = false;
  walkOps(func.body, (op) => {
    if (op.name !== "while" || op.attrs.programs !== true) return;
    for (const loop of loopOf(op).body.ops) {
      if (loop.name !== "while") continue;
      const slots = loop.attrs.num_stages ?? 0;
      if (slots <= LEAST_SLOTS) continue;
      setAttrs(loop, { num_stages: slots - 1 });
      isTaken = true;
    }
  });
  return isTaken;
}

function hasDots({ body }: Func): boolean {
  return holds(body, new Set(["dot"]));
}

/** Stages all operands that need it; true if loops prefetch some or keep some resident, as they may. */
function stage(func: Func, context: TargetContext, mayPrefetch: boolean): boolean {
  const uses = countUses(func);
  const state: State = {
    func,
    uses,
    context,
    buffers: [],
    ringBytes: 0,
    isExclusive: false,
    isReversed: false,
  };
  if (mayPrefetch) pipelineLoops(state, func.body);
  const isAlone = state.ringBytes === 0 && avoidsShared(func.body, uses);
  stageRegion(state, func.body, !isAlone, state.ringBytes);
  for (const buffer of state.buffers) setAttrs(buffer, { exclusive: state.isExclusive });
  func.body.ops.unshift(...state.buffers);
  if (state.isReversed) startLastFirst(func);
  dropDead.run(func);
  return state.ringBytes > 0;
}

interface State {
  readonly func: Func;
  readonly uses: ReadonlyMap<Value, number>;
  readonly context: TargetContext;
  readonly buffers: OpOf<"shared_buffer">[];
  ringBytes: number;
  /** Exchanges happen while a buffer is in use. */
  isExclusive: boolean;
  /** Later programs take longer. */
  isReversed: boolean;
}

/**
 * Pipelines innermost loops first. Loops one after the other use the same memory. Gives what comes before the
 * loop over programs that the region is of.
 */
function pipelineLoops(
  state: State,
  region: Region,
  programs?: OpOf<"while">,
): { readonly before: readonly Op[] } {
  const out: Op[] = [];
  const beforePrograms: Op[] = [];
  for (const op of region.ops) {
    const chain = chainOf(state, op, out, programs);
    if (chain !== undefined) {
      state.isReversed ||= programs === undefined && growsWithProgram(chain.loop);
      const buffers = addChainBuffers(state, chain);
      // In a loop over programs there is room for it (loop_programs.ts), since copies run on.
      const isApart = programs !== undefined || staysApart(state);
      state.isExclusive ||= isApart;
      const { before, ops } = rewriteChain(chain, buffers, !isApart);
      if (programs === undefined) out.push(...before);
      else beforePrograms.push(...before);
      out.push(...ops);
      continue;
    }
    const isPrograms = op.name === "while" && op.attrs.programs === true;
    const inner = op.regions.map((one) => pipelineLoops(state, one, isPrograms ? op : undefined));
    const body = op.name === "while" ? loopOf(op).body : undefined;
    const inBody = new Set(body?.ops);
    const staged = body?.ops.flatMap((inner) =>
      inner.name === "dot"
        ? stagedOperandsOf(inner, inBody, state.uses, state.context.target)
        : []
    ) ?? [];
    const loop = op.name === "while"
      ? pipelineLoop(state.func, op, staged, state.context, {
        programs,
        isFirst: region === state.func.body && out.every(repeats),
      })
      : undefined;
    const area = new StagingArea(state.func, state.buffers);
    const pipelined = loop?.(area);
    const around = pipelined?.isAcross === true ? programs ?? op : op;
    const isQuiet = around.regions.every((one) =>
      avoidsShared(one, state.uses)
    );
    const residents = body === undefined || state.context.numStages === 1
      ? []
      : residentOperands(body, state.uses, state.context);
    for (const operand of residents) {
      const fits = fitsShared(state.context.target, area.end + operand.bytes);
      if (body === undefined || !fits) {
        continue;
      }
      keepResident(state, body, area.stage(operand, 1), out);
    }
    if (area.end > 0) {
      state.isExclusive ||= !isQuiet;
    }
    state.ringBytes = Math.max(state.ringBytes, area.end);
    const rewritten = pipelined?.rewrite(() => reuseOf(state, region, op, out)) ??
      { before: [], first: [], ops: [op] };
    beforePrograms.push(...rewritten.before);
    out.unshift(...rewritten.first);
    out.push(...inner.flatMap(({ before }) => before), ...rewritten.ops);
  }
  region.ops = out;
  return { before: beforePrograms };
}

/**
 * Whether other operations use the memory of a loop's buffers; those after it get memory of their own if that costs
 * nothing.
 */
function reuseOf(state: State, region: Region, loop: Op, before: readonly Op[]): Reuse {
  const hasMaps = state.func.maps.length > 0;
  if (region !== state.func.body || !hasMaps) return { before: true, after: true };
  const after = region.ops.slice(region.ops.indexOf(loop) + 1);
  const isQuiet = (ops: readonly Op[]): boolean =>
    avoidsShared({ params: [], ops: [...ops] }, state.uses);
  const isApart = isQuiet(after) || (staysApart(state) && !costsBlocks(state));
  state.isExclusive ||= isApart && !isQuiet(after);
  return { before: !isQuiet(before), after: !isApart };
}

/** Whether a multiprocessor has room for fewer blocks if exchanges have memory of their own. */
function costsBlocks({ func, ringBytes, context }: State): boolean {
  const apart = ringBytes + aligned(bytesApart(exchangesApart(func)), SLOT_ALIGNMENT);
  return query(
    context.target,
    ({ sharedBytesPerSm }) =>
      Math.floor(sharedBytesPerSm / apart) < Math.floor(sharedBytesPerSm / ringBytes),
  );
}

/** Adds the buffers of a loop of chained dots, which the staging area begins with. */
function addChainBuffers(state: State, chain: ChainPlan): readonly Value[] {
  const area = new StagingArea(state.func, state.buffers);
  const values = buffersOf(chain).map(({ type, slots, slotBytes }) =>
    area.add(type, slots, slotBytes, chain.loop.span)
  );
  state.ringBytes = Math.max(state.ringBytes, area.end);
  return values;
}

/** Of slots that have swizzles. */
const SLOT_ALIGNMENT = 1024;

/**
 * Whether what the function exchanges besides has memory of its own, and each warp a part of that: then none has to
 * wait for the others before its results.
 */
function staysApart({ func, ringBytes, context }: State): boolean {
  const loops = bodyOfProgram(func).ops.filter(({ name }) => name === "while");
  const exchanges = exchangesApart(func);
  return loops.length === 1 && exchanges.length > 0 &&
    fitsShared(context.target, aligned(bytesApart(exchanges), SLOT_ALIGNMENT) + ringBytes);
}

/** How warp groups do the dots of a loop of boxes; what comes before it is done by the warps beside them too. */
function chainOf(
  { func, context }: State,
  op: Op,
  before: readonly Op[],
  programs: OpOf<"while"> | undefined,
): ChainPlan | undefined {
  const isAlone = func.maps.length > 0 && op.name === "while" && before.every(repeats) &&
    repeats(op);
  const chain = isAlone ? planChain(func, op, context, programs) : undefined;
  return chain !== undefined && overlaps(chain) ? withVectors(chain, context) : chain;
}

/** Stores an operand in shared memory before its loop, and loads it there in every iteration. */
function keepResident(
  state: State,
  body: Region,
  operand: InBuffer,
  out: Op[],
): void {
  const before = new ScheduleBuilder(state.func, out, operand.dot.span);
  // Other threads may still read what the memory held before.
  before.barrier();
  before.effect("local_store", [operand.source, operand.buffer, before.int(0)]);
  before.barrier();
  const reading = new ScheduleBuilder(state.func, [], operand.dot.span);
  reading.load(operand, reading.int(0));
  body.ops = body.ops.flatMap((op) => op === operand.dot ? [...reading.out, op] : [op]);
}

/** No operation of a region uses shared memory, except for operands that staging will stage. */
function avoidsShared(region: Region, uses: State["uses"]): boolean {
  const dots = region.ops.filter((op) => op.name === "dot");
  // Staging replaces the operands of dots of the same region, but what several dots take stays an exchange.
  const staged = new Set(
    dots.flatMap((op) => [operandsOf(op).a, operandsOf(op).b])
      .filter((value) => uses.get(value) === 1),
  );
  return region.ops.every((op) => {
    if (op.name === "convert_layout") {
      return conversionOf(op).kind !== "shared" ||
        op.results.every((value) => staged.has(value));
    }
    if (op.name === "reduce") return !hasBlockBarrier(op);
    return op.regions.every((inner) => avoidsShared(inner, uses)) &&
      (hasTrait(op, "avoidsShared") || hasTrait(op, "elementwise"));
  });
}

/** Stages what loops do not prefetch, from `start` on. `isUsed`: that memory may have been used before. */
function stageRegion(state: State, region: Region, isUsed: boolean, start: number): void {
  const out: Op[] = [];
  const here = new Set(region.ops);
  let mustWait = isUsed;
  for (const op of region.ops) {
    for (const inner of op.regions) {
      stageRegion(state, inner, mustWait || op.name === "while", start);
      mustWait ||= state.buffers.length > 0;
    }
    const staged = op.name === "dot"
      ? stagedOperandsOf(op, here, state.uses, state.context.target)
      : [];
    const needed = staged.reduce((sum, operand) => sum + aligned(operand.bytes), start);
    const fits = fitsShared(state.context.target, needed);
    // Too much at once: the layout conversions stay, one after the other, but not where loops have their slots.
    state.isExclusive ||= staged.length > 0 && !fits && start > 0;
    if (staged.length > 0 && fits) {
      const build = new ScheduleBuilder(state.func, out, op.span);
      // Other threads may still read what the buffers held before.
      if (mustWait) build.barrier();
      mustWait = true;
      const slot = build.int(0);
      const area = new StagingArea(state.func, state.buffers, start);
      const inBuffers = staged.map((operand) => area.stage(operand, 1));
      for (const { source, buffer } of inBuffers) {
        build.effect("local_store", [source, buffer, slot]);
      }
      build.barrier();
      for (const operand of inBuffers) build.load(operand, slot);
    }
    out.push(op);
  }
  region.ops = out;
}
