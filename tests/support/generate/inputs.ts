/** Contents of buffers and values of parameters: as bytes for the kernel, as elements for the reference. */
import { type ScalarName, SCALARS } from "../../../compiler/support/scalar.ts";
import { freshRandom, type Random } from "../random.ts";
import { type Cell, exact, integer, type Memory } from "../reference/mod.ts";
import { fromBits, isFloatName, roundTo, toBits } from "../reference/formats.ts";
import type { BufferSpec, GeneratedProgram, ScalarSpec } from "./tree.ts";

export function bytesOf(type: ScalarName): number {
  return Math.max(8, SCALARS[type].bits) / 8;
}

/** The bit pattern of one element. */
function patternAt(bytes: Uint8Array, type: ScalarName, index: number): bigint {
  const size = bytesOf(type);
  let pattern = 0n;
  for (let b = size - 1; b >= 0; b--) {
    pattern = pattern << 8n | BigInt(bytes[index * size + b] ?? 0);
  }
  return pattern;
}

/** What a load of an element gives; any byte but 0 is true. */
export function elementAt(bytes: Uint8Array, type: ScalarName, index: number): bigint | number {
  const pattern = patternAt(bytes, type, index);
  if (isFloatName(type)) return fromBits(pattern, type);
  if (type === "bool") return pattern === 0n ? 0n : 1n;
  const { bits, signed } = SCALARS[type];
  return signed ? BigInt.asIntN(bits, pattern) : BigInt.asUintN(bits, pattern);
}

const cellOf = (value: bigint | number): Cell =>
  typeof value === "bigint" ? integer(value) : exact(value);

/** An element with few digits, so that most arithmetic on it is exact. */
function tamePattern(random: Random, type: ScalarName, isSmall: boolean): bigint {
  if (type === "bool") return BigInt([0, 1, 0, 1, 2, 255][random.below(6)] ?? 0);
  if (!isFloatName(type)) return BigInt(random.below(41) - 8);
  if (!isSmall && random.below(40) === 0) {
    const special = [0x7fc00000n, 0x7f800000n, 0xff800000n, 0x80000000n][random.below(4)] ?? 0n;
    const value = roundTo(fromBits(special, "float32"), type);
    return toBits(value, type) ?? (1n << BigInt(SCALARS[type].bits - 1)) - 1n;
  }
  return toBits(roundTo((random.below(65) - 32) / 4, type), type) ?? 0n;
}

/** The bytes that a buffer starts with. */
export function contentsOf(
  { seed, wild }: GeneratedProgram,
  spec: BufferSpec,
  nth: number,
): Uint8Array {
  const size = bytesOf(spec.type);
  const bytes = new Uint8Array(size * spec.length);
  if (spec.zeroed) return bytes;
  const random = freshRandom((seed + 7919 * nth) % 2 ** 31);
  const isSmall = spec.small === true;
  if (wild && !isSmall) {
    random.fill(bytes);
    return bytes;
  }
  for (let index = 0; index < spec.length; index++) {
    const pattern = tamePattern(random, spec.type, isSmall);
    for (let b = 0; b < size; b++) {
      bytes[index * size + b] = Number((pattern >> BigInt(8 * b)) & 255n);
    }
  }
  return bytes;
}

/** A buffer for the reference. */
export function memoryOf({ name, type, length }: BufferSpec, bytes: Uint8Array): Memory {
  const cells = Array.from({ length }, (_, index) => cellOf(elementAt(bytes, type, index)));
  return { name, element: type, cells };
}

export function scalarCell({ type, value }: ScalarSpec): Cell {
  return isFloatName(type) ? exact(roundTo(Number(value), type)) : integer(BigInt(value));
}

/** The bit pattern of a scalar argument. */
export function scalarPattern({ type, value }: ScalarSpec): bigint {
  return isFloatName(type)
    ? toBits(roundTo(Number(value), type), type) ?? 0n
    : BigInt.asUintN(SCALARS[type].bits, BigInt(value));
}
