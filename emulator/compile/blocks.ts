/**
 * Basic blocks: runs of instructions with one way in. A block ends before a label, after a branch, before and after a
 * barrier of the scheduler, and before an instruction that acts on a warp, which may have to wait for lanes.
 */
import type { Instruction, PtxKernel, Register } from "../../compiler/ptx/func.ts";
import { isBarrier, isBranch, isIndexed, type Line } from "./lines.ts";

/** How a block ends. Numbers are blocks; the number of blocks itself means the end of the thread. */
export type End =
  | { readonly kind: "next" }
  | {
    readonly kind: "jump";
    readonly target: number;
    readonly guard: Instruction["guard"];
    readonly line: Line;
  }
  | { readonly kind: "indexed"; readonly line: Line; readonly targets: readonly number[] }
  | { readonly kind: "barrier"; readonly line: Line };

export interface Block {
  /** Without the branch or barrier at its end. */
  readonly lines: readonly Line[];
  readonly end: End;
  /** Whether its first line needs lanes that may not be there. */
  readonly waits: boolean;
}

/** Longer blocks are cut: functions of WebAssembly should not get too large to be optimised. */
const MAX_LINES = 400;

/** Cuts the lines of a kernel into blocks. */
export function blocksOf(
  kernel: PtxKernel,
  lines: readonly Line[],
  endLabels: readonly string[],
): Block[] {
  const drafts: Line[][] = [];
  const blockOfLabel = new Map<string, number>();
  let current: Line[] | undefined;
  for (const line of lines) {
    const starts = line.labels.length > 0 || line.sync !== undefined || isBarrier(line.match) ||
      isIndexed(line.match) || (current?.length ?? 0) >= MAX_LINES;
    if (current === undefined || starts) {
      current = [];
      drafts.push(current);
    }
    for (const label of line.labels) blockOfLabel.set(label, drafts.length - 1);
    current.push(line);
    if (isBranch(line.match) || isBarrier(line.match)) current = undefined;
  }
  for (const label of endLabels) blockOfLabel.set(label, drafts.length);
  const exit = drafts.length;
  const target = (label: string): number => blockOfLabel.get(label) ?? exit;
  const lists = new Map(
    kernel.body.flatMap((item) => item.kind === "targets" ? [[item.name, item.labels]] : []),
  );
  return drafts.map((all): Block => {
    const waits = all[0]?.sync !== undefined;
    const last = all.at(-1);
    const body = all.slice(0, -1);
    if (last === undefined || typeof last.match === "string") {
      return { lines: all, end: { kind: "next" }, waits };
    }
    if (isBarrier(last.match)) return { lines: body, end: { kind: "barrier", line: last }, waits };
    const { operands, guard } = last.instruction;
    switch (last.match.opcode) {
      case "bra": {
        const [label] = operands;
        const to = label?.kind === "symbol" ? target(label.name) : exit;
        return { lines: body, end: { kind: "jump", target: to, guard, line: last }, waits };
      }
      case "ret":
      case "exit":
        return { lines: body, end: { kind: "jump", target: exit, guard, line: last }, waits };
      case "brx.idx": {
        const [, list] = operands;
        const names = list?.kind === "symbol" ? lists.get(list.name) ?? [] : [];
        return {
          lines: body,
          end: { kind: "indexed", line: last, targets: names.map(target) },
          waits,
        };
      }
      default:
        return { lines: all, end: { kind: "next" }, waits };
    }
  });
}

/** The same with one instruction in each block, for those who want to stop before any of them. */
export function singleInstructions(blocks: readonly Block[]): Block[] {
  const starts: number[] = [];
  let count = 0;
  for (const { lines, end } of blocks) {
    starts.push(count);
    count += Math.max(1, lines.length + (end.kind === "next" ? 0 : 1));
  }
  starts.push(count);
  const moved = (block: number): number => starts[block] ?? count;
  return blocks.flatMap(({ lines, end, waits }): Block[] => {
    const singles = lines.map((line, i): Block => ({
      lines: [line],
      end: { kind: "next" },
      waits: waits && i === 0,
    }));
    const waitsAtEnd = waits && lines.length === 0;
    switch (end.kind) {
      case "next":
        return singles.length > 0 ? singles : [{ lines: [], end, waits }];
      case "jump":
        return [
          ...singles,
          { lines: [], end: { ...end, target: moved(end.target) }, waits: waitsAtEnd },
        ];
      case "indexed":
        return [
          ...singles,
          { lines: [], end: { ...end, targets: end.targets.map(moved) }, waits: waitsAtEnd },
        ];
      case "barrier":
        return [...singles, { lines: [], end, waits: waitsAtEnd }];
    }
  });
}

/** The instruction of a block that has one. */
export function lineOf({ lines, end }: Block): Line | undefined {
  return lines[0] ?? (end.kind === "next" ? undefined : end.line);
}

/** The blocks that may run after block `index`; the exit is left out. */
export function successors(blocks: readonly Block[], index: number): number[] {
  const block = blocks[index];
  if (block === undefined) return [];
  const { end } = block;
  const all = end.kind === "jump"
    ? end.guard === undefined ? [end.target] : [end.target, index + 1]
    : end.kind === "indexed"
    ? [...end.targets]
    : [index + 1];
  return all.filter((to) => to < blocks.length);
}

/** The register that a block's end reads. */
export function endReads({ end }: Block): Register | undefined {
  return end.kind === "jump" ? end.guard?.register : undefined;
}
