/**
 * Values of the next iteration, computed in the iteration itself: what enters a loop, as `e0`, and what each iteration makes
 * for the next one, as `e1`, become one value at the start of the body, where that can be seen:
 *
 *     k, k - 32                   where the loop carries a variable from k to k - 32: that variable
 *     f(x, a), f(y, b)            f of x and y joined, and a and b joined
 *     p, q                        where the loop carries q, which begins one step behind p: a variable one step before it
 *
 * Masks are joined part by part. A part that the loop's test implies holds wherever there is a next iteration.
 */
import { type Loop, loopOf } from "../ir/flow.ts";
import {
  type Func,
  isOp,
  newUncheckedOp,
  newValue,
  type Op,
  type OpOf,
  type Value,
} from "../ir/func.ts";
import { constantOf, madeBy, operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait, rowOf } from "../ir/table.ts";
import { type IrType, scalarType } from "../ir/types.ts";
import { definedIn } from "../ir/walk.ts";
import { kindOf } from "./cse.ts";

/** A loop's values joined; what that takes is put into the loop by {@linkcode JoinedValues.insert}. */
export class JoinedValues {
  readonly #func: Func;
  readonly #op: OpOf<"while">;
  readonly #loop: Loop;
  readonly #inLoop: ReadonlySet<Value>;
  readonly #known = new Map<string, Value | undefined>();
  /** At the start of the body, in order. */
  readonly #made: Op[] = [];
  readonly #carried: Carried[] = [];
  /** Operations that are only compared. */
  readonly #compared = new Set<Op>();
  #later: Value | undefined;

  constructor(func: Func, op: OpOf<"while">) {
    this.#func = func;
    this.#op = op;
    this.#loop = loopOf(op);
    this.#inLoop = definedIn(...op.regions);
  }

  /** One value for both; undefined where none is seen. */
  join(before: Value, next: Value): Value | undefined {
    const key = `${before.id} ${next.id}`;
    if (!this.#known.has(key)) this.#known.set(key, this.#join(before, next));
    return this.#known.get(key);
  }

  /** The same for masks, of which an absent one lets all lanes through. */
  joinMasks(
    before: Value | undefined,
    next: Value | undefined,
    span: Op["span"],
  ): { readonly mask: Value | undefined } | undefined {
    const left = partsOf(before);
    const joined: Value[] = [];
    for (const part of partsOf(next)) {
      if (this.#isImplied(part)) continue;
      const at = left.findIndex((one) => this.join(one, part) !== undefined);
      const found = at < 0 ? undefined : this.join(left[at] ?? part, part);
      if (found === undefined) return undefined;
      left.splice(at, 1);
      joined.push(found);
    }
    const all = (parts: readonly Value[]): Value | undefined =>
      parts.reduce<Value | undefined>(
        (sum, part) => sum === undefined ? part : this.#make("and", [sum, part], part.type, span),
        undefined,
      );
    const first = all(left);
    if (first !== undefined) {
      const later = this.#make("splat", [this.#isLater(span)], first.type, span);
      joined.push(this.#make("or", [first, later], first.type, span));
    }
    return { mask: all(joined) };
  }

  /** Puts into the loop what its joined values take. */
  insert(): void {
    const { test, body, condition, end } = this.#loop;
    for (const { initial, entering, inBody, next } of this.#carried) {
      this.#op.operands.push(initial);
      test.params.push(entering);
      condition.operands.push(entering);
      body.params.push(inBody);
      end.operands.push(next);
      const result = newValue(this.#func, initial.type);
      result.def = this.#op;
      this.#op.results.push(result);
    }
    body.ops.unshift(...this.#made);
  }

  /** Operations before the loop that {@linkcode insert} needs. */
  readonly before: Op[] = [];

  #join(before: Value, next: Value): Value | undefined {
    if (before === next && !this.#inLoop.has(next)) return before;
    return this.#variable(before, next) ?? this.#stepBehind(before, next) ??
      this.#sameOperation(before.def, next.def) ??
      this.#sameOperation(this.#expandedFirst(before), this.#expandedFirst(next));
  }

  /** The variable that the loop carries from one to the other. */
  #variable(before: Value, next: Value): Value | undefined {
    const { test, body, initial, repeated, leaving } = this.#loop;
    const at = initial.findIndex((value, index) => value === before && repeated[index] === next);
    const param = at < 0 ? undefined : test.params[at];
    return param && body.params[leaving.indexOf(param)];
  }

  /** Where the loop carries `next`, which moves by a constant step and begins one step after `before`. */
  #stepBehind(before: Value, next: Value): Value | undefined {
    const { test, body, initial, repeated, leaving } = this.#loop;
    const entering = leaving[body.params.indexOf(next)];
    const at = entering === undefined ? -1 : test.params.indexOf(entering);
    const [start, moved] = [initial[at], repeated[at]];
    const step = moved?.def;
    if (start === undefined || !isStep(step)) return undefined;
    const [from, by] = step.operands;
    const isBehind = from === next && by !== undefined && !this.#inLoop.has(by) &&
      isMoved(before, start, step.name, by);
    if (!isBehind) return undefined;
    const inBody = newValue(this.#func, before.type);
    const stepped = this.#make(step.name, [inBody, by], before.type, step.span);
    this.#carry(before, inBody, stepped);
    return inBody;
  }

  /** The same operation on joined operands. */
  #sameOperation(a: Op | undefined, b: Op | undefined): Value | undefined {
    if (a === undefined || b === undefined || rowOf(a).effect !== "pure") return undefined;
    const isAlike = kindOf(a) === kindOf(b) && a.operands.length === b.operands.length;
    if (!isAlike) return undefined;
    const operands = this.#joinAll(a.operands, b.operands) ??
      (rowOf(a).commutes === true
        ? this.#joinAll(a.operands, [...b.operands].reverse())
        : undefined);
    if (operands === undefined) return undefined;
    const isBefore = operands.every((value, index) => value === a.operands[index]);
    return isBefore && !this.#compared.has(a) && !this.#inLoop.has(resultOf(a))
      ? resultOf(a)
      : this.#make(b.name, operands, resultOf(b).type, b.span, b.attrs);
  }

  /** The axes that a result gets are those of its operands instead: an operation to compare, which is nowhere. */
  #expandedFirst({ def, type }: Value): Op | undefined {
    if (!isOp(def, "expand_dims")) return def;
    const inner = operandsOf(def).value.def;
    if (inner === undefined) return def;
    const like = ({ type: { element } }: Value): IrType => ({ element, shape: type.shape });
    const compared = (
      name: Op["name"],
      operands: readonly Value[],
      attrs: Op["attrs"],
      of: IrType = type,
    ): Op => {
      const op = newUncheckedOp(this.#func, name, operands, [of], def.span, attrs);
      this.#compared.add(op);
      return op;
    };
    if (inner.name === "splat" || inner.name === "constant") {
      return compared(inner.name, inner.operands, inner.attrs);
    }
    if (!hasTrait(inner, "elementwise")) return def;
    const expanded = inner.operands.map((value) =>
      resultOf(compared(def.name, [value], def.attrs, like(value)))
    );
    return compared(inner.name, expanded, inner.attrs);
  }

  #joinAll(before: readonly Value[], next: readonly Value[]): Value[] | undefined {
    const joined = next.flatMap((value, index) => {
      const one = before[index];
      const found = one && this.join(one, value);
      return found === undefined ? [] : [found];
    });
    return joined.length === next.length ? joined : undefined;
  }

  /** Whether a mask of an iteration holds if another iteration follows. */
  #isImplied(mask: Value): boolean {
    if (constantOf(mask) === 1n) return true;
    const scalar = madeBy(mask, "splat");
    const compared = scalar === undefined ? mask.def : operandsOf(scalar).value.def;
    const { continues } = this.#loop;
    const test = continues.def;
    if (compared === undefined || test === undefined) return false;
    const isSame = kindOf(compared) === kindOf(test) &&
      test.operands.every((value, at) => this.#fromIteration(value) === compared.operands[at]);
    return isSame || this.#isAboveStep(compared, test);
  }

  /** `k > step` before `k -= step`, where the test is `k > 0`: k was positive, so that nothing wraps. */
  #isAboveStep(compared: Op, test: Op): boolean {
    if (compared.name !== "gt" || test.name !== "gt") return false;
    const [variable, zero] = test.operands;
    const next = variable && madeBy(this.#fromIteration(variable), "sub");
    const [from, step] = next?.operands ?? [];
    const { body, leaving } = this.#loop;
    const isOfVariable = variable !== undefined && from === body.params[leaving.indexOf(variable)];
    const by = constantOf(step);
    return isOfVariable && constantOf(zero) === 0n && typeof by === "bigint" && by > 0n &&
      compared.operands[0] === from && constantOf(compared.operands[1]) === by;
  }

  /** What a value of the test is made of in the iteration before. */
  #fromIteration(value: Value): Value {
    const { test, repeated } = this.#loop;
    return repeated[test.params.indexOf(value)] ?? value;
  }

  /** Whether this is not the first iteration. */
  #isLater(span: Op["span"]): Value {
    if (this.#later !== undefined) return this.#later;
    const constant = (value: bigint): Op =>
      newUncheckedOp(this.#func, "constant", [], [scalarType("bool")], span, { value });
    const [no, yes] = [constant(0n), constant(1n)];
    this.before.push(no);
    this.#made.push(yes);
    this.#later = newValue(this.#func, scalarType("bool"));
    this.#carry(resultOf(no), this.#later, resultOf(yes));
    return this.#later;
  }

  #carry(initial: Value, inBody: Value, next: Value): void {
    const entering = newValue(this.#func, initial.type);
    this.#carried.push({ initial, entering, inBody, next });
  }

  #make(
    name: Op["name"],
    operands: readonly Value[],
    type: IrType,
    span: Op["span"],
    attrs: Op["attrs"] = {},
  ): Value {
    const op = newUncheckedOp(this.#func, name, operands, [type], span, attrs);
    this.#made.push(op);
    return resultOf(op);
  }
}

/** Another value that the loop carries. */
interface Carried {
  readonly initial: Value;
  readonly entering: Value;
  readonly inBody: Value;
  readonly next: Value;
}

/** Whether an operation moves its first operand by its second one. */
const isStep = (op: Op | undefined): op is Op =>
  op?.name === "offset" || op?.name === "add" || op?.name === "sub";

/** Whether a value is another one moved once by a step of this kind, which may be added to what the other one is made of. */
function isMoved(from: Value, to: Value, name: Op["name"], by: Value): boolean {
  const [a, b] = [from.def, to.def];
  if (b?.name === name && b.operands[0] === from && isSameStep(b.operands[1], by)) return true;
  if (a === undefined || b === undefined || kindOf(a) !== kindOf(b)) return false;
  const [base, ...rest] = a.operands;
  const moved = b.operands[0];
  const isThrough = name === "offset" && (a.name === "offset" || a.name === "splat");
  return isThrough && base !== undefined && moved !== undefined &&
    rest.every((value, index) => value === b.operands[index + 1]) && isMoved(base, moved, name, by);
}

/** Whether two steps are one number, in a tile or alone. */
function isSameStep(a: Value | undefined, b: Value): boolean {
  const [x, y] = [a, b].map((value) => {
    const splat = madeBy(value, "splat");
    return splat === undefined ? value : operandsOf(splat).value;
  });
  const number = constantOf(x);
  return x === y || (number !== undefined && number === constantOf(y));
}

/** What a mask is the conjunction of. */
function partsOf(mask: Value | undefined): Value[] {
  if (mask === undefined) return [];
  const both = madeBy(mask, "and");
  if (both === undefined) return [mask];
  const { left, right } = operandsOf(both);
  return [...partsOf(left), ...partsOf(right)];
}
