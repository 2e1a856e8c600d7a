/** Moves into fixed registers at the edges of control flow, as if all happened at once. */
import type { Operand, Register } from "../ptx/func.ts";
import type { Bank } from "./body_register.ts";
import { type Emitter, MOVE } from "./emitter.ts";

export interface Move {
  readonly to: Register;
  readonly from: Operand;
}

const isSame = (a: Operand, b: Operand): boolean =>
  a.kind === "register" && b.kind === "register" && a.name === b.name;

const bankOf = ({ type }: Register): Bank =>
  type === "pred" || type === "b16" || type === "b64" ? type : "b32";

/**
 * Emits moves in an order in which no register is overwritten before it has been read. Where there is none
 * (`a, b = b, a`), one of a circle is saved first. What is in place already needs no move.
 */
export function emitMoves(e: Emitter, moves: readonly Move[]): void {
  const pending = moves
    .map(({ to, from }): Move => ({ to, from: inBank(e, from, bankOf(to)) }))
    .filter(({ to, from }) => !isSame(to, from));
  /** How many of those that are pending read a register, by its name. */
  const readers = new Map<string, number>();
  const count = (from: Operand, by: number): void => {
    if (from.kind === "register") readers.set(from.name, (readers.get(from.name) ?? 0) + by);
  };
  for (const { from } of pending) count(from, 1);
  const isReady = ({ to }: Move): boolean => (readers.get(to.name) ?? 0) === 0;
  while (pending.length > 0) {
    const ready = pending.findIndex(isReady);
    const next = pending[Math.max(0, ready)];
    if (next === undefined) return;
    if (ready < 0) {
      const saved = e.register(bankOf(next.to));
      move(e, { to: saved, from: next.to });
      pending.forEach(({ to, from }, i) => {
        if (isSame(from, next.to)) pending[i] = { to, from: saved };
      });
      readers.delete(next.to.name);
    }
    move(e, next);
    count(next.from, -1);
    pending.splice(Math.max(0, ready), 1);
  }
}

/** Immediates can be moved into any register but a predicate. */
function inBank(e: Emitter, from: Operand, bank: Bank): Operand {
  return bank === "pred" ? e.inRegister(from, bank) : from;
}

function move(e: Emitter, { to, from }: Move): void {
  e.emit(MOVE[bankOf(to)], [to, from]);
}
