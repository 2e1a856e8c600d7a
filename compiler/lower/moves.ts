/** Moves into fixed registers at the edges of control flow, as if all happened at once. */
import type { Operand, Register } from "../ptx/func.ts";
import type { Bank, Emitter } from "./emitter.ts";

export interface Move {
  readonly to: Register;
  readonly from: Operand;
}

const isSame = (a: Operand, b: Operand): boolean =>
  a.kind === "register" && b.kind === "register" && a.name === b.name;

const reads = ({ from }: Move, { name }: Register): boolean =>
  from.kind === "register" && from.name === name;

const bankOf = ({ type }: Register): Bank =>
  type === "pred" || type === "b16" || type === "b64" ? type : "b32";

/**
 * Emits moves in an order in which no register is overwritten before it has been read. Where there is none
 * (`a, b = b, a`), one of a circle is saved first. What is in place already needs no move.
 */
export function emitMoves(e: Emitter, moves: readonly Move[]): void {
  let pending = moves
    .map(({ to, from }): Move => ({ to, from: inBank(e, from, bankOf(to)) }))
    .filter(({ to, from }) => !isSame(to, from));
  while (pending.length > 0) {
    const ready = pending.find((move) =>
      !pending.some((other) => other !== move && reads(other, move.to))
    );
    const next = ready ?? pending[0];
    if (next === undefined) return;
    if (ready === undefined) {
      const saved = e.register(bankOf(next.to));
      move(e, { to: saved, from: next.to });
      pending = pending.map((one) => reads(one, next.to) ? { to: one.to, from: saved } : one);
    }
    move(e, next);
    pending = pending.filter(({ to }) => to !== next.to);
  }
}

/** Immediates can be moved into any register but a predicate. */
function inBank(e: Emitter, from: Operand, bank: Bank): Operand {
  return bank === "pred" ? e.inRegister(from, bank) : from;
}

function move(e: Emitter, { to, from }: Move): void {
  e.emit(`mov.${bankOf(to)}`, [to, from]);
}
