/**
 * Simulates the banks of shared memory: 32 banks of 4 bytes. An access of 4 bytes or fewer per lane is served for
 * 32 lanes at a time, of 8 bytes for 16, of 16 bytes for 8. Lanes that name the same word of a bank share it.
 */

/** Wavefronts that one warp access takes: `addresses[lane]` in bytes. */
export function wavefronts(addresses: readonly number[], bytes: number): number {
  const lanes = bytes >= 16 ? 8 : bytes === 8 ? 16 : 32;
  let total = 0;
  for (let start = 0; start < addresses.length; start += lanes) {
    const words = new Map<number, Set<number>>();
    for (const address of addresses.slice(start, start + lanes)) {
      for (let byte = 0; byte < bytes; byte += 4) {
        const word = Math.floor((address + byte) / 4);
        const bank = words.get(word % 32) ?? new Set();
        bank.add(word);
        words.set(word % 32, bank);
      }
    }
    total += Math.max(...[...words.values()].map((bank) => bank.size));
  }
  return total;
}

/** Wavefronts that an access without conflicts takes. */
export function idealWavefronts(bytes: number): number {
  return Math.max(1, bytes / 4);
}
