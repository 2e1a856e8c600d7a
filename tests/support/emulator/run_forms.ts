/** Runs kernels of single instructions on a driver, be it the emulator or libcuda. */
import type { Driver } from "../../../ffi/driver.ts";
import {
  columnBytes,
  type FormKernel,
  formModule,
  operandColumns,
  readColumns,
} from "./ptx_form_kernel.ts";
import type { Random } from "../random.ts";

/** The cases of a kernel after it has run. */
export interface FormCases {
  readonly kernel: FormKernel;
  readonly count: number;
  /** Sources and results of a case, in the order of the kernel's columns. */
  sources(i: number): bigint[];
  results(i: number): bigint[];
}

const THREADS = 128;
/** Parameters: two addresses and a count. */
const PARAMETER_BYTES = 20;

/** Runs `name(in, out, count)` of a loaded module with a thread for each case; gives what it left in `out`. */
export function runColumns(
  driver: Driver,
  module: bigint,
  name: string,
  count: number,
  input: Uint8Array<ArrayBuffer>,
  outputBytes: number,
): Uint8Array<ArrayBuffer> {
  const output = new Uint8Array(outputBytes);
  const stream = driver.createStream();
  const from = driver.allocate(input.length);
  const to = driver.allocate(outputBytes);
  driver.copyToDevice(from, input, stream);
  driver.fill(to, 0, outputBytes, stream);
  const shape = {
    block: [THREADS, 1, 1],
    sharedBytes: 0,
    parameterBytes: PARAMETER_BYTES,
  } as const;
  const launch = driver.prepareLaunch(driver.getFunction(module, name), shape, name);
  const { argumentBlock: block } = launch;
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  view.setBigUint64(0, from, true);
  view.setBigUint64(8, to, true);
  view.setUint32(16, count, true);
  launch.launch(Math.ceil(count / THREADS), 1, 1, stream);
  driver.copyToHost(output, to, stream);
  driver.synchronizeStream(stream);
  driver.free(from);
  driver.free(to);
  driver.destroyStream(stream);
  return output;
}

/** Loads the text of a module. */
export function loadText(driver: Driver, text: string, name: string): bigint {
  return driver.loadModule(new TextEncoder().encode(`${text}\0`), name);
}

/**
 * Loads kernels as one module and runs each on `count` random cases. The same random numbers give the same cases. The
 * driver's context must be current.
 */
export function runForms(
  driver: Driver,
  kernels: readonly FormKernel[],
  target: string,
  count: number,
  random: Random,
  visit: (cases: FormCases) => void,
): void {
  const module = loadText(driver, formModule(kernels, target), "forms");
  for (const kernel of kernels) {
    const input = operandColumns(kernel, count, random);
    const bytes = columnBytes(kernel.results, count);
    const output = runColumns(driver, module, kernel.name, count, input, bytes);
    visit({
      kernel,
      count,
      sources: readColumns(kernel.sources, input, count),
      results: readColumns(kernel.results, output, count),
    });
  }
  driver.unloadModule(module);
}
