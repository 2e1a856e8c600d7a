/** Files with many kernels, instances, tokens or loops: compiled, or refused before they fill the memory. */
import { assertEquals } from "../support/assert.ts";
import { compileFile } from "../support/compile.ts";
import { testsInTurn } from "../support/sampled.ts";

const test = testsInTurn(3);

test("compileFile() takes a thousand kernels, and refuses more instances than it follows", () => {
  const kernels = (n: number): string =>
    Array.from({ length: n }, (_, i) => `__global__ void k${i}(float *X) { *X = ${i}; }`).join(
      "\n",
    );
  const options = { targets: ["sm_80"], checkOnly: true } as const;
  const found = compileFile({ name: "k.tc", text: kernels(1000) }, options);
  assertEquals([found.kernels.length, found.diagnostics], [1000, []]);
  const { diagnostics } = compileFile({ name: "k.tc", text: kernels(2500) }, options);
  assertEquals(diagnostics.map(({ code }) => code), ["E9030"]);
});

test("compileFile() refuses instances that have too many tokens together", () => {
  const values = Array.from({ length: 35 }, (_, i) => i).join(", ");
  const text = [
    `#pragma tri variants A in {${values}}`,
    `#define TEN(x) x x x x x x x x x x`,
    `__global__ void f(float *X) { *X = A; TEN(TEN(TEN(TEN(;;;;;;;;;)))) }`,
  ].join("\n");
  const { diagnostics } = compileFile({ name: "f.tc", text }, {
    targets: ["sm_80"],
    checkOnly: true,
  });
  assertEquals(diagnostics.map(({ code }) => code), ["E9031"]);
});

/** Loops within loops around some statements. */
function nested(depth: number, head: (i: number) => string, inside: string, tail: string): string {
  const heads = Array.from({ length: depth }, (_, i) => head(i)).join("\n");
  return `${heads}\n${inside}\n${tail.repeat(depth)}`;
}

test("compileFile() takes 40 nested loops of any kind", () => {
  const count = (i: number): string => `for (int i${i} = 0; i${i} < n; i${i}++) {`;
  const bodies = [
    nested(40, count, "s += i1 * i2;", "}"),
    nested(40, count, "t += *(X + (0 ... 128));", "}"),
    nested(40, (i) => `${count(i)} *p = 1; p += n;`, "", "p += 1; }"),
    nested(40, () => "while (s > n) {", "s = s - 1;", "s = s * 3; }"),
    nested(40, (i) => `${count(i)} if (n > ${i}) break;`, "*X = 1;", "}"),
    nested(40, (i) => `${count(i)} if (n > ${i}) continue; if (n < 7) return;`, "*X = 1;", "}"),
  ];
  for (const body of bodies) {
    const text = [
      "__global__ void f(float *X, int n) {",
      "int s = 0; float t[128] = 0; float *p[128] = X + (0 ... 128);",
      body,
      "*X = s; *(X + (0 ... 128)) = t;",
      "}",
    ].join("\n");
    const { diagnostics, kernels } = compileFile({ name: "f.tc", text }, { targets: ["sm_80"] });
    assertEquals([diagnostics, kernels.length], [[], 1], body.slice(0, 100));
  }
});
