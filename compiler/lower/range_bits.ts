/**
 * Remainders of numbers of a range by constant powers of two: some of the bits of an index that threads and registers give.
 * Registers whose numbers have the same low bits share what is computed from them.
 */
import type { OpOf } from "../ir/func.ts";
import { constantOf, madeBy, operandsOf, resultOf } from "../ir/op.ts";
import { threadBases } from "../linear/threads.ts";
import { layoutOf } from "../layout/tiles.ts";
import { atRegister } from "./addresses.ts";
import type { LowerContext } from "./context.ts";
import { int } from "./emitter.ts";
import { memo } from "./values.ts";

/** Lowers `range % 2^n` of a range from 0 on; whether it has. */
export function lowerRangeBits(cx: LowerContext, op: OpOf<"rem">): boolean {
  const { left, right } = operandsOf(op);
  const range = madeBy(left, "range");
  const divisor = constantOf(right);
  const isPower = typeof divisor === "bigint" && divisor > 0n && (divisor & (divisor - 1n)) === 0n;
  if (range === undefined || BigInt(range.attrs.lo) !== 0n || !isPower) return false;
  if (left.type.element !== "int32" && left.type.element !== "uint32") return false;
  const layout = layoutOf(left);
  const low = Number(divisor - 1n);
  const [register, thread] = [layout.register, threadBases(layout)]
    .map((bases) => bases.map((basis) => basis & low));
  if (register === undefined || thread === undefined) return false;
  const bases = { register, thread };
  cx.values.set(
    resultOf(op),
    memo(cx, (at) => {
      const { base, constant } = atRegister(cx, bases, at);
      return cx.emitter.add("b32", base, int(constant));
    }),
  );
  return true;
}
