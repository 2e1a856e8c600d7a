/**
 * Numbers for pairs of numbers, equal ones for equal pairs: chained, a key for tuples of any length. The emitter
 * looks up every instruction that a rule asks for, most of them in vain, and building strings for that took longer
 * than the rules.
 */
const FIRST_SLOTS = 1 << 10;

export class PairTable {
  /** Open addressing: number of the pair + 1, 0 for a free slot. */
  #slots = new Int32Array(FIRST_SLOTS);
  #lefts = new Int32Array(FIRST_SLOTS / 2);
  #rights = new Int32Array(FIRST_SLOTS / 2);
  #count = 0;

  /** The number of a pair of 32-bit integers: 0, 1, … in the order of their first use. */
  numberOf(left: number, right: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash(left, right) & mask;
    for (;;) {
      const number = (this.#slots[slot] ?? 0) - 1;
      if (number < 0) break;
      if (this.#lefts[number] === left && this.#rights[number] === right) return number;
      slot = (slot + 1) & mask;
    }
    const number = this.#count++;
    this.#slots[slot] = number + 1;
    this.#lefts[number] = left;
    this.#rights[number] = right;
    if (2 * this.#count === this.#slots.length) this.#grow();
    return number;
  }

  /** Never more than half full. */
  #grow(): void {
    const slots = new Int32Array(2 * this.#slots.length);
    this.#lefts = resized(this.#lefts);
    this.#rights = resized(this.#rights);
    const mask = slots.length - 1;
    for (let number = 0; number < this.#count; number++) {
      let slot = hash(this.#lefts[number] ?? 0, this.#rights[number] ?? 0) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}

function resized(old: Int32Array): Int32Array<ArrayBuffer> {
  const twice = new Int32Array(2 * old.length);
  twice.set(old);
  return twice;
}

/** Odd multipliers (of the golden ratio and of MurmurHash3) spread neighbours, and the high bits go down. */
function hash(left: number, right: number): number {
  const mixed = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}
