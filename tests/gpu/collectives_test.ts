/** The emulator and a GPU on instructions that lanes carry out together, with random values and membermasks. */
import { openCudaDriver } from "../../ffi/cuda/library.ts";
import type { Driver } from "../../ffi/driver.ts";
import { openEmulator } from "../../emulator/driver/mod.ts";
import { assertEquals } from "../support/assert.ts";
import {
  COLLECTIVE_INSTRUCTIONS,
  collectiveModule,
  SOURCE_COLUMNS,
} from "../support/emulator/collective_kernel.ts";
import { gpuTest } from "../support/gpu.ts";
import { freshRandom } from "../support/random.ts";
import { loadText, runColumns } from "../support/emulator/run_forms.ts";

const COUNT = 1 << 16;
const LANES = 32;

/** Random sources; a fifth of the warps have all their lanes in the membermask, and no warp has none. */
function sources(seed: number): Uint8Array<ArrayBuffer> {
  const random = freshRandom(seed);
  const bytes = new Uint8Array(COUNT * SOURCE_COLUMNS * 8);
  random.fill(bytes);
  const view = new DataView(bytes.buffer);
  for (let warp = 0; warp < COUNT / LANES; warp++) {
    const at = (3 * COUNT + warp * LANES) * 8;
    const mask = view.getUint32(at, true);
    view.setUint32(at, warp % 5 === 0 ? 0xffffffff : mask === 0 ? 1 : mask, true);
  }
  return bytes;
}

function run(driver: Driver, input: Uint8Array<ArrayBuffer>): BigUint64Array {
  driver.makeCurrent(driver.retainContext(0));
  const module = loadText(driver, collectiveModule(), "collective");
  const bytes = COUNT * COLLECTIVE_INSTRUCTIONS.length * 8;
  const output = runColumns(driver, module, "collective", COUNT, input, bytes);
  driver.close();
  return new BigUint64Array(output.buffer);
}

gpuTest("the emulator and the GPU agree on what lanes do together", () => {
  const { seed } = freshRandom();
  const input = sources(seed);
  // The bits that hardware gives to lanes whose source takes no part are compared too, which the checks refuse to store.
  const [wanted, found] = [
    run(openCudaDriver(), input),
    run(openEmulator({ checks: false }), input),
  ];
  const different = COLLECTIVE_INSTRUCTIONS.flatMap((instruction, k) => {
    const column = (results: BigUint64Array): BigUint64Array =>
      results.subarray(k * COUNT, (k + 1) * COUNT);
    const [ours, theirs] = [column(found), column(wanted)];
    const at = ours.findIndex((value, i) => value !== theirs[i]);
    if (at < 0) return [];
    return [`${instruction} thread ${at}: ${ours[at]}, on the GPU ${theirs[at]}; seed ${seed}`];
  });
  assertEquals(different, []);
});
