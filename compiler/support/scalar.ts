/** The scalar types, the same for the language, both IRs, contracts and wrappers. One row each. */

/** Names follow the predeclared typedefs; `half` is float16, `float` float32, `long` int64. */
export const SCALARS = {
  //         class    bits signed rank  source spelling
  bool: { class: "int", bits: 1, signed: false, rank: 0, spelling: "bool" },
  int8: { class: "int", bits: 8, signed: true, rank: 1, spelling: "char" },
  uint8: { class: "int", bits: 8, signed: false, rank: 1, spelling: "unsigned char" },
  int16: { class: "int", bits: 16, signed: true, rank: 2, spelling: "short" },
  uint16: { class: "int", bits: 16, signed: false, rank: 2, spelling: "unsigned short" },
  int32: { class: "int", bits: 32, signed: true, rank: 3, spelling: "int" },
  uint32: { class: "int", bits: 32, signed: false, rank: 3, spelling: "unsigned int" },
  int64: { class: "int", bits: 64, signed: true, rank: 4, spelling: "long" },
  uint64: { class: "int", bits: 64, signed: false, rank: 4, spelling: "unsigned long" },
  float8e4: { class: "float", bits: 8, signed: true, rank: 5, spelling: "float8e4" },
  float8e5: { class: "float", bits: 8, signed: true, rank: 5, spelling: "float8e5" },
  float16: { class: "float", bits: 16, signed: true, rank: 6, spelling: "half" },
  bfloat16: { class: "float", bits: 16, signed: true, rank: 6, spelling: "bfloat16" },
  float32: { class: "float", bits: 32, signed: true, rank: 7, spelling: "float" },
  float64: { class: "float", bits: 64, signed: true, rank: 8, spelling: "double" },
} as const;

/** The name of a scalar type, in every part of tri. */
export type ScalarName = keyof typeof SCALARS;
