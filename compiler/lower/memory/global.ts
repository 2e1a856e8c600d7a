/** Global loads and stores: as few and as wide as layout, alignment and mask allow. */
import type { Instruction, Operand, Register } from "../../ptx/func.ts";
import { axisShifts, freeMask } from "../../linear/linear.ts";
import { type AccessGroup, accessGroups } from "../../layout/access_groups.ts";
import type { AxisFacts, AxisInfo } from "../../tile/axis.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { isLookup } from "../../ir/table.ts";
import { type Element, isPointer, pointeeBytes } from "../../ir/types.ts";
import { bug } from "../../support/bug.ts";
import { zip } from "../../support/zip.ts";
import { query } from "../../targets.ts";
import type { LowerContext, Lowered } from "../context.ts";
import { ownerPredicate, scalarCopies } from "../addresses.ts";
import { equalRegisters } from "../rule.ts";
import { lowered, ofRegister } from "../values.ts";
import { copyBits } from "../../linear/threads.ts";
import { accessShape, packAccess, type Ref, unpackAccess, vectorOf, whole } from "../element.ts";
import { type Emitter, int, type Scope } from "../emitter.ts";
import { times } from "../../support/times.ts";
import { loadedOnce } from "./repeated_loads.ts";
import { addressInOrder, noteLoaded } from "./slice_loads.ts";

export function elementOf(pointer: Value): Element {
  const element = pointer.type.element;
  if (!isPointer(element) || element.pointee === "void") {
    bug("access through something that is no pointer");
  }
  return element.pointee;
}

function spaceOf({ type: { element } }: Value): "global" | "constant" {
  return isPointer(element) ? element.space : "global";
}

export function guardOf(predicate: Operand | undefined): Instruction["guard"] {
  if (predicate === undefined) return undefined;
  if (predicate.kind !== "register") bug("a guard must be a register");
  return { register: predicate, negated: false };
}

/** A predicate operand as a guard; constants decide now. */
export function maskGuard(e: Emitter, mask: Operand): "always" | "never" | Operand {
  if (mask.kind === "integer") return mask.value === 0n ? "never" : "always";
  return e.inRegister(mask, "pred");
}

/** In PTX's order, whatever the source's: operators, then eviction priorities. */
function spellModifiers(modifiers: readonly string[]): string {
  const spelled = modifiers.map((modifier) => MODIFIERS[modifier] ?? "");
  const isPriority = (text: string): boolean => text.startsWith(".L1::");
  return [...spelled.filter((text) => !isPriority(text)), ...spelled.filter(isPriority)].join("");
}

/** Cache operators and hints of `load`/`store` modifiers, as PTX spells them between space and type. */
const MODIFIERS: Readonly<Record<string, string>> = {
  ca: ".ca",
  cg: ".cg",
  cs: ".cs",
  cv: ".cv",
  nc: ".nc",
  wb: ".wb",
  wt: ".wt",
  evict_first: ".L1::evict_first",
  evict_last: ".L1::evict_last",
  evict_normal: ".L1::evict_normal",
  no_allocate: ".L1::no_allocate",
};

/**
 * Rows that cannot be read in 16-byte pieces start and end inside sectors that their neighbours need too: asking
 * L2 for 256 bytes around each miss gained 1 % (float) to 3 % (half) on an 8191 x 8193 transposition on an H200,
 * and cost 0.5 % where accesses are 16 bytes wide.
 */
function prefetchHint(
  cx: LowerContext,
  pointer: Value,
  accessBytes: number,
  axisInfo: (value: Value) => AxisInfo,
): string {
  const { contiguity } = axisInfo(pointer);
  const rows = contiguity.some((run) => run * pointeeBytes(pointer) >= 128);
  return rows && accessBytes < 16 &&
      query(cx.emitter.target, ({ cacheHints }) => cacheHints.includes("L2::256B"))
    ? ".L2::256B"
    : "";
}

/** How many elements of which type one access has. */
interface AccessType {
  readonly count: number;
  readonly type: string;
}

function accessSpelling(
  { attrs: { modifiers } }: OpOf<"load" | "store">,
  kind: "ld" | "st",
  shape: AccessType,
  hint = "",
): string {
  const volatile = modifiers.includes("volatile");
  // What the source says of caches stands for itself.
  const isOurs = modifiers.every((modifier) => modifier === "no_allocate");
  const hints = `${spellModifiers(modifiers)}${isOurs ? hint : ""}`;
  return `${kind}${volatile ? ".volatile" : ""}.global${hints}${vectorSpelling(shape)}`;
}

const vectorSpelling = ({ count, type }: AccessType): string =>
  `${count > 1 ? `.v${count}` : ""}.${type}`;

/**
 * A load through the non-coherent path or from constant memory reads what is not written meanwhile, so it happens where
 * its elements are first asked for, access by access: weights that are applied to a row as it is stored need no
 * registers before. In a loop only tables of constants are read so late: there loads of an iteration should wait together.
 */
const isLate = (e: Emitter, op: OpOf<"load">): boolean =>
  isLookup(op) || (op.attrs.modifiers.includes("nc") && !e.isInLoop);

/**
 * Whether the lanes of a warp read the same address in every access. Only then is the constant cache fast: it serves
 * one address at a time (CUDA C++ Programming Guide, "Constant Memory").
 */
function isUniform(pointer: Value, { constancy }: AxisInfo): boolean {
  const { layout } = pointer.type;
  if (layout === undefined) return true;
  const shifts = axisShifts(layout.shape);
  const moving = layout.shape.reduce((mask, extent, axis) => {
    const run = Math.min(extent, constancy[axis] ?? 1);
    return mask | ((extent - run) << (shifts[axis] ?? 0));
  }, 0);
  return layout.lane.every((basis) => (basis & moving) === 0);
}

/** How constant memory is read at an address: through its cache, or, where lanes differ, with the generic address. */
function lookUp(
  e: Emitter,
  pointer: Operand,
  shape: AccessType,
  uniform: boolean,
): { readonly spelling: string; readonly address: Operand } {
  if (uniform) return { spelling: `ld.const${vectorSpelling(shape)}`, address: e.address(pointer) };
  const { base, constant } = e.sumOf(pointer);
  const generic = e.pure("cvta.const.u64", "b64", [base]);
  return {
    spelling: `ld${vectorSpelling(shape)}`,
    address: e.address(e.add("b64", generic, int(constant))),
  };
}

/** Loads the elements of one access. */
export function loadAccess(
  cx: LowerContext,
  op: OpOf<"load">,
  group: AccessGroup,
  axisInfo: AxisFacts,
): readonly Ref[] {
  const e = cx.emitter;
  const { pointer, mask, other } = operandsOf(op);
  const element = elementOf(pointer);
  const size = pointeeBytes(pointer);
  const [first] = group;
  const shape = accessShape(size, group.length);
  const guard = mask === undefined
    ? "always"
    : maskGuard(e, whole(e, lowered(cx, mask)(first), "bool"));
  const results: Register[] = times(shape.count, () => e.register(shape.bank));
  if (guard !== "always") {
    const fill = other === undefined
      ? results.map(() => int(0))
      : packAccess(e, group.map((r) => lowered(cx, other)(r)), element);
    for (const [result, value] of zip(results, fill)) {
      e.emit(`mov.${shape.bank}`, [result, value]);
    }
  }
  const finish = (): readonly Ref[] => {
    cx.loaded.registers += shape.count * (shape.bank === "b64" ? 2 : 1);
    for (const result of results) noteLoaded(cx, op, result);
    return unpackAccess(e, results, element, group.length);
  };
  if (guard === "never") return finish();
  const start = addressInOrder(cx, op, pointerAt(cx, pointer, first));
  const { spelling, address } = isLookup(op)
    ? lookUp(e, start, shape, isUniform(pointer, axisInfo(pointer)))
    : {
      spelling: loadSpelling(cx, op, shape, size * group.length, axisInfo),
      address: e.address(start),
    };
  return loadedOnce(cx, op, [spelling, address, guard], () => {
    e.emit(spelling, [vectorOf(results), address], guard === "always" ? undefined : guardOf(guard));
    return finish();
  });
}

/** A load from global memory. */
export function loadSpelling(
  cx: LowerContext,
  op: OpOf<"load">,
  shape: AccessType,
  accessBytes: number,
  axisInfo: AxisFacts,
): string {
  return accessSpelling(
    op,
    "ld",
    shape,
    prefetchHint(cx, operandsOf(op).pointer, accessBytes, axisInfo),
  );
}

/** The pointer of an element, in a register. */
export function pointerAt(cx: LowerContext, pointer: Value, register: number): Operand {
  const e = cx.emitter;
  return e.inRegister(whole(e, lowered(cx, pointer)(register), pointer.type.element), "b64");
}

/** How a load is done: what is accessed at once, and how. */
export interface Accesses {
  readonly groups: readonly AccessGroup[];
  readonly load: typeof loadAccess;
}

export function lowerLoad(
  cx: LowerContext,
  op: OpOf<"load">,
  axisInfo: AxisFacts,
  accesses: Accesses = { groups: accessGroups(op, axisInfo), load: loadAccess },
): void {
  const e = cx.emitter;
  const { pointer } = operandsOf(op);
  const load = (group: AccessGroup): readonly Ref[] => accesses.load(cx, op, group, axisInfo);
  const elements: Lowered[] = [];
  const result = resultOf(op);
  // Of elements at the same address, one is loaded.
  const equal = equalRegisters(pointer.type.layout, axisInfo(result));
  for (const group of accesses.groups) {
    if ((group[0] & equal) !== 0) continue;
    const early = isLate(e, op) ? undefined : load(group);
    let late: { readonly scope: Scope; readonly refs: readonly Ref[] } | undefined;
    const refs = (): readonly Ref[] => {
      if (early !== undefined) return early;
      if (late === undefined || !late.scope.open) late = { scope: e.scope, refs: load(group) };
      return late.refs;
    };
    group.forEach((register, i) => elements[register] = () => ofRegister(refs(), i));
  }
  const free = pointer.type.layout === undefined ? 0 : freeMask(pointer.type.layout.register);
  // Narrow scalars and lone elements are extended once; parts of words stay parts.
  cx.values.set(result, (register) => ofRegister(elements, register & ~(free | equal))(register));
}

/** The condition that threads store what they alone hold of a tile: one thread stores a scalar. */
export function storingThreads(cx: LowerContext, { type: { layout } }: Value): Operand | undefined {
  // Of copies of an element, one is stored.
  return ownerPredicate(cx, layout === undefined ? scalarCopies(cx) : copyBits(layout));
}

export function lowerStore(cx: LowerContext, op: OpOf<"store">, axisInfo: AxisFacts): void {
  const e = cx.emitter;
  const { pointer, mask } = operandsOf(op);
  const owner = storingThreads(cx, pointer);
  for (const group of accessGroups(op, axisInfo)) {
    const [first] = group;
    const masked = mask === undefined
      ? "always"
      : maskGuard(e, whole(e, lowered(cx, mask)(first), "bool"));
    if (masked === "never") continue;
    storeAccess(cx, op, group, {
      address: () => e.address(pointerAt(cx, pointer, first)),
      condition: () => bothHold(e, masked, owner),
    });
  }
}

/** Where an access stores, and in which threads; computed when its elements are there. */
interface StoreAt {
  readonly address: () => Operand;
  readonly condition: () => Operand | undefined;
}

/** Stores the elements of one access. */
export function storeAccess(
  cx: LowerContext,
  op: OpOf<"store">,
  group: AccessGroup,
  { address: addressOf, condition }: StoreAt,
): void {
  const e = cx.emitter;
  const { pointer, value } = operandsOf(op);
  const shape = accessShape(pointeeBytes(pointer), group.length);
  const registers = packAccess(e, group.map((r) => lowered(cx, value)(r)), elementOf(pointer));
  const address = addressOf();
  e.emit(accessSpelling(op, "st", shape), [address, vectorOf(registers)], guardOf(condition()));
}

/** One prefetch per access that would load the same; of copies of an address, one thread prefetches. */
export function lowerPrefetch(
  cx: LowerContext,
  op: OpOf<"prefetch">,
  axisInfo: (value: Value) => AxisInfo,
): void {
  const e = cx.emitter;
  const { pointer, mask } = operandsOf(op);
  // Constant memory has a cache of its own, which cannot be asked to read ahead.
  if (spaceOf(pointer) === "constant") return;
  const { layout } = pointer.type;
  const copies = layout === undefined ? scalarCopies(cx) : copyBits(layout);
  const owner = ownerPredicate(cx, copies);
  for (const group of accessGroups(op, axisInfo)) {
    const [first] = group;
    const masked = mask === undefined
      ? "always"
      : maskGuard(e, whole(e, lowered(cx, mask)(first), "bool"));
    if (masked === "never") continue;
    const address = e.address(
      e.inRegister(whole(e, lowered(cx, pointer)(first), pointer.type.element), "b64"),
    );
    e.emit("prefetch.global.L2", [address], guardOf(bothHold(e, masked, owner)));
  }
}

/** The predicate of threads that own an access and whose mask is set. */
export function bothHold(
  e: Emitter,
  masked: "always" | Operand,
  owner: Operand | undefined,
): Operand | undefined {
  if (masked === "always") return owner;
  return owner === undefined ? masked : e.pure("and.pred", "pred", [masked, owner]);
}
