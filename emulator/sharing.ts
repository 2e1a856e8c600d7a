/**
 * Whether memory of this process can be shared with threads. A page without cross-origin isolation has no
 * `SharedArrayBuffer`, and no thread to share it with: there memory is its own.
 */
export const CAN_SHARE: boolean = typeof SharedArrayBuffer === "function";

/** Words that threads share, where there are threads. */
export function sharedWords(count: number): Int32Array {
  return new Int32Array(CAN_SHARE ? new SharedArrayBuffer(4 * count) : new ArrayBuffer(4 * count));
}
