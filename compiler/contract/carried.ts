/** What loops carry from one iteration to the next, and by how much an operation in a loop changes it. */
import { loopOf } from "../ir/flow.ts";
import type { Func, OpOf, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { definedIn, walkOps } from "../ir/walk.ts";
import { must } from "../support/bug.ts";
import type { Poly } from "./poly.ts";

/** A parameter of a region of a loop. */
export interface Carried {
  readonly loop: OpOf<"while">;
  /** Of the loop, from 0 in print order. */
  readonly number: number;
  /** What the loop defines. */
  readonly inside: ReadonlySet<Value>;
  /** What it begins as in the test; in the body what the test passes on. */
  readonly from: Value;
  /** What it is in the test of the next iteration. */
  readonly repeated: Value | undefined;
}

/** The parameters of the regions of all loops. */
export function carriedValues(func: Func): ReadonlyMap<Value, Carried> {
  const found = new Map<Value, Carried>();
  let number = 0;
  walkOps(func.body, (op) => {
    if (op.name !== "while") return;
    const { test, body, initial, repeated, leaving } = loopOf(op);
    const loop = { loop: op, number: number++, inside: definedIn(test, body) };
    test.params.forEach((param, index) =>
      found.set(param, {
        ...loop,
        from: must(initial[index], "initial value"),
        repeated: must(repeated[index], "repeated value"),
      })
    );
    body.params.forEach((param, index) =>
      found.set(param, {
        ...loop,
        from: must(leaving[index], "value that leaves the test"),
        repeated: undefined,
      })
    );
  });
  return found;
}

/** `from` plus `factor * by`. */
export interface Change {
  readonly from: Value;
  readonly by: Value;
  /** Bytes of an element where it is an offset of a pointer. */
  readonly factor: bigint;
  /** The whole of `by` is looked at. */
  readonly isObserved: boolean;
}

/** How an operation of a loop changes a value that the loop has made. */
export function changeBy({ def }: Value, inside: ReadonlySet<Value>): Change | undefined {
  switch (def?.name) {
    case "offset": {
      const { pointer: from, count: by } = operandsOf(def);
      const { element } = from.type;
      if (!isPointer(element)) return undefined;
      return { from, by, factor: BigInt(bytesOf(element.pointee)), isObserved: true };
    }
    case "add": {
      const { left, right } = operandsOf(def);
      const [from, by] = inside.has(left) ? [left, right] : [right, left];
      return { from, by, factor: 1n, isObserved: false };
    }
    case "sub": {
      const { left: from, right: by } = operandsOf(def);
      return { from, by, factor: -1n, isObserved: false };
    }
    default:
      return undefined;
  }
}

/** Whether a value is the same in all iterations of a loop. */
export function isInvariant(
  poly: Poly,
  loop: OpOf<"while">,
  inside: ReadonlySet<Value>,
): boolean {
  return [...poly.values()].every(({ atoms }) =>
    atoms.every((atom) =>
      atom.kind === "digit"
        ? isInvariant(atom.dividend, loop, inside)
        : atom.kind === "scalar" || atom.kind === "run"
        ? !inside.has(atom.value)
        : atom.kind !== "iteration" || atom.loop !== loop
    )
  );
}
