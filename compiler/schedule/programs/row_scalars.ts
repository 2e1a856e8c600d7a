/** Scalars of a program: those that tiles begin with, what holds of later programs, and the same for another program. */
import { type Func, newUncheckedOp, type Op, type Value } from "../../ir/func.ts";
import { operandsOf, resultOf } from "../../ir/op.ts";
import { hasTrait, rowOf } from "../../ir/table.ts";
import { scalarType } from "../../ir/types.ts";
import { trendOf } from "./longest_first.ts";
import { isFixed } from "./turns.ts";

/** Computes the first element of tiles, as scalars. */
export class FirstElements {
  readonly #known = new Map<Value, Value | undefined>();

  constructor(
    readonly func: Func,
    readonly out: Op[],
  ) {}

  of(value: Value): Value | undefined {
    if (value.type.shape.length === 0) return value;
    if (!this.#known.has(value)) this.#known.set(value, this.#make(value));
    return this.#known.get(value);
  }

  #make({ def, type: { element } }: Value): Value | undefined {
    if (def === undefined) return undefined;
    if (
      def.name === "splat" || def.name === "broadcast" || hasTrait(def, "reshapes") ||
      def.name === "convert_layout"
    ) {
      const [operand] = def.operands;
      return operand && this.of(operand);
    }
    const attrs = def.name === "range" ? { value: def.attrs.lo } : def.attrs;
    const isLeaf = def.name === "range" || def.name === "constant";
    if (!isLeaf && !hasTrait(def, "elementwise")) return undefined;
    const operands = def.operands.map((one) => this.of(one));
    if (!operands.every((one) => one !== undefined)) return undefined;
    const name = isLeaf ? "constant" : def.name;
    const op = newUncheckedOp(this.func, name, operands, [scalarType(element)], def.span, attrs);
    this.out.push(op);
    return resultOf(op);
  }
}

/** Whether a condition that does not hold in a program holds in no later one. */
export function staysFalse({ def }: Value): boolean {
  if (def?.name === "constant") return true;
  if (def?.name === "and") return def.operands.every(staysFalse);
  if (def?.name !== "lt") return false;
  const { left, right } = operandsOf(def);
  return ["level", "up"].includes(trendOf(left)) && trendOf(right) === "level";
}

/** Whether two scalars are computed alike. */
export function isSameScalar(a: Value, b: Value): boolean {
  if (a === b) return true;
  const [one, other] = [a.def, b.def];
  return one !== undefined && other?.name === one.name && rowOf(one).effect === "pure" &&
    one.operands.length === other.operands.length &&
    JSON.stringify(one.attrs, bigints) === JSON.stringify(other.attrs, bigints) &&
    one.operands.every((operand, i) => {
      const partner = other.operands[i];
      return partner !== undefined && isSameScalar(operand, partner);
    });
}

const bigints = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}` : value;

/** Scalars of a program, computed for another one. */
export class ScalarsAgain {
  constructor(
    readonly func: Func,
    readonly out: Op[],
    readonly program: { readonly from: Value; readonly to: Value },
    readonly known = new Map<Value, Value>(),
  ) {}

  of(value: Value): Value {
    if (value === this.program.from) return this.program.to;
    const known = this.known.get(value);
    if (known !== undefined) return known;
    const again = this.#make(value);
    this.known.set(value, again);
    return again;
  }

  #make(value: Value): Value {
    const { def } = value;
    if (def === undefined) return value;
    const operands = def.operands.map((one) => this.of(one));
    if (isFixed(def) && operands.every((one, i) => one === def.operands[i])) return value;
    const op = newUncheckedOp(this.func, def.name, operands, [value.type], def.span, def.attrs);
    this.out.push(op);
    return resultOf(op);
  }
}
