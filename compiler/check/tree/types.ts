/** Types of Triton-C values. A shape is part of a tile's type. Plain, structurally comparable data. */

import { type ScalarName, SCALARS } from "../../support/scalar.ts";

export { type ScalarName, SCALARS };

export type Type = VoidType | ScalarType | PointerType | TileType | PoisonType;
export interface VoidType {
  readonly kind: "void";
}
/** The type of a wrong expression; silences follow-up errors. */
export interface PoisonType {
  readonly kind: "poison";
}
export interface ScalarType {
  readonly kind: "scalar";
  readonly name: ScalarName;
}
export interface PointerType {
  readonly kind: "pointer";
  readonly pointee: ScalarType | PointerType | VoidType;
  readonly const: boolean;
  readonly volatile: boolean;
  readonly space: "global" | "constant";
}
export type ElementType = ScalarType | PointerType;
export interface TileType {
  readonly kind: "tile";
  readonly element: ElementType;
  readonly shape: readonly number[];
}

/** Bytes of one element in memory; `bool` takes 1, pointers 8. */
export function elementBytes(type: ElementType): number {
  return type.kind === "pointer" ? 8 : Math.max(8, SCALARS[type.name].bits) / 8;
}

/** Source spelling with shape, for diagnostics: `half[64, 32]`, `float*[16]`. */
export function spellType(type: Type): string {
  switch (type.kind) {
    case "void":
      return "void";
    case "poison":
      return "<error>";
    case "scalar":
      return SCALARS[type.name].spelling;
    case "pointer":
      return [
        ...(type.const ? ["const "] : []),
        ...(type.volatile ? ["volatile "] : []),
        spellType(type.pointee),
        ...(type.space === "constant" ? [" __constant__"] : []),
        "*",
      ].join("");
    case "tile":
      return `${spellType(type.element)}[${type.shape.join(", ")}]`;
  }
}
