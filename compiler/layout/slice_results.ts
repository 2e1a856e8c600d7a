/**
 * Computes and stores what follows from a loop's sums slice by slice of their columns:
 *
 *     sums = while …                       x0 = load slice 0
 *     x = load; y = f(sums, x)             sums = while …
 *     store y                              x1 = load slice 1; store f(slice 0 of sums, x0)
 *                                          x2 = load slice 2; store f(slice 1 of sums, x1) …
 *
 * Sums of a wide tile leave few registers for anything else. In slices, what a function of them needs besides is a part
 * of that, and so is the shared memory through which results get into the order of memory. The loads of a slice are
 * under way while the one before is computed, those of the first one while the loop runs.
 *
 * All that reaches the stores must have its columns in order: element-wise operations, what is broadcast, loads, and
 * branches that a scalar decides. Loads after stores stay right, because no store may touch what another access does.
 */
import { loopOf } from "../ir/flow.ts";
import { type Func, isOp, type Op, type OpOf, setAttrs, type Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { rootsOf } from "../ir/pointer_roots.ts";
import { hasTrait, rowOf } from "../ir/table.ts";
import { bytesOf, sameShape } from "../ir/types.ts";
import { terminatorOf, walkOps } from "../ir/walk.ts";
import { product } from "../linear/linear.ts";
import { must } from "../support/bug.ts";
import type { Pass, TargetContext } from "../tile/pass.ts";
import { NaturalLayouts } from "./natural.ts";
import { fillsMultiprocessor } from "./tiles.ts";
import { boxBytes, mayHavePartitions } from "./warp_group.ts";
import { SliceBuilder, type Slices } from "./slice_builder.ts";
import { isPlainRead, Sliceable } from "./sliceable.ts";
import { versionsOf } from "./slice_versions.ts";
import { sliceLayout } from "./slices.ts";

export const sliceResults: Pass<TargetContext> = {
  name: "slice-results",
  doc:
    "what follows from wide sums of a loop is computed and stored slice by slice of their columns",
  run: (func, context) => {
    const sums = wideSums(func, context);
    if (sums === undefined) return false;
    const { loop, slices } = sums;
    const at = func.body.ops.indexOf(loop);
    const behind = func.body.ops.slice(at + 1, -1);
    const stores = behind.filter((op): op is OpOf<"store"> => op.name === "store");
    const isWorth = isComputed(behind, sums) || isInTurn(sums, context);
    if (!isWorth || !behind.every(isKnown) || !areApart(func, behind)) return false;
    const layouts = new NaturalLayouts(func, { ...context, axisInfo: context.axisInfo() });
    const hasLayout = (value: Value, axis: number): boolean =>
      axis === COLUMNS && sameShape(value.type.shape, sums.shape) &&
      sliceLayout(layouts.of(value), sums.shape.with(COLUMNS, slices.width)) !== undefined;
    // The sums of a turned dot are stored transposed, so that their columns are rows there.
    for (const axis of [COLUMNS, 1 - COLUMNS]) {
      const found = new Sliceable(behind, loop, hasLayout);
      const isSliceable = ({ operands }: Op): boolean =>
        operands.every((value) => found.isSliceable(value, axis));
      if (stores.length === 0 || !stores.every(isSliceable)) continue;
      const isAlone = isAloneInTurn(sums, context);
      const versions = isAlone ? versionsOf(behind, product(sums.shape)) : [];
      for (const load of isAlone ? wideLoads(found, stores) : []) setAttrs(load, { wide: true });
      const builder = new SliceBuilder(func, loop, { ...slices, axis }, found);
      const { before, after } = builder.build(stores, versions);
      const end = terminatorOf(func.body);
      func.body.ops = [...func.body.ops.slice(0, at), ...before, loop, ...after, end];
      return true;
    }
    return false;
  },
};

/** The axis of the sums along which slices follow each other. */
const COLUMNS = 1;

/** Registers of a thread for sums beside which there are too few for what follows, and those for sums of a slice. */
const MANY_SUMS = 128;
const SLICE_SUMS = 32;

/** Threads of a warp. */
const WARP = 32;

/** Sums that fill the registers of threads, and their slices. */
interface WideSums {
  readonly loop: OpOf<"while">;
  readonly shape: readonly number[];
  /** Of a thread, for the sums. */
  readonly registers: number;
  readonly slices: Omit<Slices, "axis">;
}

/** The result of the only loop of a function, where it is that of a dot, and the loop does nothing but read beside it. */
function wideSums(
  { body }: Func,
  { numWarps, numCtas }: TargetContext,
): WideSums | undefined {
  const loops = body.ops.filter((op): op is OpOf<"while"> => op.name === "while");
  const [loop] = loops;
  if (loop === undefined || loops.length > 1 || numCtas > 1) return undefined;
  let isQuiet = true;
  for (const region of loop.regions) {
    walkOps(region, (op) => {
      isQuiet &&= ["pure", "control", "read"].includes(rowOf(op).effect);
    });
  }
  const { test, repeated } = loopOf(loop);
  const sums = repeated.filter((value) => isOp(value.def, "dot"));
  const [sum] = sums;
  if (!isQuiet || sum === undefined || sums.length > 1 || test.params.length === 0) {
    return undefined;
  }
  const { shape, element } = sum.type;
  const registers = product(shape) * bytesOf(element) / 4 / (WARP * numWarps);
  if (shape.length !== 2 || registers < MANY_SUMS) return undefined;
  const extent = must(shape[COLUMNS], "columns");
  const width = extent * SLICE_SUMS / registers;
  return { loop, shape, registers, slices: { width, extent } };
}

/** Reads, stores, or decides what is computed. */
function isKnown(op: Op): boolean {
  return (isPlainRead(op) || ["if", "yield", "store"].includes(op.name)) &&
    op.regions.every(({ ops }) => ops.every(isKnown));
}

/** Whether more is done with sums than to convert and store them. */
function isComputed(behind: readonly Op[], { shape }: WideSums): boolean {
  const isArithmetic = (op: Op): boolean => {
    const [result] = op.results;
    return op.regions.some(({ ops }) => ops.some(isArithmetic)) ||
      (result?.type.element === "float32" && hasTrait(op, "elementwise") &&
        op.operands.length > 1 && product(result.type.shape) === product(shape));
  };
  return behind.some(isArithmetic);
}

/**
 * Whether blocks may do several programs in turn (schedule/programs/loop_programs.ts). What slices do not need of
 * shared memory is room for one more slot, whose copies are under way while results are stored: 8192 x 8192 x 512
 * halves went from 0.93 to 0.98 of cuBLAS on an H100.
 */
function isInTurn(sums: WideSums, context: TargetContext): boolean {
  const { numWarps, numStages, target } = context;
  const slots = sums.loop.attrs.num_stages ?? numStages;
  return context.form !== "plain" && (isAloneInTurn(sums, context) ||
    mayHavePartitions({
      sums: sums.registers,
      slots,
      boxBytes: boxBytes(sums.loop),
      numWarps,
      target,
    }));
}

/**
 * The same, one after the other: nothing multiplies while slices are computed, so how long that takes counts. Partitions
 * compute beside dots, and lost 3 % by wide accesses where there was nothing to load.
 */
function isAloneInTurn(
  { registers }: WideSums,
  { form, numWarps, target }: TargetContext,
): boolean {
  return form !== "plain" && fillsMultiprocessor(registers, numWarps, target);
}

/**
 * Tiles that are combined with sums, of the width of what is stored: their exchanges take the same memory. Where each
 * thread loads what it has sums for, a load of a warp is in eight lines.
 */
function wideLoads(
  { slicedLoads }: Sliceable,
  stores: readonly OpOf<"store">[],
): OpOf<"load">[] {
  const widths = new Set(stores.map((store) => bytesOf(operandsOf(store).value.type.element)));
  return slicedLoads.flatMap(({ value: { def, type } }) =>
    isOp(def, "load") && type.shape.length === 2 && widths.size === 1 &&
      widths.has(bytesOf(type.element))
      ? [def]
      : []
  );
}

/** Whether no store behind a loop may touch what another access does. */
function areApart(func: Func, behind: readonly Op[]): boolean {
  const params = new Set(func.params);
  const rootOf = rootsOf(func, params);
  const alone = new Set(func.params.filter((_, i) => func.paramFacts[i]?.noalias === true));
  const accesses: { readonly root: Value | undefined; readonly writes: boolean }[] = [];
  const note = (op: Op): void => {
    if (op.name !== "load" && op.name !== "store") return;
    const root = rootOf(operandsOf(op).pointer);
    accesses.push({ root, writes: op.name === "store" });
  };
  for (const op of behind) {
    note(op);
    for (const region of op.regions) walkOps(region, note);
  }
  return accesses.every((a, i) =>
    accesses.slice(i + 1).every((b) =>
      (!a.writes && !b.writes) ||
      (a.root !== undefined && b.root !== undefined && a.root !== b.root &&
        (alone.has(a.root) || alone.has(b.root)))
    )
  );
}
