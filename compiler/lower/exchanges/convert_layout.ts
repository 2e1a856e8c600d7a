/** Layout conversions: rename registers, or exchange elements through swizzled shared memory. */
import type { BlockRanks } from "../../layout/cluster.ts";
import type { SharedPlan } from "../../layout/conversion.ts";
import { conversionOf, partsOf } from "../../layout/exchanges.ts";
import type { OpOf } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import type { LowerContext } from "../context.ts";
import { lowered, setElements } from "../values.ts";
import { beginExchange, inBlock, programBarrier } from "../memory/shared.ts";
import { groupRegisters } from "../../layout/access_groups.ts";
import { freeMask, type LinearLayout } from "../../linear/linear.ts";
import { blockCopyBits, threadBases } from "../../linear/threads.ts";
import type { Operand } from "../../ptx/func.ts";
import { atRegister, ownerPredicate } from "../addresses.ts";
import { whole } from "../element.ts";
import { int } from "../emitter.ts";
import { fromWord, toWord, wordBank } from "../convert/words.ts";
import { readSharedTile, type SharedTile, writeSharedTile } from "../memory/shared_tile.ts";
import { layoutOf, wordBytes } from "../../layout/tiles.ts";

export function lowerConvertLayout(cx: LowerContext, op: OpOf<"convert_layout">): void {
  const { value: source } = operandsOf(op);
  const result = resultOf(op);
  const { ranks } = partsOf(op);
  if (ranks !== undefined) {
    acrossBlocks(cx, op, ranks);
    return;
  }
  const plan = conversionOf(op);
  switch (plan.kind) {
    case "none":
      cx.values.set(result, lowered(cx, source));
      return;
    case "registers":
      cx.values.set(result, (register) => lowered(cx, source)(plan.sources[register] ?? register));
      return;
    case "shared":
      exchange(cx, op, plan);
  }
}

function exchange(cx: LowerContext, op: OpOf<"convert_layout">, plan: SharedPlan): void {
  const { value: source } = operandsOf(op);
  const result = resultOf(op);
  const e = cx.emitter;
  const barrier = (): void =>
    plan.withinWarp ? e.emit("bar.warp.sync", [int(0xffffffffn)]) : programBarrier(cx);

  const { src, dst } = partsOf(op);
  const start = beginExchange(cx, op);
  // The warp may still read what it had there before, where no iteration with a barrier came between.
  const isInTurn = cx.turns.programs.length > 0;
  const isRepeated = op.attrs.by_warp === true || (plan.withinWarp && isInTurn);
  if (isRepeated && op.attrs.barrier === false) barrier();
  const tile: SharedTile = { plan, element: source.type.element, start: () => start };
  writeSharedTile(cx, src, lowered(cx, source), tile);
  barrier();
  const read = readSharedTile(cx, dst, tile);
  read.finish();
  cx.values.set(result, read.values);
}

/** Through the shared memory of the blocks that have the elements, a word for each. */
function acrossBlocks(cx: LowerContext, op: OpOf<"convert_layout">, ranks: BlockRanks): void {
  const e = cx.emitter;
  const { value: source } = operandsOf(op);
  const { element } = source.type;
  const { src, dst } = partsOf(op);
  const bank = wordBank(element);
  const size = wordBytes(element);
  const start = beginExchange(cx, op);
  const placeOf = (layout: LinearLayout, register: number): ReturnType<typeof atRegister> => {
    const scaled = (bases: readonly number[]): number[] => bases.map((basis) => basis * size);
    const bases = { register: scaled(layout.register), thread: scaled(threadBases(layout)) };
    const { base, constant } = atRegister(cx, bases, register);
    return { base: e.add("b32", start, base), constant };
  };
  const owner = ownerPredicate(cx, blockCopyBits(src));
  const guard = owner?.kind === "register" ? { register: owner, negated: false } : undefined;
  for (const [register] of groupRegisters(src, [])) {
    const word = toWord(e, whole(e, lowered(cx, source)(register), element), element);
    const { base, constant } = placeOf(src, register);
    const address: Operand = { kind: "address", base, offset: BigInt(constant) };
    e.emit(`st.shared.${bank}`, [address, e.inRegister(word, bank)], guard);
  }
  programBarrier(cx);
  const elements: Operand[] = [];
  // In the part, elements of several blocks lie at one place.
  const result = layoutOf(resultOf(op));
  for (const [register] of groupRegisters(result, [])) {
    const { base, constant } = placeOf(dst, register);
    const rank = atRegister(cx, ranks, register);
    const block = e.inRegister(e.add("b32", rank.base, int(rank.constant)), "b32");
    const address: Operand = {
      kind: "address",
      base: inBlock(cx, base, block),
      offset: BigInt(constant),
    };
    const word = e.register(bank);
    e.emit(`ld.shared::cluster.${bank}`, [word, address]);
    elements[register] = fromWord(e, word, element);
  }
  setElements(cx, resultOf(op), elements, freeMask(result.register));
}
