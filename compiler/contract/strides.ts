/**
 * Which parameters are the strides of tiles in memory by themselves: what an instance may assume to be 1, so that an axis is
 * contiguous (language.md 10.4). What is not clear has no such strides: these say where code is made, not what is true.
 */
import { carriedValues } from "./carried.ts";
import type { Func, Op, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { hasTrait, isMemoryOp, rowOf } from "../ir/table.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { nameOf } from "./accesses.ts";
import { AffineAnalysis, type AffinePointer } from "./affine.ts";
import { paramsOf } from "./expr.ts";
import { type Atom, isOfTile, type Poly } from "./poly.ts";
import { elementsOf, isMinor } from "./shaping.ts";

/** An access to a tile that has a parameter or more in the step of each axis, and in those of programs and loops. */
export interface StridedAccess {
  /** The pointer. */
  readonly param: string;
  /** Parameters that are the stride of an axis of the tile by themselves. */
  readonly strides: readonly string[];
  /** Those in the strides of its other axes, as in `2 * s`, or as of rows that a list names. */
  readonly others: readonly string[];
  /** Whether a product of tiles takes what is loaded. */
  readonly isOperand: boolean;
}

type TileStrides = Pick<StridedAccess, "strides" | "others">;

export interface Strides {
  readonly accesses: readonly StridedAccess[];
  /** Whether there are accesses to tiles of other kinds: an axis may be contiguous by the text. */
  readonly hasOthers: boolean;
}

/** The strides of all accesses that are not minor. */
export function stridesOf(func: Func): Strides {
  const analysis = new AffineAnalysis(func, "strides");
  const operands = operandLoads(func);
  const compared = comparedParams(func, analysis);
  const found: { readonly elements: number; readonly access: StridedAccess | undefined }[] = [];
  walkOps(func.body, (op) => {
    if (!isMemoryOp(op) || op.name === "tensor_load") return;
    const { pointer } = operandsOf(op);
    const { element, shape } = pointer.type;
    const elements = elementsOf(shape);
    if (!isPointer(element) || element.space === "constant" || elements === 1) return;
    const address = analysis.pointer(pointer);
    const strides = address && tileStrides(address, bytesOf(element.pointee));
    found.push({
      elements,
      access: address && strides && {
        param: nameOf(address.param),
        strides: strides.strides.filter((name) => !compared.has(name)),
        others: strides.others,
        isOperand: operands.has(op),
      },
    });
  });
  const most = found.reduce((so, { elements }) => Math.max(so, elements), 0);
  const major = found.filter(({ elements }) => !isMinor(elements, most));
  return {
    accesses: major.flatMap(({ access }) => access ?? []),
    hasOthers: major.some(({ access }) => access === undefined),
  };
}

/** Undefined where something steps by a constant: that axis is contiguous, or the tensor has its shape from the text. */
function tileStrides({ bytes }: AffinePointer, size: number): TileStrides | undefined {
  const ofAxes = new Map<number, string | undefined>();
  const others: string[] = [];
  let isComputed = false;
  for (const { coefficient, atoms } of bytes.values()) {
    const lanes = atoms.flatMap((atom) => isOfTile(atom) ? [atom] : []);
    const factors = atoms.filter((atom) => !isOfTile(atom));
    const isOfText = factors.every(({ kind }) => kind === "pid" || kind === "iteration") ||
      (lanes.length === 0 && factors.every(({ kind }) => PROGRAM.has(kind)));
    if (atoms.length > 0 && isOfText) return undefined;
    const [factor] = factors;
    const [lane] = lanes;
    if (lane === undefined) continue;
    const isAlone = factor?.kind === "param" && atoms.length === 2;
    if (isAlone && lane.kind === "lane" && coefficient === BigInt(size) && !ofAxes.has(lane.axis)) {
      ofAxes.set(lane.axis, factor.name);
      continue;
    }
    others.push(...factors.flatMap((one) => one.kind === "param" ? [one.name] : []));
    isComputed ||= factors.some(({ kind }) => kind !== "param");
    for (const { axis } of lanes) ofAxes.set(axis, undefined);
  }
  const names = isComputed ? [] : [...ofAxes.values()].flatMap((name) => name ?? []);
  return { strides: [...new Set(names)], others };
}

/** What differs from program to program, or in one program from one iteration to another. */
const PROGRAM: ReadonlySet<Atom["kind"]> = new Set(["pid", "iteration", "scalar"]);

/** Parameters that something is compared with: how many there are of something, not how far apart they are. */
function comparedParams(func: Func, analysis: AffineAnalysis): ReadonlySet<string> {
  const found = new Set<string>();
  walkOps(func.body, (op) => {
    if (rowOf(op).result !== "bool") return;
    for (const operand of op.operands) {
      for (const name of namesIn(analysis.int(operand)?.poly)) found.add(name);
    }
  });
  return found;
}

function namesIn(poly: Poly | undefined): readonly string[] {
  const atoms = [...poly?.values() ?? []].flatMap((term) => term.atoms);
  return atoms.flatMap((atom) =>
    atom.kind === "param" ? [atom.name] : atom.kind === "opaque" ? paramsOf(atom.expr) : []
  );
}

/** Loads whose elements products of tiles take, converted or combined with others. */
function operandLoads(func: Func): ReadonlySet<Op> {
  const carried = carriedValues(func);
  const loads = new Set<Op>();
  const values = new Set<Value>();
  walkOps(func.body, (op) => {
    if (op.name !== "dot") return;
    const { a, b } = operandsOf(op);
    values.add(a).add(b);
  });
  // What is added to a set while it is gone over comes too.
  for (const value of values) {
    const { def } = value;
    const entered = carried.get(value);
    if (entered !== undefined) {
      values.add(entered.from);
      if (entered.repeated !== undefined) values.add(entered.repeated);
    } else if (def?.name === "load") loads.add(def);
    else if (def !== undefined && (hasTrait(def, "elementwise") || hasTrait(def, "reshapes"))) {
      for (const operand of def.operands) values.add(operand);
    }
  }
  return loads;
}
