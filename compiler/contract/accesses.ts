/** Every operation of a function that accesses memory, with its address and mask taken apart. */
import { must } from "../support/bug.ts";
import { SCALARS } from "../support/scalar.ts";
import type { Span } from "../support/source.ts";
import type { Func, Op, OpOf, Region, Value } from "../ir/func.ts";
import { loopOf } from "../ir/flow.ts";
import { operandsOf } from "../ir/op.ts";
import { bytesOf, isPointer } from "../ir/types.ts";
import { isMemoryOp, type MemoryOp, rowOf } from "../ir/table.ts";
import { walkOps } from "../ir/walk.ts";
import { AffineAnalysis } from "./affine.ts";
import { type Constraint, type Observation, varies } from "./affine_rules.ts";
import { type Dividend, dividendsIn } from "./dividends.ts";
import { type Bound, boundsOf } from "./groups.ts";
import { type Atom, isNonNegative, type Poly, type Term } from "./poly.ts";
import { Roots } from "./reach.ts";
import type { Access } from "./types.ts";

/** Accesses of a kernel whose addresses are followed; parameters that further ones lead to have no tensor and no range. */
const MAX_ACCESSES = 1000;

/** A load, store or atomic at an affine address of one pointer parameter. */
export interface MemoryAccess {
  readonly op: Op;
  readonly param: Value;
  readonly bytes: Poly;
  /** Values that must not wrap on lanes that access memory … */
  readonly observed: readonly Observation[];
  /** … and in every lane, as they decide which lanes those are. */
  readonly observedByMask: readonly Observation[];
  readonly bounds: readonly Bound[];
  /** The mask says no more than the bounds do: it depends on nothing that was loaded, and all of it is understood. */
  readonly isWhole: boolean;
  readonly shape: readonly number[];
  /** Bytes of one element as accessed. */
  readonly width: number;
  /** In a branch or loop, so a launch may never execute it. */
  readonly isConditional: boolean;
}

export interface Accesses {
  readonly affine: readonly MemoryAccess[];
  /** Pointer parameters with an access that is not affine. */
  readonly vague: ReadonlySet<Value>;
  /** Accesses that are affine in the number of an iteration too: `X + k + r` in a loop over k. */
  readonly iterated: readonly MemoryAccess[];
  /** Pointer parameters with an access that is neither. */
  readonly unknown: ReadonlySet<Value>;
  readonly dividends: readonly Dividend[];
  /** How each pointer parameter is used, and the first operation that does. */
  readonly direction: ReadonlyMap<string, { readonly access: Access; readonly span: Span }>;
}

/** Finds all accesses of a function. */
export function collectAccesses(func: Func): Accesses {
  const analysis = new AffineAnalysis(func);
  const inProgram = new AffineAnalysis(func, "program");
  const addressRoots = new Roots(func);
  const affine: MemoryAccess[] = [];
  const iterated: MemoryAccess[] = [];
  const vague = new Set<Value>();
  const unknown = new Set<Value>();
  const direction = new Map<string, { access: Access; span: Span }>();
  const conditional = conditionalOps(func);
  walkOps(func.body, (op) => {
    // Contracts are inferred before anything copies by tensor maps.
    if (!isMemoryOp(op) || op.name === "tensor_load") return;
    const { pointer } = operandsOf(op);
    const mask = op.name === "atomic_cas" ? undefined : operandsOf(op).mask;
    const element = pointer.type.element;
    // Buffers of the file are the compiler's own affair, not the caller's.
    if (!isPointer(element) || element.space === "constant") return;
    const roots = addressRoots.of(pointer);
    for (const root of roots) noteDirection(direction, nameOf(root), op);
    if (affine.length + iterated.length < MAX_ACCESSES) {
      const conditions = { mask, isConditional: conditional.has(op) };
      const access = accessIn(analysis, op, conditions);
      if (access !== undefined) {
        affine.push(access);
        return;
      }
      const inLoop = accessIn(inProgram, op, conditions);
      if (inLoop !== undefined && isOfLaunch(inLoop.bytes)) iterated.push(inLoop);
      else for (const root of roots) unknown.add(root);
    } else for (const root of roots) unknown.add(root);
    for (const root of roots) vague.add(root);
  });
  return {
    affine,
    vague,
    iterated,
    unknown,
    dividends: dividendsIn(func, analysis),
    direction,
  };
}

/** The access of an operation; undefined where its address is not affine in what the analysis follows. */
function accessIn(
  analysis: AffineAnalysis,
  op: Op & OpOf<MemoryOp>,
  { mask, isConditional }: { readonly mask: Value | undefined; readonly isConditional: boolean },
): MemoryAccess | undefined {
  const { pointer } = operandsOf(op);
  const { element, shape } = pointer.type;
  const address = analysis.pointer(pointer);
  if (address === undefined || !isPointer(element)) return undefined;
  const all = mask === undefined ? [] : analysis.mask(mask);
  const constraints = all.filter((one) => isOfLaunch(one.poly) && !mayWrapBelow(one));
  const bounds = boundsOf(constraints);
  return {
    op,
    param: address.param,
    bytes: address.bytes,
    observed: address.observed,
    observedByMask: constraints.flatMap((constraint) => constraint.observed),
    bounds,
    isWhole: mask === undefined || (analysis.isWhole(mask) && bounds.length === all.length),
    shape,
    width: bytesOf(element.pointee),
    isConditional,
  };
}

/**
 * Whether a comparison is of a number without sign that may have been below zero in some lanes, as `(unsigned) i < N` of
 * `i = lane - 1`: they are not let through, so no launch must be refused for them.
 */
const mayWrapBelow = ({ observed }: Constraint): boolean =>
  observed.some(({ poly, type }) => !SCALARS[type].signed && varies(poly) && !isNonNegative(poly));

/** Whether nothing but the launch and numbers of iterations decides it. */
const isOfLaunch = (poly: Poly): boolean =>
  atomsOf([...poly.values()]).every(({ kind }) => kind !== "scalar");

const atomsOf = (terms: readonly Term[]): readonly Atom[] => terms.flatMap(({ atoms }) => atoms);

/** Operations that may not run at all. The test of a loop runs at least once. */
function conditionalOps(func: Func): ReadonlySet<Op> {
  const found = new Set<Op>();
  const visit = (region: Region, isConditional: boolean): void => {
    for (const op of region.ops) {
      if (isConditional) found.add(op);
      const test = op.name === "while" ? loopOf(op).test : undefined;
      for (const inner of op.regions) visit(inner, isConditional || inner !== test);
    }
  };
  visit(func.body, false);
  return found;
}

/** The name of a parameter of the function. */
export const nameOf = (param: Value): string => must(param.name, "name of a parameter");

/** Bytes as whole elements; undefined where they are not. */
export function wholeElements(bytes: Poly, size: number): Poly | undefined {
  const by = BigInt(size);
  if ([...bytes.values()].some((term) => term.coefficient % by !== 0n)) return undefined;
  return new Map(
    [...bytes].map(([key, term]) => [key, { ...term, coefficient: term.coefficient / by }]),
  );
}

function noteDirection(
  all: Map<string, { access: Access; span: Span }>,
  param: string,
  op: Op,
): void {
  const now: Access = rowOf(op).effect === "read" ? "in" : op.name === "store" ? "out" : "inout";
  const before = all.get(param);
  if (before === undefined) all.set(param, { access: now, span: op.span });
  else if (before.access !== now) all.set(param, { ...before, access: "inout" });
}
