/** The largest values of what programs compute, as numbers of the launch: few launches have the most that they may have. */
import { varies } from "../contract/affine_rules.ts";
import { apply, constant } from "../contract/expr.ts";
import { type Atom, constantOf, type Poly, polyExpr, scalePoly } from "../contract/poly.ts";
import type { ContractExpr } from "../contract/types.ts";
import type { OpOf, Value } from "../ir/func.ts";
import { isOp } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import type { Bounds } from "./bounds.ts";

/** Quotients of quotients that are looked into. */
const MOST_DEPTH = 8;

/**
 * The largest value of a number that is made of program ids, iterations, what is positive, and quotients of these: by the
 * grid of the launch and by where its loops end.
 */
export function lastOfLaunch(poly: Poly, bounds: Bounds, depth = 0): ContractExpr | undefined {
  const parts: ContractExpr[] = [];
  for (const { coefficient, atoms } of poly.values()) {
    if (coefficient < 0n) return undefined;
    let part: ContractExpr = constant(coefficient);
    for (const atom of atoms) {
      const factor = lastOfAtom(atom, bounds, depth);
      if (factor === undefined) return undefined;
      part = apply("*", part, factor);
    }
    parts.push(part);
  }
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => apply("+", sum, part));
}

function lastOfAtom(atom: Atom, bounds: Bounds, depth: number): ContractExpr | undefined {
  switch (atom.kind) {
    case "param":
      return { op: "param", name: atom.name };
    case "pid":
      return apply("-", { op: "grid", axis: atom.axis }, constant(1));
    case "iteration":
      return lastIteration(atom.loop, bounds);
    case "scalar":
      return lastQuotient(atom.value, bounds, depth);
    default:
      return undefined;
  }
}

/** The last iteration of a loop that has as many for all programs of a launch. */
function lastIteration(loop: OpOf<"while">, bounds: Bounds): ContractExpr | undefined {
  const test = bounds.testOf(loop);
  const by = test && constantOf(test.by);
  if (test === undefined || by === undefined) return undefined;
  const first = new Map(
    [...test.poly].filter(([, { atoms }]) =>
      !atoms.some((atom) => atom.kind === "iteration" && atom.loop === loop)
    ),
  );
  if (varies(first)) return undefined;
  const end = polyExpr(scalePoly(first, -1n));
  return by === 1n ? end : apply("/", end, constant(by));
}

/** Of a quotient by a positive number of the launch, as the number of a batch is one. */
function lastQuotient(
  { def }: Value,
  bounds: Bounds,
  depth: number,
): ContractExpr | undefined {
  if (!isOp(def, "div") || depth >= MOST_DEPTH) return undefined;
  const { left, right } = operandsOf(def);
  const [dividend, divisor] = [bounds.int(left), bounds.int(right)];
  if (dividend === undefined || divisor === undefined || varies(divisor)) return undefined;
  if (bounds.poly(divisor).min < 1n || bounds.poly(dividend).min < 0n) return undefined;
  const last = lastOfLaunch(dividend, bounds, depth + 1);
  return last && apply("/", last, polyExpr(divisor));
}
