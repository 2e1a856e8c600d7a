/** Chained products, `f(a @ b) @ c` in a loop: what attention does. The inputs end with what is read last. */
import { isFloat, type ProgramContext } from "./scope.ts";
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

export function chain(cx: ProgramContext): readonly Stmt[] | undefined {
  const { choices } = cx;
  const known = PRODUCTS.filter(([, , feature]) => cx.has(feature));
  if (known.length === 0 || !cx.has("loop") || cx.buffers.length > 8) return undefined;
  const [result, types] = choices.pick(known);
  const type = choices.pick(types);
  const extents = cx.part > 256 ? [8, 16, 32] : [1, 2, 4, 8, 16];
  const [m, d, c, n] = [0, 0, 0, 0].map(() => choices.pick(extents));
  if (m === undefined || d === undefined || c === undefined || n === undefined) return undefined;
  if (m * n > cx.part) return undefined;
  const rounds = choices.between(1, 3);
  const [q, k, v] = [m * d, rounds * c * d, rounds * c * n].map((length) => {
    const name = cx.name("W");
    const attributes = choices.pick(["", " __noalias", " __readonly"]);
    cx.buffers.push({ name, type, length, written: false, attributes });
    return name;
  });
  const [acc, sum] = [cx.name("v"), cx.name("s")];
  const [pk, pv, counter] = [cx.name("p"), cx.name("p"), cx.name("k")];
  const pointer = (name: string, shape: Shape, base: string, strides: number[]): Stmt => ({
    parts: [
      `const ${spell(type)} *${name}[${shape.join(", ")}] = ${base} + `,
      cx.indexTile(shape, strides),
      ";",
    ],
  });
  const isTransposed = choices.oneIn(2);
  const between = choices.pick(isFloat(result) ? BETWEEN : BETWEEN_INTEGERS)(sum);
  const first = cx.name("q");
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
  cx.declare({ type: result, shape: [m, n], name: acc });
  return [
    { parts: [`${declarator(result, [m, n], acc)} = 0;`] },
    {
      parts: [[
        {
          parts: [
            `${declarator(type, [m, d], first)} = *(${q} + `,
            cx.indexTile([m, d], [d, 1]),
            ");",
          ],
        },
        isTransposed
          ? pointer(pk, [c, d], k ?? "", [d, 1])
          : pointer(pk, [d, c], k ?? "", choices.oneIn(2) ? [c, 1] : [1, d]),
        pointer(pv, [c, n], v ?? "", choices.oneIn(2) ? [n, 1] : [1, c]),
        {
          parts: [`for (int ${counter} = 0; ${counter} < ${rounds}; ${counter}++) `, body],
        },
      ]],
    },
  ];
}
