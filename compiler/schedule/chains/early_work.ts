/**
 * What an overlapping chain of dots (overlapped_chain.ts) begins of its next iteration while the sums of this one are
 * under way, as far as there are registers: reads of vectors, then dots. A read waits long for shared memory when dots
 * have been started that read their boxes from it, and what follows waits for the read.
 */
import type { Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { bytesOf } from "../../ir/types.ts";
import type { ChainPlan } from "./chain_plan.ts";

export interface EarlyWork {
  /** So many dots of boxes, from the first on; 0: no sum is under way when the next iteration begins. */
  readonly dots: number;
  /** Vectors that so many of the other dots need for their operands, from the first on. */
  readonly reads: number;
}

/** Of two slots, one is free again only when the sums of its iteration are done, which further dots would delay. */
const FEW_SLOTS = 2;

/** Registers of a thread for what dots read and write; the others hold addresses and the like. */
const DOT_REGISTERS = 200;

export function earlyWork({ dots, boxes, slots }: ChainPlan): EarlyWork {
  const later = dots.filter(({ a }) => a === undefined).map(({ dot }) => dot);
  const ofBoxes = dots.filter(({ a }) => a !== undefined).map(({ dot }) =>
    heldWords(resultOf(dot))
  );
  const vectors = boxes.flatMap((box) =>
    box.kind === "vector" ? heldWords(resultOf(box.load)) : []
  );
  // Of the operands that threads have computed, only that of the dot that was started last is still read.
  const operand = Math.max(...later.map((dot) => heldWords(operandsOf(dot).a)));
  const kept = sum(later.map((dot) => heldWords(resultOf(dot)))) + operand;
  const fitting = ofBoxes.filter((_, i) => kept + sum(ofBoxes.slice(0, i + 1)) <= DOT_REGISTERS);
  const haveRoom = kept + sum(ofBoxes) + sum(vectors) <= DOT_REGISTERS;
  return {
    dots: slots <= FEW_SLOTS ? Math.min(1, fitting.length) : fitting.length,
    reads: haveRoom ? later.length : 1,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Registers of a thread that a value takes, without copies. */
const heldWords = ({ type: { element, layout } }: Value): number =>
  bytesOf(element) / 4 * 2 ** (layout?.register.filter((basis) => basis !== 0).length ?? 0);
