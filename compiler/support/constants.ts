/** Constant memory, as programs share it out (language.md 7.2). */

/** All there is, for the buffers of a program together (PTX ISA 9.0, 5.1.3). */
export const CONSTANT_BYTES = 65536n;

/** What the address of a buffer is a multiple of: that of the widest access. */
export const CONSTANT_ALIGN = 16;

/** What a buffer takes of constant memory: the next one starts at a multiple of {@linkcode CONSTANT_ALIGN}. */
export function constantSpace(bytes: bigint): bigint {
  const align = BigInt(CONSTANT_ALIGN);
  return (bytes + align - 1n) / align * align;
}
