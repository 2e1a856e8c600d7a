/**
 * Compiles a kernel. In: its PTX as data, and the addresses of its symbols. Out: a `Program`: WebAssembly with a function
 * for each basic block, the layout of the register file, and what the scheduler needs of each block.
 */
import type { PtxKernel, PtxModule } from "../../compiler/ptx/func.ts";
import type { HandlerContext, Machine } from "../machine.ts";
import { mayGrow } from "../async/register_pool.ts";
import { checkRegisters, mayPassWait, productRegisters } from "../matrix/mod.ts";
import { accessFacts } from "./access_facts.ts";
import { barrierStep } from "./barrier.ts";
import { type Block, blocksOf, lineOf, singleInstructions } from "./blocks.ts";
import { indexedBranch } from "./branch.ts";
import { addressOf, contextFor, type Symbols } from "./context.ts";
import { livenessOf } from "./dataflow.ts";
import {
  emitKernel,
  type EmittedBlock,
  type EmittedEnd,
  type EmittedLine,
  type EmittedShadow,
  type Predicate,
  type Step,
} from "./emit.ts";
import { accessOf } from "../access/state.ts";
import { mayReadUndefined, type Tracking, trackRegisters } from "../shadow/flow.ts";
import { demandDefined, type LineShadow, lineShadow } from "../shadow/line.ts";
import { addOrigin } from "../shadow/state.ts";
import { RegisterFileLayout } from "./layout.ts";
import { type Line, linesOf } from "./lines.ts";
import { passingOf } from "./passing.ts";
import type { BlockFacts, Code, Program } from "./program.ts";
import { selectStep } from "./select.ts";
import { surroundingsOf } from "./surroundings.ts";
import { usesOf } from "./uses.ts";
import { classOf } from "./classes.ts";

/** Where running code reports how far it got; one per machine. */
export interface Meters extends Pick<Code, "fuel" | "stoppedAt" | "takeStop"> {
  /** Called for every instruction that a loop may wait with: an atomic operation, a load that others' stores end. */
  poll(): void;
}

/** What a kernel is compiled with. */
export interface CompileOptions {
  readonly machine: Machine;
  readonly module: PtxModule;
  readonly kernel: PtxKernel;
  readonly symbols: Symbols;
  /** Whether to stop before each instruction, with a row for each register; absent: no. */
  readonly stepping?: boolean;
  /** Whether lanes are stopped that read registers before they are written. */
  readonly unassigned: boolean;
  readonly meters: Meters;
  /** Where the counts of the kernel's blocks are to be kept, once it is known how many there are. */
  readonly counts: (blocks: number) => number;
}

const NOT_TRACKED: Tracking = { tracked: new Map(), always: new Set() };

/** Compiles a kernel; how accesses are watched is read from the machine now. */
export function compileKernel(options: CompileOptions): Program {
  const { machine, module, kernel, symbols, meters } = options;
  const { lines, endLabels } = linesOf(kernel, module);
  const plain = blocksOf(kernel, lines, endLabels);
  const blocks = options.stepping === true ? singleInstructions(plain) : plain;
  const { intervals, unassigned } = livenessOf(blocks);
  const { tracked, always } = options.unassigned
    ? trackRegisters(lines, unassigned, (name) => symbols.get(name)?.space === "local")
    : NOT_TRACKED;
  const inProducts = productRegisters(lines.map(({ match }) => match));
  // Products read and write their registers when they are waited for.
  const lives = intervals.map((interval) =>
    options.stepping === true || inProducts.has(interval.register.name)
      ? { ...interval, first: 0, last: Infinity }
      : interval
  );
  const layout = new RegisterFileLayout(lives, tracked, (name) => addressOf(symbols, name));
  const { shadows: state } = accessOf(machine);
  for (const { name } of unassigned) {
    const shadow = layout.shadow(name);
    if (shadow === undefined) continue;
    layout.initial.push({ shadow, origin: addOrigin(state, { kind: "register", name }) });
  }
  const facts = accessFacts(plain);
  const sm = Number(/\d+/.exec(module.target)?.[0] ?? 0);
  const surroundings = surroundingsOf(kernel, module);
  const context = (line: Line): HandlerContext =>
    contextFor(machine, layout, symbols, line.site, sm, surroundings, {
      isUpdate: () => facts.isUpdate(line),
      polls: () => facts.polls(line),
      isExpected: () => facts.isExpected(line),
      copiedBeside: () => facts.copiedBeside(line),
    });
  const guardOf = ({ instruction: { guard } }: Line): Predicate | undefined =>
    guard === undefined
      ? undefined
      : { row: layout.row(guard.register, "pred"), invert: guard.negated ? -1 : 0 };
  const emittedShadow = (shadow: LineShadow | undefined): EmittedShadow | undefined =>
    shadow === undefined ? undefined : {
      words: shadow.words,
      always: shadow.registers.some((name) => always.has(name)),
      run: shadow.run,
    };
  const isLocal = (name: string): boolean => symbols.get(name)?.space === "local";
  const isWatched = tracked.size > 0;
  const emitted = blocks.map((block, pc): EmittedBlock => ({
    entry: isWatched ? emittedShadow(entryShadow(block, context)) : undefined,
    lines: block.lines.flatMap((line) => [
      ...productProbe(line, machine, inProducts, guardOf(line)),
      {
        ...emittedLine(line, context(line), guardOf(line), meters),
        shadow: isWatched ? emittedShadow(lineShadow(line, context(line))) : undefined,
        seeds: isWatched && typeof line.match !== "string" && mayReadUndefined(line.match, isLocal),
      },
    ]),
    endShadow: isWatched ? emittedShadow(endShadow(block, context)) : undefined,
    end: emittedEnd(block, pc, machine, layout),
    needs: neededLanes(block),
    ready: readiness(block, machine, context),
  }));
  const blockFacts = blocks.map((block): BlockFacts => {
    const first = block.lines[0];
    const { end } = block;
    const needs = neededLanes(block);
    const sync = first?.sync;
    return {
      needs: needs === undefined
        ? undefined
        : typeof sync === "object"
        ? layout.row(sync, "b32")
        : "all",
      barrier: end.kind === "barrier" && typeof end.line.match !== "string"
        ? barrierStep(end.line.match, context(end.line))
        : undefined,
      meets: typeof first?.match === "object" && first.match.opcode === "bar.warp.sync",
      site: end.kind === "barrier" ? end.line.site : first?.site,
    };
  });
  const { bytes, functions, shadows } = emitKernel(emitted);
  const counts = options.counts(blocks.length);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    env: {
      memory: machine.memory,
      fuel: meters.fuel,
      stoppedAt: meters.stoppedAt,
      counts: new WebAssembly.Global({ value: "i32", mutable: false }, counts),
      undefined: state.flag,
      shadow: (w: number, lanes: number, number: number): void => shadows[number]?.(w, lanes),
    },
    js: functions,
  });
  const { run } = instance.exports;
  if (typeof run !== "function") throw new TypeError("compiled kernels export run");
  const code: Code = {
    run: (registerFile, mask, pc, stop) => Number(run(registerFile, mask, pc, stop)),
    fuel: meters.fuel,
    stoppedAt: meters.stoppedAt,
    takeStop: () => meters.takeStop(),
  };
  const classes = blocks.map((block) => {
    const histogram = new Map<string, number>();
    const all = block.end.kind === "barrier" || block.end.kind === "indexed"
      ? [...block.lines, block.end.line]
      : block.lines;
    for (const { match } of all) {
      const name = classOf(match);
      histogram.set(name, (histogram.get(name) ?? 0) + 1);
    }
    if (block.end.kind === "jump") {
      histogram.set("control", (histogram.get("control") ?? 0) + 1);
    }
    return histogram;
  });
  return {
    kernel: kernel.name,
    blocks: blockFacts,
    passing: passingOf(blocks),
    layout,
    classes,
    counts,
    code,
    lines: options.stepping === true ? blocks.map(lineOf) : [],
  };
}

/** Instructions that wait for what other warps do: whether those are far enough. */
const WAITS: Readonly<Record<string, (count: number, context: HandlerContext) => () => boolean>> = {
  "wgmma.wait_group": (pending, { machine }) => () => mayPassWait(machine.warp, pending),
  setmaxnreg: (count, context) => () => mayGrow(context, count),
};

/** What the first line of a block waits for, if it is such an instruction. */
function readiness(
  { lines: [line] }: Block,
  machine: Machine,
  contextOf: ContextOf,
): (() => number) | undefined {
  if (line === undefined || typeof line.match === "string") return undefined;
  const { opcode, operands } = line.match;
  const operand = operands[0]?.operand;
  const count = operand?.kind === "integer" ? Number(operand.value) : 0;
  const isReady = WAITS[opcode]?.(count, contextOf(line));
  if (isReady === undefined) return undefined;
  return () => {
    if (isReady()) return 1;
    machine.yield();
    return 0;
  };
}

/** A check before an instruction that touches registers which products may still work on. */
function productProbe(
  line: Line,
  machine: Machine,
  inProducts: ReadonlySet<string>,
  guard: Predicate | undefined,
): readonly EmittedLine[] {
  const { match, site } = line;
  if (!machine.checks || inProducts.size === 0) return [];
  if (typeof match !== "string" && match.opcode === "wgmma.mma_async") return [];
  const { reads, writes } = usesOf(line);
  const [read, written] = [reads, writes].map((registers) =>
    registers.map(({ name }) => name).filter((name) => inProducts.has(name))
  );
  if (read === undefined || written === undefined || read.length + written.length === 0) return [];
  const run = (): void => checkRegisters(machine, read, written, site);
  const step: Step = { kind: "function", run };
  return [{ guard, step, site, shadow: undefined, seeds: false }];
}

/** Lanes that the first line of a block needs, as far as they are known beforehand. */
function neededLanes(block: Block): number | "all" | "row" | undefined {
  const sync = block.waits ? block.lines[0]?.sync : undefined;
  if (sync === undefined || sync === "all") return sync;
  return sync.kind === "integer" ? Number(BigInt.asIntN(32, sync.value)) : "row";
}

function emittedLine(
  line: Line,
  context: HandlerContext,
  guard: Predicate | undefined,
  meters: Meters,
): Omit<EmittedLine, "shadow" | "seeds"> {
  return {
    guard,
    step: polling(line, selectStep(line, context), meters),
    site: line.site,
  };
}

type ContextOf = (line: Line) => HandlerContext;

/** The mask of the lanes that the first line of a block waits for must be defined before it waits. */
function entryShadow({ waits, lines }: Block, contextOf: ContextOf): LineShadow | undefined {
  const [first] = lines;
  if (!waits || first === undefined || typeof first.sync !== "object") return undefined;
  const { sync } = first;
  if (sync.kind !== "register") return undefined;
  const use = "it names the lanes that take part";
  return demandDefined([{ register: sync, use }], contextOf(first));
}

/** What a block's end reads must be defined. */
function endShadow({ end }: Block, contextOf: ContextOf): LineShadow | undefined {
  switch (end.kind) {
    case "next":
      return undefined;
    case "jump": {
      const { guard, line } = end;
      if (guard === undefined) return undefined;
      const use = "a branch depends on it";
      return demandDefined([{ register: guard.register, use }], contextOf(line));
    }
    default:
      return lineShadow(end.line, contextOf(end.line));
  }
}

/** Orders of loads that see what other threads store meanwhile. */
const STRONG: ReadonlySet<string> = new Set(["volatile", "relaxed", "acquire"]);

/** Reports instructions that a loop may wait with. */
function polling({ match }: Line, step: Step, meters: Meters): Step {
  if (typeof match === "string" || step.kind !== "function") return step;
  const waits = match.opcode === "atom" ||
    (match.opcode === "ld" && [...match.bound.values()].some((name) => STRONG.has(name)));
  if (!waits) return step;
  const { run } = step;
  return {
    kind: "function",
    run: (w, mask) => {
      run(w, mask);
      meters.poll();
    },
  };
}

function emittedEnd(
  { end }: Block,
  pc: number,
  machine: Machine,
  layout: RegisterFileLayout,
): EmittedEnd {
  switch (end.kind) {
    case "next":
    case "barrier":
      return { kind: end.kind };
    case "jump": {
      const { guard, target } = end;
      if (guard === undefined) return { kind: "jump", target, guard: undefined };
      const row = layout.row(guard.register, "pred");
      return { kind: "jump", target, guard: { row, invert: guard.negated ? -1 : 0 } };
    }
    case "indexed": {
      const [index] = end.line.instruction.operands;
      const row = layout.row(index ?? { kind: "sink" }, "u32");
      const { site } = end.line;
      return { kind: "computed", run: indexedBranch(machine, row, end.targets, pc, site) };
    }
  }
}
