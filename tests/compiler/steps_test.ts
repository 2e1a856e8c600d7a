/** The compiler takes twice the steps for twice the text: no pass looks at all accesses, loops or values for each of them. */
import { assert, assertEquals } from "../support/assert.ts";
import { compileFile } from "../../compiler/mod.ts";
import { type Steps, stepsOf } from "../support/compiler/steps.ts";
import { sampled } from "../support/sampled.ts";

/** Statements of the shorter text, where a shape does not say. */
const COUNT = 300;

/** A function that takes less is no matter, whatever it does. */
const LEAST = 50_000;
/** Growth of the steps of one function that is not that of the text; sorting is a little more than linear. */
const MOST = 2.8;

interface Shape {
  readonly before: string;
  readonly line: (i: number) => string;
  readonly after: string;
  /** Statements of the shorter text: many where little is done for each of them. */
  readonly count?: number;
}

const ROW = "int r[128] = 0 ... 128; float x[128] = *(p + r);";

// deno-fmt-ignore
const SHAPES: Readonly<Record<string, Shape>> = {
  "loads": { before: "int s = n;", line: (i) => `s += *(q + ${i});`, after: "*q = s;", count: 2500 },
  "stores": { before: ROW, line: (i) => `*(p + r + ${128 * i}) = x;`, after: "" },
  "loads and stores": { before: ROW, line: (i) => `*(p + r + ${128 * i}) = *(p + r + ${128 * i + 64});`, after: "" },
  "pointers of pointers": { before: "float *t[128] = p + (0 ... 128);", line: () => "t = t + n; *t = 1;", after: "" },
  "loads of pairs": { before: `${ROW} float s = 0;`, line: (i) => `s += (*(p + 2 * r + ${256 * i}) * *(p + 2 * r + ${256 * i + 1}))[+];`, after: "*p = s;" },
  "tables of tables": { before: "int r[128] = 0 ... 128; int s[128] = r;", line: (i) => `s = *(q + s + ${i});`, after: "*(q + r) = s;" },
  "branches": { before: "int s = n;", line: (i) => `if (s > ${i}) { *q = s; s = s + n; }`, after: "*q = s;" },
  "loops": { before: "", line: (i) => `for (int i = 0; i < n; i++) *(q + i + ${i}) = i;`, after: "" },
  "loops that reduce": { before: "int r[128] = 0 ... 128; float s = 0;", line: (i) => `for (int i = 0; i < n; i++) s = max(s, (*(p + i * 128 + r + ${i}))[max]);`, after: "*p = s;", count: 100 },
  "loops over rows": { before: `${ROW} int c = get_program_id(0); float s = 0;`, line: (i) => `c = (c ^ ${i + 1}) + n; for (int i = 0; i < n; i++) s += (*(p + c + i * 128 + r))[+];`, after: "*p = s;", count: 100 },
  "powers of rows": { before: ROW, line: (i) => `{ float e[128] = exp(x * ${i}.5f - (x * ${i}.5f)[max]); x += e / e[+]; }`, after: "*(p + r) = x;", count: 200 },
  "masks": { before: ROW, line: (i) => `*?(r + ${128 * i} < n) (p + r + ${128 * i}) = x;`, after: "" },
  "atomics": { before: "int r[128] = 0 ... 128;", line: (i) => `atomic_add(q + r + ${128 * i}, n);`, after: "" },
  "reductions": { before: ROW, line: () => "x = x * x[+];", after: "*(p + r) = x;" },
};

const FRAMES: Readonly<Record<string, readonly [string, string]>> = {
  "one after the other": ["", ""],
  "in a loop": ["for (int j = 0; j < n; j++) {", "}"],
  "in branches in loops": [
    "for (int j = 0; j < n; j++) { for (int k = 0; k < j; k++) { if (k > 3) {",
    "}}}",
  ],
};

function compile(
  { before, line, after }: Shape,
  [open, close]: readonly [string, string],
  count: number,
): void {
  const lines = Array.from({ length: count }, (_, i) => line(i));
  const body = [before, open, ...lines, close, after].join("\n");
  const text = `__global__ void k(float *p, int *q, int n) {\n${body}\n}\n`;
  const { diagnostics } = compileFile({ name: "k.tc", text }, { targets: ["sm_90a"] });
  assertEquals(diagnostics.filter(({ severity }) => severity === "error"), []);
}

const total = (steps: Steps): number => [...steps.values()].reduce((sum, count) => sum + count, 0);

for (const [name, shape] of sampled(Object.entries(SHAPES), 3)) {
  Deno.test(`compileFile() takes steps in proportion to ${name}`, async () => {
    const { count: length = COUNT } = shape;
    for (const [where, frame] of sampled(Object.entries(FRAMES), 1)) {
      const run = (count: number) => () => compile(shape, frame, count);
      // What is computed once is computed before.
      const [, once, twice] = await stepsOf([run(10), run(length), run(2 * length)]);
      assert(once !== undefined && twice !== undefined);
      const grown = [...twice].filter(([what, count]) =>
        count > LEAST && count > MOST * (once.get(what) ?? count)
      );
      const shown = grown.map(([what, count]) => `${what}: ${once.get(what)}, ${count}`);
      assertEquals(shown, [], `${name} ${where}, ${length} and ${2 * length} lines`);
      assert(total(twice) < 2.4 * total(once), `${name} ${where}: ${total(once)}, ${total(twice)}`);
    }
  });
}
