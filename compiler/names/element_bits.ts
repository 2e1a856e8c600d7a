/** Elements from the bits of registers and of memory. */
import { type ScalarValue, wrapInt } from "../support/arith.ts";
import { floatFromBits } from "../support/float.ts";
import { SCALARS } from "../support/scalar.ts";
import type { HomeRef } from "../lower/homes.ts";
import { bytesOf, type Element, isPointer } from "../ir/types.ts";

/** The value whose bits are the lowest ones. */
function valueFromBits(bits: bigint, element: Element): ScalarValue {
  if (isPointer(element)) return BigInt.asUintN(64, bits);
  if (element === "bool") return bits === 0n ? 0n : 1n;
  const { class: kind, bits: width } = SCALARS[element];
  if (kind === "int") return wrapInt(bits, element);
  if (element === "float32" || element === "float64") return quickFloat(bits, element);
  return floatFromBits(BigInt.asUintN(width, bits), element);
}

const view = new DataView(new ArrayBuffer(8));

/** As `floatFromBits` of the types that the host has. */
function quickFloat(bits: bigint, type: "float32" | "float64"): number {
  view.setBigUint64(0, BigInt.asUintN(64, bits), true);
  return type === "float32" ? view.getFloat32(0, true) : view.getFloat64(0, true);
}

/** The value that a register holds where a reference says. */
export function valueOfRegister(bits: bigint, ref: HomeRef, element: Element): ScalarValue {
  if (ref.kind !== "part") return valueFromBits(bits, element);
  const part = BigInt.asUintN(8 * ref.bytes, bits >> BigInt(8 * ref.byte));
  return valueFromBits(part, element);
}

/** The value in bytes of memory, the lowest first. */
export function valueOfBytes(bytes: Uint8Array, element: Element): ScalarValue {
  let bits = 0n;
  for (let i = bytesOf(element) - 1; i >= 0; i--) bits = (bits << 8n) | BigInt(bytes[i] ?? 0);
  return valueFromBits(bits, element);
}
