/** Reductions and scans of tiles of any shape, axis, type and layout on the emulator, against plain loops. */
import fc from "../../../support/property.ts";
import { convertScalar, evalBinary, type ScalarValue } from "../../../../compiler/support/arith.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { type ScalarName, SCALARS } from "../../../../compiler/support/scalar.ts";
import { ALL_TARGETS, type TargetName, TARGETS } from "../../../../compiler/targets.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { int } from "../../../support/emulate.ts";
import { countOf, lines } from "../../../support/compiler/tile_index.ts";
import { testsInTurn } from "../../../support/sampled.ts";
import { firstDifference, type Scalar } from "../../../support/typed_arrays.ts";
import { CompiledText, zeros } from "../../../support/compiler/value_run.ts";

const test = testsInTurn(2);

const INTEGERS = ["int32", "uint32", "int64", "uint64"] as const;
const NARROW = ["bool", "int8", "uint8", "int16", "uint16"] as const;
const FLOATS = ["float16", "bfloat16", "float32", "float64"] as const;
const TYPES: readonly ScalarName[] = [...INTEGERS, ...NARROW, ...FLOATS];
const TARGET_NAMES = Object.keys(TARGETS) as TargetName[];

/** How subscripts spell reductions, and the operation between two elements. */
const OPERATORS = {
  "+": "add",
  "*": "mul",
  max: "max",
  min: "min",
  "&": "and",
  "|": "or",
  xor: "xor",
} as const;
type Spelled = keyof typeof OPERATORS;
const ALL = [...Object.keys(OPERATORS), "any", "all", "argmax", "argmin"];

interface Case {
  readonly type: ScalarName;
  readonly operator: string;
  readonly shape: readonly number[];
  readonly axis: number;
  /** Axes as they lie in memory, outermost first. */
  readonly order: readonly number[];
  readonly numWarps: number;
  /** More than one only on targets that have clusters. */
  readonly numCtas: number;
  readonly target: TargetName;
  readonly seed: readonly number[];
}

const isFloat = (type: ScalarName): boolean => SCALARS[type].class === "float";

/** Integers below int reduce as int; sums and products of other types keep theirs. */
function promoted(type: ScalarName): ScalarName {
  return isFloat(type) || SCALARS[type].bits >= 32 ? type : "int32";
}

function fits({ type, operator }: Case): boolean {
  return !(isFloat(type) && ["&", "|", "xor"].includes(operator));
}

const anyCase: fc.Arbitrary<Case> = fc.record({
  type: fc.constantFrom(...TYPES),
  operator: fc.constantFrom(...ALL),
  bits: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 }),
  axis: fc.nat(),
  shuffle: fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
  numWarps: fc.constantFrom(1, 2, 4, 8),
  blocks: fc.constantFrom(1, 2, 4, 8, 16),
  target: fc.constantFrom(...TARGET_NAMES),
  seed: fc.array(fc.integer(), { minLength: 8, maxLength: 40 }),
}).map(({ bits, axis, shuffle, blocks, ...rest }) => {
  const numCtas = ALL_TARGETS[rest.target].clusters ? blocks : 1;
  let left = 11;
  const shape = bits.map((count) => {
    const taken = Math.min(count, left);
    left -= taken;
    return 2 ** taken;
  });
  const order = [...shape.keys()].sort((a, b) => (shuffle[a] ?? 0) - (shuffle[b] ?? 0));
  return { ...rest, numCtas, shape, axis: axis % shape.length, order };
}).filter(fits);

/** Small whole numbers, so that sums and products of floats are exact; with specials where order does not matter. */
function operandsOf({ type, operator, shape, seed }: Case): Scalar[] {
  const special = ["max", "min", "argmax", "argmin"].includes(operator)
    ? [NaN, Infinity, -Infinity, 0, -0]
    : [];
  return Array.from({ length: countOf(shape) }, (_, i) => {
    const random =
      Math.imul((seed[i % seed.length] ?? 0) ^ Math.imul(i, 0x9e3779b9), 0x85ebca6b) >>> 8;
    if (!isFloat(type)) return convertScalar(BigInt(random) * 0x123456789abcdn, type);
    if (operator === "*") {
      return random % 16 === 0 ? -2 : random % 5 === 0 ? -1 : random % 37 === 0 ? 0.5 : 1;
    }
    if (special.length > 0 && random % 3 === 0) return special[random % special.length] ?? 0;
    return random % 9 - 4;
  });
}

/** Compares as `argmax` does: NaN loses, both zeros are equal. */
function isBetter(a: ScalarValue, b: ScalarValue, largest: boolean): boolean {
  if (Number.isNaN(b)) return !Number.isNaN(a);
  return largest ? a > b : a < b;
}

function reduceLine(type: ScalarName, operator: string, values: readonly Scalar[]): Scalar {
  if (operator === "argmax" || operator === "argmin") {
    return BigInt(values.reduce<number>(
      (best, value, i) =>
        isBetter(value, must(values[best], "element"), operator === "argmax") ? i : best,
      0,
    ));
  }
  if (operator === "any" || operator === "all") {
    const truths = values.map((value) => convertScalar(value, "bool") === 1n);
    return operator === "any" === truths.some((truth) => truth === (operator === "any")) ? 1n : 0n;
  }
  return prefixes(type, operator as Spelled, values).at(-1) ?? 0;
}

/** The combination of each element and all before it; halves are combined in float and rounded when done. */
function prefixes(type: ScalarName, operator: Spelled, values: readonly Scalar[]): Scalar[] {
  const result = promoted(type);
  const wide = isFloat(result) && SCALARS[result].bits === 16 ? "float32" : result;
  let sum: ScalarValue | undefined;
  return values.map((value) => {
    const next = convertScalar(value, wide);
    sum = sum === undefined
      ? next
      : must(evalBinary(OPERATORS[operator], wide, sum, next), "value");
    return convertScalar(sum, result);
  });
}

/** A tile whose axes lie in memory in another order, and what comes of it. */
function textOf(c: Case, result: ScalarName, expression: string, count: number): string {
  const { shape, order, type, numWarps, numCtas } = c;
  const count_ = countOf(shape);
  const stored = order.map((axis) => shape[axis]);
  const back = shape.map((_, axis) => `^${order.indexOf(axis)}`).join(", ");
  const type_ = SCALARS[type].spelling;
  const value = count === 1 ? expression : `reshape(${expression}, ${count})`;
  const address = count === 1 ? "Y" : `(Y + 0 ... ${count})`;
  return `#pragma tri grid(1)
#pragma tri config ; num_warps=${numWarps}, num_ctas=${numCtas}
__global__ void k(${type_} *X, ${SCALARS[result].spelling} *Y) {
  ${type_} flat[${count_}] = *(X + 0 ... ${count_});
  ${type_} x[${shape.join(", ")}] = reshape(flat, ${stored.join(", ")})[${back}];
  *${address} = ${value};
}`;
}

/** The values as they lie in memory. */
function stored({ shape, order }: Case, values: readonly Scalar[]): Scalar[] {
  const extents = order.map((axis) => must(shape[axis], "extent"));
  return Array.from(values, (_, at) => {
    let rest = at;
    const index = new Array<number>(shape.length).fill(0);
    for (let d = extents.length - 1; d >= 0; d--) {
      const extent = must(extents[d], "extent");
      index[must(order[d], "axis")] = rest % extent;
      rest = Math.floor(rest / extent);
    }
    return must(
      values[index.reduce((sum, x, d) => sum * must(shape[d], "extent") + x, 0)],
      "element",
    );
  });
}

function checkReduction(c: Case): void {
  const { type, operator, shape, axis, target } = c;
  const result = operator === "any" || operator === "all"
    ? "bool"
    : operator.startsWith("arg")
    ? "int32"
    : promoted(type);
  const items = shape.map((_, d) => d === axis ? operator : ":");
  const values = operandsOf(c);
  const found = lines(shape, axis);
  const compiled = new CompiledText(
    textOf(c, result, `x[${items.join(", ")}]`, found.length),
    target,
  );
  const [, actual = []] = compiled.run([
    { type, values: stored(c, values) },
    zeros(result, found.length),
  ]);
  const expected = found.map((line) =>
    reduceLine(type, operator, line.map((at) => must(values[at], "element")))
  );
  assertEquals(firstDifference(actual, expected), undefined);
}

function checkScan(c: Case): void {
  const { type, shape, axis, target } = c;
  const operator = ({ "+": "cumsum", "*": "cumprod", max: "cummax", min: "cummin" } as const)[
    c.operator as "+" | "*" | "max" | "min"
  ];
  const result = promoted(type);
  const values = operandsOf(c);
  const compiled = new CompiledText(
    textOf(c, result, `${operator}(x, ${axis})`, values.length),
    target,
  );
  const [, actual = []] = compiled.run([
    { type, values: stored(c, values) },
    zeros(result, values.length),
  ]);
  const expected = new Array<Scalar>(values.length).fill(0);
  for (const line of lines(shape, axis)) {
    const sums = prefixes(
      type,
      c.operator as Spelled,
      line.map((at) => must(values[at], "element")),
    );
    line.forEach((at, i) => expected[at] = must(sums[i], "prefix"));
  }
  assertEquals(firstDifference(actual, expected), undefined);
}

Deno.test("lowerReduce() reduces any tile along any axis with any operator, on all targets", () => {
  fc.assert(fc.property(anyCase, checkReduction), { numRuns: 150 });
});

Deno.test("lowerScan() scans any tile along any axis, on all targets", () => {
  const scans = anyCase.filter(({ operator }) => ["+", "*", "max", "min"].includes(operator));
  fc.assert(fc.property(scans, checkScan), { numRuns: 80 });
});

Deno.test("lowerReduce() reduces several axes to a scalar that all threads have", () => {
  for (
    const compiled of CompiledText.forAll(
      `#pragma tri grid(1)
__global__ void k(half *X, half *Y, int *Z) {
  half x[8, 16, 32] = reshape(*(X + 0 ... 4096), 8, 16, 32);
  half sum = x[+, +, +];
  *(Y + 0 ... 256) = (*(X + 0 ... 256)) + sum;
  *Z = argmax(x);
}`,
    )
  ) {
    const values = Array.from({ length: 4096 }, (_, i) => i === 3001 ? 9 : (i * 7) % 5 - 2);
    const sum = values.reduce((a, b) => a + b, 0);
    const [, y = [], z] = compiled.run([
      { type: "float16", values },
      zeros("float16", 256),
      zeros("int32", 1),
    ]);
    assertEquals(y, values.slice(0, 256).map((value) => value + sum));
    assertEquals(z, [3001n]);
  }
});

/** Waits of a block for all its threads. */
const barriersOf = (text: string): number =>
  new CompiledText(text).ptx.matchAll(/bar\.sync/g).toArray().length;

Deno.test("lowerReduce() leaves its parts beside those of the reduction before, and saves a barrier", () => {
  const text = (statements: string): string =>
    `#pragma tri grid(1)
#pragma tri config ; num_warps=8
__global__ void k(int *X, int *Y, int n) {
  int x[2048] = *(X + 0 ... 2048);
  int t = x[max];
  ${statements}
  *Y = t;
}`;
  assertEquals(barriersOf(text("")), 1);
  assertEquals(barriersOf(text("t += (x - t)[+];")), 2);
  assertEquals(
    barriersOf(text("t += (x - t)[+]; t += (x & t)[xor];")),
    3,
  );
  // A round may follow itself or what was there before the loop.
  assertEquals(
    barriersOf(text("for (int i = 0; i < n; i++) t += (x - t)[+];")),
    3,
  );
  // After a branch, exchanges of both sides may be pending.
  assertEquals(
    barriersOf(text(`if (n > 0) t += (x - t)[+];
  t += (x & t)[xor];`)),
    4,
  );
});

/** Reductions in a row, in branches and in loops, between exchanges of other kinds; what they make of a row. */
const STEPS: readonly (readonly [
  text: string,
  of: (row: readonly number[], at: number, n: number) => number,
])[] = [
  ["t += (x - t[:, newaxis])[:, +];", (row, t) => t + row.reduce((sum, x) => sum + x - t, 0)],
  ["t ^= (x + t[:, newaxis])[:, max];", (row, t) => t ^ Math.max(...row.map((x) => x + t))],
  ["t -= (x ^ t[:, newaxis])[:, min];", (row, t) => t - Math.min(...row.map((x) => x ^ t))],
  ["t += argmax(x & t[:, newaxis], 1);", (row, t) => {
    const masked = row.map((x) => x & t);
    return t + masked.indexOf(Math.max(...masked));
  }],
  [
    "t += flip(x - t[:, newaxis], 1)[:, xor];",
    (row, t) => t + row.reduce((a, x) => a ^ (x - t), 0),
  ],
  [
    "if (n % 2 == 0) t += (x & t[:, newaxis])[:, +]; else t = t * 3;",
    (row, t, n) => n % 2 === 0 ? t + row.reduce((sum, x) => sum + (x & t), 0) : t * 3,
  ],
  ["for (int i = 0; i < n; i++) t = (x - t[:, newaxis])[:, max] & 1023;", (row, t, n) => {
    for (let i = 0; i < n; i++) t = Math.max(...row.map((x) => x - t)) & 1023;
    return t;
  }],
  [
    "for (int i = 0; i < n; i++) { t += (x & t[:, newaxis])[:, max]; t ^= (x - t[:, newaxis])[:, +]; t &= 1023; }",
    (row, t, n) => {
      for (let i = 0; i < n; i++) {
        t += Math.max(...row.map((x) => x & t));
        t = (t ^ row.reduce((sum, x) => sum + x - t, 0)) & 1023;
      }
      return t;
    },
  ],
];

test("lowerReduce() needs no more barriers than reductions in any order leave it, for the emulator sees races", () => {
  const programs = fc.record({
    steps: fc.array(fc.nat(STEPS.length - 1), { minLength: 1, maxLength: 5 }),
    rows: fc.constantFrom(1, 2, 8),
    numWarps: fc.constantFrom(1, 2, 8),
    n: fc.nat(3),
    seed: fc.integer(),
  });
  fc.assert(
    fc.property(programs, ({ steps, rows, numWarps, n, seed }) => {
      const chosen = steps.map((step) => must(STEPS[step], "step"));
      const columns = 256;
      const count = rows * columns;
      const compiled = new CompiledText(`#pragma tri grid(1)
#pragma tri config ; num_warps=${numWarps}
__global__ void k(int *X, int *Y, int n) {
  int x[${rows}, ${columns}] = reshape(*(X + 0 ... ${count}), ${rows}, ${columns});
  int t[${rows}] = x[:, +] & 1023;
  ${chosen.map(([text]) => `${text}\n  t &= 1023;`).join("\n  ")}
  ${rows === 1 ? "*(Y + 0 ... 1) = t" : `*(Y + 0 ... ${rows}) = t`};
}`);
      const values = Array.from(
        { length: count },
        (_, i) => (Math.imul(i ^ seed, 0x9e3779b9) >>> 8) % 1000,
      );
      const [, found] = compiled.run([
        { type: "int32", values: values.map(BigInt) },
        zeros("int32", rows),
        int(n),
      ]);
      const expected = Array.from({ length: rows }, (_, i) => {
        const row = values.slice(i * columns, (i + 1) * columns);
        const start = row.reduce((a, b) => a + b, 0) & 1023;
        return chosen.reduce((t, [, of]) => of(row, t, n) & 1023, start);
      });
      assertEquals(found, expected.map(BigInt));
    }),
    { numRuns: 60 },
  );
});

Deno.test("lowerReduce() adds halves in float and rounds once", () => {
  const compiled = new CompiledText(`#pragma tri grid(1)
__global__ void k(half *X, half *Y) { *Y = (*(X + 0 ... 4096))[+]; }`);
  const values = new Array<number>(4096).fill(1).with(0, 2 ** -3);
  const [, y] = compiled.run([{ type: "float16", values }, zeros("float16", 1)]);
  assertEquals(y, [4096]);
});

Deno.test("lowerReduce() uses redux.sync where whole warps reduce integers", () => {
  const text = `#pragma tri grid(1)
__global__ void k(int *X, int *Y) { *Y = (*(X + 0 ... 1024))[+]; }`;
  assert(new CompiledText(text, "sm_80").ptx.includes("redux.sync.add.s32"));
  assert(!new CompiledText(text, "sm_75").ptx.includes("redux"));
});

Deno.test("lowerReduce() uses redux.sync in loops, not in branches, which ptxas may guard wrongly", () => {
  const kernel = (statement: string): string =>
    `#pragma tri grid(1)
__global__ void k(int *X, int *Y, int n) { ${statement} *Y = (*(X + 0 ... 64))[+]; }`;
  const usesRedux = (statement: string): boolean =>
    new CompiledText(kernel(statement), "sm_90a").ptx.includes("redux");
  assert(usesRedux("for (int i = 0; i < n; i++)"));
  assert(!usesRedux("if (n > 0)"));
  assert(!usesRedux("for (int i = 0; i < n; i++) if (n > 5)"));
  assert(usesRedux("if (n > 5) for (int i = 0; i < n; i++)"));
});
