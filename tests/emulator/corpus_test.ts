/** Programs that the emulator was not written from: what nvcc makes of CUDA C++, against results computed beside it. */
import { openEmulator } from "../../emulator/driver/mod.ts";
import { CORPUS } from "../corpus/mod.ts";
import { readPtx, runCase } from "../corpus/run.ts";
import { assertEquals } from "../support/assert.ts";
import { sampled } from "../support/sampled.ts";

for (const checks of [true, false]) {
  // What checks leave alone is compared by all other tests of the emulator too.
  for (const each of sampled(CORPUS, CORPUS.length / (checks ? 4 : 16))) {
    Deno.test(`${each.kernel}() of the corpus runs ${checks ? "with" : "without"} checks`, () => {
      const driver = openEmulator({ checks, workers: 1 });
      driver.makeCurrent(driver.retainContext(0));
      try {
        assertEquals(runCase(driver, readPtx(each), each), []);
      } finally {
        driver.close();
      }
    });
  }
}
