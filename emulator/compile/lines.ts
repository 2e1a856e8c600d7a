/**
 * A kernel's body as lines: instructions with their forms, and labels. Guards on what several lanes do together
 * become branches around it, so that a scheduler needs to know one way only in which lanes part.
 */
import type { Instruction, Operand, PtxKernel, PtxModule } from "../../compiler/ptx/func.ts";
import { type Match, matchInstruction } from "../../compiler/ptx/match.ts";
import { printInstruction } from "../../compiler/ptx/print.ts";
import { syncMask } from "../collective/mod.ts";
import type { Site } from "../fault.ts";

/** An instruction of a kernel. */
export interface Line {
  readonly instruction: Instruction;
  readonly site: Site;
  /** Its form, or what is wrong with it. */
  readonly match: Match | string;
  /** Labels before it. */
  readonly labels: readonly string[];
  /** The lanes it needs if it acts on a warp: those of a mask, or all that have not exited. */
  readonly sync: Operand | "all" | undefined;
}

/** Instructions on which threads wait for others, by opcode: the scheduler does them. */
const BARRIERS: ReadonlySet<string> = new Set([
  "bar",
  "barrier",
  "bar.cta",
  "barrier.cta",
  "barrier.cluster.arrive",
  "barrier.cluster.wait",
]);

const BRANCHES: ReadonlySet<string> = new Set(["bra", "brx.idx", "ret", "exit"]);

/** Whether lanes may diverge at an instruction. */
export function isBranch(match: Match | string): boolean {
  return typeof match !== "string" && BRANCHES.has(match.opcode);
}

/** Whether the scheduler does an instruction. */
export function isBarrier(match: Match | string): boolean {
  return typeof match !== "string" && BARRIERS.has(match.opcode);
}

/** Whether lanes may diverge to more than two targets. */
export function isIndexed(match: Match | string): boolean {
  return typeof match !== "string" && match.opcode === "brx.idx";
}

/** The lines of a kernel, and the labels after the last one. */
export function linesOf(
  kernel: PtxKernel,
  module: PtxModule,
): { readonly lines: readonly Line[]; readonly endLabels: readonly string[] } {
  const lines: Line[] = [];
  let labels: string[] = [];
  let source: Pick<Site, "file" | "line" | "column"> = {};
  const push = (instruction: Instruction, site: Site): void => {
    const match = matchInstruction(instruction);
    const sync = typeof match === "string" ? undefined : syncMask(match);
    const goesAround = sync !== undefined || isBarrier(match) || isIndexed(match);
    const { guard, ...rest } = instruction;
    if (guard === undefined || !goesAround) {
      lines.push({ instruction, site, match, labels, sync });
      labels = [];
      return;
    }
    const skip = `around ${lines.length}`;
    const around: Instruction = {
      kind: "instruction",
      opcode: "bra",
      modifiers: [],
      operands: [{ kind: "symbol", name: skip }],
      guard: { register: guard.register, negated: !guard.negated },
    };
    lines.push({
      instruction: around,
      site,
      match: matchInstruction(around),
      labels,
      sync: undefined,
    });
    lines.push({ instruction: rest, site, match, labels: [], sync });
    labels = [skip];
  };
  for (const item of kernel.body) {
    if (item.kind === "label") labels.push(item.name);
    else if (item.kind === "loc") {
      const file = module.files[item.file - 1];
      // Line 0 is code that belongs to no line.
      source = item.line === 0
        ? {}
        : { ...(file === undefined ? {} : { file }), line: item.line, column: item.column };
    } else if (item.kind === "instruction") {
      push(item, { kernel: kernel.name, text: printInstruction(item), ...source });
    }
  }
  return { lines, endLabels: labels };
}
