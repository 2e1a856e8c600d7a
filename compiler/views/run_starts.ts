/**
 * Axes of views whose coordinates a table names, in runs of elements that follow each other:
 *
 *     rows = *(Rows + i / 64) * 64 + i % 64     the axis's origin is the atom `run` of contract/affine.ts
 *
 * Such a tile is several boxes, one for each run, and the coordinate of each is the tile's element where its run
 * begins. The program computes it as it computed the tile: each operation again, right after itself, for that
 * element alone. So a table is read when it was read before.
 */
import type { Poly } from "../contract/poly.ts";
import { type Func, newOp, type Op, type Region, type Value } from "../ir/func.ts";
import { operandsOf, resultOf } from "../ir/op.ts";
import { hasTrait } from "../ir/table.ts";
import { must } from "../support/bug.ts";
import { noView } from "./no_view.ts";
import type { ViewAxis } from "./view.ts";

/** The length of the runs of an axis of a tile, from its origin. */
export function runsOf(origin: Poly, tile: number | undefined): Pick<ViewAxis, "run"> {
  const terms = [...origin.values()].filter(({ atoms }) =>
    atoms.some(({ kind }) => kind === "run")
  );
  const [term, ...others] = terms;
  if (term === undefined) return {};
  const [atom, ...factors] = term.atoms;
  if (atom?.kind !== "run" || others.length + factors.length > 0 || term.coefficient !== 1n) {
    return noView("its coordinates are several tables together");
  }
  if (atom.axis !== tile) noView("a table along one axis of the tile moves another one");
  if (!hasElements(atom.value)) noView("the program cannot compute where its runs begin");
  return { run: atom.length };
}

/** Whether each element of a tile can be computed by itself. */
function hasElements(value: Value): boolean {
  const { def, type: { shape } } = value;
  if (shape.length === 0) return true;
  if (def === undefined || shape.length > 1) return false;
  switch (def.name) {
    case "range":
    case "constant":
      return true;
    case "load":
      return def.attrs.modifiers.length === 0 && def.operands.every(hasElements);
    default:
      return (def.name === "splat" || hasTrait(def, "elementwise")) &&
        def.operands.every(hasElements);
  }
}

/** Where an operation is. */
interface Place {
  readonly region: Region;
}

/** Makes elements of tiles of one function. */
export class Elements {
  readonly #func: Func;
  readonly #places: ReadonlyMap<Op, Place>;
  readonly #made = new Map<Value, Map<number, Value>>();

  constructor(func: Func, places: ReadonlyMap<Op, Place>) {
    this.#func = func;
    this.#places = places;
  }

  /** The element of a tile at an index. */
  at(value: Value, index: number): Value {
    const { def, type: { element, shape } } = value;
    if (shape.length === 0) return value;
    const known = this.#made.get(value) ?? new Map<number, Value>();
    this.#made.set(value, known);
    const before = known.get(index);
    if (before !== undefined) return before;
    const op = must(def, "operation of a tile");
    if (op.name === "splat") return operandsOf(op).value;
    const operands = op.operands.map((operand) => this.at(operand, index));
    const type = { element, shape: [] };
    const made = op.name === "range"
      ? newOp(this.#func, "constant", [], [type], op.span, {
        value: BigInt(op.attrs.lo) + BigInt(index),
      })
      : newOp(this.#func, op.name, operands, [type], op.span, op.attrs);
    const { region } = must(this.#places.get(op), "region of an operation");
    region.ops.splice(region.ops.indexOf(op) + 1, 0, made);
    known.set(index, resultOf(made));
    return resultOf(made);
  }
}
