/**
 * A loop that reduces a row chunk by chunk, as an online softmax does, to a scalar or to a row of sums. The input ends with the
 * row, so a load too far ahead is noticed, and the last chunk may have a part of it or nothing.
 */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { countOf } from "../compiler/tile_index.ts";
import type { Feature } from "./features.ts";
import { type ProgramContext, rowMajor } from "./scope.ts";
import { declarator, type Node, type Shape, spell, spellTile, type Stmt } from "./tree.ts";

interface Kind {
  readonly feature: Feature;
  readonly item: string;
  readonly result: ScalarName;
  readonly inputs: readonly ScalarName[];
  /** What the loop carries, after an iteration whose chunk is reduced to x. */
  readonly next: (s: string, x: string) => string;
}

/** Small numbers stay exact. */
const KINDS: readonly Kind[] = [
  {
    feature: "reduce-sum",
    item: "+",
    result: "int32",
    inputs: ["int32", "int8", "uint8"],
    next: (s, x) => `${s} * 3 + ${x}`,
  },
  {
    feature: "reduce-max",
    item: "max",
    result: "float32",
    inputs: ["float32", "float16", "bfloat16"],
    next: (s, x) => `max(${s} * 0.5f, ${x})`,
  },
  {
    feature: "reduce-min",
    item: "min",
    result: "int32",
    inputs: ["int32", "int8"],
    next: (s, x) => `(${s} ^ 5) + ${x}`,
  },
  {
    feature: "reduce-max",
    item: "max",
    result: "float64",
    inputs: ["float64", "float32"],
    next: (s, x) => `${x} - ${s} * 0.25`,
  },
];

export function chunks(cx: ProgramContext): readonly Stmt[] | undefined {
  const { choices } = cx;
  const known = KINDS.filter(({ feature, result }) => cx.has(feature) && cx.types.includes(result));
  if (known.length === 0 || !cx.has("loop") || cx.buffers.length > 8) return undefined;
  const { item, result, inputs, next } = choices.pick(known);
  const extents = [4, 8, 16, 32, 64, 128, 256, 512].filter((extent) => extent <= cx.part);
  const extent = choices.pick(extents);
  const across = choices.oneIn(3) && extent >= 16 ? choices.pick([2, 4, 8]) : 1;
  const shape: Shape = across === 1 ? [extent] : [extent / across, across];
  const most = choices.between(1, 6);
  const length = Math.max(1, extent * most - choices.pick([0, 0, 1, 3, extent - 1, extent]));
  const input = (): readonly [string, ScalarName] => {
    const type = choices.pick(inputs.filter((one) => one === result || cx.types.includes(one)));
    const name = cx.name("W");
    const attributes = choices.pick(["", " __noalias", " __noalias __aligned(16)"]);
    cx.buffers.push({ name, type, length, written: false, attributes });
    return [name, type];
  };
  const sources = choices.oneIn(3) ? [input(), input()] : [input()];
  const [counter, sum, chunk] = [cx.name("k"), cx.name("v"), cx.name("x")];
  const index = cx.indexTile(shape, rowMajor(shape));
  const start = choices.pick([`${counter} * ${countOf(shape)} + `, `${length} - ${counter} + `]);
  const isCountedDown = start.startsWith(`${length}`);
  const place = [start, index];
  const loaded = sources.flatMap(([name, type], i): (string | Node)[] => [
    i === 0 ? "" : " - ",
    `(${spellTile(result, shape)})`,
    ...choices.oneIn(2)
      ? ["(*?(", ...place, ` < ${length}) (${name} + `, ...place, "))"]
      : [`load(${name} + (`, ...place, "), ", ...place, ` < ${length}, (${spell(type)})2)`],
  ]);
  const extra = choices.oneIn(4) ? [{ parts: [`${chunk} = ${chunk} + ${chunk};`] }] : [];
  const kept: Shape = across === 1 ? [] : [across];
  const rounds = choices.oneIn(2) ? `${most}` : `(${cx.programIndex} & 3) + ${most - 1}`;
  const hint = choices.pick(["", "", `#pragma tri loop num_stages(${choices.between(1, 5)})\n  `]);
  const head = isCountedDown
    ? `for (int ${counter} = ${length}; ${counter} > 0; ${counter} -= ${countOf(shape)}) `
    : `for (int ${counter} = 0; ${counter} < ${rounds}; ${counter}++) `;
  cx.declare({ type: result, shape: kept, name: sum });
  return [
    { parts: [`${declarator(result, kept, sum)} = 1;`] },
    {
      parts: [`${hint}${head}`, [
        { parts: [`${declarator(result, shape, chunk)} = `, ...loaded, ";"] },
        ...extra,
        {
          parts: [`${sum} = ${next(sum, `${chunk}[${item}${across === 1 ? "" : ", :"}]`)};`],
        },
      ]],
    },
  ];
}
