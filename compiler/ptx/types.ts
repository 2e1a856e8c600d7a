/**
 * TYPES: the types that instructions name, their widths, and which registers may hold them.
 * Source: PTX ISA 9.0, 5.2 "Types" and 9.4.1 "Operand Size Exceeding Instruction-Type Size".
 */
import type { RegisterType } from "./func.ts";

export interface TypeFacts {
  readonly bits: number;
  readonly class: "pred" | "bits" | "int" | "float";
}

const bits = (width: number): TypeFacts => ({ bits: width, class: "bits" });
const int = (width: number): TypeFacts => ({ bits: width, class: "int" });
const float = (width: number): TypeFacts => ({ bits: width, class: "float" });

export const TYPES = {
  pred: { bits: 1, class: "pred" },
  b8: bits(8),
  b16: bits(16),
  b32: bits(32),
  b64: bits(64),
  b128: bits(128),
  u8: int(8),
  u16: int(16),
  u32: int(32),
  u64: int(64),
  s8: int(8),
  s16: int(16),
  s32: int(32),
  s64: int(64),
  u16x2: int(32),
  s16x2: int(32),
  f16: float(16),
  bf16: float(16),
  f16x2: float(32),
  bf16x2: float(32),
  tf32: float(32),
  f32: float(32),
  f32x2: float(64),
  f64: float(64),
  e4m3x2: float(16),
  e5m2x2: float(16),
} as const satisfies Record<string, TypeFacts>;

export type TypeName = keyof typeof TYPES;

export function isTypeName(name: string): name is TypeName {
  return Object.hasOwn(TYPES, name);
}

/** The type of twice the width: results of `mul.wide`. */
export function wideType(name: TypeName): TypeName {
  const wide = `${name[0]}${2 * TYPES[name].bits}`;
  return isTypeName(wide) ? wide : name;
}

/**
 * Whether a register holds operands of a type. Untyped registers and untyped instructions go with anything of their
 * size, signed with unsigned; `wider` allows larger registers (ld, st, cvt).
 */
export function holds(register: RegisterType, type: TypeName, wider: boolean): boolean {
  const [have, want] = [TYPES[register], TYPES[type]];
  if (have.class === "pred" || want.class === "pred") return have.class === want.class;
  if (wider ? have.bits < want.bits : have.bits !== want.bits) return false;
  if (have.class === "bits" || want.class === "bits") return true;
  return have.class === want.class && (want.class === "int" || register === type);
}

/** Whether a type takes integer literals. */
export function takesInteger(type: TypeName): boolean {
  return TYPES[type].class !== "float";
}

/** Whether a type takes float literals: single or double, or untyped of that size. */
export function takesFloat(type: TypeName): boolean {
  return type === "f32" || type === "f64" || type === "b32" || type === "b64";
}
