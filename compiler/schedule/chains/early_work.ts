/**
 * What an overlapping chain of dots (overlapped_chain.ts) begins of its next iteration while the sums of this one are
 * under way, as far as there are registers: reads of vectors, then dots. A read waits long for shared memory when dots
 * have been started that read their boxes from it, and what follows waits for the read.
 */
import type { Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { bytesOf } from "../../ir/types.ts";
import type { Phases } from "./chain_phases.ts";
import type { ChainDot, ChainPlan, VectorBox } from "./chain_plan.ts";

export interface EarlyWork {
  /**
   * So many dots of boxes, from the first on, before the sums of the iteration before are waited for; 0: no sum is under
   * way when the next iteration begins.
   */
  readonly dots: number;
  /** The first one is started in the iteration before, as soon as that has read the result of its own. */
  readonly isAhead: boolean;
  /** With a dot ahead: its boxes are waited for before the other dots are started, not while these are under way. */
  readonly awaitsFirst: boolean;
  /** Vectors that are read before these dots, or ahead too. */
  readonly vectors: readonly VectorBox[];
}

/** Of two slots, one is free again only when the sums of its iteration are done, which further dots would delay. */
const FEW_SLOTS = 2;
/** Of three slots, the one of a dot that is ahead has just begun to be filled when it is wanted. */
const AHEAD_SLOTS = 4;

/** Registers of a thread for what dots read and write; the others hold addresses and the like. */
const DOT_REGISTERS = 200;
/** The same where the first dot is ahead, in the registers that its last result had. */
const AHEAD_REGISTERS = 208;

export function earlyWork({ dots, boxes, slots }: ChainPlan, phases: Phases): EarlyWork {
  const later = dots.filter(({ a }) => a === undefined).map(({ dot }) => dot);
  const ofBoxes = phases.ofBoxes.map(({ dot }) => heldWords(resultOf(dot)));
  const vectors = boxes.flatMap((box) => box.kind === "vector" ? [box] : []);
  // Of the operands that threads have computed, only that of the dot that was started last is still read.
  const operand = Math.max(...later.map((dot) => heldWords(operandsOf(dot).a)));
  const kept = sum(later.map((dot) => heldWords(resultOf(dot)))) + operand;
  const read = sum(vectors.map(({ load }) => heldWords(resultOf(load))));
  const all = kept + sum(ofBoxes) + read;
  const ofFirst = vectors.filter(({ load }) => phases.phaseOf.get(load) === 0);
  const between = sum(phases.held.slice(0, -1).flat().map(heldWords));
  if (slots >= AHEAD_SLOTS && ofBoxes.length > 1 && all + between <= AHEAD_REGISTERS) {
    const awaitsFirst = vectors.length === 0 && dots.some(isLong);
    return { dots: 1, isAhead: true, awaitsFirst, vectors: ofFirst };
  }
  const fitting = ofBoxes.filter((_, i) => kept + sum(ofBoxes.slice(0, i + 1)) <= DOT_REGISTERS);
  const most = slots <= FEW_SLOTS ? 1 : fitting.length;
  const haveRoom = all <= DOT_REGISTERS;
  return {
    dots: Math.min(most, fitting.length),
    isAhead: false,
    awaitsFirst: false,
    vectors: fitting.length === 0 ? [] : haveRoom ? vectors : ofFirst,
  };
}

/** Bytes along k from which a dot reads shared memory so long that it pays to wait for a barrier before it (H200). */
const LONG_BYTES = 256;

function isLong({ dot, a }: ChainDot): boolean {
  const { shape: [, depth = 0], element } = operandsOf(dot).a.type;
  return a !== undefined && depth * bytesOf(element) >= LONG_BYTES;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Registers of a thread that a value takes, without copies. */
const heldWords = ({ type: { element, layout } }: Value): number =>
  bytesOf(element) / 4 * 2 ** (layout?.register.filter((basis) => basis !== 0).length ?? 0);
