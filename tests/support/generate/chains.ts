/** Chained products, `f(a @ b) @ c` in a loop: what attention does. The inputs end with what is read last. */
import { isFloat, type Workshop } from "./scope.ts";
import { PRODUCTS } from "./tiles.ts";
import { declarator, type Shape, spell, spellTile, type Stmt } from "./tree.ts";

/** What stands between the products; `s` is the first one's result. */
const BETWEEN: readonly ((s: string) => string)[] = [
  (s) => s,
  (s) => `${s} * 0.25f`,
  (s) => `max(${s}, 0.0f)`,
  (s) => `(${s} > 0.0f ? ${s} : 0.5f)`,
  (s) => `exp(${s} - ${s}[:, max][:, newaxis])`,
  (s) => `${s} - ${s}[:, +][:, newaxis]`,
];
const BETWEEN_INTEGERS: readonly ((s: string) => string)[] = [
  (s) => s,
  (s) => `(${s} >> 3)`,
  (s) => `(${s} & 7) - ${s}[:, min][:, newaxis]`,
];

export function chain(shop: Workshop): readonly Stmt[] | undefined {
  const { dice } = shop;
  const known = PRODUCTS.filter(([, , feature]) => shop.has(feature));
  if (known.length === 0 || !shop.has("loop") || shop.buffers.length > 8) return undefined;
  const [result, types] = dice.pick(known);
  const type = dice.pick(types);
  const extents = shop.part > 256 ? [8, 16, 32] : [1, 2, 4, 8, 16];
  const [m, d, c, n] = [0, 0, 0, 0].map(() => dice.pick(extents));
  if (m === undefined || d === undefined || c === undefined || n === undefined) return undefined;
  if (m * n > shop.part) return undefined;
  const rounds = dice.between(1, 3);
  const [q, k, v] = [m * d, rounds * c * d, rounds * c * n].map((length) => {
    const name = shop.name("W");
    const attributes = dice.pick(["", " __noalias", " __readonly"]);
    shop.buffers.push({ name, type, length, written: false, attributes });
    return name;
  });
  const [acc, sum] = [shop.name("v"), shop.name("s")];
  const [pk, pv, counter] = [shop.name("p"), shop.name("p"), shop.name("k")];
  const pointer = (name: string, shape: Shape, base: string, strides: number[]): Stmt => ({
    parts: [
      `const ${spell(type)} *${name}[${shape.join(", ")}] = ${base} + `,
      shop.indexTile(shape, strides),
      ";",
    ],
  });
  const isTransposed = dice.oneIn(2);
  const between = dice.pick(isFloat(result) ? BETWEEN : BETWEEN_INTEGERS)(sum);
  const first = shop.name("q");
  const body: readonly Stmt[] = [
    {
      parts: [
        `${declarator(result, [m, c], sum)} = ${first} @ ${isTransposed ? "^(*" : "(*"}${pk});`,
      ],
    },
    { parts: [`${acc} += (${spellTile(type, [m, c])})(${between}) @ *${pv};`] },
    { parts: [`${pk} += ${c * d};`] },
    { parts: [`${pv} += ${c * n};`] },
  ];
  shop.declare({ type: result, shape: [m, n], name: acc });
  return [
    { parts: [`${declarator(result, [m, n], acc)} = 0;`] },
    {
      parts: [[
        {
          parts: [
            `${declarator(type, [m, d], first)} = *(${q} + `,
            shop.indexTile([m, d], [d, 1]),
            ");",
          ],
        },
        isTransposed
          ? pointer(pk, [c, d], k ?? "", [d, 1])
          : pointer(pk, [d, c], k ?? "", dice.oneIn(2) ? [c, 1] : [1, d]),
        pointer(pv, [c, n], v ?? "", dice.oneIn(2) ? [n, 1] : [1, c]),
        {
          parts: [`for (int ${counter} = 0; ${counter} < ${rounds}; ${counter}++) `, body],
        },
      ]],
    },
  ];
}
