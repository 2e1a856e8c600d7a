/**
 * Sums of powers less a maximum, along an axis: which of them are at least 2^-60 wherever a power is tiny. Then they are, with
 * tiny powers for zero, the sums in another order (flush_powers.ts).
 *
 *     top = max(x)                     some x is top: a power of about 1, or NaN
 *     sum = sum of exp(x - top)
 *
 *     loop (top, sum) from (start, ≥ 0):
 *       newer = max(top, max(x))       some x is newer, or newer is top
 *       shrink = exp(top - newer)      … and then this is 1
 *       sum = sum * shrink + sum of exp(x - newer)
 *
 * In the second case of the loop the powers may all be tiny, but the sum so far has had a power of about 1, as long as top is
 * not the start any more. While it is, all x are below it: the start must be such that no power is tiny then, neither zero nor
 * normal. From minus infinity they are NaN, and so is the sum from then on.
 *
 * The maximum must be reached: the difference must be zero where x is the maximum. It is not where the assembler's fma rounds
 * a product for the one and not for the other (x * scale - top), so such differences stay `apart`.
 */
import { type Edge, edgesOf, sourceOf } from "../ir/flow.ts";
import type { Func, Op, OpOf, Value } from "../ir/func.ts";
import { madeBy, resultOf } from "../ir/op.ts";
import { usersOf, walkOps } from "../ir/walk.ts";
import { leavesNoTiny, numberOf } from "./powers.ts";
import { isAlone, type Term, termOf, type Update, updateOf } from "./sum_updates.ts";

/** What is known of a sum of powers that may be flushed. */
export interface FlushableSum {
  /** Values that are at least 2^-60 where a power is tiny. */
  readonly sums: readonly Value[];
  /** Must be of rounded products. */
  readonly apart: readonly OpOf<"sub">[];
}

export class RunningSums {
  readonly #users: ReadonlyMap<Value, readonly Op[]>;
  /** The edges of control flow that end at a value. */
  readonly #edges: ReadonlyMap<Value, readonly Edge[]>;

  constructor(func: Func, users = usersOf(func)) {
    this.#users = users;
    const edges = new Map<Value, Edge[]>();
    walkOps(
      func.body,
      (op) =>
        edgesOf(op).forEach((edge) =>
          edge.to.forEach((value) => edges.set(value, [...edges.get(value) ?? [], edge]))
        ),
    );
    this.#edges = edges;
  }

  /** Undefined where flushing the powers might change more than the order of the sum. */
  find(sum: OpOf<"reduce">): FlushableSum | undefined {
    const term = termOf(sum);
    if (term === undefined) return undefined;
    const starts = [...term.starts];
    const proof: Proof = { terms: [term], starts, apart: [], seen: new Map(), steps: 0 };
    const sums: Value[] = [];
    for (const user of this.#users.get(resultOf(sum)) ?? []) {
      const total = this.#totalOf(user);
      const update = total && updateOf(total);
      if (total === undefined || update?.term.sum !== sum) {
        if (isAlone(term)) continue;
        return undefined;
      }
      if (!this.#isSoundUpdate(update, proof)) return undefined;
      sums.push(resultOf(total));
    }
    if (isAlone(term)) sums.push(resultOf(sum));
    const isProved = proof.starts.every((start) =>
      proof.terms.every(({ power, isDirect }) =>
        start === -Infinity || isDirect && leavesNoTiny(start, power)
      )
    );
    if (!isProved) return undefined;
    return { sums, apart: [...proof.apart, ...proof.terms.map(({ power }) => power.difference)] };
  }

  /** What may add a sum to another one: the operation itself, or the first that uses a product. */
  #totalOf(user: Op): Op | undefined {
    return user.name === "mul" ? this.#users.get(resultOf(user))?.[0] : user;
  }

  /**
   * Whether a maximum and a sum are a start and no negative number, or the maximum of a tile and its sum, or come of such by
   * updates.
   */
  #isSound(top: Value, sum: Value, proof: Proof): boolean {
    const seen = proof.seen.get(top) ?? new Set();
    if (seen.has(sum)) return true;
    if (++proof.steps > MOST) return false;
    proof.seen.set(top, seen.add(sum));
    const [start, first] = [numberOf(top), numberOf(sum)];
    if (start !== undefined) {
      proof.starts.push(start);
      return first !== undefined && first >= 0;
    }
    const edges = this.#edges.get(top);
    if (edges !== undefined) {
      return edges.every((edge) => {
        const [from, with_] = [sourceOf(edge, top), sourceOf(edge, sum)];
        return from !== undefined && with_ !== undefined && this.#isSound(from, with_, proof);
      });
    }
    const reduced = madeBy(sum, "reduce");
    const alone = reduced && termOf(reduced);
    if (alone !== undefined) {
      addTerm(proof, alone);
      return isAlone(alone) && alone.top === top;
    }
    const update = sum.def && updateOf(sum.def);
    return update !== undefined && update.term.top === top && this.#isSoundUpdate(update, proof);
  }

  #isSoundUpdate({ term, older, before, differences }: Update, proof: Proof): boolean {
    if (before !== undefined && !this.#isSound(older, before, proof)) return false;
    addTerm(proof, term);
    proof.apart.push(...differences);
    return true;
  }
}

function addTerm({ terms, starts }: Proof, term: Term): void {
  terms.push(term);
  starts.push(...term.starts);
}

/** Steps of a proof: programs may be long. */
const MOST = 256;

interface Proof {
  readonly terms: Term[];
  /** What maxima begin with. */
  readonly starts: number[];
  readonly apart: OpOf<"sub">[];
  /** Maxima with their sums, whose proof is done or under way: what a loop carries is sound if it is where it enters. */
  readonly seen: Map<Value, Set<Value>>;
  steps: number;
}
