/**
 * Keeps memory operations of a program in program order (language.md 8.3). Elements of a tile live in different
 * threads, so a load and a later store that may touch the same memory need a block barrier in between, unless
 * the addresses come from different parameters that do not alias. A change of layout through shared memory has
 * such a barrier already.
 */
import { type Func, newOp, type Op, type Region, type Value } from "../ir/func.ts";
import { TILE_OPS } from "../ir/ops.ts";
import { must } from "../support/bug.ts";
import { copyBits } from "./context.ts";

interface Access {
  /** The parameter the address derives from; undefined: unknown. */
  readonly root: Value | undefined;
  readonly writes: boolean;
  readonly pointer: Value;
}

/** The parameter a pointer value was computed from by offsets and shape operations. */
function rootOf(func: Func, value: Value): Value | undefined {
  let at = value;
  while (at.def !== undefined) {
    const pointer = at.def.operands[0];
    const derived = [
      "offset",
      "splat",
      "broadcast",
      "expand_dims",
      "reshape",
      "permute",
      "convert",
      "assume_multiple",
      "convert_layout",
    ];
    if (pointer === undefined || !derived.includes(at.def.name)) return undefined;
    at = pointer;
  }
  return func.params.includes(at) ? at : undefined;
}

function accessOf(func: Func, op: Op): Access | undefined {
  const { effect } = TILE_OPS[op.name];
  if (effect !== "read" && effect !== "write") return undefined;
  const pointer = must(op.operands[0], "pointer operand");
  return { root: rootOf(func, pointer), writes: effect === "write", pointer };
}

/** Several threads hold each element. */
function isCopied({ type: { layout } }: Value): boolean {
  return layout === undefined || copyBits(layout) !== 0;
}

/** Inserts `barrier` operations; `synchronizes` tells which operations contain a block barrier. */
export function orderMemory(func: Func, synchronizes: (op: Op) => boolean): void {
  const noalias = (root: Value): boolean => {
    const facts = func.paramFacts[func.params.indexOf(root)];
    return facts?.noalias === true;
  };
  const mayTouch = (a: Access, b: Access): boolean => {
    if (!a.writes && !b.writes) return false;
    // The same element in the same thread: its own order holds. Of copies, all load and one stores.
    if (a.pointer === b.pointer && ((a.writes && b.writes) || !isCopied(a.pointer))) return false;
    if (a.root === undefined || b.root === undefined || a.root === b.root) return true;
    return !noalias(a.root) && !noalias(b.root);
  };
  /** Returns what is pending at the end. */
  const walk = (region: Region, entry: readonly Access[]): Access[] => {
    let pending = [...entry];
    const out: Op[] = [];
    for (const op of region.ops) {
      if (synchronizes(op)) pending = [];
      const access = accessOf(func, op);
      if (access !== undefined) {
        if (pending.some((earlier) => mayTouch(earlier, access))) {
          out.push(newOp(func, "barrier", [], [], op.span));
          pending = [];
        }
        pending.push(access);
      }
      if (op.regions.length > 0) {
        // A loop's round meets what the round before left behind: walk twice to a fixed point from above.
        const ends = op.regions.flatMap((inner) => accessesIn(func, inner));
        const start = op.name === "while" ? [...pending, ...ends] : pending;
        pending = [...pending, ...op.regions.flatMap((inner) => walk(inner, start))];
      }
      out.push(op);
    }
    region.ops = out;
    return pending;
  };
  walk(func.body, []);
}

function accessesIn(func: Func, region: Region): Access[] {
  return region.ops.flatMap((op): Access[] => {
    const inner = op.regions.flatMap((r) => accessesIn(func, r));
    const access = accessOf(func, op);
    return access === undefined ? inner : [access, ...inner];
  });
}
