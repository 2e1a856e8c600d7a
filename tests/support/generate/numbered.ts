/**
 * Random accesses at numbers that are computed from the indices of elements: at even and odd ones, as pairs lie side by side,
 * and at quotients and remainders, as rows and columns of numbered elements. Tensors end with the last element that is read.
 */
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { countOf } from "../compiler/tile_index.ts";
import { outputOf, ownPart } from "./destinations.ts";
import { type ProgramContext, rowMajor } from "./scope.ts";
import type { Node, Stmt } from "./tree.ts";

/** A tensor that is read alone. */
function input(cx: ProgramContext, type: ScalarName, length: number): string | undefined {
  if (cx.buffers.length > 9) return undefined;
  const name = cx.name("U");
  const attributes = cx.choices.pick([
    " __aligned(16)",
    " __noalias __aligned(16)",
    " __readonly",
    "",
  ]);
  cx.buffers.push({ name, type, length, written: false, attributes });
  return name;
}

/** Loads, or loads and stores, of pairs: which of the two comes first, and of what type indices are, differs. */
export function pairs(cx: ProgramContext): Stmt | readonly Stmt[] | undefined {
  const { choices } = cx;
  const [type, shape] = [choices.pick(cx.types), choices.pick(cx.shapes)];
  const count = countOf(shape);
  const isWhole = choices.oneIn(2);
  const start = isWhole ? "0" : `get_program_id(0) * ${2 * count}`;
  const programs = isWhole ? 1 : cx.programs;
  const from = input(cx, type, 2 * count * programs - choices.pick([0, 0, 1]));
  if (from === undefined) return undefined;
  const length = cx.buffers.at(-1)?.length ?? 0;
  const [at, even, odd] = [cx.name("i"), cx.name("v"), cx.name("v")];
  const index = cx.indexTile(shape, rowMajor(shape));
  const tile = `[${shape.join(", ")}]`;
  const isMasked = length % 2 === 1 || choices.oneIn(2);
  const load = (name: string, by: string): Stmt => {
    const pointer = `${from} + ${start} + ${at}${by}`;
    const loaded = isMasked
      ? `load(${pointer}, ${start} + ${at} + 1 < ${length}, 3)`
      : `*(${pointer})`;
    return { parts: [`${cx.declarator(type, shape, name)} = ${loaded};`] };
  };
  const both = choices.shuffled([load(even, ""), load(odd, " + 1")]);
  cx.declare({ type, shape, name: even });
  cx.declare({ type, shape, name: odd });
  const as = choices.oneIn(2) ? undefined : choices.pick(CONVERSIONS);
  const most = as === undefined ? 0 : as.most - (count - 1);
  const declared: Stmt = as === undefined || most < 0
    ? { parts: [`int ${at}${tile} = 2 * `, index, ";"] }
    : {
      parts: [
        `long ${at}${tile} = 2l * (${as.to}${tile})(${as.by}${tile})(`,
        index,
        ` + ${most}) + ${-2 * most}l;`,
      ],
    };
  return [declared, ...both, ...stores(cx, { type, at, even, odd, count })];
}

/** Types that an index is converted by and to, and the largest index that they represent; twice that may overflow. */
const CONVERSIONS = [
  { by: "int", to: "int", most: 1073741823 },
  { by: "int", to: "long", most: 2147483647 },
  { by: "unsigned int", to: "long", most: 2147483647 },
  { by: "char", to: "int", most: 127 },
  { by: "short", to: "unsigned int", most: 32767 },
  { by: "half", to: "int", most: 2048 },
] as const;

/** Stores of the two the other way round. */
function stores(
  cx: ProgramContext,
  { type, at, even, odd, count }: {
    readonly type: ScalarName;
    readonly at: string;
    readonly even: string;
    readonly odd: string;
    readonly count: number;
  },
): readonly Stmt[] {
  const { choices } = cx;
  if (2 * count > cx.part || choices.oneIn(3)) return [];
  const to = outputOf(cx, type);
  if (to === undefined) return [];
  const own = ownPart(cx);
  const mask = to.length < cx.part * cx.programs ? `?(${own} + ${at} + 1 < ${to.length}) ` : "";
  const store = (name: string, by: string): Stmt => ({
    parts: [`*${mask}(${to.name} + ${own} + ${at}${by}) = ${name};`],
  });
  return choices.shuffled([store(even, " + 1"), store(odd, "")]);
}

/** A load at the row and the column that elements of a number of columns have. */
export function numbered(cx: ProgramContext): Stmt | readonly Stmt[] | undefined {
  const { choices } = cx;
  const [type, shape] = [choices.pick(cx.types), choices.pick(cx.shapes)];
  const count = countOf(shape);
  const columns = choices.pick([1, 2, 4, 8, 16, 32, 3, 6, 12, 48]);
  const last = cx.programs * count - 1;
  const distance = columns + choices.pick([0, 0, 8, 16, 1]);
  const kind = choices.pick(["both", "both", "quotient", "remainder"]);
  const row = Math.floor(last / columns);
  const column = Math.min(last, columns - 1);
  const length = 1 + (kind === "remainder" ? 0 : row * (kind === "both" ? distance : 1)) +
    (kind === "quotient" ? 0 : column);
  const from = length > 20_000 ? undefined : input(cx, type, length);
  if (from === undefined) return undefined;
  const scalar = (value: number): string => {
    if (choices.oneIn(3)) return String(value);
    const name = cx.name("n");
    const attributes = choices.pick(["", ` __multipleof(${value & -value})`]);
    cx.scalars.push({ name, type: "int32", value: String(value), attributes });
    return name;
  };
  const by = scalar(columns);
  const [at, name] = [cx.name("i"), cx.name("v")];
  const index: Node = cx.indexTile(shape, rowMajor(shape));
  const word = choices.pick(["int", "int", "unsigned int", "long"]);
  const tile = `[${shape.join(", ")}]`;
  const [quotient, remainder] = [
    `${at} / ${by}`,
    choices.pick([`${at} % ${by}`, `(${at} - ${at} / ${by} * ${by})`]),
  ];
  const offset = kind === "both"
    ? `${quotient} * ${scalar(distance)} + ${remainder}`
    : kind === "quotient"
    ? quotient
    : remainder;
  cx.declare({ type, shape, name });
  return [
    { parts: [`${word} ${at}${tile} = ${cx.programIndex} * ${count} + `, index, ";"] },
    { parts: [`${cx.declarator(type, shape, name)} = *(${from} + (${offset}));`] },
  ];
}
