/**
 * Long and deep programs with what they compute: chains of statements, of helpers, of branches and of loops, unrolled
 * ones among them. Each piece is text, and the same in JavaScript.
 */
import type { Random } from "../random.ts";

/** Variables of a program: two numbers, and a tile whose elements differ. */
export interface State {
  s: number;
  t: number;
  readonly n: number;
  readonly tile: Int32Array;
}

interface Piece {
  readonly text: string;
  readonly run: (state: State) => void;
}

export interface LongProgram {
  /** What it is made of, for messages. */
  readonly shape: string;
  readonly text: string;
  /** What it stores for an n: the two numbers, then the tile. */
  readonly run: (n: number) => Int32Array;
}

export const TILE = 128;
const mul = Math.imul;
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const lines = (pieces: readonly string[]): string => pieces.join("\n");

/** Makes a piece of about `size` statements; functions that it needs are added to `helpers`. */
type Kind = (random: Random, size: number, helpers: string[], name: string) => Piece;

const STATEMENTS: readonly ((c: number) => Piece)[] = [
  (c) => ({ text: `s = s * n + ${c};`, run: (v) => v.s = (mul(v.s, v.n) + c) | 0 }),
  (c) => ({ text: `t = (s ^ t) - ${c};`, run: (v) => v.t = ((v.s ^ v.t) - c) | 0 }),
  (c) => ({ text: `s = s > ${c} ? s - t : t;`, run: (v) => v.s = v.s > c ? (v.s - v.t) | 0 : v.t }),
  (c) => ({
    text: `s += (short) (t + ${c});`,
    run: (v) => v.s = (v.s + ((v.t + c) << 16 >> 16)) | 0,
  }),
  (c) => ({
    text: `a = a * s + ${c};`,
    run: (v) => v.tile.forEach((x, i) => v.tile[i] = mul(x, v.s) + c),
  }),
  (c) => ({
    text: `a = a > t ? a ^ ${c} : a + s;`,
    run: (v) => v.tile.forEach((x, i) => v.tile[i] = x > v.t ? x ^ c : x + v.s),
  }),
  () => ({ text: "t ^= a[max];", run: (v) => v.t ^= v.tile.reduce((x, y) => Math.max(x, y)) }),
  (c) => ({
    text: `if (s > ${c}) { *Y = s; s = s + t; }`,
    run: (v) => v.s = v.s > c ? (v.s + v.t) | 0 : v.s,
  }),
  (c) => ({
    text: `if (t != ${c}) a = a - n; else { *Y = t; a = a + t; }`,
    run: (v) => v.tile.forEach((x, i) => v.tile[i] = v.t !== c ? x - v.n : x + v.t),
  }),
  (c) => ({
    text: `for (int i = 0; i < 3; i++) s += i * t + ${c};`,
    run: (v) => range(3).forEach((i) => v.s = (v.s + mul(i, v.t) + c) | 0),
  }),
];

function statement(random: Random): Piece {
  const make = STATEMENTS[random.below(STATEMENTS.length)] ?? STATEMENTS[0];
  return make?.(random.below(100)) ?? { text: ";", run: () => {} };
}

/** Statements of a few kinds, again and again. */
const straight: Kind = (random, size) => {
  const few = range(1 + random.below(3)).map(() => statement(random));
  const all = range(size).map((i) => few[i % few.length] ?? statement(random));
  return { text: lines(all.map(({ text }) => text)), run: (v) => all.forEach((one) => one.run(v)) };
};

/** A loop that a hint unrolls. */
const unrolled: Kind = (random, size) => {
  const inner = statement(random);
  const isKnown = random.below(2) === 0;
  const rounds = 1 + random.below(Math.min(size, 60));
  const copies = isKnown && random.below(2) === 0
    ? ""
    : `(${1 + random.below(Math.min(size, 300))})`;
  const bound = isKnown ? `${rounds}` : `(n & 63)`;
  return {
    text: `#pragma tri loop unroll${copies}\nfor (int i = 0; i < ${bound}; i++) { ${inner.text} }`,
    run: (v) => range(isKnown ? rounds : v.n & 63).forEach(() => inner.run(v)),
  };
};

/** Helpers, each of which calls the one before, perhaps out of a branch or twice. */
const helpers: Kind = (random, size, functions, name) => {
  const way = random.below(3);
  const depth = way === 2 ? 2 + random.below(8) : way === 1 ? Math.min(size, 300) : size;
  const steps = range(depth).map(() => random.below(50));
  const callee = (i: number): string => `${name}_${i - 1}`;
  const bodies: readonly ((i: number, c: number) => string)[] = [
    (i, c) => `return ${callee(i)}(x ^ ${c}) + ${c};`,
    (i, c) => `if (x == ${c}) return ${i}; return ${callee(i)}(x + 1) * 3;`,
    (i, c) => `return ${callee(i)}(x) ^ ${callee(i)}(x + ${c});`,
  ];
  steps.forEach((c, i) => {
    const body = i === 0 ? `return x * ${c};` : bodies[way]?.(i, c) ?? "return x;";
    functions.push(`static int ${name}_${i}(int x) { ${body} }`);
  });
  const call = (i: number, x: number): number => {
    const c = steps[i] ?? 0;
    if (i === 0) return mul(x, c);
    if (way === 0) return (call(i - 1, x ^ c) + c) | 0;
    if (way === 1) return x === c ? i : mul(call(i - 1, (x + 1) | 0), 3);
    return call(i - 1, x) ^ call(i - 1, (x + c) | 0);
  };
  return {
    text: `s = ${name}_${depth - 1}(s & 127);`,
    run: (v) => v.s = call(depth - 1, v.s & 127),
  };
};

/** A function that returns, or a loop that ends or continues, at many points. */
const exits: Kind = (random, size, functions, name) => {
  const cases = range(size).map((i) => ({ at: random.below(200), value: i }));
  if (random.below(2) === 0) {
    const returns = cases.map(({ at, value }) => `if (x == ${at}) return ${value};`);
    functions.push(`static int ${name}(int x) { ${lines(returns)}\nreturn -x; }`);
    return {
      text: `s = ${name}(s & 255);`,
      run: (v) => v.s = cases.find(({ at }) => at === (v.s & 255))?.value ?? -(v.s & 255),
    };
  }
  const isBreak = cases.map(({ value }) => value % 2 === 0);
  const ways = cases.map(({ at }, i) =>
    isBreak[i]
      ? `if (((s + i) & 255) == ${at}) break;`
      : `if ((i & 31) == ${at & 31}) continue; t += i;`
  );
  return {
    text: `for (int i = 0; i < 40; i++) {\n${lines(ways)}\n}`,
    run: (v) => {
      round: for (let i = 0; i < 40; i++) {
        for (const [index, { at }] of cases.entries()) {
          if (isBreak[index]) {
            if (((v.s + i) & 255) === at) return;
          } else {
            if ((i & 31) === (at & 31)) continue round;
            v.t = (v.t + i) | 0;
          }
        }
      }
    },
  };
};

/** Branches in branches. */
const nested: Kind = (random, size) => {
  const depth = Math.min(size, 100);
  const bounds = range(depth).map(() => random.below(400) - 200);
  const text = bounds.map((bound) => `if ((s & 255) > ${bound}) { s += 1;`).join("\n");
  return {
    text: `${text}\nt = s; ${"}".repeat(depth)}`,
    run: (v) => {
      for (const bound of bounds) {
        if ((v.s & 255) <= bound) return;
        v.s = (v.s + 1) | 0;
      }
      v.t = v.s;
    },
  };
};

/** A condition of many terms. */
const condition: Kind = (random, size) => {
  const terms = range(Math.min(size, 400)).map(() => random.below(1000));
  return {
    text: `if (${
      terms.map((term) => `(s & 1023) != ${term}`).join(" && ")
    }) t = t + 7; else s = s - 1;`,
    run: (v) => {
      if (terms.includes(v.s & 1023)) v.s = (v.s - 1) | 0;
      else v.t = (v.t + 7) | 0;
    },
  };
};

/** A loop around a long body. */
const around: Kind = (random, size, functions, name) => {
  const inner = straight(random, size, functions, name);
  return {
    text: `for (int j = 0; j < 2; j++) {\n${inner.text}\n}`,
    run: (v) => range(2).forEach(() => inner.run(v)),
  };
};

const KINDS: Readonly<Record<string, Kind>> = {
  straight,
  around,
  unrolled,
  helpers,
  exits,
  nested,
  condition,
};

/** A program of a few pieces of at most so many statements each. */
export function longProgram(random: Random, most: number): LongProgram {
  const functions: string[] = [];
  const names = Object.keys(KINDS);
  const pieces = range(1 + random.below(3)).map((i) => {
    const kind = names[random.below(names.length)] ?? "straight";
    const size = 1 + random.below(most);
    const piece = KINDS[kind]?.(random, size, functions, `f${i}`);
    return { kind, size, ...(piece ?? statement(random)) };
  });
  const text = `#pragma tri specialize(off)
${lines(functions)}
__global__ void k(int *Y, int n) {
int s = n, t = 1; int r[${TILE}] = 0 ... ${TILE}; int a[${TILE}] = r * n;
${lines(pieces.map((piece) => piece.text))}
*Y = s; *(Y + 1) = t; *(Y + 2 + r) = a;
}
`;
  return {
    shape: pieces.map(({ kind, size }) => `${kind} ${size}`).join(", "),
    text,
    run: (n) => {
      const tile = Int32Array.from(range(TILE), (i) => mul(i, n));
      const state: State = { s: n, t: 1, n, tile };
      for (const piece of pieces) piece.run(state);
      return Int32Array.of(state.s, state.t, ...tile);
    },
  };
}
