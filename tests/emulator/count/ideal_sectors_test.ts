/** The counter `idealSectors` is a lower bound of the sectors that requests use, also where lanes ask for the same elements. */
import { must } from "../../../compiler/support/bug.ts";
import { Device, type LaunchProfile, type Tensor } from "../../../ffi/mod.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { loadWrapper } from "../../support/load_wrapper.ts";
import { freshRandom } from "../../support/random.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

const [ROWS, COLUMNS] = [16, 64];
const TARGET = "sm_90";

/** Which element of X belongs to row i and column j: several lanes of a request have the same one. */
const PATTERNS: Readonly<Record<string, string>> = {
  scalar: "0 * i[:, newaxis] + 0 * j[newaxis, :]",
  row: "0 * i[:, newaxis] + j[newaxis, :]",
  column: "i[:, newaxis] + 0 * j[newaxis, :]",
  spread_column: "i[:, newaxis] * 63 % 1000 + 0 * j[newaxis, :]",
  repeated: "0 * i[:, newaxis] + j[newaxis, :] / 4",
  shifted: "0 * i[:, newaxis] + j[newaxis, :] / 4 + 3",
  wrapped: "0 * i[:, newaxis] + j[newaxis, :] % 7",
  diagonal: "i[:, newaxis] + j[newaxis, :]",
  scattered: "(i[:, newaxis] * 37 + j[newaxis, :] * 11) % 23 * 5",
};
const random = freshRandom();
/** One type in a run. */
const TYPE = must(["float", "half", "double", "int8"][random.below(4)], "type");

/** Y[i, j] = X[PATTERN]; all of a tile of a matrix. */
const kernelOf = ([name, index]: readonly [string, string]): string => `
#pragma tri variants TYPE in {${TYPE}}
#pragma tri config TM=${ROWS}, TN=${COLUMNS}
#pragma tri grid(1)
#pragma tri tensor X : in TYPE[1024]
#pragma tri tensor Y : out TYPE[TM, TN]
__global__ void ${name}(TYPE *X, TYPE *Y) {
  int i[TM] = 0 ... TM;
  int j[TN] = 0 ... TN;
  *(Y + i[:, newaxis] * TN + j[newaxis, :]) = *(X + ${index});
}`;

type Wrapper = {
  readonly variants: readonly string[];
  launch(
    args: { readonly X: Tensor; readonly Y: Tensor },
    options: { readonly variant: string; readonly profile: true },
  ): LaunchProfile;
};

test("idealSectors is at most the sectors of every instruction, in programs that broadcast", async () => {
  const text = Object.entries(PATTERNS).map(kernelOf).join("\n");
  const { kernels, diagnostics } = compileFile({ name: "broadcasts.tc", text }, {
    targets: [TARGET],
  });
  assertEquals(diagnostics.filter(({ severity }) => severity === "error"), []);
  using device = Device.open({ device: "emulator", arch: TARGET, workers: 1 });
  for (const kernel of kernels) {
    const module = await loadWrapper<Readonly<Record<string, Wrapper>>>(kernel);
    const wrapper = must(Object.values(module)[0], "wrapper");
    for (const variant of wrapper.variants) {
      const dtype = variant as "float32";
      // Also at addresses that no sector begins at.
      const offset = random.below(2) === 0 ? 0 : random.below(31);
      const x = device.zeros(dtype, [1024 + 31]).narrow(0, offset, 1024);
      const y = device.zeros(dtype, [ROWS, COLUMNS]);
      const { accesses, global } = wrapper.launch({ X: x, Y: y }, {
        variant,
        profile: true,
      });
      const what = `${kernel.name}, ${variant}, from element ${offset}`;
      assert(global.idealSectors > 0 && global.idealSectors <= global.sectors, what);
      for (const { instruction, global: { requests, sectors, idealSectors } } of accesses) {
        assert(idealSectors <= sectors, `${what}: ${instruction}: ${idealSectors}, not ${sectors}`);
        const isScalar = kernel.name === "scalar" && instruction.startsWith("ld.global");
        if (isScalar) assertEquals([idealSectors, sectors], [requests, requests], what);
      }
    }
  }
});
