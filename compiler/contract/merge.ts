/**
 * One contract out of what the pragmas state and what the code shows. Where both are present they must agree
 * (E9002, with both spans); where only one does, it holds; where neither does, the caller decides.
 */
import type { Reporter } from "../support/diagnostic.ts";
import type { Span } from "../support/source.ts";
import { apply, constant, paramsOf, printExpr } from "./expr.ts";
import {
  type Declared,
  type DeclaredGrid,
  type DeclaredTensor,
  promisedMultiple,
} from "./declared.ts";
import type { GridExtents } from "./interval.ts";
import type { ProvenWrap } from "./ranges.ts";
import type { ScalarName } from "../support/scalar.ts";
import { gridHint } from "./grid_hint.ts";
import type { Inferred } from "./infer.ts";
import { type KernelParam, type KernelParams, naturalAlignment } from "./kernel_params.ts";
import { normalKey, sameExpr } from "./normal.ts";
import { describeAxes, type InferredTensor } from "./tensors.ts";
import type {
  Access,
  ContractExpr,
  ContractParam,
  KernelContract,
  TensorContract,
} from "./types.ts";
import { distinctBy } from "../support/distinct.ts";
import { times } from "../support/times.ts";

/** The contract of one instance; disagreements are reported. */
export function mergeContract(
  kernel: KernelParams,
  declared: Declared,
  inferred: Inferred,
  reporter: Reporter,
): KernelContract {
  const grid = mergeGrid(declared.grids, inferred, reporter);
  const programs: GridExtents = (axis) =>
    grid.extents?.[axis] ?? (grid.extents === null ? undefined : constant(1));
  const tensors = kernel.params.flatMap((param) =>
    mergeTensor(param, declared.tensors, inferred, programs, reporter) ?? []
  );
  const bounds = inferred.bounds(programs);
  reportWraps(bounds.wraps, reporter);
  const needed = neededParams(kernel, grid, inferred);
  const params = kernel.params.map((param) => contractParam(param, declared, inferred, needed));
  const inPlace = inferred.inPlace({ params, grid: grid.extents, tensors });
  return {
    params: params.map((param) => {
      const names = inPlace.get(param.name);
      return param.kind === "scalar" || names === undefined ? param : { ...param, inPlace: names };
    }),
    grid: grid.extents,
    gridOrigin: grid.origin,
    tensors,
    ranges: bounds.ranges,
    requires: distinctBy([
      ...declared.requires.map(({ condition, text }) => ({ condition, text })),
      ...bounds.requires,
    ], ({ condition }) => normalKey(condition)),
  };
}

/** Parameters that the code or the grid reads. Promises about the others are not asked of callers. */
function neededParams(
  { params }: KernelParams,
  { extents }: MergedGrid,
  { used }: Inferred,
): ReadonlySet<string> {
  const names = params.flatMap(({ name }, position) => used.has(position) ? [name] : []);
  return new Set([...names, ...(extents ?? []).flatMap(paramsOf)]);
}

function contractParam(
  param: KernelParam,
  declared: Declared,
  inferred: Inferred,
  needed: ReadonlySet<string>,
): ContractParam {
  const { name, scalar: type } = param;
  const isNeeded = needed.has(name);
  const natural = param.isPointer ? naturalAlignment(param) : 1;
  const multiple = isNeeded ? promisedMultiple(param, declared) : natural;
  if (!param.isPointer) {
    return { kind: "scalar", name, type, ...(multiple > 1 ? { multipleof: multiple } : {}) };
  }
  const noalias = isNeeded &&
    (param.attributes.noalias || declared.promises.get(name)?.noalias === true);
  return {
    kind: "pointer",
    name,
    type,
    access: accessOf(param, declared, inferred),
    align: multiple,
    noalias,
  };
}

/** A stated `inout` also allows kernels that do less in some variants. */
function accessOf(param: KernelParam, declared: Declared, inferred: Inferred): Access {
  const stated = declared.tensors.find((tensor) => tensor.param.name === param.name)?.access;
  return stated ?? inferred.access.get(param.name)?.access ?? "none";
}

// ---- grid -----------------------------------------------------------------------------------------------

interface MergedGrid {
  readonly extents: readonly ContractExpr[] | null;
  readonly origin: KernelContract["gridOrigin"];
}

function mergeGrid(
  stated: readonly DeclaredGrid[],
  inferred: Inferred,
  reporter: Reporter,
): MergedGrid {
  const [first, ...others] = stated;
  if (first === undefined) {
    const known = inferred.grid.flatMap((axis) => axis === undefined ? [] : [axis.expr]);
    const isWhole = known.length > 0 && known.length === inferred.grid.length;
    return isWhole ? { extents: known, origin: "inferred" } : { extents: null, origin: "caller" };
  }
  for (const other of others) {
    const axes = Math.max(first.extents.length, other.extents.length);
    const axis = times(axes, (i) => i).find((i) =>
      !sameExpr(extentAt(first, i), extentAt(other, i))
    );
    if (axis === undefined) continue;
    reporter.error(
      "E9002",
      other.span,
      `${axisText(axis)} is ${quoted(extentAt(other, axis))} here, but ${
        quoted(extentAt(first, axis))
      } elsewhere`,
      {
        notes: [{ message: "the other grid", span: first.span }],
      },
    );
  }
  inferred.grid.forEach((shown, axis) => {
    const extent = extentAt(first, axis);
    if (shown === undefined || shown.byLoads || sameExpr(shown.expr, extent)) return;
    reporter.error(
      "E9002",
      first.span,
      `${axisText(axis)} is ${quoted(extent)} here, but the code shows ${quoted(shown.expr)}`,
      {
        notes: [{ message: `inferred from this bound on program id ${axis}`, span: shown.span }],
        hint: gridHint(extent, shown),
      },
    );
  });
  return { extents: first.extents, origin: "pragma" };
}

const extentAt = ({ extents }: DeclaredGrid, axis: number): ContractExpr =>
  extents[axis] ?? constant(1);
const axisText = (axis: number): string => `axis ${axis} of the grid`;
const quoted = (expr: ContractExpr): string => `\`${printExpr(expr)}\``;

// ---- tensors --------------------------------------------------------------------------------------------

function mergeTensor(
  param: KernelParam,
  declared: readonly DeclaredTensor[],
  inferred: Inferred,
  programs: GridExtents,
  reporter: Reporter,
): TensorContract | undefined {
  const [stated, ...others] = declared.filter((tensor) => tensor.param.name === param.name);
  const shown = inferred.tensors.find((tensor) => tensor.param === param.name);
  if (stated === undefined) return shown && inferredContract(shown, programs);
  for (const other of others) compareStated(stated, other, reporter);
  compareAccess(stated, inferred, reporter);
  if (shown !== undefined) compareShown(stated, shown, reporter);
  const { extents, strides, optional } = stated;
  return {
    param: param.name,
    extents,
    strides,
    origin: "pragma",
    ...(optional ? { optional } : {}),
  };
}

/** Only a tensor whose extents are all known describes anything. */
function inferredContract(
  { param, axes }: InferredTensor,
  programs: GridExtents,
): TensorContract | undefined {
  const extents = axes.flatMap(({ extent, program }) =>
    extent ?? (program === undefined ? [] : programs(program) ?? [])
  );
  if (extents.length < axes.length) return undefined;
  return { param, extents, strides: axes.map(({ stride }) => stride), origin: "inferred" };
}

function compareStated(first: DeclaredTensor, other: DeclaredTensor, reporter: Reporter): void {
  if (describe(first) === describe(other)) return;
  reporter.error(
    "E9002",
    other.span,
    `\`${other.param.name}\` is ${describe(other)} here, but ${describe(first)} elsewhere`,
    {
      notes: [{ message: "the other description", span: first.span }],
    },
  );
}

const describe = ({ extents, strides }: DeclaredTensor): string =>
  describeAxes(
    extents.map((extent, axis) => ({ extent, stride: strides[axis] ?? constant(1) })),
    printExpr,
  );

const VERBS: Readonly<Record<Access, string>> = {
  none: "does not use it",
  in: "reads it",
  out: "writes it",
  inout: "reads and writes it",
};

function compareAccess(
  { param, access, reread, span }: DeclaredTensor,
  inferred: Inferred,
  reporter: Reporter,
): void {
  const shown = inferred.access.get(param.name);
  if (
    access === undefined || access === "inout" || shown === undefined || shown.access === access ||
    (reread && access === "out" && shown.access === "inout")
  ) return;
  reporter.error(
    "E9002",
    span,
    `\`${param.name}\` is \`${access}\` here, but the code ${VERBS[shown.access]}`,
    {
      notes: [{ message: "first access in the code", span: shown.span }],
      hint: `write \`${shown.access}\``,
    },
  );
}

/**
 * Compares strides, and extents where a mask shows them, in any order of the axes. Code that walks a tensor
 * as one line may be right about any shape; then the ranges are what is checked at launch. It may also walk two axes as
 * one, where one ends and the other begins: rows of blocks that follow each other are rows.
 */
function compareShown(stated: DeclaredTensor, shown: InferredTensor, reporter: Reporter): void {
  const rank = stated.extents.length;
  if (shown.axes.length === 1 && rank !== 1) return;
  const left = stated.extents.map((extent, axis) => ({
    extent,
    stride: stated.strides[axis] ?? constant(1),
  }));
  const unbounded: StatedAxis[] = [];
  const matches = shown.axes.every(({ extent, stride }) => {
    const index = left.findIndex((axis) =>
      sameExpr(axis.stride, stride) && (extent === undefined || sameExpr(axis.extent, extent))
    );
    const found = index < 0 ? [] : left.splice(index, 1);
    if (extent === undefined) unbounded.push(...found);
    return found.length > 0;
  }) && left.every((axis) => unbounded.some((inner) => goesOn(inner, axis)));
  if (matches) return;
  const message = `\`${shown.param}\` is ${describe(stated)} here, but ${
    describeAxes(shown.axes, printExpr)
  } in the code`;
  reporter.error("E9002", stated.span, message, {
    notes: [accessNote(shown.span)],
    hint: "extents come from masks, strides from the pointer arithmetic",
  });
}

interface StatedAxis {
  readonly extent: ContractExpr;
  readonly stride: ContractExpr;
}

/** One step along `outer` is where `inner` ends. */
const goesOn = (inner: StatedAxis, outer: StatedAxis): boolean =>
  sameExpr(apply("*", inner.extent, inner.stride), outer.stride);

const accessNote = (span: Span): { readonly message: string; readonly span: Span } => ({
  message: "inferred from this access",
  span,
});

/** Indices are as wide as the program makes them; where they must wrap, W9016 is reported. */
function reportWraps(wraps: readonly ProvenWrap[], reporter: Reporter): void {
  for (const { span, type, value } of wraps) {
    const spelled = SPELLINGS[type] ?? type;
    reporter.warn("W9016", span, `an index of this access reaches ${value}: \`${spelled}\` wraps`, {
      hint: "every launch would be rejected; compute the index in 64 bits: `(long)i * n`",
    });
  }
}

/** Index types as programs spell them, where that is not the name. */
const SPELLINGS: Readonly<Partial<Record<ScalarName, string>>> = {
  int32: "int",
  uint32: "unsigned",
  int16: "short",
  uint16: "unsigned short",
};
