/** Values that a program may pass by mistake, or to see what happens. */
import { Stream, Tensor } from "../../../ffi/mod.ts";
import type { Objects } from "./world.ts";

/** Thrown by values that throw where they are read: the caller's own error, which passes through. */
export class CallersError extends Error {}

function throwing(): never {
  throw new CallersError("the caller's own code throws");
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function detached(): Float32Array {
  const array = new Float32Array(6);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

function shrunk(): Float32Array {
  const buffer = new ArrayBuffer(24, { maxByteLength: 24 });
  const array = new Float32Array(buffer, 8, 4);
  buffer.resize(4);
  return array;
}

class Liar extends Float32Array {
  override get length(): number {
    return 6;
  }
}

const PRIMITIVES: readonly unknown[] = [
  ...[undefined, null, true, false, "", "0", "constructor", "__proto__", "float32", "text"],
  ...[NaN, Infinity, -Infinity, -0, 0, 1, 2, 3, 6, -1, 0.5, 255, 256, 2 ** 31, 2 ** 53, 2 ** 60],
  ...[0n, 1n, -1n, 2n ** 70n, Symbol("s"), Symbol.iterator, "x".repeat(10_000), "a\0b", "\ud800"],
];

/** Made anew for each call, because a call may keep or change them. */
const MAKERS: readonly (() => unknown)[] = [
  () => [],
  () => [2, 3],
  () => [3, 2],
  () => [6],
  () => [1, 1, 1],
  () => [1, 2, 3, 4],
  () => [0, 1],
  () => [2, , 3],
  () => [undefined],
  () => [NaN, 1],
  () => [-1, 6],
  () => [2n, 3n],
  () => ["2", "3"],
  () => [[2], [3]],
  () => [Symbol("s")],
  () => new Array(65).fill(1),
  () => ({}),
  () => ({ x: 5 }),
  () => ({ length: 2, 0: 2, 1: 3 }),
  () => Object.create(null),
  () => Object.create({ grid: [1] }),
  () => new Date(0),
  () => new Map([[1, 2]]),
  () => new Error("e"),
  () => /r/,
  () => Promise.resolve(1),
  () => (): void => {},
  () => async (): Promise<void> => {},
  () => class {},
  () => new URL("https://localhost/"),
  () => new Float32Array(6),
  () => new Float32Array(5),
  () => new Float64Array(6),
  () => new Uint8Array(4),
  () => new Uint8ClampedArray(4),
  () => new Float32Array(new SharedArrayBuffer(24)),
  () => new Uint8Array(new ArrayBuffer(4, { maxByteLength: 8 })),
  () => new Uint8Array(0),
  () => new ArrayBuffer(4),
  () => new SharedArrayBuffer(4),
  () => new DataView(new ArrayBuffer(4)),
  () => new Liar(3),
  () => ({ [Symbol.toStringTag]: "Float32Array", length: 6 }),
  () => Object.create(Float32Array.prototype),
  detached,
  shrunk,
  () => Object.create(Tensor.prototype),
  () => Object.create(Stream.prototype),
  () => revoked({}),
  () => revoked([]),
  () => new Proxy({}, { get: throwing, ownKeys: throwing }),
  () => new Proxy([1], { get: (list, name) => name === "length" ? 1e9 : Reflect.get(list, name) }),
  () => ({
    get grid(): unknown[] {
      return throwing();
    },
  }),
  () => ({ toString: throwing, valueOf: throwing, [Symbol.toPrimitive]: throwing }),
];

/** How many values there are. */
export function countValues(objects: Objects): number {
  return PRIMITIVES.length + MAKERS.length + 3 * Object.keys(objects).length;
}

/** One of the values: also objects of the device, of another device, and look-alikes of them. */
export function valueAt(index: number, objects: Objects, foreign: Objects): unknown {
  const simple = PRIMITIVES.length + MAKERS.length;
  if (index < PRIMITIVES.length) return PRIMITIVES[index];
  if (index < simple) return MAKERS[index - PRIMITIVES.length]?.();
  const [own, others] = [Object.values(objects), Object.values(foreign)];
  const place = index - simple;
  if (place < own.length) return own[place];
  if (place < 2 * own.length) return others[place - own.length];
  return new Proxy(own[place - 2 * own.length], {});
}
