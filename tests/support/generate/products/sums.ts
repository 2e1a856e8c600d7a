/** What loops over products do: one sum, two, products that stay in an iteration, chains. */
import { declarator, type Shape, spell, type Stmt } from "../tree.ts";
import { guarded, loops } from "./loops.ts";
import { loaded, type Operand, operandOf, parameter, type Product } from "./product.ts";

/** `sum += a @ b`, or what is asked for in another way. */
function multiply({ cx, mode }: Product, sum: string, a: string, b: string): Stmt {
  return mode === undefined || cx.choices.oneIn(4)
    ? { parts: [`${sum} += ${a} @ ${b};`] }
    : { parts: [`${sum} = dot(${a}, ${b}, ${sum}, "${mode}");`] };
}

/** One sum, or two of which the second is added to the first one afterwards. */
export function summed(
  product: Product,
  acc: string,
  a: Operand = operandOf(product, ["m", "k"]),
): readonly Stmt[] {
  const { cx, tile, sum } = product;
  const { choices } = cx;
  const b = operandOf(product, ["k", "n"]);
  const shape = [tile.m, tile.n];
  const first = choices.oneIn(4) ? `${choices.between(1, 3)}` : "0";
  const gate = tile.m * tile.n <= 8192 && choices.oneIn(4)
    ? operandOf(product, ["k", "n"])
    : undefined;
  const other = cx.name("v");
  return [
    { parts: [`${declarator(sum, shape, acc)} = ${first};`] },
    ...gate === undefined ? [] : [{ parts: [`${declarator(sum, shape, other)} = 0;`] }],
    ...loops(product, [a, b, ...gate === undefined ? [] : [gate]], (k, isMasked) => {
      const [x, y, z] = [cx.name("a"), cx.name("b"), cx.name("b")];
      return guarded(product, k, [
        ...loaded(product, x, a, k, isMasked),
        ...loaded(product, y, b, k, isMasked),
        multiply(product, acc, x, y),
        ...gate === undefined
          ? []
          : [...loaded(product, z, gate, k, isMasked), multiply(product, other, x, z)],
      ]);
    }),
    ...gate === undefined ? [] : [{ parts: [`${acc} = ${acc} + ${other} * 2;`] }],
  ];
}

/** Products that stay in their iteration: what is kept of each is a maximum, or what a function makes of it. */
export function standing(product: Product, acc: string): readonly Stmt[] {
  const { cx, tile, sum } = product;
  const [a, b] = [operandOf(product, ["m", "k"]), operandOf(product, ["k", "n"])];
  const shape = [tile.m, tile.n];
  const s = cx.name("s");
  const kept = cx.choices.pick([
    `max(${acc}, ${s})`,
    `${acc} * 2 - ${s}`,
    `${acc} + ${s}[:, max][:, newaxis]`,
  ]);
  return [
    { parts: [`${declarator(sum, shape, acc)} = 0;`] },
    ...loops(product, [a, b], (k, isMasked) => {
      const [x, y] = [cx.name("a"), cx.name("b")];
      return [
        ...loaded(product, x, a, k, isMasked),
        ...loaded(product, y, b, k, isMasked),
        ...guarded(product, k, [
          { parts: [`${declarator(sum, shape, s)} = ${x} @ ${y};`] },
          { parts: [`${acc} = ${kept};`] },
        ]),
      ];
    }),
  ];
}

/** `f(q @ k) @ v`: the loop goes over columns of the first product, which are the rows of the second operand. */
export function chained(product: Product, acc: string): readonly Stmt[] {
  const { cx, tile, size, sum, element, names, whole } = product;
  const { choices } = cx;
  const depth = choices.pick([32, 64]);
  const columns = cx.name("r");
  const first: Product = {
    ...product,
    tile: { m: tile.m, n: tile.k, k: depth },
    size: { m: size.m, n: size.k, k: depth },
    names: { m: names.m, n: names.k, k: parameter(cx, depth) },
    whole: [
      ...whole.filter((axis) => axis === "m"),
      ...size.k % tile.k === 0 ? ["n" as const] : [],
    ],
    rn: columns,
  };
  const [query, s] = [cx.name("q"), cx.name("s")];
  const [q, k] = [operandOf(first, ["m", "k"], false), operandOf(first, ["k", "n"], false)];
  const v = operandOf(product, ["k", "n"]);
  const scores: Shape = [tile.m, tile.k];
  const made = choices.pick(
    sum === "float32"
      ? [
        s,
        `${s} * 0.25f`,
        `max(${s}, 0.0f)`,
        `exp(${s} - ${s}[:, max][:, newaxis])`,
        `exp2(min(${s}, 0.0f))`,
      ]
      : [`(${s} & 7)`, `(${s} >> 5)`],
  );
  const shape = [tile.m, tile.n];
  return [
    { parts: [`${declarator(sum, shape, acc)} = 0;`] },
    { parts: [`${declarator(element, [tile.m, depth], query)} = ${q.load("0", false)};`] },
    ...loops(product, [v], (at, isMasked) => {
      const [x, y] = [cx.name("a"), cx.name("b")];
      return [
        { parts: [`int ${columns}[${tile.k}] = ${at} + 0 ... ${tile.k};`] },
        ...loaded(first, x, k, "0", false),
        { parts: [`${declarator(sum, scores, s)} = ${query} @ ${x};`] },
        ...loaded(product, y, v, at, isMasked),
        { parts: [`${acc} += (${spell(element)}[${scores.join(", ")}])(${made}) @ ${y};`] },
      ];
    }),
  ];
}
