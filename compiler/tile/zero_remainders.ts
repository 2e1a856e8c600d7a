/**
 * Remainders of multiples of the divisor are 0, as `k % 64` is in a loop over k in steps of 64. An address with such a
 * remainder in it has a term that nothing aligns, so it is found neither in rows of vectors nor in boxes of a tensor.
 */
import { constantOf, operandsOf, resultOf } from "../ir/op.ts";
import { everywhere, powerOfTwoIn } from "./axis_info.ts";
import type { Analyses, Pass } from "./pass.ts";
import { sweep } from "./rewrite.ts";

export const zeroRemainders: Pass<Analyses> = {
  name: "zero-remainders",
  doc: "remainders of multiples of the divisor are 0",
  run: (func, { axisInfo }) =>
    sweep(func, (op, rw) => {
      if (op.name !== "rem") return undefined;
      const { left, right } = operandsOf(op);
      const divisor = constantOf(right);
      // Multiples are known of powers of two.
      if (
        typeof divisor !== "bigint" || divisor <= 0n || BigInt(powerOfTwoIn(divisor)) !== divisor
      ) {
        return undefined;
      }
      const known = axisInfo()(left);
      const isZero = known.divisibility.some((_, axis) =>
        BigInt(everywhere(known, axis)) >= divisor
      );
      return isZero ? [rw.constant(0n, resultOf(op).type, op.span)] : undefined;
    }),
};
