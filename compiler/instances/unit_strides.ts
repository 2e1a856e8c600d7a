/**
 * Which strides automatic specialisations assume to be 1 (language.md 10.4), where no axis of a tile is contiguous by the
 * text: kernels take the strides of all axes as arguments, and of most tensors the last one is 1.
 *
 * Operands of products of tiles are stored by columns as often as by rows, so two of them have a choice.
 */
import type { KernelParams } from "../contract/kernel_params.ts";
import type { StridedAccess } from "../contract/strides.ts";
import { distinctBy } from "../support/distinct.ts";

/** Strides that are 1 in one instance. */
export interface UnitStrides {
  readonly names: readonly string[];
  /** For each operand that has a choice `n`, if its last stride is 1, or else `t`; nothing where all are `n`. */
  readonly letters: string;
}

/** More operands than A and B, as those of attention, have no choice: there would be eight ways. */
const MOST_CHOICES = 2;

/** The ways, that of last strides first; `mayBeUnit` says which parameters may be 1. */
export function unitStrides(
  accesses: readonly StridedAccess[],
  { params }: KernelParams,
  mayBeUnit: (name: string) => boolean,
): readonly UnitStrides[] {
  const order = params.map(({ name }) => name);
  const tensors = accesses.map(({ param, strides, others, isOperand }) => {
    // Kernels take strides in the order of axes: another axis may be the last one.
    const isLast = (name: string): boolean =>
      others.every((other) => order.indexOf(other) < order.indexOf(name));
    const plain = order.filter((name) => strides.includes(name) && mayBeUnit(name)).toReversed();
    const last = plain.slice(0, 1).every(isLast) ? plain : [];
    return { key: [param, ...last].join(), at: order.indexOf(param), strides: last, isOperand };
  });
  const choosing = distinctBy(
    tensors.filter(({ strides, isOperand }) => isOperand && strides.length === 2),
    ({ key }) => key,
  ).toSorted((a, b) => a.at - b.at).map(({ key }) => key);
  const choosers = choosing.length > MOST_CHOICES ? [] : choosing;
  const ways = choosers.reduce((so, _) => so.flatMap((way) => [`${way}n`, `${way}t`]), [""]);
  const found = ways.flatMap((way): UnitStrides[] => {
    const names = new Set(
      tensors.flatMap(({ key, strides: [last, other] }) =>
        (way[choosers.indexOf(key)] === "t" ? other : last) ?? []
      ),
    );
    // Strides that tensors share in another order: no tensor has two axes of stride 1.
    const isPossible = tensors.every(({ strides }) =>
      strides.filter((name) => names.has(name)).length < 2
    );
    const letters = way.includes("t") ? way : "";
    return names.size > 0 && isPossible
      ? [{ names: order.filter((name) => names.has(name)), letters }]
      : [];
  });
  return distinctBy(found, ({ names }) => names.join());
}
