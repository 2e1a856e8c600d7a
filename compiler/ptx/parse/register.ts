/** Declarations of registers, from PTX text. */
import type { PtxCursor } from "../cursor.ts";
import { parseNatural } from "./constant.ts";
import type { Register, RegisterType } from "../func.ts";
import { parseAlign, parseNames, parseVectorCount } from "./variable.ts";
import type { Scope } from "../scope.ts";

const REGISTER_TYPES: ReadonlySet<string> = new Set<RegisterType>([
  "pred",
  "b8",
  "b16",
  "b32",
  "b64",
  "b128",
  "u8",
  "u16",
  "u32",
  "u64",
  "s8",
  "s16",
  "s32",
  "s64",
  "f16",
  "f16x2",
  "bf16",
  "bf16x2",
  "f32",
  "f64",
]);

export function isRegisterType(name: string): name is RegisterType {
  return REGISTER_TYPES.has(name);
}

/** `.b32 %r<5>, %x;`, `.v4 .f32 v;` after `.reg`; registers have no alignment, but may be given one. */
export function parseRegisters(cursor: PtxCursor, scope: Scope): Register[] {
  const registers: Register[] = [];
  parseAlign(cursor);
  const vector = parseVectorCount(cursor);
  const type = cursor.peek().text.slice(1);
  if (!isRegisterType(type)) cursor.fail("a register type");
  cursor.next();
  do {
    const word = cursor.peek();
    for (const name of parseNames(cursor, "a register name", parseNatural)) {
      const declared = vector === undefined
        ? scope.register(name, type)
        : scope.vectorRegister(name, type, vector);
      if (declared === undefined) cursor.fail("a name that is not declared yet", word);
      registers.push(...[declared].flat());
    }
  } while (cursor.eat(","));
  cursor.expect(";");
  return registers;
}
