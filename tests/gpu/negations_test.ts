/** Minima and maxima of negated integers on a GPU, whose assembler merges them; also PTX for older GPUs. */
import { type TargetName, TARGETS } from "../../compiler/mod.ts";
import { openCudaDriver } from "../../ffi/cuda/library.ts";
import { checkNegations, negationsFor } from "../support/compiler/negations.ts";
import { driverRunner } from "../support/driver/driver_runner.ts";
import { gpuArch, gpuTest } from "../support/gpu.ts";
import { groupTargets } from "../support/targets.ts";

/** What this GPU runs. */
const OURS = Object.values(TARGETS).filter(({ name, sm }) =>
  name.endsWith("a") ? sm === gpuArch : sm <= gpuArch
).map(({ name }): TargetName => name);

gpuTest("minima and maxima of negated integers are right", () => {
  const driver = openCudaDriver();
  driver.makeCurrent(driver.retainContext(0));
  try {
    for (const { first } of groupTargets(negationsFor, OURS)) {
      checkNegations(negationsFor(first), driverRunner(driver));
    }
  } finally {
    driver.releaseContext(0);
    driver.close();
  }
});
