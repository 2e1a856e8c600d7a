/** Expected results of control.cu. */
import { edgyWords, integers } from "./data.ts";
import { buffer, type CorpusCase, int, output, type ValueArgument } from "./types.ts";

const at = (values: ArrayLike<number>, i: number): number => values[i] ?? 0;

const collatz: CorpusCase = {
  file: "control",
  kernel: "control_collatz",
  grid: [3, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Uint32Array.from(integers(41, 300, 1, 20000));
    const steps = new Uint32Array(300);
    const peaks = new Uint32Array(300);
    x.forEach((start, i) => {
      let [value, count, peak] = [start, 0, start];
      while (value !== 1) {
        value = value % 2 === 1 ? 3 * value + 1 : value / 2;
        peak = Math.max(peak, value);
        count++;
      }
      steps[i] = count;
      peaks[i] = peak;
    });
    return [buffer(x), output(steps), output(peaks), int(300)];
  },
};

function nestedResult(start: number): number {
  let [a, sum] = [start, 0];
  if (a < 0) {
    if (a % 7 === 0) return -7;
    for (let k = 0; k < -a; k++) {
      if (k % 3 === 0) continue;
      if (k > 50) break;
      for (let m = k; m > 0; m >>= 1) {
        sum += m & 1;
        if (sum > 200) return sum;
      }
    }
    return sum;
  }
  do {
    if (a & 1) {
      sum += a;
      a = Math.trunc(a * 2 / 3);
    } else if (a & 2) {
      sum -= a;
      a -= 5;
    } else {
      sum ^= a;
      a = Math.trunc(a / 2) - 1;
    }
  } while (a > 0);
  return sum;
}

const nested: CorpusCase = {
  file: "control",
  kernel: "control_nested",
  grid: [2, 1, 1],
  block: [160, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Int32Array.from(integers(42, 310, -400, 3000));
    return [buffer(x), output(x.map(nestedResult)), int(310)];
  },
};

const popcount = (value: number): number => {
  let count = 0;
  for (let bit = 0; bit < 32; bit++) count += (value >>> bit) & 1;
  return count;
};

const OPERATIONS: readonly ((p: number, q: number) => number)[] = [
  (p, q) => p + q,
  (p, q) => p - q,
  (p, q) => Math.imul(p, q),
  (p, q) => q === 0 ? -1 : p / q,
  (p, q) => p & q,
  (p, q) => p ^ q,
  (p, q) => p ^ q,
  (p, q) => p << (q & 31),
  (p, q) => p >> (q & 31),
  (p, q) => {
    let sum = 0;
    for (let k = 0; k < (q & 15); k++) sum += p ^ k;
    return sum;
  },
  (p, q) => popcount(p) - Math.clz32(q),
  (p, q) => Math.min(p, q),
  () => 12345,
];

const switches: CorpusCase = {
  file: "control",
  kernel: "control_switch",
  grid: [3, 1, 1],
  block: [256, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 700;
    const op = Int32Array.from(integers(43, n, -1, 14));
    const a = Int32Array.from(edgyWords(44, n));
    // Never -1, by which the least number cannot be divided.
    const b = Int32Array.from(edgyWords(45, n)).map((value) => value === -1 ? 3 : value);
    const y = op.map((code, i) => OPERATIONS[code]?.(at(a, i), at(b, i)) ?? code);
    return [buffer(op), buffer(a), buffer(b), output(y), int(n)];
  },
};

interface Pair {
  readonly low: number;
  readonly high: number;
  readonly tag: readonly number[];
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** A structure of 32 bytes: an int, a double, three shorts. */
function pairArgument({ low, high, tag }: Pair): ValueArgument {
  const bytes = new Uint8Array(24);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, low, true);
  view.setFloat64(8, high, true);
  tag.forEach((value, i) => view.setInt16(16 + 2 * i, value, true));
  return { kind: "value", bytes, align: 8 };
}

const functions: CorpusCase = {
  file: "control",
  kernel: "control_functions",
  grid: [2, 1, 1],
  block: [64, 1, 1],
  sm: 80,
  arguments: () => {
    const n = 100;
    const x = Int32Array.from(integers(46, n, 0, 5000));
    const start: Pair = { low: 720, high: -3.25, tag: [100, -200, 32767] };
    const results = Array.from(x, (value): Pair => {
      let pair: Pair = { ...start, low: start.low + value };
      for (let k = 1; k < 4 + (value & 3); k++) {
        const { low, high, tag } = pair;
        pair = {
          low: gcd(low, 6 * k),
          high: high * 0.5 + 6 * k,
          tag: [0, 1, 2].map((i) => ((at(tag, (i + 6 * k) % 3) - i) << 16) >> 16),
        };
      }
      return pair;
    });
    return [
      buffer(x),
      pairArgument(start),
      output(Int32Array.from(results, ({ low }) => low)),
      output(Float64Array.from(results, ({ high }) => high)),
      output(Int16Array.from(results.flatMap(({ tag }) => tag))),
      int(n),
    ];
  },
};

const pick: CorpusCase = {
  file: "control",
  kernel: "control_pick",
  grid: [1, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Int32Array.from(integers(47, 120, -1000, 1000));
    const y = x.map((value, i) => value % 3 === 0 ? 2 * (value + i) : value - i);
    return [buffer(x), output(y), int(120)];
  },
};

const local: CorpusCase = {
  file: "control",
  kernel: "control_local",
  grid: [2, 1, 1],
  block: [96, 1, 1],
  sm: 80,
  arguments: () => {
    const x = edgyWords(48, 150);
    const y = x.map((value) => {
      const stack = Uint32Array.from({ length: 24 }, (_, k) => Math.imul(value, k + 1));
      const order = Uint8Array.from({ length: 16 }, (_, k) => (value >>> (k & 15)) & 15);
      for (let k = 0; k < 16; k++) {
        const index = ((at(stack, at(order, k)) + k) >>> 0) % 24;
        const other = at(stack, index);
        stack[index] = at(stack, 23 - index) + k;
        stack[23 - index] = other ^ 0x55;
      }
      return stack.reduce((hash, each) => Math.imul(hash ^ each, 16777619), 2166136261);
    });
    return [buffer(x), output(y), int(150)];
  },
};

const PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
const WEIGHTS = [[0.5, 0.25, 0.125, 0.0625], [1, 2, 4, 8]];
const LETTERS = "the quick brown fox";

const constants: CorpusCase = {
  file: "control",
  kernel: "control_constants",
  grid: [1, 1, 1],
  block: [128, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Int32Array.from(integers(49, 111, 0, 10000));
    const y = x.map((value) => {
      let sum = 0;
      for (let k = 0; k <= value % 12; k++) {
        sum += at(PRIMES, k) * LETTERS.charCodeAt((value + k) % 19);
      }
      return sum;
    });
    const z = Float32Array.from(
      x,
      (value, i) => at(WEIGHTS[value & 1] ?? [], i & 3) * at(PRIMES, value % 12),
    );
    return [buffer(x), output(y), output(z), int(111)];
  },
};

const grid: CorpusCase = {
  file: "control",
  kernel: "control_grid",
  grid: [3, 2, 2],
  block: [8, 4, 3],
  sm: 80,
  arguments: () => {
    const [width, height, depth] = [21, 7, 6];
    const out = Int32Array.from({ length: width * height * depth }, (_, i) => {
      const [x, y] = [i % width, Math.floor(i / width) % height];
      const z = Math.floor(i / width / height);
      return x + 1000 * y + 1000000 * z + (3 + 2 + 2) * (3 + 7);
    });
    return [output(out), int(width), int(height)];
  },
};

const jump: CorpusCase = {
  file: "control",
  kernel: "control_jump",
  grid: [1, 1, 1],
  block: [96, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Int32Array.from(integers(50, 90, -500, 500));
    const ways: readonly ((value: number) => number)[] = [
      (value) => 5 * value,
      // Falls through to the next: the shift is of the value, not of the difference.
      (value) => value >> 1,
      (value) => value >> 1,
      (value) => ~value,
    ];
    return [buffer(x), output(x.map((value) => ways[value & 3]?.(value) ?? 0)), int(90)];
  },
};

/** Multiplies down from a number in steps of three, or halves it, until it is small; then a little more. */
const PROGRAM = [
  [0, 1], // push 1
  [9, 0], // swap: [1, x]
  [10, 6], // 2: if x is odd go to 6
  [8, 0], // halve
  [6, 2], // if x > 0 go to 2
  [7, 12], // go to 12
  [4, 0], // 6: duplicate
  [12, 21], // xor 21
  [1, 0], // add
  [8, 0], // halve
  [8, 0], // halve
  [6, 2], // if x > 0 go to 2
  [12, 0x1234], // 12: xor
  [4, 0],
  [0, 77],
  [3, 0], // times 77
  [2, 0], // subtract
  [4, 0],
  [5, 0],
  [11, 0], // result
].flat();

function interpret(start: number): number {
  const stack = new Int32Array(16);
  let [top, pc, steps] = [0, 0, 0];
  const peek = (down = 0): number => at(stack, (top - down) & 15);
  const poke = (value: number, down = 0): void => {
    stack[(top - down) & 15] = value;
  };
  poke(start);
  const length = PROGRAM.length / 2;
  while (pc < length && steps++ < 400) {
    const [op, k] = [at(PROGRAM, 2 * pc), at(PROGRAM, 2 * pc + 1)];
    pc++;
    const combine = (value: (a: number, b: number) => number): void => {
      top--;
      poke(value(peek(), peek(-1)));
    };
    if (op === 0) top++, poke(k);
    else if (op === 1) combine((a, b) => a + b);
    else if (op === 2) combine((a, b) => a - b);
    else if (op === 3) combine(Math.imul);
    else if (op === 4) top++, poke(peek(1));
    else if (op === 5) top--;
    else if (op === 6) pc = peek() > 0 ? k : pc;
    else if (op === 7) pc = k;
    else if (op === 8) poke(peek() >> 1);
    else if (op === 9) {
      const a = peek();
      poke(peek(1));
      poke(a, 1);
    } else if (op === 10) pc = (peek() & 1) === 1 ? k : pc;
    else if (op === 11) return peek();
    else if (op === 12) poke(peek() ^ k);
    else return -op;
  }
  return -1000 - steps;
}

const machine: CorpusCase = {
  file: "control",
  kernel: "control_machine",
  grid: [2, 1, 1],
  block: [64, 1, 1],
  sm: 80,
  arguments: () => {
    const x = Int32Array.from(integers(51, 120, -20, 100000));
    return [
      buffer(Int32Array.from(PROGRAM)),
      int(PROGRAM.length / 2),
      buffer(x),
      output(x.map(interpret)),
      int(120),
    ];
  },
};

export const CONTROL: readonly CorpusCase[] = [
  collatz,
  nested,
  switches,
  functions,
  pick,
  local,
  constants,
  grid,
  jump,
  machine,
];
