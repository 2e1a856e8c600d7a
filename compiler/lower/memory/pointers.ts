/**
 * Pointer tiles. A pointer is a base plus a sum of counts; the sum is reordered so that what all registers share is
 * added first, and constants end up in the immediates of the accesses.
 */
import { pointeeBytes } from "../../ir/types.ts";
import type { Operand } from "../../ptx/func.ts";
import type { OpOf, Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { hasTrait } from "../../ir/table.ts";
import { axisShifts } from "../../linear/linear.ts";
import type { AxisFacts, AxisInfo } from "../../tile/axis.ts";
import { lowerScaled } from "../arithmetic.ts";
import type { LowerContext } from "../context.ts";
import { lowered, memo } from "../values.ts";
import { whole } from "../element.ts";

/** One summand of a pointer tile, in elements. */
interface Term {
  readonly count: Value;
  readonly noCarry: boolean;
  /** Registers that see different values of it: terms with few go first, so that their sums are shared. */
  readonly variety: number;
}

/** Summands that are reordered; a pointer with more of them is a sum of what it was before and these. */
const MAX_TERMS = 64;

function pointerTerms(value: Value, axisInfo: AxisFacts): { base: Value; terms: Term[] } {
  const terms: Term[] = [];
  let base = value;
  while (terms.length < MAX_TERMS) {
    const { def } = base;
    if (def?.name === "offset") {
      const { pointer, count } = operandsOf(def);
      if (pointeeBytes(pointer) !== pointeeBytes(base)) break;
      const info = axisInfo(count);
      const noCarry = startsAligned(count, info);
      terms.push({ count, noCarry, variety: variety(count, info) });
      base = pointer;
    } else if (def !== undefined && hasTrait(def, "reshapes")) base = operandsOf(def).value;
    else break;
  }
  return { base, terms: terms.reverse() };
}

/** The value varies along one axis only, there as a single run that starts at a multiple of its length. */
function startsAligned(value: Value, info: AxisInfo): boolean {
  // Stays between 0 and the extent, and so does what it starts from.
  if (value.def?.name === "rotated_range") return true;
  const varying = value.type.shape.flatMap((extent, axis) =>
    (info.constancy[axis] ?? 1) < extent ? [axis] : []
  );
  const [axis] = varying;
  if (axis === undefined || varying.length > 1) return false;
  const extent = value.type.shape[axis] ?? 1;
  return (info.contiguity[axis] ?? 1) >= extent && (info.divisibility[axis] ?? 1) >= extent;
}

function variety(value: Value, info: AxisInfo): number {
  const layout = value.type.layout;
  if (layout === undefined || startsAligned(value, info)) return 0;
  const shifts = axisShifts(layout.shape);
  const moving = layout.shape.reduce(
    (mask, extent, axis) =>
      (info.constancy[axis] ?? 1) >= extent ? mask : mask | ((extent - 1) << (shifts[axis] ?? 0)),
    0,
  );
  return layout.register.filter((basis) => (basis & moving) !== 0).length;
}

/** Terms of the scalars that tiles were made of have one register. */
const registerOf = (value: Value, register: number): number =>
  value.type.shape.length === 0 ? 0 : register;

export function lowerOffset(cx: LowerContext, op: OpOf<"offset">, axisInfo: AxisFacts): void {
  const result = resultOf(op);
  const { base, terms } = pointerTerms(result, axisInfo);
  const sorted = [...terms].sort((a, b) => a.variety - b.variety);
  const bytes = pointeeBytes(result);
  cx.values.set(
    result,
    memo(cx, (register) => {
      const e = cx.emitter;
      return sorted.reduce<Operand>((pointer, { count, noCarry }) => {
        const element = count.type.element;
        const elements = (at: number): Operand =>
          whole(e, lowered(cx, count)(registerOf(count, at)), element);
        // Where a thread's first element starts; what other registers add to it stays below the run's length.
        const start = noCarry ? e.sumOf(elements(0)).constant : undefined;
        return e.add("b64", pointer, lowerScaled(e, elements(register), element, bytes, start));
      }, whole(e, lowered(cx, base)(registerOf(base, register)), base.type.element));
    }),
  );
}
