/** Which tiles carry data: what a conversion moves, beside what each thread may make again in another layout. */
import type { Op, Value } from "../ir/func.ts";
import { sourcesFirst } from "../ir/order.ts";
import { hasTrait, isLookup, rowOf } from "../ir/table.ts";
import { must } from "../support/bug.ts";

export const isTile = (value: Value): boolean => value.type.shape.length > 0;

/** Element i of the result depends on element i of the operands only. */
export const isElementwise = (op: Op): boolean => hasTrait(op, "elementwise") || isLookup(op);

/** May be computed anywhere in its region, several times, or never. */
export const isRepeatable = (op: Op): boolean => rowOf(op).effect === "pure" || isLookup(op);

/** Facts of values by their operands; each is found once. */
export class CarriedData {
  readonly #data = new Map<Value, boolean>();
  readonly #spread = new Map<Value, boolean>();

  /** Depends on loaded data, or is carried by control flow: not to be computed twice. */
  isData(value: Value): boolean {
    const known = this.#data.get(value);
    if (known !== undefined) return known;
    const tiles = (at: Value): readonly Value[] =>
      isMadeAgain(at) ? at.def.operands.filter(isTile) : [];
    for (const one of sourcesFirst(value, (at) => this.#data.has(at), tiles)) {
      const { def } = one;
      const isData = def === undefined
        ? isTile(one)
        : !isMadeAgain(one) || tiles(one).some((operand) => this.#data.get(operand));
      this.#data.set(one, isData);
    }
    return must(this.#data.get(value), "known value");
  }

  /**
   * Broadcast from fewer elements, or computed from such values alone: made again in each layout, so that a
   * conversion moves the few elements. Inserting an axis of one element before a broadcast costs nothing either.
   */
  isSpread(value: Value): boolean {
    const dataOf = ({ def }: Value): readonly Value[] =>
      def !== undefined && isElementwise(def)
        ? def.operands.filter((one) => isTile(one) && this.isData(one))
        : [];
    for (const one of sourcesFirst(value, (at) => this.#spread.has(at), dataOf)) {
      const data = dataOf(one);
      const isSpread = one.def?.name === "broadcast" || one.def?.name === "expand_dims" ||
        (data.length > 0 && data.every((operand) => this.#spread.get(operand)));
      this.#spread.set(one, isSpread);
    }
    return must(this.#spread.get(value), "known value");
  }
}

function isMadeAgain(value: Value): value is Value & { readonly def: Op } {
  return value.def !== undefined && isRepeatable(value.def) && !hasTrait(value.def, "once");
}
