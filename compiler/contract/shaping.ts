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
import { type Atom, isOfTile, type Poly, type Term } from "./poly.ts";
import { factorsFirst, Reach } from "./reach.ts";

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
  const inProgram = partsOfMasks(new AffineAnalysis(func, "program"));
  const withIndices = partsOfMasks(new AffineAnalysis(func, "strides"));
  const factors = factorsOf(func);
  const namesOf = (params: readonly Value[]): Names => params.filter(isInteger).map(nameOf);
  const integersOf = (value: Value): Names => namesOf(reach.params(value));
  const found: Demands[] = [];
  walkOps(func.body, (op) => {
    if (!isMemoryOp(op) || op.name === "tensor_load") return;
    const { pointer } = operandsOf(op);
    const mask = op.name === "atomic_cas" ? undefined : operandsOf(op).mask;
    const { element, shape } = pointer.type;
    // Buffers of the file are the compiler's own affair, not the caller's.
    if (!isPointer(element) || element.space === "constant") return;
    const ofPointer = integersOf(pointer);
    const ofMask = mask === undefined ? [] : integersOf(mask);
    const program = inProgram(pointer, mask);
    const indices = withIndices(pointer, mask);
    found.push({
      elements: elementsOf(shape),
      byDependence: (units) => {
        const along = maskAlong(program, { units, isStill: false });
        return [...ofPointer, ...along === undefined ? ofMask : clearNames(along) ?? ofMask];
      },
      byParts: (units) => {
        const along = maskAlong(indices, { units, isStill: true });
        const address = program.address ?? indices.address;
        return [
          ...address === undefined
            ? namesOf(factors(units).params(pointer))
            : partNames(address, units, integersOf),
          ...along === undefined ? ofMask : partNames(along, units, integersOf),
        ];
      },
    });
  });
  const most = found.reduce((so, { elements }) => Math.max(so, elements), 0);
  return found.filter(({ elements }) => !isMinor(elements, most));
}

/** The factors that values are computed from, for each set of strides that are 1, of which there are few. */
function factorsOf(func: Func): (units: ReadonlySet<string>) => Reach {
  const found = new Map<string, Reach>();
  return (units) => {
    const key = [...units].join();
    const reach = found.get(key) ?? new Reach(func, factorsFirst(func, units));
    found.set(key, reach);
    return reach;
  };
}

/**
 * The parameters that decide whether the parts of a sum, bytes or elements, are what wide accesses are aligned to: those that are
 * factors by themselves. So of `pid / H * stride` the stride is, not H. Where one of several factors is demanded anyway, the part
 * demands no other: of `((h * W + w) * C + c)` C is enough, as W stands only beside it.
 */
function partNames(
  terms: readonly Term[],
  units: ReadonlySet<string>,
  integersOf: (value: Value) => Names,
): Names {
  const open = terms.filter(({ coefficient }) => coefficient % VECTOR_BYTES !== 0n);
  const factorsOf = ({ atoms }: Term): Names =>
    atoms.flatMap((atom) => atom.kind === "param" && !units.has(atom.name) ? [atom.name] : []);
  const alone = new Set(
    open.flatMap((term) => {
      const [factor, ...others] = factorsOf(term);
      return factor !== undefined && others.length === 0 ? [factor] : [];
    }),
  );
  return open.flatMap((term) => {
    const factors = factorsOf(term);
    const demanded = factors.filter((name) => alone.has(name));
    if (demanded.length > 0) return demanded;
    if (term.atoms.some(({ kind }) => kind === "param")) return factors;
    return term.atoms.flatMap((atom) =>
      atom.kind === "opaque"
        ? paramsOf(atom.expr)
        : atom.kind === "scalar"
        ? integersOf(atom.value)
        : []
    );
  });
}

/** Where one term is of something else too, it is not clear what decides it. */
function clearNames(terms: readonly Term[]): Names | undefined {
  const atoms = atomsOf(terms);
  return atoms.some(({ kind }) => kind === "opaque" || kind === "scalar")
    ? undefined
    : atoms.flatMap((atom) => atom.kind === "param" ? [atom.name] : []);
}

/** What is known of an access before strides are assumed to be 1. */
interface MaskedAddress {
  /** Undefined if it is not known. */
  readonly address: readonly Term[] | undefined;
  /** Axes along which the address moves. */
  readonly moving: readonly number[];
  /** Undefined if there is more in the mask. */
  readonly mask: readonly MaskPart[] | undefined;
}

/** A comparison of a mask. */
interface MaskPart {
  readonly terms: readonly Term[];
  readonly axes: readonly number[];
  /** Whether it is the same within runs of an axis, which are no parameter's. */
  readonly isInRuns: boolean;
}

/** Answers for the accesses of one function, which share masks. */
function partsOfMasks(
  analysis: AffineAnalysis,
): (pointer: Value, mask: Value | undefined) => MaskedAddress {
  const masks = new Map<Value, readonly MaskPart[] | undefined>();
  const partsOf = (mask: Value): readonly MaskPart[] | undefined => {
    if (!masks.has(mask)) {
      masks.set(mask, analysis.isWhole(mask) ? analysis.mask(mask).map(maskPart) : undefined);
    }
    return masks.get(mask);
  };
  return (pointer, mask) => {
    const bytes = analysis.pointer(pointer)?.bytes;
    const address = bytes && termsOf(bytes);
    const parts = mask === undefined ? [] : partsOf(mask);
    return { address, moving: axesOf(atomsOf(address ?? [])), mask: parts };
  };
}

function maskPart({ poly }: { readonly poly: Poly }): MaskPart {
  const terms = termsOf(poly);
  const atoms = atomsOf(terms);
  const isInRuns = atoms.some(({ kind }) => kind === "run" || kind === "digit");
  return { terms, axes: axesOf(atoms), isInRuns };
}

/**
 * The parts of a mask along the axes on which addresses are contiguous: only these decide how many elements one instruction
 * may access. If `isStill`, also along the axes on which addresses do not move: where the mask does not either, one access
 * serves several elements. Undefined where no axis is contiguous, or the mask has more in it.
 */
function maskAlong(
  { address, moving, mask }: MaskedAddress,
  { units, isStill }: { readonly units: ReadonlySet<string>; readonly isStill: boolean },
): readonly Term[] | undefined {
  if (mask?.length === 0) return [];
  if (address === undefined || mask === undefined) return undefined;
  const contiguous = address.flatMap(({ atoms }) => {
    const [atom, ...others] = atoms.filter((one) => one.kind !== "param" || !units.has(one.name));
    return atom?.kind === "lane" && others.length === 0 ? [atom.axis] : [];
  });
  if (contiguous.length === 0) return undefined;
  const isAlong = (axis: number): boolean =>
    contiguous.includes(axis) || (isStill && !moving.includes(axis));
  const along = mask.filter(({ axes }) => axes.some(isAlong));
  return along.some(({ isInRuns }) => isInRuns) ? undefined : along.flatMap(({ terms }) => terms);
}

const axesOf = (atoms: readonly Atom[]): readonly number[] =>
  atoms.flatMap((atom) => isOfTile(atom) ? [atom.axis] : []);

const termsOf = (poly: Poly): readonly Term[] => [...poly.values()];

const atomsOf = (terms: readonly Term[]): readonly Atom[] => terms.flatMap(({ atoms }) => atoms);

function isInteger(param: Value): boolean {
  const { element } = param.type;
  return !isPointer(element) && element !== "bool" && SCALARS[element].class === "int";
}
