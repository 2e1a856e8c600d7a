/**
 * The code of a kernel as WebAssembly: a function per block that does one instruction after the other for all lanes of
 * a mask and returns the block to continue with, and `run`, which runs block after block.
 */
import type { Site } from "../fault.ts";
import { HEADER } from "../register_file.ts";
import type { WarpFunction } from "../machine.ts";
import type { Code } from "../wasm/code.ts";
import { WasmModule } from "../wasm/module.ts";
import type { ValueType } from "../wasm/code.ts";
import type { Primitive } from "../wasm/primitive.ts";
import { STOP } from "./program.ts";

/** An argument of a primitive: a row of the register file, or a number. */
export type StepArgument =
  | { readonly kind: "row"; readonly row: number }
  | { readonly kind: "number"; readonly value: number };

/** Does an instruction. */
export type Step =
  | {
    readonly kind: "primitive";
    readonly primitive: Primitive;
    readonly args: readonly StepArgument[];
    /** What acts where the primitive declines to. */
    readonly otherwise: WarpFunction | undefined;
  }
  | { readonly kind: "function"; readonly run: WarpFunction };

/** A predicate in the register file. */
export interface Predicate {
  readonly row: number;
  readonly invert: 0 | -1;
}

/** What is to be done with the shadows of registers, for all lanes that come there. */
export interface EmittedShadow {
  /** Offsets of words: while all are 0 in those lanes, nothing. */
  readonly words: readonly number[];
  /** Whether that may be from the start, or only once something undefined has been read from memory. */
  readonly always: boolean;
  readonly run: WarpFunction;
}

export interface EmittedLine {
  readonly guard: Predicate | undefined;
  readonly step: Step;
  readonly site: Site;
  /** Before the instruction runs. */
  readonly shadow: EmittedShadow | undefined;
  /** Whether it may be the first to read something undefined from memory. */
  readonly seeds: boolean;
}

export type EmittedEnd =
  | { readonly kind: "next" }
  | { readonly kind: "barrier" }
  | { readonly kind: "jump"; readonly target: number; readonly guard: Predicate | undefined }
  /**
   * The function sets the header as for lanes that diverge and gives the block to continue with, or `STOP.diverged`.
   */
  | { readonly kind: "computed"; readonly run: (w: number, mask: number) => number };

export interface EmittedBlock {
  /** Before anything else: what decides which lanes the first line waits for. */
  readonly entry: EmittedShadow | undefined;
  readonly lines: readonly EmittedLine[];
  /** Before the end. */
  readonly endShadow: EmittedShadow | undefined;
  readonly end: EmittedEnd;
  /** Lanes that the first line needs: known, all, or by a row that the scheduler looks at. */
  readonly needs: number | "all" | "row" | undefined;
  /** Gives 0 while the first line has to wait for other warps. */
  readonly ready: (() => number) | undefined;
}

export type Imported = WarpFunction | ((w: number, mask: number) => number) | (() => number);

export interface Emitted {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What to import as `js`, by name. */
  readonly functions: Readonly<
    Record<string, WarpFunction | ((w: number, mask: number) => number)>
  >;
  /** What `env.shadow` calls with a register file and a mask, by number. */
  readonly shadows: readonly WarpFunction[];
}

const I32S = (count: number): ValueType[] => Array.from({ length: count }, () => "i32" as const);
/** Parameters of a block's function. */
const [W, MASK] = [0, 1];

/** Emits the code of a kernel. */
export function emitKernel(blocks: readonly EmittedBlock[]): Emitted {
  const module = new WasmModule();
  module.importMemory("env", "memory");
  const fuel = module.importGlobal("env", "fuel", "i32", true);
  const stoppedAt = module.importGlobal("env", "stoppedAt", "i32", true);
  const counts = module.importGlobal("env", "counts", "i32", false);
  const undefinedSeen = module.importGlobal("env", "undefined", "i32", true);
  const callShadow = module.importFunction("env", "shadow", I32S(3), []);
  const functions: Record<string, Imported> = {};
  const primitives = new Map<string, number>();
  const imported = new Map<EmittedLine | EmittedEnd | EmittedBlock, number>();
  const shadows: WarpFunction[] = [];
  const give = (
    key: EmittedLine | EmittedEnd | EmittedBlock,
    run: Imported,
    params: number,
    results: ValueType[],
  ): void => {
    const name = `f${imported.size}`;
    functions[name] = run;
    imported.set(key, module.importFunction("js", name, I32S(params), results));
  };
  for (const block of blocks) {
    const { lines, end, ready } = block;
    if (ready !== undefined) give(block, ready, 0, ["i32"]);
    for (const line of lines) {
      const { step } = line;
      const run = step.kind === "function" ? step.run : step.otherwise;
      if (run !== undefined) give(line, run, 2, []);
    }
    if (end.kind === "computed") give(end, end.run, 2, ["i32"]);
  }
  for (const { lines } of blocks) {
    for (const { step } of lines) {
      if (step.kind === "function" || primitives.has(step.primitive.name)) continue;
      const { primitive } = step;
      const results: ValueType[] = primitive.declines ? ["i32"] : [];
      const { index, code } = module.function(I32S(step.args.length + 1), results);
      primitive.emit(code);
      primitives.set(primitive.name, index);
    }
  }

  /** `seen` is the local that says whether anything undefined has been read. */
  const emitShadow = (code: Code, shadow: EmittedShadow | undefined, seen: number): void => {
    if (shadow === undefined) return;
    if (!shadow.always) code.op("local.get", seen).op("if");
    for (const [i, word] of shadow.words.entries()) {
      code.op("local.get", W).op("i32.load", word);
      if (i > 0) code.op("i32.or");
    }
    code.op("local.get", MASK).op("i32.and").op("if");
    code.op("local.get", W).op("local.get", MASK).op("i32.const", shadows.push(shadow.run) - 1);
    code.op("call", callShadow).op("end");
    if (!shadow.always) code.op("end");
  };

  const emitLine = (code: Code, line: EmittedLine, masked: number, seen: number): void => {
    let mask = MASK;
    emitShadow(code, line.shadow, seen);
    if (line.guard !== undefined) {
      emitGuarded(code, line.guard);
      code.op("local.tee", masked).op("if");
      mask = masked;
    }
    const { step } = line;
    const callFunction = (): void => {
      code.op("local.get", W).op("local.get", mask).op("call", imported.get(line) ?? 0);
    };
    if (step.kind === "function") callFunction();
    else {
      for (const arg of step.args) {
        if (arg.kind === "number") code.op("i32.const", arg.value);
        else code.op("local.get", W).op("i32.const", arg.row).op("i32.add");
      }
      code.op("local.get", mask).op("call", primitives.get(step.primitive.name) ?? 0);
      if (step.primitive.declines) {
        code.op("if");
        if (step.otherwise !== undefined) callFunction();
        code.op("end");
      }
    }
    if (line.guard !== undefined) code.op("end");
    if (line.seeds) code.op("global.get", undefinedSeen).op("local.set", seen);
  };

  const indices = blocks.map((block, pc) => {
    const { index, code } = module.function(I32S(2), ["i32"]);
    const masked = code.local("i32");
    const seen = code.local("i32");
    const watched = [block.entry, block.endShadow, ...block.lines.map(({ shadow }) => shadow)];
    if (watched.some((shadow) => shadow?.always === false)) {
      code.op("global.get", undefinedSeen).op("local.set", seen);
    }
    emitShadow(code, block.entry, seen);
    if (block.needs !== undefined) emitWait(code, block.needs);
    if (block.ready !== undefined) {
      code.op("call", imported.get(block) ?? 0).op("i32.eqz");
      code.op("if").op("i32.const", STOP.later).op("return").op("end");
    }
    const at = 16 * pc;
    for (const [offset, add] of [[at, undefined], [at + 8, MASK]] as const) {
      code.op("global.get", counts).op("global.get", counts).op("i64.load", offset);
      if (add === undefined) code.op("i64.const", 1n);
      else code.op("local.get", add).op("i32.popcnt").op("i64.extend_i32_u");
      code.op("i64.add").op("i64.store", offset);
    }
    code.op("global.get", fuel).op("i32.const", block.lines.length + 1).op("i32.sub");
    code.op("global.set", fuel);
    for (const line of block.lines) emitLine(code, line, masked, seen);
    emitShadow(code, block.endShadow, seen);
    const { end } = block;
    if (end.kind === "next") code.op("i32.const", pc + 1);
    else if (end.kind === "barrier") code.op("i32.const", STOP.barrier);
    else if (end.kind === "computed") {
      code.op("local.get", W).op("local.get", MASK).op("call", imported.get(end) ?? 0);
    } else if (end.guard === undefined) code.op("i32.const", end.target);
    else emitBranch(code, end.guard, end.target, pc + 1, masked);
    return index;
  });

  emitRun(module, indices, fuel, stoppedAt);
  return { bytes: module.encode(), functions, shadows };
}

/** The lanes of the mask for which a predicate holds. */
function emitGuarded(code: Code, { row, invert }: Predicate): void {
  code.op("local.get", MASK).op("local.get", W).op("i32.load", row);
  if (invert !== 0) code.op("i32.const", -1).op("i32.xor");
  code.op("i32.and");
}

/** Stops unless all lanes that are needed are here, or the scheduler said so. */
function emitWait(code: Code, needs: number | "all" | "row"): void {
  if (needs === "row") code.op("i32.const", 1);
  else {
    code.op("local.get", W).op("i32.load", HEADER.live);
    if (needs !== "all") code.op("i32.const", needs).op("i32.and");
    code.op("local.get", MASK).op("i32.const", -1).op("i32.xor").op("i32.and");
  }
  code.op("if").op("local.get", W).op("i32.load", HEADER.forced).op("i32.eqz");
  code.op("if").op("i32.const", STOP.waits).op("return").op("end").op("end");
  code.op("local.get", W).op("i32.const", 0).op("i32.store", HEADER.forced);
}

function emitBranch(
  code: Code,
  guard: Predicate,
  target: number,
  next: number,
  taken: number,
): void {
  emitGuarded(code, guard);
  code.op("local.tee", taken).op("i32.eqz").op("if", "i32").op("i32.const", next).op("else");
  code.op("local.get", taken).op("local.get", MASK).op("i32.eq").op("if", "i32");
  code.op("i32.const", target).op("else");
  code.op("local.get", W).op("local.get", taken).op("i32.store", HEADER.diverged);
  code.op("local.get", W).op("i32.const", target).op("i32.store", HEADER.target);
  code.op("local.get", W).op("i32.const", next).op("i32.store", HEADER.other);
  code.op("i32.const", STOP.diverged).op("end").op("end");
}

function emitRun(
  module: WasmModule,
  indices: readonly number[],
  fuel: number,
  stoppedAt: number,
): void {
  const table = module.table(indices.length);
  module.elements(table, 0, indices);
  const type = module.type(I32S(2), ["i32"]);
  const { index, code } = module.function(I32S(4), ["i32"]);
  const [pc, stop] = [2, 3];
  const next = code.local("i32");
  code.op("loop", "i32");
  code.op("local.get", pc).op("global.set", stoppedAt);
  code.op("local.get", W).op("local.get", MASK).op("local.get", pc);
  code.op("call_indirect", type, table).op("local.tee", next);
  // Negative results are reasons to stop; seen as unsigned they are beyond any block.
  code.op("local.get", stop).op("i32.ge_u");
  code.op("if").op("local.get", next).op("return").op("end");
  code.op("global.get", fuel).op("i32.const", 0).op("i32.le_s");
  code.op("if").op("local.get", next).op("return").op("end");
  code.op("local.get", next).op("local.set", pc).op("br", 0).op("end");
  module.export("run", "function", index);
}
