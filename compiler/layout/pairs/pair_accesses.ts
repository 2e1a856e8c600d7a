/**
 * pairAccesses: loads or stores of even and of odd elements, as of pairs that lie side by side, become one of all.
 *
 *     x0 = *(X + 2 * k); x1 = *(X + 2 * k + 1)        x = *(X + 0 ... 2 * N); x0, x1 = halves of x
 *     *(Y + 2 * k) = y0; *(Y + 2 * k + 1) = y1        *(Y + 0 ... 2 * N) = y0 and y1 in turn
 *
 * Each of the two touches every second element, so none is a vector, and what a warp stores fills sectors by half. Together
 * they are contiguous: a thread has pairs side by side, which are halves of its registers (`slice`), so nothing moves.
 * Pairs are aligned: where vectors are no longer than an element, the two elements would be in different threads.
 */
import {
  type Func,
  newUncheckedOp,
  type Op,
  type OpOf,
  type Region,
  takeNames,
  type Value,
} from "../../ir/func.ts";
import { constantOf, madeBy, operandsOf, pairOf, resultOf } from "../../ir/op.ts";
import { isLookup, rowOf } from "../../ir/table.ts";
import { pointeeBytes } from "../../ir/types.ts";
import { replaceUses, walkOps } from "../../ir/walk.ts";
import type { AxisFacts } from "../../tile/axis.ts";
import type { Pass, TargetContext } from "../../tile/pass.ts";
import { ACCESS_BYTES } from "../anchors.ts";
import { Doubling } from "./doubled.ts";

export const pairAccesses: Pass<TargetContext> = {
  name: "pair-accesses",
  doc: "loads of even and of odd elements become one load of all, and stores one store",
  run: (func, context) => {
    const axisInfo = context.axisInfo();
    const sums = new Sums();
    const replaced = new Map<Value, Value>();
    let isChanged = pairIn(func, func.body, axisInfo, sums, replaced);
    walkOps(func.body, (op) => {
      for (const region of op.regions) {
        if (pairIn(func, region, axisInfo, sums, replaced)) isChanged = true;
      }
    });
    replaceUses(func, replaced);
    return isChanged;
  },
};

type Access = OpOf<"load"> | OpOf<"store">;

function pairIn(
  func: Func,
  region: Region,
  axisInfo: AxisFacts,
  sums: Sums,
  replaced: Map<Value, Value>,
): boolean {
  const partners = new Partners(region.ops, sums);
  /** What is in the place of accesses that have a partner. */
  const made = new Map<Op, readonly Op[]>();
  for (const [at, first] of region.ops.entries()) {
    if (made.has(first) || !isCandidate(first, axisInfo)) continue;
    const found = partners.of(first, at, made);
    if (found === undefined || !isCandidate(found.op, axisInfo)) continue;
    const { op: partner } = found;
    const [even, odd] = found.isAfter ? [first, partner] : [partner, first];
    if (!isAligned(even, axisInfo)) continue;
    const ops = even.name === "load" && odd.name === "load"
      ? loadBoth(func, even, odd, replaced)
      : even.name === "store" && odd.name === "store"
      ? storeBoth(func, even, odd)
      : undefined;
    if (ops === undefined) continue;
    // A store happens where the later one was, a load where the earlier one was.
    const [place, other] = first.name === "load" ? [first, partner] : [partner, first];
    made.set(place, ops);
    made.set(other, []);
  }
  if (made.size > 0) region.ops = region.ops.flatMap((op) => made.get(op) ?? op);
  return made.size > 0;
}

/** A tile of elements of which two are one aligned access. */
function isCandidate(op: Op | undefined, axisInfo: AxisFacts): op is Access {
  if (op?.name !== "load" && op?.name !== "store") return false;
  const { pointer } = operandsOf<"load" | "store">(op);
  if (pointer.type.shape.length === 0 || isLookup(op)) return false;
  const { modifiers, ...marks } = op.attrs;
  if (modifiers.includes("volatile") || Object.values(marks).some((one) => one !== undefined)) {
    return false;
  }
  const { contiguity } = axisInfo(pointer);
  return 2 * pointeeBytes(pointer) <= ACCESS_BYTES && contiguity.every((run) => run === 1);
}

/** Whether every element is at a multiple of two of them. */
function isAligned(op: Access, axisInfo: AxisFacts): boolean {
  const { pointer } = operandsOf<"load" | "store">(op);
  return Math.max(...axisInfo(pointer).divisibility) >= 2 * pointeeBytes(pointer);
}

/** An access in the same list. */
interface Partner {
  readonly op: Op;
  /** Its elements come after those of the first one. */
  readonly isAfter: boolean;
}

/** The accesses of a list by what they touch. */
class Partners {
  readonly #ops: readonly Op[];
  readonly #sums: Sums;
  /** Where loads are, the first one last: by the stretch of the list that they may move in, and by what they touch. */
  readonly #loads = new Map<string, number[]>();
  /** By position: the stretch. */
  readonly #stretches: readonly number[];

  constructor(ops: readonly Op[], sums: Sums) {
    this.#ops = ops;
    this.#sums = sums;
    let stretch = 0;
    this.#stretches = ops.map((op) => {
      const { effect } = rowOf(op);
      const isPassed = op.regions.length === 0 && (effect === "pure" || effect === "read");
      return isPassed ? stretch : ++stretch;
    });
    for (const [at, op] of [...ops.entries()].reverse()) {
      if (op.name !== "load") continue;
      const key = this.#keyOf(op, at, sums.of(operandsOf(op).pointer).constant);
      const places = this.#loads.get(key);
      if (places === undefined) this.#loads.set(key, [at]);
      else places.push(at);
    }
  }

  #keyOf(load: OpOf<"load">, at: number, constant: bigint): string {
    return `${this.#stretches[at]} ${this.#sums.keyOf(load)} ${constant}`;
  }

  /** The access to the elements beside those of one, which may happen together with it; none that is taken. Asked in order. */
  of(first: Access, at: number, taken: ReadonlyMap<Op, unknown>): Partner | undefined {
    return first.name === "load" ? this.#ofLoad(first, at, taken) : this.#ofStore(first, at);
  }

  #ofLoad(
    first: OpOf<"load">,
    at: number,
    taken: ReadonlyMap<Op, unknown>,
  ): Partner | undefined {
    const { constant } = this.#sums.of(operandsOf(first).pointer);
    const places = this.#loads.get(this.#keyOf(first, at, constant + 1n)) ?? [];
    // What lies before this load lies before those that ask later.
    for (let place = places.at(-1); place !== undefined; place = places.at(-1)) {
      const op = this.#ops[place];
      if (place > at && op !== undefined && !taken.has(op)) return { op, isAfter: true };
      places.pop();
    }
    return undefined;
  }

  /** What happens between two stores computes only, so this looks at each operation once. */
  #ofStore(first: OpOf<"store">, at: number): Partner | undefined {
    for (let index = at + 1; index < this.#ops.length; index++) {
      const op = this.#ops[index];
      if (op === undefined || op.regions.length > 0) return undefined;
      const distance = op.name === "store" ? this.#sums.distance(first, op) : undefined;
      if (distance === 1n) return { op, isAfter: true };
      // What a load of even elements is computed from may come after that of odd ones.
      if (distance === -1n) return { op, isAfter: false };
      if (rowOf(op).effect !== "pure") return undefined;
    }
    return undefined;
  }
}

/** Counts that sums are taken apart into. */
const MOST_TERMS = 16;

/** A pointer as a sum: of what it begins with, counts of elements, and a constant. */
interface Terms {
  /** The first two. */
  readonly key: string;
  readonly constant: bigint;
}

/** Pointers as sums, each taken apart once. */
class Sums {
  readonly #known = new Map<Value, Terms>();
  /** Pointers without the constants that were added last. */
  readonly #moved = new Map<Value, { readonly base: Value; readonly constant: bigint }>();

  of(pointer: Value): Terms {
    const known = this.#known.get(pointer) ?? this.#apart(pointer);
    this.#known.set(pointer, known);
    return known;
  }

  /** What accesses at a distance from each other have in common. */
  keyOf(access: Access): string {
    const { pointer, mask } = operandsOf<"load" | "store">(access);
    const filled = access.name === "load" ? operandsOf(access).other?.id : undefined;
    return `${this.of(pointer).key} ${mask?.id} ${filled} ${access.attrs.modifiers}`;
  }

  /** By how many elements another access lies behind one that is alike. */
  distance(first: Access, other: Access): bigint | undefined {
    if (this.keyOf(first) !== this.keyOf(other)) return undefined;
    const [from, to] = [first, other].map((one) =>
      this.of(operandsOf<"load" | "store">(one).pointer).constant
    );
    return from === undefined || to === undefined ? undefined : to - from;
  }

  #apart(pointer: Value): Terms {
    const counts: Value[] = [];
    let { base, constant } = this.#withoutConstants(pointer);
    // Pointers that loops of the source step by are chains of any length.
    while (base.def?.name === "offset" && counts.length < MOST_TERMS) {
      const { pointer: inner, count } = operandsOf(base.def);
      const open = [count];
      for (let one = open.pop(); one !== undefined; one = open.pop()) {
        const number = numberOf(one);
        if (number !== undefined) constant += number;
        else if (one.def?.name === "add" && counts.length < MOST_TERMS) {
          open.push(...pairOf(one.def));
        } else counts.push(one);
      }
      const moved = this.#withoutConstants(inner);
      base = moved.base;
      constant += moved.constant;
    }
    const ids = counts.map(({ id }) => id).sort((a, b) => a - b);
    return { key: `${base.id} ${ids}`, constant };
  }

  #withoutConstants(pointer: Value): { readonly base: Value; readonly constant: bigint } {
    const path: (readonly [pointer: Value, step: bigint])[] = [];
    let at = pointer;
    for (;;) {
      const { def } = at;
      if (this.#moved.has(at)) break;
      if (def?.name === "splat") {
        path.push([at, 0n]);
        at = operandsOf(def).value;
      } else if (def?.name === "offset") {
        const { pointer: inner, count } = operandsOf(def);
        const number = numberOf(count);
        if (number === undefined) break;
        path.push([at, number]);
        at = inner;
      } else break;
    }
    let found = this.#moved.get(at) ?? { base: at, constant: 0n };
    for (const [value, step] of path.reverse()) {
      found = { base: found.base, constant: found.constant + step };
      this.#moved.set(value, found);
    }
    return found;
  }
}

/** A constant, the same for all elements. */
function numberOf(value: Value): bigint | undefined {
  const splat = madeBy(value, "splat");
  const number = constantOf(splat === undefined ? value : operandsOf(splat).value);
  return typeof number === "bigint" ? number : undefined;
}

/** One load, and its halves in the place of both results. */
function loadBoth(
  func: Func,
  even: OpOf<"load">,
  odd: OpOf<"load">,
  replaced: Map<Value, Value>,
): readonly Op[] | undefined {
  const { pointer, mask, other } = operandsOf(even);
  const out: Op[] = [];
  const build = new Doubling(func, out, even.span);
  const pointers = build.pointer(pointer);
  if (pointers === undefined) return undefined;
  const { element, shape } = resultOf(even).type;
  const operands = [mask, other].flatMap((one) => one === undefined ? [] : [build.repeated(one)]);
  const type = { element, shape: pointers.type.shape };
  const both = build.value("load", [pointers, ...operands], type, even.attrs);
  for (const [half, load] of [even, odd].entries()) {
    const value = build.half(both, half === 0 ? 0 : 1, shape);
    takeNames(value, resultOf(load));
    replaced.set(resultOf(load), value);
  }
  return out;
}

function storeBoth(
  func: Func,
  even: OpOf<"store">,
  odd: OpOf<"store">,
): readonly Op[] | undefined {
  const { pointer, value, mask } = operandsOf(even);
  const out: Op[] = [];
  const build = new Doubling(func, out, odd.span);
  const pointers = build.pointer(pointer);
  if (pointers === undefined) return undefined;
  const values = build.joined(value, operandsOf(odd).value);
  const masks = mask === undefined ? [] : [build.repeated(mask)];
  out.push(
    newUncheckedOp(func, "store", [pointers, values, ...masks], [], odd.span, odd.attrs),
  );
  return out;
}
