/** Bytes of the WebAssembly binary format: LEB128 numbers, floats, names, vectors. */

export type Bytes = number[];

/** Unsigned LEB128 of an integer of up to 53 bits. */
export function pushUnsigned(bytes: Bytes, value: number): void {
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Signed LEB128 of a 32-bit integer. */
export function pushSigned(bytes: Bytes, value: number): void {
  let rest = value | 0;
  while (rest > 63 || rest < -64) {
    bytes.push((rest & 127) | 128);
    rest >>= 7;
  }
  bytes.push(rest & 127);
}

/** Signed LEB128 of a 64-bit integer. */
export function pushSigned64(bytes: Bytes, value: bigint): void {
  let rest = BigInt.asIntN(64, value);
  while (rest > 63n || rest < -64n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest & 127n));
}

export function pushFloat(bytes: Bytes, value: number, size: 4 | 8): void {
  const view = new DataView(new ArrayBuffer(8));
  if (size === 4) view.setFloat32(0, value, true);
  else view.setFloat64(0, value, true);
  for (let i = 0; i < size; i++) bytes.push(view.getUint8(i));
}

/** Without spreading: bodies may be longer than an argument list. */
export function pushAll(bytes: Bytes, more: Iterable<number>): void {
  for (const byte of more) bytes.push(byte);
}

export function pushName(bytes: Bytes, name: string): void {
  const text = new TextEncoder().encode(name);
  pushUnsigned(bytes, text.length);
  pushAll(bytes, text);
}

/** Bytes with their number in front. */
export function pushSized(bytes: Bytes, content: Bytes): void {
  pushUnsigned(bytes, content.length);
  pushAll(bytes, content);
}

/** All pieces, one after the other. */
export function joinBytes(pieces: readonly Bytes[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
