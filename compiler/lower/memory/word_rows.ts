/**
 * Loads and stores of narrow elements by aligned words, in rows that start anywhere (layout/rows/word_rows.ts): a branch does
 * them by words where the rows lie inside. Another one loads element by element, and stores the words that the mask allows.
 */
import type { Operand, Register } from "../../ptx/func.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { madeBy, operandsOf, resultOf } from "../../ir/op.ts";
import { pointeeBytes } from "../../ir/types.ts";
import { LOADED_AT_ONCE, WORD_BYTES } from "../../layout/anchors.ts";
import { type AccessGroup, groupRegisters } from "../../layout/access_groups.ts";
import { runRegisters } from "../../layout/rows/rotate.ts";
import { layoutOf } from "../../layout/tiles.ts";
import { freeMask } from "../../linear/linear.ts";
import { must } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import type { AxisFacts } from "../../tile/axis.ts";
import { atRegister } from "../addresses.ts";
import { lowerScaled } from "../arithmetic.ts";
import type { LowerContext } from "../context.ts";
import { conditionOf, emitBranches } from "../control.ts";
import {
  accessShape,
  packAccess,
  permuteBytes,
  type Ref,
  unpackAccess,
  vectorOf,
  whole,
} from "../element.ts";
import { type Emitter, int } from "../emitter.ts";
import {
  bothHold,
  elementOf,
  guardOf,
  loadAccess,
  loadSpelling,
  maskGuard,
  pointerAt,
  storeAccess,
  storingThreads,
} from "./global.ts";
import { splitIndex } from "../exchanges/rotate.ts";
import { receiveParts } from "../reduce/reduce.ts";
import { lowered, setElements } from "../values.ts";
import { times } from "../../support/times.ts";

/**
 * Registers of words whose loads a thread begins before it shifts the first ones: twelve words of bytes, six pairs of halves.
 * Two blocks of 512 threads leave 64. On an H200 8 words of bytes were slower by 6 %, 16 and 24 by 1 %; 12 to 32 registers
 * of halves made no difference.
 */
const REGISTERS_UNDER_WAY = 24;
/** The same of elements that are loaded one by one, into a register each. */
const ELEMENTS_UNDER_WAY = 32;

/** Shifts whose amounts are kept in one register. */
const PACKED = 4;

/** A thread's registers, access by access; undefined if it does not hold whole ones. */
function wordGroups(op: OpOf<"load" | "store">): readonly AccessGroup[] | undefined {
  const { pointer } = operandsOf(op);
  const { layout } = pointer.type;
  const { words } = op.attrs;
  const bytes = pointeeBytes(pointer);
  if (layout === undefined || words === undefined) return undefined;
  const elements = op.name === "load" ? LOADED_AT_ONCE : WORD_BYTES / bytes;
  const bits = runRegisters(layout, words, elements);
  return bits.some((bit) => bit < 0) ? undefined : groupRegisters(layout, bits);
}

/** The threads that access an element, by a mask; undefined: all. */
function threadsOf(
  cx: LowerContext,
  mask: Value | undefined,
  register: number,
): Operand | undefined {
  const e = cx.emitter;
  if (mask === undefined) return undefined;
  const guard = maskGuard(e, whole(e, lowered(cx, mask)(register), "bool"));
  return guard === "always" ? undefined : guard === "never" ? e.inRegister(int(0), "pred") : guard;
}

/** Does the operation by words; false if it has to be done element by element. */
export function lowerWordLoad(cx: LowerContext, op: OpOf<"load">, axisInfo: AxisFacts): boolean {
  const groups = wordGroups(op);
  const { pointer, inside } = operandsOf(op);
  if (groups === undefined || inside === undefined) return false;
  const e = cx.emitter;
  receiveParts(cx);
  const element = elementOf(pointer);
  const count = LOADED_AT_ONCE * pointeeBytes(pointer) / WORD_BYTES;
  const runs = groups.map(() => times(count, () => e.register("b32")));
  const registers = cx.loaded.registers + count * runs.length + REGISTERS_UNDER_WAY;
  /** Makes each run when the loads of some later ones are under way. */
  const inParts = (
    most: number,
    begin: (run: readonly Register[], group: AccessGroup) => () => void,
  ): void => {
    const underWay: (() => void)[] = [];
    for (const [run, group] of zip(runs, groups)) {
      underWay.push(begin(run, group));
      if (underWay.length === most) underWay.shift()?.();
    }
    for (const finish of underWay) finish();
  };
  const byWords = e.nested("branch", () => {
    const amounts = shiftAmounts(e, LOADED_AT_ONCE * pointeeBytes(pointer));
    inParts(
      REGISTERS_UNDER_WAY / (2 * count),
      (run, [register]) => shiftedRun(cx, op, register, run, amounts, axisInfo),
    );
  });
  const byElements = e.nested("branch", () => {
    inParts(ELEMENTS_UNDER_WAY / LOADED_AT_ONCE, (run, group) => {
      const refs = group.flatMap((one) => loadAccess(cx, op, [one], axisInfo));
      return () => {
        for (const [word, packed] of zip(run, packAccess(e, refs, element))) {
          e.emit("mov.b32", [word, packed]);
        }
      };
    });
  });
  cx.loaded.registers = registers;
  emitBranches(cx, conditionOf(cx, inside), byWords, byElements);
  const refs: Ref[] = [];
  for (const [run, group] of zip(runs, groups)) {
    for (const [ref, register] of zip(unpackAccess(e, run, element, group.length), group)) {
      refs[register] = ref;
    }
  }
  setElements(cx, resultOf(op), refs, freeMask(pointer.type.layout?.register ?? []));
  return true;
}

/**
 * Keeps by how many bits runs of so many bytes will be shifted: a byte each of a register, so that this takes no register
 * for each. Given the address of a run, what it returns makes the number of bits.
 */
function shiftAmounts(e: Emitter, size: number): (address: Operand) => () => Operand {
  let last: { held: Operand; count: number } | undefined;
  return (address) => {
    const pack = last === undefined || last.count === PACKED ? { held: address, count: 0 } : last;
    last = pack;
    const at = pack.count++;
    // The bytes that are held, and the lowest one of the address.
    if (at > 0) {
      const digits = times(PACKED, (i) => i < at ? i : 4);
      pack.held = permuteBytes(e, pack.held, address, digits);
    }
    return () => {
      const bytes = e.pure("and.b32", "b32", [pack.held, int(0x01010101 * (size - 1))]);
      return at === 0
        ? e.pure("shl.b32", "b32", [bytes, int(3)])
        : e.pure("shr.u32", "b32", [bytes, int(8 * at - 3)]);
    };
  };
}

/**
 * Loads the two aligned runs of words that elements side by side lie in; shifts them into one when it is called. Where they lie in
 * one, the other is loaded for nothing: it is there (`inside`). What is not loaded is zero before, so that no condition has
 * to be kept until the shift: predicates are few.
 */
function shiftedRun(
  cx: LowerContext,
  op: OpOf<"load">,
  register: number,
  run: readonly Register[],
  amountOf: (address: Operand) => () => Operand,
  axisInfo: AxisFacts,
): () => void {
  const e = cx.emitter;
  const { pointer, rows } = operandsOf(op);
  const size = run.length * WORD_BYTES;
  const { base, constant } = e.sumOf(pointerAt(cx, pointer, register));
  // What is a multiple of runs is added last, so that accesses share what comes before.
  const rest = BigInt.asUintN(Math.log2(size), constant);
  const start = e.inRegister(e.add("b64", base, int(rest)), "b64");
  const bitsOf = amountOf(e.pure("cvt.u32.u64", "b32", [start]));
  const aligned = e.pure("and.b64", "b64", [start, int(-size)]);
  const guard = guardOf(threadsOf(cx, rows, register));
  const spelling = loadSpelling(cx, op, accessShape(WORD_BYTES, run.length), size, axisInfo);
  const words = [0, size].flatMap((bytes) => {
    const loaded = run.map(() => e.register("b32"));
    if (guard !== undefined) { for (const word of loaded) e.emit("mov.b32", [word, int(0)]); }
    const address = e.address(aligned, constant - rest + BigInt(bytes));
    e.emit(spelling, [vectorOf(loaded), address], guard);
    return loaded;
  });
  return () => {
    const bits = bitsOf();
    // Shifts are by less than a word: of two words, the elements begin in the first or the second one.
    const from = run.length === 1 ? words : laterIf(e, words, bits);
    for (const [i, word] of run.entries()) {
      const [low, high] = [must(from[i], "word"), must(from[i + 1], "word")];
      e.emit("shf.r.wrap.b32", [word, low, high, bits]);
    }
  };
}

/** Words from the first or the second one on, as a number of bits is less than a word's or not. */
function laterIf(e: Emitter, words: readonly Register[], bits: Operand): readonly Operand[] {
  const digit = e.pure("and.b32", "b32", [bits, int(8 * WORD_BYTES)]);
  const isLater = e.pure("setp.ne.s32", "pred", [digit, int(0)]);
  return words.slice(1).map((later, i) =>
    e.pure("selp.b32", "b32", [later, must(words[i], "word"), isLater])
  );
}

/** Does the operation by words; false if it has to be done element by element. */
export function lowerWordStore(cx: LowerContext, op: OpOf<"store">): boolean {
  const groups = op.attrs.aligned === true ? wordGroups(op) : undefined;
  const { pointer, inside, rows } = operandsOf(op);
  if (groups === undefined || inside === undefined) return false;
  const e = cx.emitter;
  receiveParts(cx);
  const owner = storingThreads(cx, pointer);
  const all = e.nested("branch", () => {
    for (const group of groups) {
      const row = threadsOf(cx, rows, group[0]);
      storeWord(cx, op, group, bothHold(e, row ?? "always", owner));
    }
  });
  const some = e.nested("branch", () => {
    for (const group of groups) storeMaskedWord(cx, op, group, owner);
  });
  emitBranches(cx, conditionOf(cx, inside), all, some);
  return true;
}

/** Where a word is in its rotated row. */
interface WordPlace {
  /** The index of its first element. */
  readonly index: Operand;
  /** Elements of the row that are in the tile. */
  readonly extent: number;
  /** Whether it may be divided: have elements of both ends of the row. */
  readonly mayDivide: boolean;
}

function placeOf(cx: LowerContext, op: OpOf<"store">, [register]: AccessGroup): WordPlace {
  const { pointer } = operandsOf(op);
  const layout = layoutOf(pointer);
  const axis = must(op.attrs.words, "axis of words");
  const { count } = operandsOf(must(madeBy(pointer, "offset"), "rotated pointers"));
  const { bound } = must(madeBy(count, "rotated_range"), "rotated indices").attrs;
  const along = atRegister(cx, splitIndex(layout, axis).along, register);
  return {
    index: whole(cx.emitter, lowered(cx, count)(register), "int32"),
    extent: must(layout.shape[axis], "extent of rows"),
    mayDivide: along.constant < bound,
  };
}

/**
 * Stores a word of a rotated row. Which of a row's first words has elements of both its ends is known at run time only;
 * it is stored in aligned pieces.
 */
function storeWord(
  cx: LowerContext,
  op: OpOf<"store">,
  group: AccessGroup,
  guard: Operand | undefined,
): void {
  const e = cx.emitter;
  const { pointer } = operandsOf(op);
  const bytes = pointeeBytes(pointer);
  const { pointer: row } = operandsOf(must(madeBy(pointer, "offset"), "rotated pointers"));
  const [register] = group;
  const { index, extent, mayDivide } = placeOf(cx, op, group);
  const { base, constant } = e.sumOf(index);
  const start = e.add("b64", pointerAt(cx, row, register), lowerScaled(e, base, "int32", bytes));
  const store = (elements: AccessGroup, at: number, condition: Operand | undefined): void =>
    storeAccess(cx, op, elements, {
      address: () => e.address(start, constant * BigInt(bytes) + BigInt(at * bytes)),
      condition: () => condition,
    });
  if (!mayDivide) {
    store(group, 0, guard);
    return;
  }
  const is = (comparison: string, limit: number, also = guard): Operand =>
    e.pure(`setp.${comparison}${also === undefined ? "" : ".and"}.s32`, "pred", [
      e.inRegister(index, "b32"),
      int(limit),
      ...also === undefined ? [] : [also],
    ]);
  store(group, 0, is("le", extent - group.length));
  for (const { first, length, isEnd, least, most } of piecesOf(group.length)) {
    // So many elements are before the end of the row as the first one's index is less than the extent.
    const condition = least === most
      ? is("eq", extent - most)
      : least === 1
      ? is("ge", extent - most)
      : is("le", extent - least, is("ge", extent - most));
    const [one = register, ...others] = group.slice(first, first + length);
    store([one, ...others], isEnd ? first : first - extent, condition);
  }
}

/** Stores a word of which the mask may leave out elements: where all are stored and follow each other, at once. */
function storeMaskedWord(
  cx: LowerContext,
  op: OpOf<"store">,
  group: AccessGroup,
  owner: Operand | undefined,
): void {
  const e = cx.emitter;
  const { pointer, mask } = operandsOf(op);
  const store = (elements: AccessGroup, condition: Operand | undefined): void =>
    storeAccess(cx, op, elements, {
      address: () => e.address(pointerAt(cx, pointer, elements[0])),
      condition: () => condition,
    });
  const { index, extent, mayDivide } = placeOf(cx, op, group);
  const one = e.inRegister(index, "b32");
  const last = int(extent - group.length);
  const guards = group.map((register) => threadsOf(cx, mask, register));
  const isWhole = [owner, ...guards].reduce(
    (all, guard) => bothHold(e, all ?? "always", guard),
    mayDivide ? e.pure("setp.le.s32", "pred", [one, last]) : undefined,
  );
  store(group, isWhole);
  if (isWhole === undefined) return;
  const isNot = bothHold(e, e.pure("not.pred", "pred", [isWhole]), owner);
  for (const [register, guard] of zip(group, guards)) {
    store([register], bothHold(e, guard ?? "always", isNot));
  }
}

/** A part of a word that is divided between the end of its row and the beginning. */
interface Piece {
  /** Its elements; a power of two, aligned. */
  readonly first: number;
  readonly length: number;
  /** At the end of the row, or at its beginning. */
  readonly isEnd: boolean;
  /** It is stored where so many elements of the word are at the end of the row. */
  readonly least: number;
  readonly most: number;
}

/** The pieces of a word that is divided somewhere: those that lie on one side, where twice as much does not. */
function piecesOf(elements: number): Piece[] {
  const pieces: Piece[] = [];
  for (let length = elements / 2; length >= 1; length /= 2) {
    for (let first = 0; first < elements; first += length) {
      const isEnd = first % (2 * length) === 0;
      const least = isEnd ? first + length : first - length + 1;
      pieces.push({ first, length, isEnd, least, most: least + length - 1 });
    }
  }
  return pieces;
}
