/** `tri tune` on a GPU from text to the wrapper that launches the winner, and tuning at run time. */
import { Device, type Tensor, type TuneResult } from "../../ffi/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { gpuTest } from "../support/gpu.ts";
import { REAL_MAIN, Workspace } from "../cli/support/tri_process.ts";

// Tiles of one element a thread and of sixteen.
const COPY = `#pragma tri configs TM in {32, 256, 4096}; num_warps in {1, 8}
__global__ void copy(float *X, float *Y, int n) {
  int r[TM] = get_program_id(0) * TM + 0 ... TM;
  *?(r < n) (Y + r) = *?(r < n) (X + r);
}
`;

interface Copy {
  launch(args: { X: Tensor; Y: Tensor; n: number }): void;
  tune?(args: { X: Tensor; Y: Tensor; n: number }, options: { save: URL }): Promise<TuneResult>;
}

gpuTest(
  "tri tune finds the fastest configurations, tri build ships them, and wrapper.tune() adds to them",
  async () => {
    using workspace = new Workspace({ "kernels/copy.tc": COPY });
    const tri = async (...args: readonly string[]): Promise<string> => {
      const options = { main: REAL_MAIN, permissions: ["--allow-all"] };
      const { code, stdout, stderr } = await workspace.tri(args, options);
      assertEquals([code, stderr.replace(/^(built|files).*\n/gm, "")], [0, ""]);
      return stdout;
    };
    const sizes = ["--size", "n=4096", "--size", "n=16777216"];
    await tri("tune", "kernels", ...sizes);
    const file = JSON.parse(workspace.read("kernels/copy.tune.json"));
    using device = Device.open();
    const keys: Record<string, Record<string, { microseconds: number }>> =
      file.gpus[device.info.name].kernels.copy.default.a16;
    assertEquals(Object.keys(keys), ["n=4096", "n=16777216"]);
    for (const timings of Object.values(keys)) {
      assertEquals(Object.keys(timings).length, 6);
      for (const { microseconds } of Object.values(timings)) assert(microseconds > 0.1);
    }
    await tri("build", "kernels", "--out", "out", "--arch", "native", "--configs", "all");
    const { copy }: { copy: Copy } = await import(`file://${workspace.path}/out/copy.ts`);
    const n = 1 << 20;
    const X = device.tensor(Float32Array.from({ length: n }, (_, i) => i % 1000), [n]);
    const Y = device.zeros("float32", [n]);
    copy.launch({ X, Y, n });
    assertEquals((await Y.read()).at(-1), (n - 1) % 1000);
    const save = new URL(`file://${workspace.path}/kernels/copy.tune.json`);
    const found = await copy.tune?.({ X, Y, n }, { save });
    assertEquals(found?.timings.length, 6);
    const saved = JSON.parse(workspace.read("kernels/copy.tune.json"));
    assertEquals(
      Object.keys(saved.gpus[device.info.name].kernels.copy.default.a16),
      ["n=4096", "n=1048576", "n=16777216"],
    );
    copy.launch({ X, Y, n });
    assertEquals((await Y.read()).at(-1), (n - 1) % 1000);
  },
);
