/**
 * The corpus on a GPU and in the emulator: the same PTX and inputs. Both give what is expected, and where that is
 * exact, the same bytes.
 */
import { openCudaDriver } from "../../ffi/cuda/library.ts";
import { openEmulator } from "../../emulator/driver/mod.ts";
import type { CorpusCase } from "../corpus/types.ts";
import { CORPUS } from "../corpus/mod.ts";
import { problemsOf, readPtx, resultsOf } from "../corpus/run.ts";
import { assertEquals } from "../support/assert.ts";
import { gpuArch, gpuTest } from "../support/gpu.ts";

/** Whether an architecture runs a case. */
function runs({ sm }: CorpusCase, have: number): boolean {
  return sm === "90a" ? have === 90 : have >= sm;
}

for (const each of CORPUS) {
  const unfit = runs(each, gpuArch)
    ? undefined
    : `it is for sm_${each.sm}, the GPU is sm_${gpuArch}`;
  gpuTest(`${each.kernel}() of the corpus runs on a GPU as in the emulator`, () => {
    const driver = openCudaDriver();
    driver.makeCurrent(driver.retainContext(0));
    const emulator = openEmulator({ workers: 1 });
    emulator.makeCurrent(emulator.retainContext(0));
    try {
      const found = resultsOf(driver, readPtx(each), each);
      const emulated = resultsOf(emulator, readPtx(each), each);
      assertEquals(problemsOf(each, found), []);
      assertEquals(problemsOf(each, emulated), []);
      emulated.forEach(({ actual, within }, i) => {
        if (within === undefined) assertEquals(actual, found[i]?.actual);
      });
    } finally {
      driver.releaseContext(0);
      driver.close();
      emulator.close();
    }
  }, unfit);
}
