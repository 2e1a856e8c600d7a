/** Runs a kernel of a text on the emulator with elements instead of bytes. */
import { must } from "../../../compiler/support/bug.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { ALL_TARGETS, type TargetName } from "../../../compiler/targets.ts";
import { type Argument, emulateAgain } from "../emulate.ts";
import { type LoweredInstance, lowerGeneral, printEntry } from "./lowering.ts";
import { groupTargets, TARGET_NAMES } from "../targets.ts";
import { decode, encode, type Scalar } from "../typed_arrays.ts";

/** Elements that a pointer argument points to. */
export interface Elements {
  readonly type: ScalarName;
  readonly values: readonly Scalar[];
}

/** Compiles once, runs as often as wanted. */
export class CompiledText {
  readonly ptx: string;
  /** Another target has the same code. */
  readonly sameAnswers: LoweredInstance["sameAnswers"];
  readonly #threads: number;
  readonly #sharedBytes: number;
  /** Of a program. */
  readonly #blocks: number;

  constructor(text: string, target: TargetName = "sm_80") {
    const { kernel, threads, sharedBytes, sameAnswers } = lowerGeneral(text, target);
    this.sameAnswers = sameAnswers;
    this.ptx = printEntry(kernel, target);
    this.#threads = threads;
    this.#sharedBytes = sharedBytes;
    const cluster = kernel.directives.find(({ name }) => name === "reqnctapercluster");
    this.#blocks = cluster?.values[0] ?? 1;
  }

  /** For every target, once where targets have the same code, of a text that does not ask for the architecture. */
  static forAll(text: string): CompiledText[] {
    const made = new Map<TargetName, CompiledText>();
    for (const target of TARGET_NAMES) {
      if (made.values().some(({ sameAnswers }) => sameAnswers(ALL_TARGETS[target]))) continue;
      made.set(target, new CompiledText(text, target));
    }
    const compiled = (target: TargetName): CompiledText => must(made.get(target), target);
    return groupTargets((target) => compiled(target).ptx, [...made.keys()])
      .map(({ first }) => compiled(first));
  }

  /** What is in each pointer argument afterwards; the grid counts programs. */
  run(args: readonly (Elements | Argument)[], grid = 1): Scalar[][] {
    const buffers = args.map((arg) => "type" in arg ? encode(arg.type, arg.values) : arg);
    emulateAgain(this.ptx, {
      grid: [grid * this.#blocks, 1, 1],
      block: [this.#threads, 1, 1],
      sharedBytes: this.#sharedBytes,
      args: buffers,
    });
    return args.flatMap((arg, i) => {
      const buffer = buffers[i];
      return "type" in arg && buffer instanceof Uint8Array ? [decode(arg.type, buffer)] : [];
    });
  }
}

/** So many zeros. */
export const zeros = (type: ScalarName, count: number): Elements => ({
  type,
  values: new Array<Scalar>(count).fill(0),
});
