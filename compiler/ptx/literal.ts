/** Numbers in PTX text (PTX ISA 9.0, 4.5 "Constants"). */

export type PtxNumber =
  | { readonly kind: "integer"; readonly value: bigint }
  | { readonly kind: "float"; readonly type: "f32" | "f64"; readonly bits: bigint };

/** The bits of a double. */
export function doubleBits(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

/** The value of a number token. Decimal fractions are doubles; a leading 0 makes octal. */
export function readNumber(text: string): PtxNumber | undefined {
  if (/^0[fF]/.test(text)) {
    return { kind: "float", type: "f32", bits: BigInt(`0x${text.slice(2)}`) };
  }
  if (/^0[dD]/.test(text)) {
    return { kind: "float", type: "f64", bits: BigInt(`0x${text.slice(2)}`) };
  }
  const digits = text.replace(/U$/, "");
  if (/^0[xXbB]/.test(digits)) return { kind: "integer", value: BigInt(digits) };
  if (/[.eE]/.test(digits)) return { kind: "float", type: "f64", bits: doubleBits(Number(digits)) };
  if (!/^0\d/.test(digits)) return { kind: "integer", value: BigInt(digits) };
  return /^[0-7]+$/.test(digits) ? { kind: "integer", value: BigInt(`0o${digits}`) } : undefined;
}

/** Minus the number. */
export function negateNumber(number: PtxNumber): PtxNumber {
  if (number.kind === "integer") return { kind: "integer", value: -number.value };
  return { ...number, bits: number.bits ^ (number.type === "f32" ? 1n << 31n : 1n << 63n) };
}

/** The value of a float. */
export function floatValue({ type, bits }: Extract<PtxNumber, { kind: "float" }>): number {
  const view = new DataView(new ArrayBuffer(8));
  if (type === "f64") {
    view.setBigUint64(0, bits);
    return view.getFloat64(0);
  }
  view.setUint32(0, Number(bits));
  return view.getFloat32(0);
}

/** The bits of a number as an element of a variable: of float types those of the float. */
export function bitsAs(number: PtxNumber, type: string): bigint {
  if (type !== "f32" && type !== "f64") {
    return number.kind === "integer" ? number.value : number.bits;
  }
  if (number.kind === "float" && number.type === type) return number.bits;
  const value = number.kind === "integer" ? Number(number.value) : floatValue(number);
  if (type === "f64") return doubleBits(value);
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return BigInt(view.getUint32(0));
}
