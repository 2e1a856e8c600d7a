/** A whole random program. */
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import { ALL_TARGETS, type TargetName, TARGETS } from "../../../compiler/targets.ts";
import type { Choices } from "./choices.ts";
import type { Feature } from "./features.ts";
import { makeExpr } from "./expressions.ts";
import { attributesOf, makeHead, makeNeighbours, makePragmas } from "./header.ts";
import { isFloat, ProgramContext } from "./scope.ts";
import { anyTiling, productStmts } from "./products/mod.ts";
import { rowStmts } from "./rows.ts";
import { makeStmts, storeOf } from "./statements.ts";
import {
  type GeneratedProgram,
  renderProgram,
  type ScalarSpec,
  type Shape,
  type Stmt,
  type Wanted,
} from "./tree.ts";

const ALL_TYPES: readonly (readonly [ScalarName, Feature | undefined])[] = [
  ["bool", undefined],
  ["int8", "int8"],
  ["uint8", "int8"],
  ["int16", "int8"],
  ["uint16", "int8"],
  ["int32", undefined],
  ["uint32", undefined],
  ["int64", "int64"],
  ["uint64", "int64"],
  ["float16", "half"],
  ["bfloat16", "bfloat16"],
  ["float32", undefined],
  ["float64", "double"],
  ["float8e4", "float8e4"],
  ["float8e5", "float8e5"],
];

/** `int`, `bool` and a few others: variables of one type meet more often if there are few. */
function chooseTypes(choices: Choices, features: ReadonlySet<Feature>): ScalarName[] {
  const known = ALL_TYPES
    .filter(([, feature]) => feature === undefined || features.has(feature))
    .map(([type]) => type);
  const chosen = new Set<ScalarName>(["int32", "bool"]);
  // Most functions are of these two.
  if (choices.oneIn(2)) chosen.add("float32");
  if (features.has("double") && choices.oneIn(6)) chosen.add("float64");
  for (let i = choices.between(2, 4); i > 0; i--) chosen.add(choices.pick(known));
  return [...chosen];
}

/** A few shapes that belong together: with axes in common, and of equal counts. */
function chooseShapes(choices: Choices, part: number): Shape[] {
  const [a, b] = part > 256
    ? [choices.pick([16, 32, 64]), choices.pick([8, 16, 32])]
    : [choices.pick([1, 2, 4, 8, 16, 32]), choices.pick([1, 2, 4, 8])];
  const c = a * b * 4 <= part ? choices.pick([1, 2, 4]) : 1;
  const shapes: Shape[] = [
    ...[[a], [b], [a, b], [b, a], [a * b], [a, b, c], [c, a, b], [a, 1], [1, b]],
    ...(choices.oneIn(4) ? [[b, c, a], [c, 1, b, a]] : []),
    ...(choices.oneIn(8) ? [[1, a, c, 1, b]] : []),
    ...(a * b * 2 <= part ? [[a, b, 2], [2 * a, b]] : []),
  ];
  return shapes.filter((shape, at) =>
    shapes.findIndex((other) => other.join() === shape.join()) === at
  );
}

function anyScalar(choices: Choices, type: ScalarName, name: string): ScalarSpec {
  const attributes = "";
  if (type === "bool") return { name, type, value: `${choices.between(0, 1)}`, attributes };
  if (isFloat(type)) return { name, type, value: `${choices.between(-32, 32) / 4}`, attributes };
  const { bits, signed } = SCALARS[type];
  const value = BigInt(
    choices.oneIn(4) ? choices.between(-(2 ** 31), 2 ** 31 - 1) : choices.between(0, 40),
  );
  const wrapped = signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
  const spec: ScalarSpec = { name, type, value: `${wrapped}`, attributes };
  return { ...spec, attributes: attributesOf(choices, spec) };
}

const NAMES = Object.values(TARGETS).map(({ name }): TargetName => name);
const CLUSTERED = NAMES.filter((name) => ALL_TARGETS[name].clusters);

export function makeProgram(choices: Choices, features: ReadonlySet<Feature>): GeneratedProgram {
  const tiling = choices.oneIn(12) ? anyTiling(choices) : undefined;
  const isOfRows = tiling === undefined && choices.oneIn(12);
  const isOfLongRows = isOfRows && choices.oneIn(4);
  const grid = tiling?.grid ?? [
    choices.between(1, isOfLongRows ? 6 : 3),
    !isOfLongRows && choices.oneIn(4) ? 2 : 1,
    !isOfLongRows && choices.oneIn(8) ? 2 : 1,
  ] as const;
  const rows = "get_program_id(1) * get_num_programs(0)";
  const planes = "get_program_id(2) * get_num_programs(0) * get_num_programs(1)";
  const part = choices.oneIn(8) ? 2048 : 256;
  const types = chooseTypes(choices, features);
  const cx = new ProgramContext(
    choices,
    features,
    types,
    chooseShapes(choices, part),
    grid[0] * grid[1] * grid[2],
    part,
    `(get_program_id(0) + ${rows}${grid[2] === 1 ? "" : ` + ${planes}`})`,
    makeExpr,
  );
  const head = makeHead(cx);
  const scalars = Array.from(
    { length: choices.between(0, 3) },
    () => anyScalar(choices, choices.pick(cx.types), cx.name("n")),
  ).filter(({ type }) => SCALARS[type].bits !== 8 || SCALARS[type].class === "int");
  cx.variables.push(...scalars.map(({ name, type }) => ({ name, type, shape: [] })));
  // Loops and branches keep rows from being shifted.
  const isAlone = tiling !== undefined || isOfLongRows || isOfRows && !choices.oneIn(6);
  const products = tiling && productStmts(cx, tiling);
  const first = products?.stmts ?? (isOfRows ? rowStmts(cx, isOfLongRows) : []);
  const body = isAlone ? [] : makeStmts(cx, choices.between(2, 7), 2);
  const kept = cx.variables.filter(({ name }) => name.startsWith("v")).slice(-4);
  const last: Wanted = { type: "int32", shape: choices.pick(cx.shapes) };
  const ends = isAlone
    ? []
    : kept.length > 0
    ? kept.map((one) => storeOf(cx, one, { ...one, parts: [one.name] }))
    : [storeOf(cx, last, makeExpr(cx, last, 4))];
  const made: GeneratedProgram = {
    head,
    neighbours: makeNeighbours(choices),
    pragmas: makePragmas(choices, [...scalars, ...cx.scalars]),
    buffers: cx.buffers,
    scalars: [...scalars, ...cx.scalars],
    helpers: cx.helpers,
    body: [
      ...cx.prelude,
      ...first,
      ...body,
      ...ends.filter((stmt): stmt is Stmt => stmt !== undefined),
    ],
    numWarps: products !== undefined
      ? products.numWarps
      : isOfRows
      ? choices.pick([2, 4, 8, 8, 16, 32])
      : choices.oneIn(12)
      ? choices.pick([16, 32])
      : choices.pick([1, 1, 2, 4, 8]),
    numStages: choices.pick([0, 0, 1, 2, 3, 4]),
    specialize: choices.oneIn(3),
    grid,
    seed: choices.between(1, 2 ** 31 - 1),
    wild: choices.oneIn(3),
    numCtas: 1,
    targets: tiling !== undefined && !choices.oneIn(4) ? ["sm_90a"] : [
      tiling !== undefined ? "sm_90a" : choices.pick(isOfRows ? CLUSTERED : NAMES),
      choices.pick(NAMES),
    ],
  };
  const numCtas = choices.oneIn(4) ? choices.pick(isOfRows ? [2, 4] : [2, 2, 4, 8, 16]) : 1;
  if (numCtas === 1 || /@|\bdot\(/.test(renderProgram(made))) return made;
  return { ...made, numCtas, targets: [choices.pick(CLUSTERED), choices.pick(CLUSTERED)] };
}
