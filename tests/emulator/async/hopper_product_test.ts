/** A product by tensor copies and wgmma, without one of its waits, fences or releases each: all are found. */
import { EmulatorError } from "../../../ffi/errors.ts";
import { openEmulator } from "../../../emulator/driver/mod.ts";
import { HOPPER_PRODUCT } from "../../corpus/hopper_product.ts";
import { readPtx, runCase } from "../../corpus/run.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";

const TEXT = new TextDecoder().decode(readPtx(HOPPER_PRODUCT));

function run(text: string, checks = true): readonly string[] {
  const driver = openEmulator({ workers: 1, checks });
  driver.makeCurrent(driver.retainContext(0));
  try {
    return runCase(driver, new TextEncoder().encode(text), HOPPER_PRODUCT);
  } finally {
    driver.close();
  }
}

interface Mutation {
  readonly title: string;
  readonly change: (text: string) => string;
  readonly kind: EmulatorError["kind"];
  /** What the message names. */
  readonly names: string;
}

const without = (part: string) => (text: string): string => text.replaceAll(part, "");
const waitLoop = (label: string) => (text: string): string =>
  text.replace(`@!%p7 bra ${label};`, "");

const RELEASE = "@%p3 mbarrier.arrive.shared::cta.b64 _, [%r14+64];";
const LAST_RELEASE = "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r14+64];";

const MUTATIONS: readonly Mutation[] = [
  {
    title: "that do not wait until a slot is full",
    change: waitLoop("FULL"),
    kind: "pending copy",
    names: "a wait on its mbarrier",
  },
  {
    title: "whose producers do not wait until a slot is empty",
    change: waitLoop("EMPTY"),
    kind: "pending copy",
    names: "must come first",
  },
  {
    title: "that write over the source of a store without cp.async.bulk.wait_group.read",
    change: without("@%p1 cp.async.bulk.wait_group.read 0;"),
    kind: "pending copy",
    names: "cp.async.bulk.wait_group",
  },
  {
    title: "without a fence.proxy.async before the store",
    change: without("fence.proxy.async.shared::cta;"),
    kind: "missing fence",
    names: "fence.proxy.async",
  },
  {
    title: "that release a slot one product too early",
    change: (text) =>
      text.replace(RELEASE, "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r15+64];")
        .replace(LAST_RELEASE, ""),
    kind: "pending copy",
    names: "wgmma.wait_group must come first",
  },
  {
    title: "that wait for too few groups of products",
    change: (text) =>
      text.replace("wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 7;"),
    kind: "pending copy",
    names: "wgmma.wait_group must come first",
  },
  {
    title: "that use sums without a wait",
    change: without("wgmma.wait_group.sync.aligned 0;"),
    kind: "register in flight",
    names: "a wgmma.wait_group that covers it",
  },
  {
    title: "without a fence after the initialisation of mbarriers",
    change: without("fence.mbarrier_init.release.cluster;"),
    kind: "missing fence",
    names: "fence.mbarrier_init",
  },
  {
    title: "that take the offset of a parameter for its address",
    change: without("cvta.param.u64 %rd1, %rd1;"),
    kind: "illegal instruction",
    names: "cvta.param",
  },
  {
    title: "that want more registers than their block has",
    change: (text) =>
      text.replace("setmaxnreg.inc.sync.aligned.u32 216", "setmaxnreg.inc.sync.aligned.u32 224"),
    kind: "deadlock",
    names: "setmaxnreg.inc",
  },
];

Deno.test("a product by wgmma and TMA is right whether copies and products take effect late or at once", () => {
  for (const checks of [true, false]) assertEquals(run(TEXT, checks), [], `checks: ${checks}`);
});

for (const { title, change, kind, names } of MUTATIONS) {
  Deno.test(`checks find products ${title}`, () => {
    const changed = change(TEXT);
    assert(changed !== TEXT);
    const error = assertThrows(() => run(changed), EmulatorError);
    assertEquals(error.kind, kind, error.message);
    assert(error.message.includes(names), error.message);
  });
}
