/**
 * Instructions as WebAssembly primitives. In: an instruction. Out: the primitive that executes it for all lanes of a warp,
 * or nothing if no rule has one.
 */
import type { Match } from "../../compiler/ptx/match.ts";
import { accessForm } from "./access.ts";
import { setForm, setpForm } from "./compare.ts";
import { convertForm } from "./convert.ts";
import { convertLongForm } from "./convert_long.ts";
import { floatForm } from "./float.ts";
import { integerForm } from "./integer.ts";
import {
  cnotForm,
  extractForm,
  funnelForm,
  insertForm,
  logicForm,
  lop3Form,
  permuteForm,
  predicateForm,
  shiftForm,
} from "./logic.ts";
import { addressForm, moveForm, selectForm, signSelectForm } from "./move.ts";
import type { Primitive } from "./primitive.ts";
import { scalarForm } from "./scalar.ts";
import type { FormRule } from "./shape.ts";

export type { Argument, Primitive } from "./primitive.ts";

const ARITHMETIC: readonly FormRule[] = [integerForm, floatForm, scalarForm];
const LOGIC: readonly FormRule[] = [predicateForm, logicForm];

const RULES: ReadonlyMap<string, readonly FormRule[]> = new Map<string, readonly FormRule[]>([
  ...["add", "sub", "mul", "mad", "min", "max", "neg", "abs"].map(
    (opcode): [string, readonly FormRule[]] => [opcode, ARITHMETIC],
  ),
  ...["and", "or", "xor", "not"].map((opcode): [string, readonly FormRule[]] => [opcode, LOGIC]),
  ["sad", [integerForm]],
  ["mul24", [integerForm]],
  ["mad24", [integerForm]],
  ["dp4a", [integerForm]],
  ["popc", [integerForm]],
  ["brev", [integerForm]],
  ["fma", [floatForm]],
  ["div", [floatForm, scalarForm]],
  ["rem", [scalarForm]],
  ["clz", [scalarForm]],
  ["bfind", [scalarForm]],
  ["rcp", [floatForm]],
  ["rsqrt", [floatForm]],
  ["ex2", [floatForm]],
  ["sqrt", [floatForm]],
  ["cnot", [cnotForm]],
  ["lop3", [lop3Form]],
  ["shl", [shiftForm, scalarForm]],
  ["shr", [shiftForm, scalarForm]],
  ["shf", [funnelForm, scalarForm]],
  ["bfe", [extractForm, scalarForm]],
  ["bfi", [insertForm, scalarForm]],
  ["prmt", [permuteForm, scalarForm]],
  ["set", [setForm]],
  ["setp", [setpForm]],
  ["selp", [selectForm]],
  ["slct", [signSelectForm]],
  ["mov", [predicateForm, moveForm]],
  ["ld", [accessForm]],
  ["st", [accessForm]],
  ["cvta", [addressForm]],
  ["cvt", [convertForm, convertLongForm]],
]);

/** The primitive that executes an instruction, if there is one. */
export function wasmForm(match: Match): Primitive | undefined {
  for (const rule of RULES.get(match.opcode) ?? []) {
    const primitive = rule(match);
    if (primitive !== undefined) return primitive;
  }
  return undefined;
}
