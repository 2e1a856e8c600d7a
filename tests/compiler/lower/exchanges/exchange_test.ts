/** Built-ins that move elements about, on the emulator, against plain loops. */
import { must } from "../../../../compiler/support/bug.ts";
import { type ScalarName, SCALARS } from "../../../../compiler/support/scalar.ts";
import { type TargetName, TARGETS } from "../../../../compiler/targets.ts";
import { assertEquals } from "../../../support/assert.ts";
import { freshRandom } from "../../../support/random.ts";
import { sampled, testsInTurn } from "../../../support/sampled.ts";
import { countOf, lines } from "../../../support/compiler/tile_index.ts";
import {
  bytesOfType,
  decode,
  firstDifference,
  type Scalar,
} from "../../../support/typed_arrays.ts";
import { CompiledText, zeros } from "../../../support/compiler/value_run.ts";

const test = testsInTurn(2);

const TARGET_NAMES = Object.keys(TARGETS) as TargetName[];
const TYPES = (Object.keys(SCALARS) as ScalarName[]).filter((type) => type !== "bool");

function randomValues(type: ScalarName, count: number): Scalar[] {
  const bytes = new Uint8Array(count * bytesOfType(type));
  freshRandom().fill(bytes);
  return decode(type, bytes);
}

interface Setup {
  readonly type: ScalarName;
  readonly shape: readonly number[];
  readonly numWarps: number;
  readonly target: TargetName;
}

const SHAPES = [[64], [2], [8, 32], [32, 4], [4, 8, 16], [256, 2]] as const;

/** Every type in every shape, in turn with warps and targets. */
const ALL_SETUPS: readonly Setup[] = TYPES.flatMap((type, i) =>
  SHAPES.map((shape, k) => ({
    type,
    shape,
    numWarps: [1, 2, 4, 8][(i + k) % 4] ?? 4,
    target: must(TARGET_NAMES[(i * 5 + k) % TARGET_NAMES.length], "target"),
  }))
);

/** Those that a run tries of each built-in. */
const SETUPS = sampled(ALL_SETUPS, 6);

/** Runs `y = expression of x (and z)`; all tiles lie flat in memory. */
function compute(
  setup: Setup,
  expression: string,
  inputs: readonly (readonly Scalar[])[],
  count: number,
  result = setup.type,
): Scalar[] {
  const { type, shape, numWarps, target } = setup;
  const spelling = SCALARS[type].spelling;
  const size = countOf(shape);
  const extents = shape.join(", ");
  const value = count === 1 ? expression : `reshape(${expression}, ${count})`;
  const compiled = new CompiledText(
    `#pragma tri grid(1)
#pragma tri config ; num_warps=${numWarps}
__global__ void k(${spelling} *X, ${spelling} *Z, ${SCALARS[result].spelling} *Y) {
  ${spelling} x[${extents}] = reshape(*(X + 0 ... ${size}), ${extents});
  ${spelling} z[${extents}] = reshape(*(Z + 0 ... ${size}), ${extents});
  *${count === 1 ? "Y" : `(Y + 0 ... ${count})`} = ${value};
}`,
    target,
  );
  const [x = [], z = x] = inputs;
  return compiled.run([{ type, values: x }, { type, values: z }, zeros(result, count)])[2] ?? [];
}

function assertSame(actual: readonly Scalar[], expected: readonly Scalar[], what: unknown): void {
  assertEquals(firstDifference(actual, expected), undefined, JSON.stringify(what));
}

test("flip() reverses each axis", () => {
  for (const setup of SETUPS) {
    const count = countOf(setup.shape);
    const x = randomValues(setup.type, count);
    setup.shape.forEach((_, axis) => {
      const expected = new Array<Scalar>(count);
      for (const line of lines(setup.shape, axis)) {
        line.forEach((at, i) => expected[at] = must(x[must(line.at(-1 - i), "index")], "element"));
      }
      assertSame(compute(setup, `flip(x, ${axis})`, [x], count), expected, setup);
    });
  }
});

test("cat(), join() and interleave() combine tiles; split0() and split1() divide them", () => {
  for (const setup of SETUPS) {
    const count = countOf(setup.shape);
    const [x, z] = [0, 1].map(() => randomValues(setup.type, count));
    if (x === undefined || z === undefined) continue;
    const mixed = x.flatMap((value, i) => [value, must(z[i], "element")]);
    assertSame(compute(setup, "cat(x, z)", [x, z], 2 * count), [...x, ...z], setup);
    assertSame(compute(setup, "interleave(x, z)", [x, z], 2 * count), mixed, setup);
    if (setup.shape.length < 5) {
      assertSame(compute(setup, "join(x, z)", [x, z], 2 * count), mixed, setup);
    }
    if (setup.shape.at(-1) !== 2) continue;
    const half = (odd: number): Scalar[] => x.filter((_, i) => i % 2 === odd);
    assertSame(compute(setup, "split0(x)", [x], count / 2), half(0), setup);
    assertSame(compute(setup, "split1(x)", [x], count / 2), half(1), setup);
  }
});

/** Ascending with NaN last; zeros by sign. */
function sorted(values: readonly Scalar[], descending: boolean): Scalar[] {
  const order = (a: Scalar, b: Scalar): number =>
    a < b || (Object.is(a, -0) && Object.is(b, 0)) ? -1 : a === b && Object.is(a, b) ? 0 : 1;
  const numbers = values.filter((value) => !Number.isNaN(value)).sort(order);
  if (descending) numbers.reverse();
  return [...numbers, ...values.filter((value) => Number.isNaN(value))];
}

test("sort() sorts lines up and down, NaN last", () => {
  for (const setup of SETUPS.filter(({ shape }) => countOf(shape) <= 256)) {
    const count = countOf(setup.shape);
    const x = randomValues(setup.type, count);
    for (const descending of [false, true]) {
      const axis = setup.shape.length - 1 - Number(descending && setup.shape.length > 1);
      const expected = new Array<Scalar>(count);
      for (const line of lines(setup.shape, axis)) {
        const result = sorted(line.map((at) => must(x[at], "element")), descending);
        line.forEach((at, i) => expected[at] = must(result[i], "element"));
      }
      const call = `sort(x, ${axis}, ${Number(descending)})`;
      assertSame(compute(setup, call, [x], count), expected, { ...setup, axis, descending });
    }
  }
});

/** The elements of a sorted line such that they rise, then fall, and are rotated by some places. */
function bitonic(line: readonly Scalar[], places: number): Scalar[] {
  const [rising, falling] = [0, 1].map((odd) => line.filter((_, i) => i % 2 === odd));
  const made = [...rising ?? [], ...(falling ?? []).toReversed()];
  return [...made.slice(places), ...made.slice(0, places)];
}

test("bitonic_merge() sorts lines that rise and fall, up and down, NaN last", () => {
  for (const setup of SETUPS.filter(({ shape }) => countOf(shape) <= 256)) {
    const count = countOf(setup.shape);
    const values = randomValues(setup.type, count);
    for (const descending of [false, true]) {
      const axis = setup.shape.length - 1 - Number(descending && setup.shape.length > 1);
      const [x, expected] = [new Array<Scalar>(count), new Array<Scalar>(count)];
      for (const line of lines(setup.shape, axis)) {
        const result = sorted(line.map((at) => must(values[at], "element")), descending);
        const given = bitonic(result, freshRandom().below(line.length));
        line.forEach((at, i) => {
          x[at] = must(given[i], "element");
          expected[at] = must(result[i], "element");
        });
      }
      const call = `bitonic_merge(x, ${axis}, ${Number(descending)})`;
      assertSame(compute(setup, call, [x], count), expected, { ...setup, axis, descending });
    }
  }
});

test("gather() looks elements up along any axis", () => {
  for (const setup of SETUPS) {
    const { shape } = setup;
    const x = randomValues(setup.type, countOf(shape));
    shape.forEach((extent, axis) => {
      const wanted = shape.with(axis, 16);
      const index = `broadcast_to(reshape((0 ... 16) * 5 % ${extent}, ${
        shape.map((_, d) => d === axis ? 16 : 1).join(", ")
      }), ${wanted.join(", ")})`;
      const expected = new Array<Scalar>(countOf(wanted));
      const sources = lines(shape, axis);
      lines(wanted, axis).forEach((line, k) =>
        line.forEach((at, i) =>
          expected[at] = must(x[must(sources[k]?.[i * 5 % extent], "index")], "element")
        )
      );
      const actual = compute(setup, `gather(x, ${index}, ${axis})`, [x], expected.length);
      assertSame(actual, expected, { ...setup, axis });
    });
  }
});

Deno.test("histogram() counts what is in range", () => {
  for (const setup of SETUPS.filter(({ type }) => SCALARS[type].class === "int")) {
    const count = countOf(setup.shape);
    const x = randomValues(setup.type, count).map((value, i) =>
      i % 3 === 0 ? value : BigInt(i * 7 % 19)
    );
    const expected = Array.from(
      { length: 16 },
      (_, bin) => BigInt(x.filter((value) => value === BigInt(bin)).length),
    );
    assertSame(compute(setup, "histogram(x, 16)", [x], 16, "int32"), expected, setup);
  }
});
