/** Random expressions of a given element type and shape, right by construction. */
import { call, floatTest, helperCall, noise } from "./calls.ts";
import {
  arithmetic,
  bits,
  change,
  choice,
  comparison,
  conversion,
  logical,
  minmax,
  orElse,
  quotient,
  shift,
  stretchCast,
  unary,
  weakLiteral,
} from "./elementwise.ts";
import { literal } from "./literal.ts";
import { axisCall, counting, hint, making, pairing, splitting } from "./making.ts";
import { loadedTile } from "./memory.ts";
import { reduction, totalReduction } from "./reductions.ts";
import { type ProgramContext, rowMajor, sameShape } from "./scope.ts";
import { gathering, matmul, newaxis, permutation, reshaping, scan, sorting } from "./tiles.ts";
import { type Node, node, type Wanted } from "./tree.ts";

/** Makes an expression, or gives up because nothing of this kind fits. */
type Production = (cx: ProgramContext, wanted: Wanted, fuel: number) => Node | undefined;

/** An expression; `fuel` bounds its depth. */
export function makeExpr(cx: ProgramContext, wanted: Wanted, fuel: number): Node {
  if (fuel <= 0 || cx.choices.oneIn(6)) return makeLeaf(cx, wanted);
  for (let attempt = 0; attempt < 4; attempt++) {
    const made = cx.choices.weighted(PRODUCTIONS)(cx, wanted, fuel - 1);
    if (made !== undefined) return made;
  }
  return makeLeaf(cx, wanted);
}

function makeLeaf(cx: ProgramContext, wanted: Wanted): Node {
  const { choices } = cx;
  const fitting = cx.variables.filter(({ type, shape }) =>
    type === wanted.type && sameShape(shape, wanted.shape)
  );
  if (fitting.length > 0 && !choices.oneIn(4)) return node(wanted, choices.pick(fitting).name);
  if (!cx.inHelper && choices.oneIn(2)) {
    const loaded = loadedTile(cx, wanted);
    if (loaded !== undefined) return loaded;
  }
  if (wanted.shape.length > 0 && wanted.type === "int32" && choices.oneIn(2)) {
    return cx.indexTile(wanted.shape, rowMajor(wanted.shape));
  }
  if (wanted.type === "int32" && wanted.shape.length === 0 && !cx.inHelper && choices.oneIn(3)) {
    const call = choices.pick(["get_program_id", "get_num_programs", "program_id", "num_programs"]);
    return node(wanted, `${call}(${choices.between(0, 2)})`);
  }
  return literal(cx, wanted);
}

const PRODUCTIONS: readonly (readonly [number, Production])[] = [
  [10, arithmetic],
  [2, shift],
  [3, minmax],
  [3, unary],
  [8, comparison],
  [4, logical],
  [6, conversion],
  [2, bits],
  [3, stretchCast],
  [5, choice],
  [1, orElse],
  [3, newaxis],
  [4, permutation],
  [3, reshaping],
  [7, reduction],
  [2, totalReduction],
  [2, making],
  [2, axisCall],
  [2, pairing],
  [1, splitting],
  [1, counting],
  [1, hint],
  [3, change],
  [1, weakLiteral],
  [1, quotient],
  [2, scan],
  [1, sorting],
  [1, gathering],
  [4, matmul],
  [9, call],
  [1, floatTest],
  [2, noise],
  [1, helperCall],
];
