/** Runs cases of the corpus on a driver, whichever it is. */
import { must } from "../../compiler/support/bug.ts";
import { TENSOR_MAP_ALIGN } from "../../ffi/tensor_map.ts";
import type { Driver, ParameterInfo } from "../../ffi/driver.ts";
import { readRecorded } from "../support/recorded.ts";
import type { Argument, CorpusCase, Data, Tolerance } from "./types.ts";

const bytesOf = ({ buffer, byteOffset, byteLength }: Data): Uint8Array<ArrayBuffer> =>
  new Uint8Array(buffer, byteOffset, byteLength);

interface DeviceBuffer {
  readonly argument: Exclude<Argument, { kind: "value" }>;
  readonly address: bigint;
  readonly bytes: number;
}

/** The text of a case's PTX file. */
export function readPtx({ file, text }: CorpusCase): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(
    text ?? readRecorded(new URL(`ptx/${file}.ptx`, import.meta.url)),
  );
}

/** What a case left in a buffer. */
export interface Result {
  readonly actual: Uint8Array<ArrayBuffer>;
  readonly expected: Data;
  readonly within: Tolerance | undefined;
}

/** Launches a case; the result names what is not as expected, or is empty. */
export function runCase(
  driver: Driver,
  image: Uint8Array<ArrayBuffer>,
  each: CorpusCase,
): string[] {
  return problemsOf(each, resultsOf(driver, image, each));
}

/** What differs from what is expected. */
export function problemsOf({ kernel }: CorpusCase, results: readonly Result[]): string[] {
  return results.flatMap(({ actual, expected, within }, i) => {
    const problem = compare(actual, expected, within);
    return problem === undefined ? [] : [`${kernel}, buffer ${i}: ${problem}`];
  });
}

/** Launches a case. */
export function resultsOf(
  driver: Driver,
  image: Uint8Array<ArrayBuffer>,
  each: CorpusCase,
): Result[] {
  const buffers: DeviceBuffer[] = [];
  const module = driver.loadModule(image, each.file);
  try {
    const parts = each.arguments().map((argument) => {
      if (argument.kind === "value") return argument;
      const content = bytesOf(argument.data);
      const address = driver.allocate(content.length);
      buffers.push({ argument, address, bytes: content.length });
      driver.copyToDevice(address, content, 0n);
      if (argument.kind === "buffer") {
        return { bytes: new Uint8Array(BigUint64Array.of(address).buffer), align: 8 };
      }
      const map = driver.encodeTensorMap({ ...argument.map, address });
      return { bytes: must(map, "tensor map"), align: TENSOR_MAP_ALIGN };
    });
    const fn = driver.getFunction(module, each.kernel);
    const offsets = offsetsOf(driver.functionInfo(fn).parameters, parts);
    const parameterBytes = Math.max(
      ...parts.map(({ bytes }, i) => bytes.length + (offsets[i] ?? 0)),
    );
    const shape = { block: each.block, sharedBytes: each.sharedBytes ?? 0, parameterBytes };
    const launch = driver.prepareLaunch(fn, shape, each.kernel);
    parts.forEach(({ bytes }, i) => launch.argumentBlock.set(bytes, offsets[i]));
    launch.launch(...each.grid, 0n);
    driver.synchronize();
    return buffers.map(({ argument, address, bytes }) => {
      const actual = new Uint8Array(bytes);
      driver.copyToHost(actual, address, 0n);
      driver.synchronize();
      return { actual, expected: argument.expected ?? argument.data, within: argument.within };
    });
  } finally {
    for (const { address } of buffers) driver.free(address);
    driver.unloadModule(module);
  }
}

/** Where arguments go: where the driver says, else each on its alignment. */
function offsetsOf(
  parameters: readonly ParameterInfo[] | undefined,
  parts: readonly { readonly bytes: Uint8Array; readonly align: number }[],
): number[] {
  if (parameters !== undefined) return parameters.map(({ offset }) => offset);
  let end = 0;
  return parts.map(({ bytes, align }) => {
    const offset = Math.ceil(end / align) * align;
    end = offset + bytes.length;
    return offset;
  });
}

function compare(
  actual: Uint8Array<ArrayBuffer>,
  expected: Data,
  within: Tolerance | undefined,
): string | undefined {
  if (expected instanceof Float32Array) {
    return compareNumbers(new Float32Array(actual.buffer), expected, within);
  }
  if (expected instanceof Float64Array) {
    return compareNumbers(new Float64Array(actual.buffer), expected, within);
  }
  const bytes = bytesOf(expected);
  const at = bytes.findIndex((byte, i) => byte !== actual[i]);
  if (at < 0) return undefined;
  const size = expected.BYTES_PER_ELEMENT;
  const element = Math.floor(at / size);
  const show = (from: Uint8Array): string =>
    [...from.subarray(element * size, element * size + size)].reverse()
      .map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `element ${element} is 0x${show(actual)}, not 0x${show(bytes)}`;
}

function compareNumbers(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  within: Tolerance | undefined,
): string | undefined {
  for (let i = 0; i < expected.length; i++) {
    const [a, e] = [actual[i] ?? 0, expected[i] ?? 0];
    if (Object.is(a, e)) continue;
    const { absolute = 0, relative = 0 } = within ?? {};
    // Nothing is as near as zeros of different signs, which are not the same either.
    if (within !== undefined && Math.abs(a - e) <= Math.max(absolute, relative * Math.abs(e))) {
      continue;
    }
    return `element ${i} is ${a}, not ${e}`;
  }
  return undefined;
}
