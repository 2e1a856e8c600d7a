/** Random reductions: as items of subscripts, of one axis or of several, and as calls. */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import type { Feature } from "./features.ts";
import { isFloat, isNarrow, isWide, isWideInt, type ProgramContext, sameShape } from "./scope.ts";
import { type Node, node, type Shape, type Wanted } from "./tree.ts";

interface Reduction {
  readonly item: string;
  /** The same as a call. */
  readonly call: string;
  readonly feature: Feature;
  readonly fits: (type: ScalarName) => boolean;
}

const isBool = (type: ScalarName): boolean => type === "bool";

const REDUCTIONS: readonly Reduction[] = [
  { item: "+", call: "sum", feature: "reduce-sum", fits: isWide },
  { item: "max", call: "reduce_max", feature: "reduce-max", fits: isWide },
  { item: "min", call: "reduce_min", feature: "reduce-min", fits: isWide },
  { item: "max", call: "max", feature: "reduce-max", fits: isWide },
  { item: "*", call: "prod", feature: "reduce-product", fits: isWide },
  { item: "&", call: "", feature: "reduce-bits", fits: isWideInt },
  { item: "|", call: "", feature: "reduce-bits", fits: isWideInt },
  { item: "xor", call: "xor_sum", feature: "reduce-bits", fits: isWideInt },
  { item: "any", call: "any", feature: "reduce-bool", fits: isBool },
  { item: "all", call: "all", feature: "reduce-bool", fits: isBool },
];

function knownFor(cx: ProgramContext, type: ScalarName): readonly Reduction[] {
  return REDUCTIONS.filter(({ feature, fits }) => fits(type) && cx.has(feature));
}

/** A tile with one more axis, which is then reduced. */
function widerShape(
  cx: ProgramContext,
  shape: Shape,
): { readonly shape: Shape; readonly axis: number } | undefined {
  const fitting = cx.shapes.flatMap((wider) =>
    wider.flatMap((_, axis) =>
      wider.length === shape.length + 1 && sameShape(wider.toSpliced(axis, 1), shape)
        ? [{ shape: wider, axis }]
        : []
    )
  );
  return fitting.length === 0 ? undefined : cx.choices.pick(fitting);
}

/** What an operand may be to give the type: integers below int and bool are promoted first. */
function operandType(cx: ProgramContext, type: ScalarName): ScalarName {
  const { choices } = cx;
  const narrow = cx.types.filter((one) => one !== "bool" && isNarrow(one) && !isFloat(one));
  if (type === "int32" && narrow.length > 0 && choices.oneIn(3)) return choices.pick(narrow);
  return type === "bool" && choices.oneIn(3) ? choices.pick(cx.types) : type;
}

/** One axis reduced. */
export function reduction(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  // Extents of 1 may as well be inserted after the reduction.
  const isInserted = wanted.shape.map((extent) => extent === 1 && cx.choices.oneIn(3));
  const kept = wanted.shape.filter((_, axis) => !isInserted[axis]);
  const wider = widerShape(cx, kept);
  if (cx.isLazy || wider === undefined) return undefined;
  const { choices } = cx;
  const wrap = (operand: Node, item: string, name: string): Node => {
    const isPlain = kept.length === wanted.shape.length;
    if (isPlain && name !== "" && choices.oneIn(4)) {
      return node(wanted, `${name}(`, operand, `, ${wider.axis})`);
    }
    const items = wider.shape.map((_, axis) => axis === wider.axis ? item : ":");
    return node(wanted, operand, `[${withInserted(items, isInserted).join(", ")}]`);
  };
  if (wanted.type === "int32" && choices.oneIn(4) && cx.has("reduce-arg")) {
    const type = choices.pick(cx.types.filter((one) => one !== "bool"));
    const name = choices.pick(["argmax", "argmin"]);
    return wrap(cx.expr({ type, shape: wider.shape }, fuel), name, name);
  }
  const rows = knownFor(cx, wanted.type);
  if (rows.length === 0) return undefined;
  const { item, call } = choices.pick(rows);
  const type = operandType(cx, wanted.type);
  return wrap(
    cx.expr({ type, shape: wider.shape }, fuel),
    item,
    call === "max" ? "" : call,
  );
}

/** `newaxis` put between items so that the axes of the result lie where they were said to. */
function withInserted(items: readonly string[], isInserted: readonly boolean[]): string[] {
  const rest = [...items];
  const result: string[] = [];
  for (const inserted of isInserted) {
    if (inserted) {
      result.push("newaxis");
      continue;
    }
    while (rest.length > 0 && rest[0] !== ":") result.push(rest.shift() ?? "");
    result.push(rest.shift() ?? "");
  }
  return [...result, ...rest];
}

/** A whole tile reduced to a scalar. */
export function totalReduction(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { choices } = cx;
  if (cx.isLazy || wanted.shape.length > 0) return undefined;
  const shape = choices.pick(cx.shapes);
  if (wanted.type === "int32" && choices.oneIn(4) && cx.has("reduce-arg")) {
    const type = choices.pick(cx.types.filter((one) => one !== "bool"));
    return node(
      wanted,
      `${choices.pick(["argmax", "argmin"])}(`,
      cx.expr({ type, shape }, fuel),
      ")",
    );
  }
  const rows = knownFor(cx, wanted.type);
  if (rows.length === 0) return undefined;
  const operand = cx.expr({ type: operandType(cx, wanted.type), shape }, fuel);
  const { call } = choices.pick(rows);
  if (call !== "" && choices.oneIn(3)) return node(wanted, `${call}(`, operand, ")");
  return node(wanted, operand, `[${shape.map(() => choices.pick(rows).item).join(", ")}]`);
}
