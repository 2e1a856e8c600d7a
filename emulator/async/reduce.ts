/** Handler of cp.reduce.async.bulk: bytes of shared memory combined with what is elsewhere (PTX ISA 9.0, 9.7.9.25.4). */
import type { Match } from "../../compiler/ptx/match.ts";
import { isTypeName, type TypeName, TYPES } from "../../compiler/ptx/types.ts";
import { bug } from "../../compiler/support/bug.ts";
import type { Handler } from "../machine.ts";
import { crossing, type Move, outgoing } from "./bulk.ts";
import { combiner, type ReducedType, type Reduction, REDUCTIONS } from "./combine.ts";

/** The reduction that an instruction names. */
export function reductionOf(match: Match): Reduction {
  const names = new Set(match.bound.values());
  return REDUCTIONS.find((name) => names.has(name)) ?? bug(`${match.opcode} without a reduction`);
}

/** Types that instructions name, and those that they are combined as. */
export const REDUCED_TYPES: Readonly<Partial<Record<TypeName, ReducedType>>> = {
  u32: "u32",
  s32: "s32",
  b32: "u32",
  u64: "u64",
  s64: "s64",
  b64: "u64",
  f16: "f16",
  bf16: "bf16",
  f32: "f32",
  f64: "f64",
};

/** The type that an instruction names. */
export function typeOf(match: Match): TypeName {
  return [...match.bound.values()].find(isTypeName) ?? bug(`${match.opcode} without a type`);
}

const reduce: Handler = (match, context) => {
  const { machine } = context;
  const type = typeOf(match);
  const reduction = reductionOf(match);
  const combine = combiner(reduction, REDUCED_TYPES[type] ?? bug(`${match.opcode}.${type}`)) ??
    bug(`${match.opcode}.${reduction}.${type}`);
  const step = TYPES[type].bits / 8;
  const combineAll: Move = (to, from, bytes) => {
    for (let at = 0; at < bytes; at += step) combine(machine, to + at, from + at);
  };
  const direction = match.bound.has("bulk_group") ? outgoing : crossing;
  return direction(match, context, "combines", combineAll);
};

export const REDUCE: Readonly<Record<string, Handler>> = { "cp.reduce.async.bulk": reduce };
