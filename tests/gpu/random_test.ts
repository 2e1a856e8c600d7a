/**
 * Random programs on a GPU: what they leave in memory is what the reference leaves there, as it is on the emulator. Each
 * is compiled for an architecture that the GPU runs. `TRI_PROGRAMS=2000` runs more of them, `TRI_SEED=…` the same again.
 */
import fc from "../support/property.ts";
import { ALL_TARGETS, type TargetName, TARGETS } from "../../compiler/targets.ts";
import { openCudaDriver } from "../../ffi/cuda/library.ts";
import { assert } from "../support/assert.ts";
import { anyProgram } from "../support/generate/arbitrary.ts";
import { supportedFeatures } from "../support/generate/features.ts";
import { compareRuns, report, type Verdict } from "../support/generate/compare.ts";
import { gpuArch, gpuTest } from "../support/gpu.ts";
import { driverRunner } from "../support/driver/driver_runner.ts";
import { SEED } from "../support/seed.ts";

/** Tests of random programs, each of which has programs of its own: they run side by side. */
const TESTS = 4;
/** How many programs a test has. */
const COUNT = Math.ceil(Number(Deno.env.get("TRI_PROGRAMS") ?? 320) / TESTS);

/** Architectures whose PTX the GPU runs: older ones, and its own. */
function targetsOf(arch: number): TargetName[] {
  return Object.values(TARGETS)
    .filter(({ name, sm }) => name.endsWith("a") ? sm === arch : sm <= arch)
    .map(({ name }) => name);
}

function runPrograms(nth: number): void {
  // What a GPU prints goes to the terminal.
  const features = new Set([...supportedFeatures()].filter((name) => name !== "printf"));
  const targets = targetsOf(gpuArch);
  const seed = (SEED + Math.imul(nth, 0x9e3779b1)) | 0;
  const programs = fc.sample(anyProgram(features), { seed, numRuns: COUNT });
  const driver = openCudaDriver();
  driver.makeCurrent(driver.retainContext(0));
  const onGpu = driverRunner(driver);
  const counts: Record<Verdict["kind"], number> = {
    equal: 0,
    unsupported: 0,
    undecided: 0,
    wrong: 0,
    invalid: 0,
  };
  const problems: string[] = [];
  for (const [i, drawn] of programs.entries()) {
    const possible = drawn.numCtas === 1
      ? targets
      : targets.filter((name) => ALL_TARGETS[name].clusters);
    const program = possible.length === 0
      ? { ...drawn, numCtas: 1, targets: [targets[0] ?? "sm_80"] }
      : { ...drawn, targets: [possible[i % possible.length] ?? "sm_80"] };
    const verdict = compareRuns(program, onGpu);
    counts[verdict.kind]++;
    if (verdict.kind !== "wrong") continue;
    const emulated = compareRuns(program);
    const others = emulated.kind === "wrong" ? emulated.message : "like the reference";
    problems.push(`${report(program, verdict.message)}\nOn the emulator: ${others}\n`);
    // A kernel that stopped takes the context with it.
    if (/CUDA_ERROR/.test(verdict.message)) break;
  }
  driver.releaseContext(0);
  driver.close();
  assert(problems.length === 0, `TRI_SEED=${SEED}\n${problems.slice(0, 8).join("\n")}`);
  assert(counts.equal >= COUNT * 0.6, JSON.stringify(counts));
}

for (let nth = 0; nth < TESTS; nth++) {
  gpuTest(
    `random programs leave on a GPU what they leave in the reference and on the emulator, ${nth}`,
    () => runPrograms(nth),
  );
}
