/** Operands of dots that are staged in shared memory: where they come from, and which layout the dot needs them in. */
import type { Op, OpOf, Region, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { bytesOf } from "../ir/types.ts";
import { type ConversionPlan, planConversion, type SharedPlan } from "../layout/conversion.ts";
import { invertOrder, type LinearLayout, permuteLayout } from "../linear/linear.ts";
import { query, type Target } from "../targets.ts";
import type { TargetContext } from "../tile/pass.ts";
import { layoutOf, tileBytes } from "../layout/tiles.ts";

/** An operand that goes from `source` through shared memory to a dot. */
export interface StagedOperand {
  readonly dot: OpOf<"dot">;
  readonly index: 0 | 1;
  readonly source: Value;
  /** Permutations from the source to the dot. */
  readonly permutations: readonly OpOf<"permute">[];
  /** Layout of the source's shape in which the dot needs it. */
  readonly layout: LinearLayout;
  readonly plan: SharedPlan;
  readonly bytes: number;
}

/** An operand with its buffer. */
export type InBuffer<O extends StagedOperand = StagedOperand> = O & { readonly buffer: Value };

/** An operand that the loop loads by a plain load. */
export interface LoadedOperand extends StagedOperand {
  readonly load: OpOf<"load">;
  /** The source is not what is loaded: threads compute it from that, element by element, before the dot reads it. */
  readonly isComputed?: true;
}

/** The operands of a dot that need shared memory; `here` are the operations of its region, `uses` counts uses of values. */
export function stagedOperandsOf(
  dot: OpOf<"dot">,
  here: ReadonlySet<Op>,
  uses: ReadonlyMap<Value, number>,
  target: Target,
): StagedOperand[] {
  return ([0, 1] as const).flatMap((index): StagedOperand[] => {
    const permutations: OpOf<"permute">[] = [];
    let source = operandAt(dot, index);
    let layout = layoutOf(source);
    for (;;) {
      const { def } = source;
      if (def === undefined || !here.has(def) || uses.get(source) !== 1) break;
      if (def.name === "permute") {
        permutations.unshift(def);
        layout = permuteLayout(layout, invertOrder(def.attrs.order));
      } else if (def.name !== "convert_layout") break;
      source = operandsOf(def).value;
    }
    const plan = planOperand(source, layout, target);
    if (plan.kind !== "shared" || source.type.element === "bool") return [];
    return [{ dot, index, source, permutations, layout, plan, bytes: tileBytes(source.type) }];
  });
}

/** How an operand gets its layout. A target is asked for `ldmatrix` only where that makes a difference. */
function planOperand(source: Value, layout: LinearLayout, target: Target): ConversionPlan {
  const from = layoutOf(source);
  const bytes = bytesOf(source.type.element);
  const plan = planConversion(from, layout, bytes, { matrices: "load", lines: true });
  const isOfMatrices = plan.kind === "shared" && plan.matrices !== undefined;
  return !isOfMatrices || target.ldmatrix
    ? plan
    : planConversion(from, layout, bytes, { lines: true });
}

function operandAt(dot: OpOf<"dot">, index: 0 | 1): Value {
  const { a, b } = operandsOf(dot);
  return index === 0 ? a : b;
}

/** 32-bit registers of a thread, of which so many hold addresses and the like beside what dots of a loop add and read. */
const THREAD_REGISTERS = 255;
const OTHER_REGISTERS = 63;
/** Threads of a warp. */
const LANES = 32;

/** Registers of a thread that hold its part of a tile. */
const wordsOf = ({ type: { element, layout } }: Value): number =>
  bytesOf(element) / 4 * 2 ** (layout?.register.length ?? 0);

/**
 * Operands that dots of a loop take from outside of it, where a thread cannot hold them in addition to the accumulators:
 * they stay resident in shared memory.
 */
export function residentOperands(
  body: Region,
  uses: ReadonlyMap<Value, number>,
  { target, numWarps }: Pick<TargetContext, "target" | "numWarps">,
): StagedOperand[] {
  // Loops inside have buffers of their own.
  if (body.ops.some(({ name }) => name === "while")) return [];
  const dots = body.ops.filter((op) => op.name === "dot");
  const here = new Set(body.ops);
  const operands = dots.flatMap((dot) =>
    ([0, 1] as const).flatMap((index) => {
      const value = operandAt(dot, index);
      const { def } = value;
      return def?.name === "convert_layout" && !here.has(def) && uses.get(value) === 1
        ? [{ dot, index, value, source: operandsOf(def).value }]
        : [];
    })
  );
  const sums = dots.flatMap(({ results }) => results);
  const held = [...sums, ...operands.map(({ value }) => value)];
  const registers = query(
    target,
    ({ registersPerSm }) => Math.min(THREAD_REGISTERS, registersPerSm / (LANES * numWarps)),
  );
  const words = held.reduce((sum, value) => sum + wordsOf(value), 0);
  if (words <= registers - OTHER_REGISTERS) return [];
  return operands.flatMap(({ dot, index, value, source }): StagedOperand[] => {
    const layout = layoutOf(value);
    const plan = planOperand(source, layout, target);
    return plan.kind === "shared" && source.type.element !== "bool"
      ? [{ dot, index, source, permutations: [], layout, plan, bytes: tileBytes(source.type) }]
      : [];
  });
}
