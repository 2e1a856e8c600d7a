/**
 * Operands of products that have to go through shared memory: where they come from, and which layout the product
 * wants them in.
 */
import type { Op, OpOf, Region, Value } from "../ir/func.ts";
import { operandsOf } from "../ir/op.ts";
import { bytesOf } from "../ir/types.ts";
import { planConversion, type SharedPlan } from "../layout/conversion.ts";
import { invertOrder, type LinearLayout, permuteLayout } from "../linear/linear.ts";
import { must } from "../support/bug.ts";
import type { Target } from "../targets.ts";
import { tileBytes } from "../layout/tiles.ts";

/** An operand on its way from `source` to a product. */
export interface Feed {
  readonly dot: OpOf<"dot">;
  readonly index: 0 | 1;
  readonly source: Value;
  /** Permutations from the source to the product. */
  readonly permutations: readonly OpOf<"permute">[];
  /** Layout of the source's shape in which the product wants it. */
  readonly layout: LinearLayout;
  readonly plan: SharedPlan;
  readonly bytes: number;
}

/** An operand that a plain load of the loop brings. */
export interface LoadedFeed extends Feed {
  readonly load: OpOf<"load">;
}

/** The operands of a product that need shared memory; `here` are the operations of its region, `uses` counts uses of values. */
export function feedsOf(
  dot: OpOf<"dot">,
  here: ReadonlySet<Op>,
  uses: ReadonlyMap<Value, number>,
  target: Target,
): Feed[] {
  return ([0, 1] as const).flatMap((index): Feed[] => {
    const permutations: OpOf<"permute">[] = [];
    let source = operandAt(dot, index);
    let layout = must(source.type.layout, "layout of an operand");
    for (;;) {
      const { def } = source;
      if (def === undefined || !here.has(def) || uses.get(source) !== 1) break;
      if (def.name === "permute") {
        permutations.unshift(def);
        layout = permuteLayout(layout, invertOrder(def.attrs.order));
      } else if (def.name !== "convert_layout") break;
      source = operandsOf(def).value;
    }
    const plan = planConversion(
      must(source.type.layout, "layout of an operand"),
      layout,
      bytesOf(source.type.element),
      { matrices: target.ldmatrix, lines: true },
    );
    if (plan.kind !== "shared" || source.type.element === "bool") return [];
    return [{ dot, index, source, permutations, layout, plan, bytes: tileBytes(source.type) }];
  });
}

function operandAt(dot: OpOf<"dot">, index: 0 | 1): Value {
  const { a, b } = operandsOf(dot);
  return index === 0 ? a : b;
}

/** 32-bit registers for sums and operands of the products of a loop; what there is beyond holds addresses and the like. */
const PRODUCT_REGISTERS = 192;

const wordsOf = ({ type: { element, layout } }: Value): number =>
  bytesOf(element) / 4 * 2 ** (layout?.register.length ?? 0);

/**
 * Operands that products of a loop get from outside of it, where a thread cannot hold them beside the sums: they
 * wait in shared memory.
 */
export function residentFeeds(
  body: Region,
  uses: ReadonlyMap<Value, number>,
  target: Target,
): Feed[] {
  // Loops inside have buffers of their own.
  if (body.ops.some(({ name }) => name === "while")) return [];
  const products = body.ops.filter((op) => op.name === "dot");
  const here = new Set(body.ops);
  const operands = products.flatMap((dot) =>
    ([0, 1] as const).flatMap((index) => {
      const value = operandAt(dot, index);
      const { def } = value;
      return def?.name === "convert_layout" && !here.has(def) && uses.get(value) === 1
        ? [{ dot, index, value, source: operandsOf(def).value }]
        : [];
    })
  );
  const sums = products.flatMap(({ results }) => results);
  const held = [...sums, ...operands.map(({ value }) => value)];
  if (held.reduce((words, value) => words + wordsOf(value), 0) <= PRODUCT_REGISTERS) return [];
  return operands.flatMap(({ dot, index, value, source }): Feed[] => {
    const layout = must(value.type.layout, "layout of an operand");
    const plan = planConversion(
      must(source.type.layout, "layout of an operand"),
      layout,
      bytesOf(source.type.element),
      { matrices: target.ldmatrix, lines: true },
    );
    return plan.kind === "shared" && source.type.element !== "bool"
      ? [{ dot, index, source, permutations: [], layout, plan, bytes: tileBytes(source.type) }]
      : [];
  });
}
