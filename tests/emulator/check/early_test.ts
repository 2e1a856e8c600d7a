/** Launches that may start before those before them have ended: what each thread must wait for. */
import { type CheckChoice, Device, EmulatorError } from "../../../ffi/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import { assertEquals, assertStringIncludes } from "../../support/assert.ts";

const WAIT = "griddepcontrol.wait;";

/** Runs a body on two warps, one of them half; `%x` is the address of 64 words, `%t` the thread, `%s` shared memory. */
function kindOf(
  body: string,
  { startsEarly = true, checks }: { startsEarly?: boolean; checks?: CheckChoice } = {},
): string {
  const text = `.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 X) {
.shared .align 16 .b32 tile[64];
.shared .align 8 .b64 full;
.reg .pred %p; .reg .b32 %t, %a, %b, %s; .reg .b64 %x, %o, %y;
mov.u32 %t, %tid.x; mov.u32 %s, tile;
ld.param.u64 %x, [X];
mul.wide.u32 %o, %t, 4; add.u64 %y, %x, %o;
${body}
ret;
}`;
  using device = Device.open({ device: "emulator", arch: "sm_90", ...(checks && { checks }) });
  const fn = device.loadModule(text, "k.ptx").function("k");
  const x = device.zeros("int32", [64]);
  const { argumentBlock, launch } = fn.prepare({
    block: [48, 1, 1],
    sharedBytes: 0,
    parameterBytes: 8,
    parameterNames: ["X"],
    startsEarly,
  });
  new DataView(argumentBlock.buffer, argumentBlock.byteOffset).setBigUint64(0, x.address, true);
  try {
    launch(2, 1, 1, device.defaultStream.handle);
    return "right";
  } catch (error) {
    if (!(error instanceof EmulatorError) || error.kind !== "early access") throw error;
    assertStringIncludes(must(error.hint, "a hint"), "griddepcontrol.wait");
    return `${error.detail} (${error.instruction ?? "no instruction"}, thread ${
      error.thread?.[0]
    })`;
  }
}

const BEFORE = "before the thread has run `griddepcontrol.wait`";
const LOAD = "ld.global.u32 %a, [%y];";
const BULK = `mov.u32 %b, full; setp.ne.u32 %p, %t, 0; @%p bra after;
mbarrier.init.shared.b64 [%b], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [%b], 64;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%x], 64, [%b];
again: mbarrier.try_wait.parity.shared.b64 %p, [%b], 0; @!%p bra again;
after:`;

Deno.test("a launch that may start early is right where all threads wait before they access global memory", () => {
  for (
    const body of [WAIT, `${WAIT} ${LOAD}`, `${WAIT} ${BULK}`, `st.shared.u32 [%s], 1; ${WAIT}`]
  ) {
    // One word of shared memory: a store by one thread.
    const alone = body.replace("st.shared", "setp.eq.u32 %p, %t, 0; @%p st.shared");
    assertEquals(kindOf(alone), "right", body);
  }
  const branches =
    `setp.lt.u32 %p, %t, 7; @%p bra few; ${WAIT} ${LOAD} bra end; few: ${WAIT} end: ${LOAD}`;
  assertEquals(kindOf(branches), "right");
});

Deno.test("the emulator reports accesses of global memory before griddepcontrol.wait, by the instruction", () => {
  assertEquals(
    kindOf(`${LOAD} ${WAIT}`),
    `load of 4 bytes at element 0 of X (64 int32) ${BEFORE} (${LOAD}, thread 0)`,
  );
  const store = "@%p st.global.u32 [%y], %t;";
  assertEquals(
    kindOf(`setp.gt.u32 %p, %t, 40; ${store} ${WAIT}`),
    `store of 4 bytes at element 41 of X (64 int32) ${BEFORE} (${store}, thread 41)`,
  );
  const generic = "red.global.add.u32 [%x], 1;";
  assertStringIncludes(kindOf(`${generic} ${WAIT}`), `${BEFORE} (${generic}, thread 0)`);
  const copy = "cp.async.ca.shared.global [%s], [%x], 4;";
  assertStringIncludes(
    kindOf(`setp.eq.u32 %p, %t, 0; @%p ${copy} cp.async.wait_all; ${WAIT}`),
    `copy from 4 bytes at element 0 of X (64 int32) ${BEFORE}`,
  );
  assertStringIncludes(
    kindOf(`${BULK} ${WAIT}`),
    `copy from 64 bytes at element 0 of X (64 int32) ${BEFORE} (cp.async.bulk`,
  );
  const half = `setp.lt.u32 %p, %t, 40; @%p ${WAIT} ${LOAD} ${WAIT}`;
  assertStringIncludes(kindOf(half), `at element 40 of X (64 int32) ${BEFORE}`);
});

Deno.test("the emulator reports threads that end without griddepcontrol.wait", () => {
  assertEquals(
    kindOf(`setp.eq.u32 %p, %t, 45; @%p exit; ${WAIT} ${LOAD}`),
    "a thread ends without having run `griddepcontrol.wait` (no instruction, thread 45)",
  );
});

Deno.test("accesses before griddepcontrol.wait are right in ordinary launches, and where the check is off", () => {
  assertEquals(kindOf(`${LOAD} ${WAIT}`, { startsEarly: false }), "right");
  assertEquals(kindOf(`${LOAD} ${WAIT}`, { checks: { starts: "off" } }), "right");
});
