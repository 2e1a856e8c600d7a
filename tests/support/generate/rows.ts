/**
 * Random programs on rows that start anywhere: each program loads one, with others or weights beside it, reduces it, and stores
 * it. Tensors end with their last row, and rows may be longer than a tile is, or have no element.
 */
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import type { ProgramContext } from "./scope.ts";
import { isFloat } from "./scope.ts";
import { type Node, node, spell, type Stmt, type Wanted } from "./tree.ts";

const TYPES = ["float32", "float16", "bfloat16", "int32", "uint8", "int8", "int16"] as const;

/** Bytes of a tile: rows of fewer are no concern of `shift-rows`. */
const TILE_BYTES = [16384, 16384, 16384, 32768, 8192];

/** What is in scope of expressions. */
interface Row {
  readonly cx: ProgramContext;
  /** In which rows are computed. */
  readonly wide: Wanted;
  readonly tiles: string[];
  readonly scalars: string[];
  readonly masks: readonly string[];
}

/** Bytes of a row that a ring has in one slot of a block, and the rows that it is for. */
const SLOT_BYTES = 65536;

/** The statements of a program on a row; `isLong`: on one that passes through a ring, with weights of all rows. */
export function rowStmts(cx: ProgramContext, isLong: boolean): Stmt[] {
  const { choices } = cx;
  const type = isLong ? choices.pick(["float32", "int32"] as const) : choices.pick(TYPES);
  const bytes = SCALARS[type].bits / 8;
  const tileBytes = isLong ? SLOT_BYTES * choices.pick([1, 1, 2]) : choices.pick(TILE_BYTES);
  const [extent, vector] = [tileBytes / bytes, 16 / bytes];
  const length = isLong
    ? extent - choices.between(0, choices.pick([0, 40, extent / 32]))
    : choices.pick([
      choices.between(0, 40),
      extent - choices.between(0, 40),
      choices.between(1, extent),
    ]);
  const start = choices.between(0, 2 * vector);
  const ld = length + choices.between(0, 2 * vector);
  const isAlike = !choices.oneIn(6);
  const far = ld + choices.between(0, 2) * vector + (isAlike ? 0 : 1);

  const scalar = (value: number, type: ScalarName = "int32"): string => {
    const name = cx.name("n");
    cx.scalars.push({ name, type, value: String(value), attributes: "" });
    return name;
  };
  const tensor = (element: ScalarName, count: number, written: boolean): string => {
    const name = cx.name("R");
    const attributes = choices.pick(["", "", " __noalias"]);
    cx.buffers.push({ name, type: element, length: count, written, attributes });
    return name;
  };
  const lengthOf = (distance: number): number =>
    start + Math.max(0, cx.programs - 1) * distance + length;
  const isInPlace = choices.oneIn(4);
  // Rows that all programs share are not written.
  const from = !isInPlace && choices.oneIn(8) ? 0 : ld;
  const x = tensor(type, lengthOf(from), isInPlace);
  const y = isInPlace ? x : tensor(type, lengthOf(far), true);
  const distances = choices.pick(["int32", "int32", "int64"] as const);
  const [n, ldx, first] = [scalar(length), scalar(from, distances), scalar(start)];
  const ldy = isInPlace ? ldx : scalar(far, distances);
  const [row, i, there] = [cx.name("r"), cx.name("i"), cx.name("m")];
  const wide: Wanted = { type: isFloat(type) ? "float32" : "int32", shape: [extent] };
  const tile = (name: string, element: ScalarName): string =>
    `${spell(element)} ${name}[${extent}]`;
  const stmts: Stmt[] = [
    { parts: [`${choices.pick(["int", "long"])} ${row} = ${cx.programIndex};`] },
    { parts: [`int ${i}[${extent}] = 0 ... ${extent};`] },
    {
      parts: [
        `bool ${there}[${extent}] = ${i} < ${n}${
          choices.oneIn(3) ? ` && ${row} < ${choices.between(0, cx.programs)}` : ""
        };`,
      ],
    },
  ];
  const scope: Row = {
    cx,
    wide,
    tiles: [],
    scalars: [],
    masks: [there, `${i} < ${n} / 2`, `${i} >= 9`],
  };
  const load = (pointer: string, modifier = ""): void => {
    const [name, as] = [cx.name("v"), cx.name("v")];
    const loaded = modifier === "" && choices.oneIn(3)
      ? `*?(${there}) (${pointer})`
      : `load(${pointer}, ${there}, ${choices.between(0, 3)}${modifier})`;
    stmts.push({ parts: [`${tile(name, type)} = ${loaded};`] });
    stmts.push({ parts: [`${tile(as, wide.type)} = (${spell(wide.type)}[${extent}])${name};`] });
    scope.tiles.push(as);
  };
  load(`${x} + ${row} * ${ldx} + ${first} + ${i}`);
  if (isLong) {
    for (let left = choices.between(2, 3); left > 0; left--) {
      const weights = tensor(type, length, false);
      load(`${weights} + ${i}`, ', "nc"');
    }
  } else if (choices.oneIn(2)) {
    const beside = tensor(type, lengthOf(far), false);
    load(
      choices.oneIn(2)
        ? `${beside} + ${row} * ${isInPlace ? ldx : ldy} + ${first} + ${i}`
        : `${beside} + ${i}`,
    );
  }
  const reductions = choices.between(0, 3);
  const results = reductions === 0 ? "" : tensor(wide.type, cx.programs * reductions, true);
  for (let k = 0; k < reductions; k++) {
    const sum = cx.name("s");
    const value = expr(scope, choices.between(0, 2));
    stmts.push({
      parts: [`${spell(wide.type)} ${sum} = (`, value, `)[${choices.pick(["+", "max", "min"])}];`],
    });
    const result = `(${results} + ${row} * ${reductions} + ${k})`;
    const guard = choices.oneIn(4) ? `?(${row} != 1) ` : "";
    stmts.push({ parts: [`*${guard}${result} = ${sum};`] });
    scope.scalars.push(sum);
  }
  const stored = expr(scope, choices.between(0, 3));
  const where = choices.oneIn(4) ? ` && ${choices.pick(conditions(scope, row))}` : "";
  stmts.push({
    parts: [`*?(${there}${where}) (${y} + ${row} * ${ldy} + ${first} + ${i}) = `, stored, ";"],
  });
  return stmts;
}

/** Further conditions of stores: of a row as a whole, or of its elements. */
function conditions({ cx, scalars, masks, tiles }: Row, row: string): string[] {
  return [
    `${row} < ${cx.choices.between(0, cx.programs)}`,
    `${row} != 1`,
    ...scalars.map((one) => `${one} > 3`),
    ...masks.slice(1),
    ...tiles.map((one) => `${one} > 0`),
  ];
}

/** Element by element, of rows and what they were reduced to. */
function expr(row: Row, fuel: number): Node {
  const { cx: { choices }, wide, tiles, scalars, masks } = row;
  if (fuel === 0) return node(wide, choices.pick(tiles));
  const a = expr(row, fuel - 1);
  switch (choices.between(0, 5)) {
    case 0:
      return node(wide, "(", a, ` ${choices.pick(["+", "-", "*"])} `, expr(row, fuel - 1), ")");
    case 1:
      return node(wide, `${choices.pick(["min", "max"])}(`, a, ", ", expr(row, fuel - 1), ")");
    case 2:
      return node(wide, `(${choices.pick(masks)} ? `, a, ` : ${choices.between(0, 2)})`);
    case 3:
      return node(wide, "(", a, " > 1 ? ", expr(row, fuel - 1), " : ", a, ")");
    default:
      return scalars.length === 0
        ? node(wide, "(-", a, ")")
        : node(wide, "(", a, ` ${choices.pick(["+", "-", "*"])} ${choices.pick(scalars)})`);
  }
}
