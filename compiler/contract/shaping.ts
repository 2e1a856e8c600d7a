/**
 * Integer parameters that decide whether accesses of 16 bytes are possible: where runs of elements begin, and how many follow
 * each other. `specialize(auto)` demands multiples of them (language.md 10.4).
 */
import type { Func, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { isMemoryOp } from "../ir/table.ts";
import { isPointer } from "../ir/types.ts";
import { walkOps } from "../ir/walk.ts";
import { SCALARS } from "../support/scalar.ts";
import { nameOf } from "./accesses.ts";
import { AffineAnalysis } from "./affine.ts";
import { paramsOf } from "./expr.ts";
import { type Atom, isOfTile, type Term } from "./poly.ts";
import { Reach } from "./reach.ts";

/** An access to so many times fewer elements than the largest one demands nothing: one number for each row of a matrix. */
const MINOR = 8;

export const isMinor = (elements: number, most: number): boolean => elements * MINOR < most;

export const elementsOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** What wide accesses are aligned to. */
const VECTOR_BYTES = 16n;

type Names = readonly string[];

/** The parameters' names, where `units` are 1. */
export type Shaping = (units: ReadonlySet<string>) => ReadonlySet<string>;

/** What one access demands, by two rules of which each is too strict for some programs. */
interface Demands {
  readonly elements: number;
  /** All that the address depends on, in loops also what decides how often they run, and the mask along contiguous axes. */
  readonly byDependence: (units: ReadonlySet<string>) => Names;
  /** Factors of the parts of the address, and the mask along axes that are contiguous or along which the address is the same. */
  readonly byParts: (units: ReadonlySet<string>) => Names;
}

/** Answers for one function, which is looked at when the first answer is wanted: what both rules demand. */
export function shapingOf(func: Func): Shaping {
  let known: readonly Demands[] | undefined;
  return (units) => {
    known ??= demandsOf(func);
    const names = known.flatMap(({ byDependence }) => byDependence(units));
    const parts = new Set(known.flatMap(({ byParts }) => byParts(units)));
    return new Set(names.filter((name) => parts.has(name) && !units.has(name)));
  };
}

/** Of each access that is not minor. */
function demandsOf(func: Func): readonly Demands[] {
  const reach = new Reach(func);
  const inProgram = new AffineAnalysis(func, "program");
  const withIndices = new AffineAnalysis(func, "strides");
  const integersOf = (value: Value): Names => reach.params(value).filter(isInteger).map(nameOf);
  const found: Demands[] = [];
  walkOps(func.body, (op) => {
    if (!isMemoryOp(op) || op.name === "tensor_load") return;
    const { pointer } = operandsOf(op);
    const mask = op.name === "atomic_cas" ? undefined : operandsOf(op).mask;
    const { element, shape } = pointer.type;
    // Buffers of the file are the compiler's own affair, not the caller's.
    if (!isPointer(element) || element.space === "constant") return;
    const along = (
      analysis: AffineAnalysis,
      units: ReadonlySet<string>,
      isStill: boolean,
    ): Names =>
      mask === undefined
        ? []
        : namesAlong(analysis, { pointer, mask, units, isStill }) ?? integersOf(mask);
    found.push({
      elements: elementsOf(shape),
      byDependence: (units) => [...integersOf(pointer), ...along(inProgram, units, false)],
      byParts: (units) => [
        ...startNames(inProgram, pointer, integersOf),
        ...along(withIndices, units, true),
      ],
    });
  });
  const most = found.reduce((so, { elements }) => Math.max(so, elements), 0);
  return found.filter(({ elements }) => !isMinor(elements, most));
}

/**
 * The parameters that decide where runs of elements begin: of each part of an address those that are factors by themselves. So
 * of `pid / H * stride` the stride is, not H.
 */
function startNames(
  analysis: AffineAnalysis,
  pointer: Value,
  integersOf: (value: Value) => Names,
): Names {
  const address = analysis.pointer(pointer);
  if (address === undefined) return integersOf(pointer);
  return [...address.bytes.values()].flatMap(({ coefficient, atoms }) => {
    if (coefficient % VECTOR_BYTES === 0n) return [];
    const factors = atoms.flatMap((atom) => atom.kind === "param" ? [atom.name] : []);
    if (factors.length > 0) return factors;
    return atoms.flatMap((atom) =>
      atom.kind === "opaque"
        ? paramsOf(atom.expr)
        : atom.kind === "scalar"
        ? integersOf(atom.value)
        : []
    );
  });
}

/**
 * The parameters in the parts of a mask along the axes on which addresses are contiguous: only these decide how many elements
 * one instruction may access. If `isStill`, also along the axes on which addresses do not move: where the mask does not either,
 * one access serves several elements. Undefined where that is not clear: no axis is contiguous, or the mask has more in it.
 */
function namesAlong(
  analysis: AffineAnalysis,
  { pointer, mask, units, isStill }: {
    readonly pointer: Value;
    readonly mask: Value;
    readonly units: ReadonlySet<string>;
    readonly isStill: boolean;
  },
): Names | undefined {
  const address = analysis.pointer(pointer);
  const constraints = analysis.mask(mask);
  if (address === undefined || !analysis.isWhole(mask)) return undefined;
  const terms = [...address.bytes.values()];
  const isAlone = ({ atoms }: Term): boolean =>
    atoms.filter((atom) => atom.kind !== "param" || !units.has(atom.name)).length === 1;
  const contiguous = atomsOf(terms.filter(isAlone)).flatMap((atom) =>
    atom.kind === "lane" ? [atom.axis] : []
  );
  if (contiguous.length === 0) return undefined;
  const moving = axesOf(atomsOf(terms));
  const isAlong = (axis: number): boolean =>
    contiguous.includes(axis) || (isStill && !moving.includes(axis));
  const atoms = constraints
    .map(({ poly }) => atomsOf([...poly.values()]))
    .filter((all) => axesOf(all).some(isAlong))
    .flat();
  if (atoms.some(({ kind }) => VAGUE.has(kind))) return undefined;
  return atoms.flatMap((atom) => atom.kind === "param" ? [atom.name] : []);
}

const axesOf = (atoms: readonly Atom[]): readonly number[] =>
  atoms.flatMap((atom) => isOfTile(atom) ? [atom.axis] : []);

/** Parts of masks of which it is not clear what decides them. */
const VAGUE: ReadonlySet<Atom["kind"]> = new Set(["opaque", "scalar", "run", "digit"]);

const atomsOf = (terms: readonly Term[]): readonly Atom[] => terms.flatMap(({ atoms }) => atoms);

function isInteger(param: Value): boolean {
  const { element } = param.type;
  return !isPointer(element) && element !== "bool" && SCALARS[element].class === "int";
}
