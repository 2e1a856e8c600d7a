/**
 * Tiles of indices and pointers with two elements in the place of one: where element i of a tile is `p + 2 * i`, element j of
 * its double is `p + j`. So the tile of even elements, as `X + 2 * (0 ... N)`, becomes one of all, `X + 0 ... 2 * N`.
 *
 * Only along the last axis, and only what is affine there: ranges, what is one value along it, and sums.
 */
import { type Func, newUncheckedOp, type Op, type Value } from "../../ir/func.ts";
import { constantOf, madeBy, operandsOf, pairOf, resultOf } from "../../ir/op.ts";
import type { TileOp } from "../../ir/ops.ts";
import { hasTrait, rowOf } from "../../ir/table.ts";
import { type Element, type IrType, isPointer, pointeeBytes, sameElement } from "../../ir/types.ts";
import type { Attrs } from "../../ir/func.ts";
import { intRange, isLossless } from "../../support/arith.ts";
import { type ScalarName, SCALARS } from "../../support/scalar.ts";
import type { Span } from "../../support/source.ts";

const doubledShape = (shape: readonly number[]): readonly number[] => [
  ...shape.slice(0, -1),
  2 * (shape.at(-1) ?? 1),
];

/** Makes doubles of tiles; what it makes may be left unused. */
export class Doubling {
  constructor(
    readonly func: Func,
    readonly out: Op[],
    readonly span: Span,
  ) {}

  value(name: TileOp, operands: readonly Value[], type: IrType, attrs: Attrs = {}): Value {
    const op = newUncheckedOp(this.func, name, operands, [type], this.span, attrs);
    this.out.push(op);
    return resultOf(op);
  }

  constant(value: number, element: Element, shape: readonly number[]): Value {
    return this.value("constant", [], { element, shape }, { value: BigInt(value) });
  }

  /** The double of pointers to every second element. */
  pointer(pointer: Value): Value | undefined {
    const { def } = pointer;
    switch (def?.name) {
      case "offset": {
        const { pointer: base, count } = operandsOf(def);
        return this.#sum(def, [this.same(base), this.stepped(count)]) ??
          this.#sum(def, [this.pointer(base), this.same(count)]);
      }
      case "convert": {
        // Every second element of one size is none of another.
        const { value } = operandsOf(def);
        const isAlike = isPointer(value.type.element) &&
          pointeeBytes(value) === pointeeBytes(pointer);
        return isAlike ? this.#converted(this.pointer(value), pointer.type.element) : undefined;
      }
      default:
        return this.#moved(def, (value) => this.pointer(value));
    }
  }

  /** The double of `2 * x + u`, for u that is one number along the axis. */
  stepped(count: Value): Value | undefined {
    const { def } = count;
    switch (def?.name) {
      case "mul": {
        const { left, right } = operandsOf(def);
        if (isNumber(right, 2n)) return this.#twice(left);
        return isNumber(left, 2n) ? this.#twice(right) : undefined;
      }
      case "shl":
        return isNumber(operandsOf(def).right, 1n) ? this.#twice(operandsOf(def).left) : undefined;
      case "add":
        return this.#eitherSide(def, (value) => this.stepped(value));
      case "convert": {
        const { value } = operandsOf(def);
        return keepsBits(value, count)
          ? this.#converted(this.stepped(value), count.type.element)
          : undefined;
      }
      default:
        return this.#moved(def, (value) => this.stepped(value));
    }
  }

  /**
   * `2 * x` and `2 * x + 1`, after x is converted to a type that has all its values: `2 * (long)x` may be no number of x's type.
   */
  #twice(x: Value, to: Element = x.type.element): Value | undefined {
    const { def, type: { element, shape } } = x;
    switch (def?.name) {
      case "range": {
        const lo = 2n * BigInt(def.attrs.lo);
        const type = { element, shape: doubledShape(shape) };
        return hasRange(element, lo, type.shape)
          ? this.#converted(this.value("range", [], type, { lo }), to)
          : undefined;
      }
      case "add": {
        // Launches keep sums of signed numbers in their type; others may wrap around.
        if (to !== element && !isSigned(element)) return undefined;
        const twice = (value: Value): Value | undefined => {
          const same = this.#converted(this.same(value), to);
          const two = same && this.constant(2, to, same.type.shape);
          return same && two && this.value("mul", [same, two], same.type);
        };
        const [a, b] = pairOf(def);
        return this.#sum(def, [this.#twice(a, to), twice(b)]) ??
          this.#sum(def, [twice(a), this.#twice(b, to)]);
      }
      case "convert": {
        const { value } = operandsOf(def);
        if (isWider(value, x)) return this.#twice(value, to);
        return to === element && keepsBits(value, x)
          ? this.#converted(this.#twice(value), to)
          : undefined;
      }
      default:
        return this.#moved(def, (value) => this.#twice(value, to));
    }
  }

  #converted(value: Value | undefined, element: Element): Value | undefined {
    if (value === undefined || sameElement(value.type.element, element)) return value;
    return this.value("convert", [value], { ...value.type, element });
  }

  #eitherSide(def: Op, of: (value: Value) => Value | undefined): Value | undefined {
    const [a, b] = pairOf(def);
    return this.#sum(def, [of(a), this.same(b)]) ?? this.#sum(def, [this.same(a), of(b)]);
  }

  #sum(def: Op, operands: readonly (Value | undefined)[]): Value | undefined {
    const [a, b] = operands;
    if (a === undefined || b === undefined) return undefined;
    return this.value(def.name, [a, b], a.type);
  }

  /** Through what changes shapes but not the last axis. */
  #moved(def: Op | undefined, of: (value: Value) => Value | undefined): Value | undefined {
    if (def?.name !== "broadcast" && def?.name !== "expand_dims") return undefined;
    const { value } = operandsOf<"broadcast" | "expand_dims">(def);
    const { type: { shape } } = resultOf(def);
    const isNew = def.name === "expand_dims" && def.attrs.axis === shape.length - 1;
    if (isNew || value.type.shape.at(-1) !== shape.at(-1)) return undefined;
    const moved = of(value);
    return moved &&
      this.value(def.name, [moved], { ...moved.type, shape: doubledShape(shape) }, def.attrs);
  }

  /** The double of what is one value along the last axis. */
  same(value: Value): Value | undefined {
    const { def, type } = value;
    const shape = doubledShape(type.shape);
    if (def === undefined || type.shape.length === 0) return undefined;
    if (def.name === "constant" || def.name === "splat") {
      return this.value(def.name, def.operands, { ...type, shape }, def.attrs);
    }
    if (def.name === "broadcast") {
      const { value: source } = operandsOf(def);
      if (source.type.shape.at(-1) === 1) {
        return this.value("broadcast", [source], { ...type, shape });
      }
    }
    if (hasTrait(def, "elementwise") && rowOf(def).effect === "pure" && def.operands.length > 0) {
      const operands = def.operands.map((one) => this.same(one));
      const known = operands.filter((one) => one !== undefined);
      if (known.length < operands.length) return undefined;
      return this.value(def.name, known, { ...type, shape }, def.attrs);
    }
    return this.#moved(def, (one) => this.same(one));
  }

  /** Each element twice. */
  repeated(value: Value): Value {
    return this.same(value) ?? this.joined(value, value);
  }

  /** Elements of two tiles in turn. */
  joined(first: Value, second: Value): Value {
    const { type: { element, shape } } = first;
    const pairs = [...shape, 2];
    const spread = (value: Value): Value => {
      const single = this.value("reshape", [value], { element, shape: [...shape, 1] });
      return this.value("broadcast", [single], { element, shape: pairs });
    };
    const all = first === second
      ? spread(first)
      : this.value("select", [this.#isSecond(pairs), spread(second), spread(first)], {
        element,
        shape: pairs,
      });
    return this.value("reshape", [all], { element, shape: doubledShape(shape) });
  }

  /** Of tiles that were joined the first or the second one. */
  half(joined: Value, half: 0 | 1, shape: readonly number[]): Value {
    const { element } = joined.type;
    const pairs = this.value("reshape", [joined], { element, shape: [...shape, 2] });
    const type = { element, shape: [...shape, 1] };
    const one = this.value("slice", [pairs], type, { axis: shape.length, first: half });
    return this.value("reshape", [one], { element, shape });
  }

  #isSecond(shape: readonly number[]): Value {
    const last = [...shape.slice(0, -1).map(() => 1), 2];
    const index = this.value("range", [], { element: "int32", shape: [2] }, { lo: 0n });
    const isSecond = this.value("ne", [index, this.constant(0, "int32", [2])], {
      element: "bool",
      shape: [2],
    });
    const row = this.value("reshape", [isSecond], { element: "bool", shape: last });
    return this.value("broadcast", [row], { element: "bool", shape });
  }
}

/** Whether all elements of a tile are a number. */
function isNumber(value: Value, number: bigint): boolean {
  const splat = madeBy(value, "splat");
  return constantOf(splat === undefined ? value : operandsOf(splat).value) === number;
}

const isInteger = (element: Element): element is ScalarName =>
  !isPointer(element) && element !== "bool" && SCALARS[element].class === "int";

const isSigned = (element: Element): boolean => isInteger(element) && SCALARS[element].signed;

/** Whether a type has all integers of another one. */
function isWider({ type: { element: from } }: Value, { type: { element: to } }: Value): boolean {
  return isInteger(from) && isInteger(to) && isLossless(from, to);
}

/** Whether all bits of integers stay, or more come. */
function keepsBits({ type: { element: from } }: Value, { type: { element: to } }: Value): boolean {
  return isInteger(from) && isInteger(to) && SCALARS[to].bits >= SCALARS[from].bits;
}

/** Whether a type has all numbers of a range. */
function hasRange(element: Element, lo: bigint, shape: readonly number[]): boolean {
  if (!isInteger(element)) return false;
  const [least, most] = intRange(element);
  return lo >= least && lo + BigInt(shape.at(-1) ?? 1) - 1n <= most;
}
