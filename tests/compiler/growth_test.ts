/**
 * The compiler takes texts that grow beyond all bounds of what people write: it ends, by a result or diagnostics, and
 * throws nothing. `TRI_GROWTH=2000 deno test -A tests/compiler/growth_test.ts` tries more and longer ones.
 */
import { compileFile, inspect, renderDiagnostic } from "../../compiler/mod.ts";
import type { CompileOptions, IncludeResolver } from "../../compiler/options.ts";
import { surveyFile } from "../../compiler/driver/survey.ts";
import { assert } from "../support/assert.ts";
import { anyGrownText } from "../support/compiler/growth_text.ts";
import fc from "../support/property.ts";

const COUNT = Number(Deno.env.get("TRI_GROWTH") ?? 150);
/** Ordinary runs are short; the compiler is to end within seconds for the longest. */
const MOST = Deno.env.has("TRI_GROWTH") ? 100_000 : 4_000;

const SELF = { name: "self.h", text: '#include "self.h"\nint a;\n#include "self.h"\n' };
const include: IncludeResolver = (name) => name === SELF.name ? SELF : undefined;

function run(text: string, checkOnly: boolean): void {
  const file = { name: "k.tc", text };
  const options: CompileOptions = { targets: ["sm_80"], include, checkOnly };
  const { diagnostics, kernels } = compileFile(file, options);
  for (const diagnostic of diagnostics) {
    const { span, fix, notes } = diagnostic;
    for (const at of [span, fix?.span, ...notes.map((note) => note.span)]) {
      if (at === undefined) continue;
      assert(at.start >= 0 && at.start <= at.end && at.end <= at.file.text.length);
    }
    assert(renderDiagnostic(diagnostic, { color: false }).length > 0);
  }
  const isBroken = diagnostics.some(({ severity }) => severity === "error");
  // A text may be cut off before its kernel.
  const hasKernels = text.includes("__global__");
  assert(isBroken === (kernels.length === 0) || !hasKernels, "no result and no error");
}

Deno.test("compileFile() ends for texts that grow without bounds", () => {
  fc.assert(fc.property(anyGrownText(MOST), fc.boolean(), run), { numRuns: COUNT });
});

Deno.test("surveyFile() and inspect() end for texts that grow without bounds", () => {
  const options: CompileOptions = { targets: ["sm_80"], include };
  fc.assert(
    fc.property(
      anyGrownText(MOST),
      fc.constantFrom("tokens", "ast", "types", "ir", "layout", "ptx"),
      (text, phase) => {
        const file = { name: "k.tc", text };
        for (const { views: [first] } of surveyFile(file, options).kernels.slice(0, 3)) first();
        inspect(file, options, phase);
      },
    ),
    { numRuns: Math.ceil(COUNT / 4) },
  );
});

Deno.test("compileFile() ends for branches in branches of a loop, of which each could double the work", () => {
  const depth = 100;
  const open = Array.from({ length: depth }, (_, i) => `if (n != ${i}) { s += n * ${i + 3};`);
  const text = `__global__ void k(int *Y, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) { ${open.join(" ")} ${"}".repeat(depth)} }
    *Y = s;
  }`;
  run(text, false);
});

Deno.test("compileFile() copies no nest of short loops that becomes long", () => {
  const text = `__global__ void k(float *X, float *Y) {
  float sum = 0;
  for (int a = 0; a < 16; a += 1)
    for (int b = 0; b < 16; b += 1)
      for (int c = 0; c < 16; c += 1) sum += *(X + a * 300 + b * 17 + c) * c;
  *Y = sum;
}`;
  const { kernels } = compileFile({ name: "k.tc", text }, { targets: ["sm_80"] });
  const lines = kernels[0]?.modules[0]?.ptx.split("\n").length ?? Infinity;
  assert(lines < 2000, `${lines} lines`);
});
