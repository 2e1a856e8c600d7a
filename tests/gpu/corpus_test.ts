/** The corpus on a GPU: the same PTX, inputs and expected results as on the emulator. */
import { openCudaDriver } from "../../ffi/deno/library.ts";
import type { CorpusCase } from "../corpus/types.ts";
import { CORPUS } from "../corpus/mod.ts";
import { readPtx, runCase } from "../corpus/run.ts";
import { assertEquals } from "../support/assert.ts";
import { gpuTest } from "../support/gpu.ts";
import { tensorMapEncoder } from "./tensor_map.ts";

/** Whether an architecture runs a case. */
function runs({ sm }: CorpusCase, have: number): boolean {
  return sm === "90a" ? have === 90 : have >= sm;
}

for (const each of CORPUS) {
  gpuTest(`${each.kernel}() of the corpus runs on a GPU`, () => {
    const driver = openCudaDriver();
    if (!runs(each, driver.deviceInfo(0).sm)) return;
    driver.makeCurrent(driver.retainContext(0));
    try {
      assertEquals(runCase(driver, readPtx(each), each, tensorMapEncoder()), []);
    } finally {
      driver.releaseContext(0);
      driver.close();
    }
  });
}
