/**
 * How undefined bits pass from the sources of an instruction to its results. A rule runs before the instruction, where
 * some source has undefined bits in some lane; it writes the shadows of all results. Instructions that move bits do to
 * shadows what they do to values; bitwise ones are exact; of all others a result is undefined as a whole.
 */
import type { Operand } from "../../compiler/ptx/func.ts";
import type { Match } from "../../compiler/ptx/match.ts";
import { type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import { COLLECTIVES } from "../collective/mod.ts";
import { laneOperation, runLanes } from "../lanes/mod.ts";
import { modifiersOf, scalarDestinations, scalarSources, typeOf } from "../lanes/shape.ts";
import type { HandlerContext, WarpFunction } from "../machine.ts";
import { movmatrix } from "../matrix/row_matrices.ts";
import { bitwiseRule, halvesRule, leftRule } from "./bit_rules.ts";
import { productRule, wgmmaRule } from "./matrix_rules.ts";
import { type Carrying, everywhere, type Rule, shadowRow, undefinedIn, whole } from "./carrying.ts";
import { fillShadow, settleRow } from "./shadow_row.ts";
import { compareRule, selectRule, voteRule } from "./predicate_rules.ts";

/** The same match with operands that are objects of their own, also where one register is named twice. */
function distinct(match: Match): Match {
  return {
    ...match,
    operands: match.operands.map((bound) => ({ ...bound, operand: { ...bound.operand } })),
  };
}

/** The operands that a match has by the given names. */
const named = ({ operands }: Match, names: ReadonlySet<string>): Operand[] =>
  operands.filter(({ name }) => names.has(name)).map(({ operand }) => operand);

/** Moves bits: shadows move as the values do, which the operands of the given names decide. */
const moving = (...names: readonly string[]): Rule => (carrying) => {
  const { context, results } = carrying;
  const match = distinct(carrying.match);
  const operation = laneOperation(match);
  if (operation === undefined) return whole(carrying);
  const { machine } = context;
  const controls = named(match, new Set(names));
  const undecided = undefinedIn(context, controls);
  const move = runLanes(
    operation,
    scalarSources(match).map(({ operand, type }) => ({
      row: controls.includes(operand)
        ? context.row(operand, type)
        : shadowRow(context, operand, type),
      invert: 0,
    })),
    scalarDestinations(match).map(({ operand, type }) =>
      context.shadow(operand)?.row ?? context.row({ kind: "sink" }, type)
    ),
    machine,
  );
  return (w, lanes) => {
    move(w, lanes);
    const bad = undecided(w, lanes);
    for (const result of results) {
      settleRow(machine.views, w, result, lanes);
      if (bad !== 0) fillShadow(machine.views, w, result, bad, bad);
    }
  };
};

/** Moves values between lanes, as `run` does; operands that are not to be moved are read as they are. */
const across = (
  run: (match: Match, context: HandlerContext) => WarpFunction,
  ...names: readonly string[]
): Rule =>
(carrying) => {
  const { context, results } = carrying;
  const { machine } = context;
  const match = distinct(carrying.match);
  const controls = named(match, new Set([...names, "m"]));
  const undecided = undefinedIn(context, controls);
  const sink: Operand = { kind: "sink" };
  const moved: HandlerContext = {
    ...context,
    shadow: () => undefined,
    row: (operand, type) => {
      if (controls.includes(operand)) return context.row(operand, type);
      // A predicate among the results depends on the controls alone.
      if (type === "pred") return context.row(sink, type);
      return shadowRow(context, operand, type);
    },
  };
  const move = run(match, moved);
  return (w, lanes) => {
    move(w, lanes);
    const bad = undecided(w, lanes);
    for (const result of results) {
      if (result.bits === 1) fillShadow(machine.views, w, result, lanes, bad);
      else {
        settleRow(machine.views, w, result, lanes);
        if (bad !== 0) fillShadow(machine.views, w, result, bad, bad);
      }
    }
  };
};

const isInteger = (name: TypeName): boolean => TYPES[name].class !== "float";

/**
 * Packed halves are judged each on its own; sums and products of integers are defined below the first undefined bit.
 */
const arithmetic: Rule = (carrying) => {
  const { match } = carrying;
  const type = typeOf(match, "a");
  if (/^[a-z]+16x2$/.test(typeOf(match)) || match.modifiers.some((name) => /16x2$/.test(name))) {
    return halvesRule(carrying);
  }
  const modifiers = modifiersOf(match);
  const isPlain = isInteger(type) && !modifiers.has("hi") && !modifiers.has("sat");
  return isPlain ? leftRule(carrying) : whole(carrying);
};

const halvesOrWhole: Rule = (carrying) =>
  carrying.match.modifiers.some((name) => /16x2$/.test(name))
    ? halvesRule(carrying)
    : whole(carrying);

/** Integers get wider or narrower bit by bit. */
const convert: Rule = (carrying) => {
  const { match } = carrying;
  const types = [typeOf(match), typeOf(match, "a")];
  const moves = types.every(isInteger) && !modifiersOf(match).has("sat");
  return moves ? moving()(carrying) : whole(carrying);
};

const shuffle = across(
  (match, context) => {
    const handler = COLLECTIVES[match.opcode];
    return handler === undefined ? () => {} : handler(match, context);
  },
  "b",
  "c",
);

const logic = (table: number): Rule => (carrying) => bitwiseRule(carrying, table);

const RULES: Readonly<Record<string, Rule>> = {
  mov: moving(),
  cvt: convert,
  prmt: moving("c"),
  shl: moving("b"),
  shr: moving("b"),
  shf: moving("c"),
  bfe: moving("b", "c"),
  bfi: moving("c", "e"),
  brev: moving(),
  slct: moving("c"),
  selp: selectRule,
  and: logic(0xc0),
  or: logic(0xfc),
  xor: logic(0x3c),
  not: logic(0x0f),
  lop3: (carrying) => bitwiseRule(carrying, undefined),
  setp: compareRule,
  add: arithmetic,
  sub: arithmetic,
  mul: arithmetic,
  mad: arithmetic,
  fma: halvesOrWhole,
  min: halvesOrWhole,
  max: halvesOrWhole,
  neg: halvesOrWhole,
  abs: halvesOrWhole,
  shfl: shuffle,
  "shfl.sync": shuffle,
  vote: voteRule,
  "vote.sync": voteRule,
  match: everywhere,
  "redux.sync": everywhere,
  movmatrix: across(movmatrix),
  mma: productRule,
  "wmma.mma": productRule,
  "wgmma.mma_async": wgmmaRule,
};

/** The rule of an instruction, for what it reads and writes. */
export function ruleOf(carrying: Carrying): WarpFunction {
  const rule = RULES[carrying.match.opcode] ?? whole;
  return rule(carrying);
}
