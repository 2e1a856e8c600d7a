import { assertEquals } from "../../support/assert.ts";
import { Rig } from "./rig.ts";

const windows = {
  global: 0x7f10n,
  shared: 0x7f20n,
  local: 0x7f30n,
  const: 0x7f40n,
  param: 0x7f50n,
};

Deno.test("cvta adds the window of a state space, and takes it away", () => {
  const rig = new Rig().begin();
  for (const [space, window] of Object.entries(windows)) {
    const generic = (window << 32n) | 0x1238n;
    const own = space === "global" ? generic : 0x1238n;
    rig.set64("d0", () => own).run(`cvta.${space}.u64 %d1, %d0;`);
    assertEquals(rig.get64("d1", 9), generic, space);
    rig.run(`cvta.to.${space}.u64 %d2, %d1;`);
    assertEquals(rig.get64("d2", 9), own, space);
  }
});

Deno.test("isspacep distinguishes state spaces", () => {
  const rig = new Rig({ blocks: 2, cluster: true }).begin().turn(0, 1);
  const locations: Record<string, bigint> = {
    global: (windows.global << 32n) | 0x5000n,
    local: (windows.local << 32n) | 16n,
    const: (windows.const << 32n) | 0x5000n,
    param: (windows.param << 32n) | 0x5000n,
    own: (windows.shared << 32n) | 16n,
    ownByRank: (windows.shared << 32n) | (2n << 24n) | 16n,
    other: (windows.shared << 32n) | (1n << 24n) | 16n,
  };
  const holds: Readonly<Record<string, readonly string[]>> = {
    global: ["global", "param"],
    local: ["local"],
    const: ["const"],
    param: ["param"],
    shared: ["own", "ownByRank"],
    "shared::cta": ["own", "ownByRank"],
    "shared::cluster": ["own", "ownByRank", "other"],
  };
  for (const [space, names] of Object.entries(holds)) {
    for (const [name, location] of Object.entries(locations)) {
      rig.set64("d0", () => location).set("p1", () => 0x80000001);
      rig.run(`isspacep.${space} %p1, %d0;`, 0x7ffffffe);
      const expected = names.includes(name) ? 0xffffffff : 0x80000001;
      assertEquals(rig.get("p1", 0), expected, `${space} of ${name}`);
    }
  }
});

Deno.test("mapa makes addresses of other blocks, getctarank reads them", () => {
  const rig = new Rig({ blocks: 4, cluster: true }).begin().turn(0, 2);
  rig.set("r0", (lane) => 8 * lane).set("r1", (lane) => lane % 4);
  rig.run("mapa.shared::cluster.u32 %r2, %r0, %r1;").run(
    "getctarank.shared::cluster.u32 %r3, %r2;",
  );
  rig.run("getctarank.shared::cluster.u32 %r4, %r0;");
  for (const block of rig.blocks) {
    for (let lane = 0; lane < 32; lane++) {
      rig.machine.views.u32[block.shared / 4 + 2 * lane] = 100 * block.rank + lane;
    }
  }
  rig.run("ld.shared::cluster.u32 %r5, [%r2];");
  for (let lane = 0; lane < 32; lane++) {
    assertEquals([rig.get("r3", lane), rig.get("r4", lane)], [lane % 4, 2]);
    assertEquals(rig.get("r5", lane), 100 * (lane % 4) + lane);
  }
  rig.set64("d0", () => (windows.shared << 32n) | 8n).run("mapa.u64 %d1, %d0, %r1;");
  rig.run("getctarank.u64 %r6, %d1;").run("ld.u32 %r7, [%d1];");
  assertEquals([rig.get("r6", 3), rig.get("r7", 3)], [3, 301]);
});

Deno.test("fence, prefetch, discard and createpolicy change no memory", () => {
  const rig = new Rig({ checks: true });
  const x = rig.device(128);
  const before = rig.machine.views.u8.slice(x, x + 128);
  rig.begin().point("d0", () => x);
  rig.run("fence.acq_rel.gpu;").run("membar.gl;").run("prefetch.global.L2 [%d0];");
  rig.run("discard.global.L2 [%d0], 128;").run("applypriority.global.L2::evict_normal [%d0], 128;");
  rig.set64("d1", () => -1n).run("createpolicy.fractional.L2::evict_last.b64 %d1, 0f3F800000;", 2);
  assertEquals([rig.get64("d1", 0), rig.get64("d1", 1)], [2n ** 64n - 1n, 0n]);
  assertEquals(rig.machine.views.u8.slice(x, x + 128), before);
});
