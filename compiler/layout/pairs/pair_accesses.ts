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
    const replaced = new Map<Value, Value>();
    let isChanged = pairIn(func, func.body, axisInfo, replaced);
    walkOps(func.body, (op) => {
      for (const region of op.regions) {
        if (pairIn(func, region, axisInfo, replaced)) isChanged = true;
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
  replaced: Map<Value, Value>,
): boolean {
  let isChanged = false;
  for (let at = 0; at < region.ops.length; at++) {
    const first = region.ops[at];
    if (!isCandidate(first, axisInfo)) continue;
    const found = partnerOf(first, region.ops, at);
    const partner = found && region.ops[found.at];
    if (found === undefined || !isCandidate(partner, axisInfo)) continue;
    const [even, odd] = found.isAfter ? [first, partner] : [partner, first];
    if (!isAligned(even, axisInfo)) continue;
    const ops = even.name === "load" && odd.name === "load"
      ? loadBoth(func, even, odd, replaced)
      : even.name === "store" && odd.name === "store"
      ? storeBoth(func, even, odd)
      : undefined;
    if (ops === undefined) continue;
    isChanged = true;
    // A store happens where the later one was, a load where the earlier one was.
    const place = first.name === "load" ? at : found.at;
    region.ops = region.ops.flatMap((op, index) =>
      index === place ? ops : index === at || index === found.at ? [] : [op]
    );
  }
  return isChanged;
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
  readonly at: number;
  /** Its elements come after those of the first one. */
  readonly isAfter: boolean;
}

/** The access to the elements beside those of one, which may happen together with it. */
function partnerOf(first: Access, ops: readonly Op[], at: number): Partner | undefined {
  for (let index = at + 1; index < ops.length; index++) {
    const op = ops[index];
    if (op === undefined || op.regions.length > 0) return undefined;
    const distance = op.name === first.name ? distanceTo(first, op) : undefined;
    if (distance === 1n) return { at: index, isAfter: true };
    // What a load of even elements is computed from may come after that of odd ones.
    if (distance === -1n && op.name === "store") return { at: index, isAfter: false };
    const { effect } = rowOf(op);
    const passes = effect === "pure" || (effect === "read" && first.name === "load");
    if (!passes) return undefined;
  }
  return undefined;
}

/** By how many elements another access lies behind one that is alike. */
function distanceTo(first: Access, op: Op): bigint | undefined {
  if (op.name !== "load" && op.name !== "store") return undefined;
  const [one, other] = [operandsOf<"load" | "store">(first), operandsOf<"load" | "store">(op)];
  const filled = (access: Op): Value | undefined =>
    access.name === "load" ? operandsOf(access).other : undefined;
  if (one.mask !== other.mask || filled(first) !== filled(op)) return undefined;
  if (`${first.attrs.modifiers}` !== `${op.attrs.modifiers}`) return undefined;
  const [terms, beside] = [termsOf(one.pointer), termsOf(other.pointer)];
  const isAlike = terms.base === beside.base && idsOf(terms) === idsOf(beside);
  return isAlike ? beside.constant - terms.constant : undefined;
}

/** Counts that sums are taken apart into. */
const MOST_TERMS = 16;

/** A pointer as a sum: of what it begins with, counts of elements, and a constant. */
interface Terms {
  readonly base: Value;
  readonly counts: readonly Value[];
  readonly constant: bigint;
}

const idsOf = ({ counts }: Terms): string => `${counts.map(({ id }) => id).sort((a, b) => a - b)}`;

function termsOf(pointer: Value): Terms {
  const counts: Value[] = [];
  let [base, constant] = [pointer, 0n];
  for (;;) {
    const { def } = base;
    if (def?.name === "offset") {
      const { pointer: inner, count } = operandsOf(def);
      const open = [count];
      for (let one = open.pop(); one !== undefined; one = open.pop()) {
        const splat = madeBy(one, "splat");
        const number = constantOf(splat === undefined ? one : operandsOf(splat).value);
        if (typeof number === "bigint") constant += number;
        else if (one.def?.name === "add" && counts.length < MOST_TERMS) {
          open.push(...pairOf(one.def));
        } else counts.push(one);
      }
      base = inner;
    } else if (def?.name === "splat") base = operandsOf(def).value;
    else return { base, counts, constant };
  }
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
