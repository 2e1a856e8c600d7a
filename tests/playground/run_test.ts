import { GALLERY } from "../../playground/gallery/entries.ts";
import { choicesOf } from "../../playground/session/choices.ts";
import { problemsOf } from "../../playground/session/check.ts";
import { run } from "../../playground/session/run.ts";
import { sidesOf } from "../../playground/views/fault_sides.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { openEntry, testEntries } from "./gallery.ts";

type Tensors = Readonly<Record<string, Float64Array>>;
type Sizes = Readonly<Record<string, number>>;
/** The result in double precision, by the name of the tensor. */
type Reference = (
  inputs: Tensors,
  sizes: Sizes,
) => Readonly<Record<string, (index: number) => number>>;

const at = (values: Float64Array | undefined, index: number): number => values?.[index] ?? NaN;

const REFERENCES: Readonly<Record<string, Reference>> = {
  vector_add: ({ X, Y }) => ({ Z: (i) => at(X, i) + at(Y, i) }),
  masks: ({ X }, { N = 0 }) => ({ Y: (i) => i % N === 0 ? 0 : at(X, i - 1) }),
  transpose: transposed,
  transpose_naive: transposed,
  transpose_shipped: transposed,
  turned_rows: ({ X }, { M = 0, N = 0 }) => ({
    Y: (j) => sum(M, (i) => at(X, i * N + j)),
  }),
  row_softmax: softmax,
  softmax,
  tile_matmul: ({ A, B }, { N = 0, K = 0 }) => ({
    C: (index) => {
      const [i, j] = [Math.floor(index / N), index % N];
      return sum(K, (k) => at(A, i * K + k) * at(B, k * N + j));
    },
  }),
  histogram: ({ X, COUNTS }) => ({
    COUNTS: (value) => at(COUNTS, value) + must(X, "X").filter((x) => (x & 7) === value).length,
  }),
};

function transposed({ X }: Tensors, { M = 0, N = 0 }: Sizes): ReturnType<Reference> {
  return { Y: (index) => at(X, (index % M) * N + Math.floor(index / M)) };
}

function softmax({ X }: Tensors, { N = 0 }: Sizes): ReturnType<Reference> {
  return {
    Y: (index) => {
      const row = N * Math.floor(index / N);
      const top = Math.max(...must(X, "X").subarray(row, row + N));
      return Math.exp(at(X, index) - top) / sum(N, (j) => Math.exp(at(X, row + j) - top));
    },
  };
}

function sum(count: number, term: (index: number) => number): number {
  let total = 0;
  for (let i = 0; i < count; i++) total += term(i);
  return total;
}

testEntries(
  GALLERY.filter(({ group }) => group !== "Mistakes"),
  (name) => `run() of the gallery's ${name} has no findings and the right result`,
  (entry) => {
    const { program, call } = openEntry(entry);
    assertEquals(problemsOf(program, "all"), []);
    const ran = run(program, call);
    assert(ran.kind === "ran", JSON.stringify(ran));
    assertEquals(ran.findings, []);
    assert(must(ran.profile, "profile").warpInstructions > 0);
    const reference = REFERENCES[entry.name];
    if (reference === undefined) return;
    const inputs = Object.fromEntries(
      ran.tensors.flatMap(({ name, before }) => before === undefined ? [] : [[name, before]]),
    );
    for (const [name, expected] of Object.entries(reference(inputs, ran.scalars))) {
      const { after } = must(ran.tensors.find((tensor) => tensor.name === name), name);
      // Inputs are multiples of 2^-8 below 1: sums and products of halves are exact, exponentials are not.
      must(after, name).forEach((value, index) => {
        const right = expected(index);
        assert(Math.abs(value - right) <= 1e-6, `${name}[${index}] is ${value}, not ${right}`);
      });
    }
  },
);

/** What the emulator must find, and where. */
const PLANTED: Readonly<Record<string, readonly [kind: string, source: RegExp]>> = {
  race: ["race", /:11:/],
  out_of_bounds: ["out of bounds", /:14:/],
  assertion: ["failed assertion", /:10:/],
  endless: ["instruction budget", /:11:/],
};

for (const [name, [kind, source]] of Object.entries(PLANTED)) {
  Deno.test(`run() finds what is planted in the gallery's ${name}`, () => {
    const { program, call } = openEntry(must(GALLERY.find((each) => each.name === name), name));
    const ran = run(program, call);
    assert(ran.kind === "ran", JSON.stringify(ran));
    const [first] = ran.findings;
    assertEquals(first?.kind, kind);
    assert(source.test(first?.source ?? ""), first?.source);
    assert(first?.hint !== "");
  });
}

Deno.test("every planted mistake of the gallery is one that a test knows", () => {
  const known = [...Object.keys(PLANTED), "refused", "type_error", "uninitialised"].sort();
  const planted = GALLERY.filter(({ group }) => group === "Mistakes").map(({ name }) => name);
  assertEquals(planted.toSorted(), known);
});

Deno.test("run() says why a launch is refused, and why there is none", () => {
  const open = (name: string): ReturnType<typeof openEntry> =>
    openEntry(must(GALLERY.find((each) => each.name === name), name));
  const refused = open("refused");
  const outcome = run(refused.program, refused.call);
  assert(outcome.kind === "not run");
  assert(outcome.reason.includes("expected a buffer of at least 1024 bytes"), outcome.reason);
  const wrong = open("type_error");
  const faulty = run(wrong.program, wrong.call);
  assert(faulty.kind === "not run");
  assert(faulty.reason.includes("do not broadcast"), faulty.reason);
  const empty = run({ ...wrong.program, text: "" }, wrong.call);
  assert(empty.kind === "not run");
});

Deno.test("run() gives tensors that nobody fills NaN in every element", () => {
  const entry = must(GALLERY.find(({ name }) => name === "uninitialised"), "entry");
  const { program, call } = openEntry(entry);
  const ran = run(program, call);
  assert(ran.kind === "ran");
  const y = must(ran.tensors.find(({ name }) => name === "Y"), "Y");
  assertEquals(y.before, undefined);
  assert(y.after?.every(Number.isNaN));
});

Deno.test("run() goes on after a finding and lists each", () => {
  const entry = must(GALLERY.find(({ name }) => name === "out_of_bounds"), "entry");
  const { program, call } = openEntry(entry);
  // Every program writes the first row, too.
  const text = program.text.replace("(Y + i * N + j)", "(Y + j)");
  const ran = run({ ...program, text }, call);
  assert(ran.kind === "ran");
  assertEquals(new Set(ran.findings.map(({ kind }) => kind)), new Set(["race", "out of bounds"]));
  assert(ran.findings.every(({ isLast }) => !isLast));
});

Deno.test("run() takes the most special entry that fits, wherever it is in the list, or the one asked for", () => {
  const text =
    "#pragma tri grid(1)\n#pragma tri tensor X : float[n]\n#pragma tri specialize(n <= 64 && n % 4 == 0, n % 4 == 0, n <= 64)\n" +
    "__global__ void f(float *X, int n) { for (int i = 0; i < n; i++) *(X + i) = 1; }\n";
  const program = { name: "kernel.tc", text, includes: {}, target: "sm_90a", variant: {} };
  const entryOf = (n: number, entry = ""): string => {
    const ran = run(program, { sizes: { n }, extent: 256, budget: 1e6, fills: {}, entry });
    return ran.kind === "ran" ? ran.entry : ran.reason;
  };
  assertEquals([32, 128, 63, 65].map((n) => entryOf(n)), ["f_s1", "f_s2", "f_s3", "f"]);
  assertEquals([entryOf(32, "f"), entryOf(32, "f_s3")], ["f", "f_s3"]);
});

Deno.test("sidesOf() names both threads of a race", () => {
  const { program, call } = openEntry(must(GALLERY.find(({ name }) => name === "race"), "race"));
  const ran = run(program, call);
  assert(ran.kind === "ran");
  const sides = sidesOf(must(ran.findings[0], "finding"));
  // The last element of program 0 is the first of program 1: thread 31 holds elements 62 and 63.
  assertEquals(sides?.place, "element 63 of Y (256 float32)");
  assertEquals(sides?.now.who, "thread 0 of block 1");
  assertEquals(sides?.before.who, "thread 31 of block 0");
  assertEquals([sides?.now.line, sides?.before.line], [11, 11]);
  assertEquals([sides?.now.does, sides?.before.does], ["writes", "wrote"]);
});

Deno.test("choicesOf() lists kernels, variants and the configurations of the chosen one", () => {
  const { program } = openEntry({
    file: "kernels/transpose.tc",
    chosen: { target: "sm_90a", variant: { TYPE: "float" } },
  });
  const [transpose] = choicesOf(program);
  assertEquals(transpose?.kernel, "transpose");
  assert((transpose?.variants.length ?? 0) > 10);
  assert(transpose?.configs.includes("TM=64, TN=64; num_warps=8"));
  assertEquals(choicesOf({ ...program, text: "" }), []);
});
