/** Targets that share work get the code that each of them has alone. */
import { compileFile } from "../../../compiler/mod.ts";
import type { CompiledModule } from "../../../compiler/options.ts";
import type { SourceFile } from "../../../compiler/support/source.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { sampled } from "../../support/sampled.ts";
import { shipped } from "../../support/shipped.ts";
import { TARGET_NAMES } from "../../support/targets.ts";

/** A shipped file with one line about variants in place of all. */
function variantOf(name: string, variant: string): SourceFile {
  const rest = shipped(name).text.replaceAll(/^#pragma tri variants? .*$/gm, "");
  return { name, text: `#pragma tri ${variant}\n${rest}` };
}

/** Asks for the architecture, so that targets have two functions. */
const ASKS: SourceFile = {
  name: "asks.tc",
  text: `__global__ void asks(const float *X, float *Y) {
  float x[256] = *(X + 0 ... 256);
#if __TRI_ARCH__ >= 800
  x = x + x;
#endif
  *(Y + 0 ... 256) = x * 3;
}`,
};

/** Products by tensor cores and in forms, exchanges, bfloat16 where targets lack its instructions. */
const FILES = [
  ASKS,
  variantOf("matmul_plain.tc", "variant float16: TYPE=half, SUM=float, OUT=half"),
  variantOf("matmul_plain.tc", "variant float64: TYPE=double, SUM=double, OUT=double"),
  variantOf("transpose.tc", "variants TYPE in {half}"),
  variantOf("vector_add.tc", "variants TYPE in {bfloat16}"),
];

function modulesOf(file: SourceFile, targets: readonly TargetName[]): readonly CompiledModule[] {
  const { kernels, diagnostics } = compileFile(file, { targets, include: shipped });
  assertEquals(diagnostics.filter(({ severity }) => severity === "error"), []);
  return kernels.flatMap(({ modules }) => modules);
}

for (const file of sampled(FILES, 1)) {
  const title = `${file.name}, ${/^#pragma tri (.*)/.exec(file.text)?.[1] ?? "as it is"}`;
  Deno.test(`compileFile() gives each target the code that it has alone: ${title}`, () => {
    const together = modulesOf(file, TARGET_NAMES);
    assert(together.length > 0);
    for (const target of TARGET_NAMES) {
      const shared = together.filter((one) => one.target === target);
      const alone = modulesOf(file, [target]);
      assertEquals(shared.map(({ entries }) => entries), alone.map(({ entries }) => entries));
      // Whole modules would make a long message.
      assert(shared.every(({ ptx }, i) => ptx === alone[i]?.ptx), `PTX for ${target}`);
    }
  });
}
