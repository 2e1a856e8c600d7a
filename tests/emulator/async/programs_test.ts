/** Whole programs with a mistake: what checks say when a wait or a count is wrong. */
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { must } from "../../../compiler/support/bug.ts";
import { EmulatorError } from "../../../ffi/errors.ts";
import { openEmulator } from "../../../emulator/driver/mod.ts";
import { CORPUS } from "../../corpus/mod.ts";
import { readPtx, runCase } from "../../corpus/run.ts";
import { sampled, testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

/** Runs a kernel of the corpus whose text was changed; the kind of fault. */
function faultOf(kernel: string, change: (text: string) => string): string {
  const each = must(CORPUS.find((one) => one.kernel === kernel), kernel);
  const before = new TextDecoder().decode(readPtx(each));
  const entry = before.indexOf(`.entry ${kernel}(`);
  const end = before.indexOf("\n}\n", entry);
  const after = change(before.slice(entry, end));
  assertEquals(after === before.slice(entry, end), false);
  const text = before.slice(0, entry) + after + before.slice(end);
  const driver = openEmulator({ workers: 1 });
  driver.makeCurrent(driver.retainContext(0));
  try {
    const image = new TextEncoder().encode(text);
    const run = (): unknown => runCase(driver, image, each);
    return assertThrows(run, EmulatorError).kind;
  } finally {
    driver.close();
  }
}

Deno.test("cp.async.wait_group that leaves one group too many faults at the load of its data", () => {
  const change = (text: string): string =>
    text.replaceAll("cp.async.wait_group 1;", "cp.async.wait_group 2;");
  assertEquals(faultOf("async_row_sums", change), "pending copy");
});

Deno.test("cp.async without a barrier faults where a thread loads what another one copied", () => {
  const change = (text: string): string => text.replaceAll("bar.sync \t0;", "");
  assertEquals(faultOf("async_row_sums", change), "pending copy");
});

Deno.test("cp.async.wait_all that is missing faults", () => {
  const change = (text: string): string => text.replaceAll("cp.async.wait_all;", "");
  assertEquals(faultOf("async_gather", change), "pending copy");
});

Deno.test("mbarrier waits that are not repeated until they succeed fault at what they let through", () => {
  const change = (text: string): string => text.replaceAll(/@!done bra again\w*;/g, "");
  for (const kernel of ["hopper_tensor", "hopper_bulk", "hopper_pipeline"]) {
    assertEquals(faultOf(kernel, change), "pending copy");
  }
});

test("mbarrier waits for a phase that never ends are deadlocks", () => {
  const change = (text: string): string =>
    text.replace(/(try_wait\.parity\.shared::cta\.b64 done, \[%r\d+\]), %r\d+;/, "$1, 1;");
  assertEquals(faultOf("hopper_bulk", change), "deadlock");
});

test("mbarrier phases that count other bytes than the copy has never end", () => {
  for (const bytes of sampled([4080, 4112], 1)) {
    const change = (text: string): string =>
      text.replace(/mov\.u32 \t(%r\d+), 4096;/, `mov.u32 \t$1, ${bytes};`);
    assertEquals(faultOf("hopper_bulk", change), "deadlock");
  }
});

test("mbarrier.init for other arrivals than there are never ends a phase, or has too many", () => {
  const init = (count: number) => (text: string): string =>
    text.replaceAll(/(mbarrier\.init\.shared\.b64 \[%r\d+\]), 128;/g, `$1, ${count};`);
  assertEquals(faultOf("async_mbarrier", init(129)), "deadlock");
});

Deno.test("cp.async.bulk before its barrier is initialised faults", () => {
  const change = (text: string): string => text.replace(/mbarrier\.init[^;]*;/, "");
  assertEquals(faultOf("hopper_bulk", change), "barrier misuse");
});
