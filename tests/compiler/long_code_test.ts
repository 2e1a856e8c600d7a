/** Straight code of any length compiles: no stage recurses along operands, statements or sequences of loops. */
import { compileFile } from "../../compiler/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { sampled, testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(3);

const LENGTH = 1500;

interface Chain {
  readonly before: string;
  /** Repeated. */
  readonly line: string;
  readonly after: string;
}

const TILE = "int r[128] = 0 ... 128; float x[128] = *(p + r);";
const SQUARE =
  "int r[16] = 0 ... 16; half *at[16, 16] = (half*)p + r[:, newaxis] * 16 + r[newaxis, :]; half h[16, 16] = *at;";

// deno-fmt-ignore
const CHAINS: Readonly<Record<string, Chain>> = {
  "integers": { before: "int s = n;", line: "s = s * n + 3;", after: "*q = s;" },
  "floats": { before: "float s = n;", line: "s = s * 2.5f + 1;", after: "*p = s;" },
  "indices": { before: "int a[128] = 0 ... 128;", line: "a = a * n + 3;", after: "*(p + a) = 1;" },
  "tiles": { before: TILE, line: "x = x * x;", after: "*(p + r) = x;" },
  "pointers": { before: "float *t[128] = p + (0 ... 128);", line: "t = t + n; *t = 1;", after: "" },
  "conversions": { before: "int s = n;", line: "s = (int)((float) s + 1.0f);", after: "*q = s;" },
  "choices": { before: TILE, line: "x = x > 1.0f ? x + 1.0f : 3.0f;", after: "*(p + r) = x;" },
  "loads": { before: "int s = n;", line: "s = *(q + s);", after: "*q = s;" },
  "reductions": { before: TILE, line: "x = x * x[+];", after: "*(p + r) = x;" },
  "products": { before: SQUARE, line: "h = h @ h;", after: "*at = h;" },
  "permutations": { before: SQUARE, line: "h = ^h + 1;", after: "*at = h;" },
  "branches": { before: "int s = n;", line: "if (s > 5) { *q = s; s = s + n; }", after: "*q = s;" },
  "branches of tiles": { before: TILE, line: "if (n > 5) { *q = n; x = x * x; }", after: "*(p + r) = x;" },
  "loops": { before: "int s = n;", line: "for (int i = 0; i < n; i++) s += i * s;", after: "*q = s;" },
  "loops of tiles": { before: TILE, line: "for (int i = 0; i < n; i++) x = x * x;", after: "*(p + r) = x;" },
};

function compile(body: string): void {
  const text = `__global__ void k(float *p, int *q, int n) {\n${body}\n}\n`;
  const { diagnostics, kernels } = compileFile({ name: "k.tc", text }, { targets: ["sm_80"] });
  assertEquals(diagnostics, []);
  assert(kernels[0]?.modules[0] !== undefined);
}

/** How many of the chains a run compiles in each way. */
const COUNT = 3;

for (const [name, { before, line, after }] of sampled(Object.entries(CHAINS), COUNT)) {
  test(`compileFile() compiles ${LENGTH} ${name} one after the other`, () => {
    compile(`${before}\n${`${line}\n`.repeat(LENGTH)}${after}`);
  });
}

for (const [name, { before, line, after }] of sampled(Object.entries(CHAINS), COUNT, 1)) {
  test(`compileFile() compiles ${LENGTH} ${name} in a loop`, () => {
    compile(`${before}\nfor (int j = 0; j < n; j++) {\n${`${line}\n`.repeat(LENGTH)}}\n${after}`);
  });
}
