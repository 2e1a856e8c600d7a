/** Random calls that make tiles, turn their axes, and put two together or take one apart. */
import { literal } from "./literal.ts";
import { isInt, isWide, type ProgramContext } from "./scope.ts";
import { countOf } from "../compiler/tile_index.ts";
import { stretching } from "./elementwise.ts";
import { type Node, node, type Shape, spellTile, type Wanted } from "./tree.ts";

/** `zeros`, `full`, `broadcast_to`. */
export function making(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { choices } = cx;
  const { type, shape } = wanted;
  if (shape.length === 0) return undefined;
  const tile = spellTile(type, shape);
  switch (choices.between(0, 3)) {
    case 0:
      return node(wanted, `zeros(${tile})`);
    case 1:
      return node(wanted, `full(${tile}, `, cx.expr({ type, shape: [] }, fuel), ")");
    default: {
      const from = stretching(cx, shape);
      if (from.length === 0) return undefined;
      return node(
        wanted,
        "broadcast_to(",
        cx.expr({ type, shape: from }, fuel),
        `, ${shape.join(", ")})`,
      );
    }
  }
}

/** `expand_dims`, `trans`, `permute`. */
export function axisCall(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { choices } = cx;
  const { shape } = wanted;
  if (shape.length < 2) return undefined;
  const ones = shape.flatMap((extent, axis) => extent === 1 ? [axis] : []);
  if (ones.length > 0 && choices.oneIn(2)) {
    const axis = choices.pick(ones);
    const from = cx.expr({ ...wanted, shape: shape.toSpliced(axis, 1) }, fuel);
    return node(wanted, "expand_dims(", from, `, ${axis})`);
  }
  if (!cx.has("permute")) return undefined;
  const [last = 1, ...rest] = shape.toReversed();
  if (choices.oneIn(2)) {
    const from = [last, ...rest.reverse()];
    return node(wanted, "trans(", cx.expr({ ...wanted, shape: from }, fuel), ")");
  }
  const order = choices.shuffled(shape.map((_, axis) => axis));
  const from = order.map((_, source) => shape[order.indexOf(source)] ?? 1);
  return node(
    wanted,
    "permute(",
    cx.expr({ ...wanted, shape: from }, fuel),
    `, ${order.join(", ")})`,
  );
}

/** `cat`, `join`, `interleave`: two tiles of half the elements. */
export function pairing(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { shape } = wanted;
  const [first = 1] = shape;
  const last = shape.at(-1) ?? 1;
  const forms: readonly (readonly [name: "cat" | "join" | "interleave", from: Shape])[] = [
    ...(first > 1 ? [["cat", [first / 2, ...shape.slice(1)]] as const] : []),
    ...(last === 2 && shape.length > 1 ? [["join", shape.slice(0, -1)] as const] : []),
    ...(last > 1 ? [["interleave", [...shape.slice(0, -1), last / 2]] as const] : []),
  ];
  const known = forms.filter(([name]) => cx.has(name));
  // Narrower types come out as their common type, which is wide.
  if (cx.isLazy || known.length === 0 || !isWide(wanted.type)) return undefined;
  const [name, from] = cx.choices.pick(known);
  const side = { ...wanted, shape: from };
  return node(
    wanted,
    `${name}(`,
    cx.expr(side, fuel),
    ", ",
    cx.expr(side, fuel),
    ")",
  );
}

/** `split0`, `split1`: half of a tile. */
export function splitting(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { shape } = wanted;
  const isLarge = shape.length > 4 || countOf(shape) * 2 > cx.part;
  if (cx.isLazy || isLarge || !cx.has("split")) return undefined;
  const from = cx.expr({ ...wanted, shape: [...shape, 2] }, fuel);
  return node(wanted, `split${cx.choices.between(0, 1)}(`, from, ")");
}

export function counting(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { choices } = cx;
  const isBins = wanted.type === "int32" && wanted.shape.length === 1;
  if (cx.isLazy || !isBins || !cx.has("histogram")) return undefined;
  const type = choices.pick(cx.types.filter(isInt));
  const from = cx.expr({ type, shape: choices.pick(cx.shapes) }, fuel);
  return node(wanted, "histogram(", from, `, ${wanted.shape[0]})`);
}

/** Hints that are true. */
export function hint(cx: ProgramContext, wanted: Wanted, fuel: number): Node | undefined {
  const { choices } = cx;
  if (wanted.type !== "int32") return undefined;
  if (wanted.shape.length === 1 && choices.oneIn(2)) {
    const [extent = 1] = wanted.shape;
    return node(
      wanted,
      `max_contiguous((0 ... ${extent}) + `,
      literal(cx, {
        type: "int32",
        shape: [],
      }),
      `, ${extent})`,
    );
  }
  if (wanted.shape.length > 0 && choices.oneIn(2)) {
    const name = choices.pick(["max_constancy", "max_contiguous"]);
    return node(wanted, `${name}(`, cx.expr(wanted, fuel), ", 1)");
  }
  const n = choices.pick([2, 4, 8, 16]);
  return node(wanted, "multiple_of((", cx.expr(wanted, fuel), ` * ${n}), ${n})`);
}
