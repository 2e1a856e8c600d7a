import { assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { Rig } from "./rig.ts";

Deno.test("ld and st may touch every byte of an allocation and none beside it", () => {
  const widths = [["b8", 1], ["b16", 2], ["b32", 4], ["b64", 8], ["b128", 16]] as const;
  for (const [type, bytes] of widths) {
    for (const opcode of ["ld", "st"]) {
      const rig = new Rig({ checks: true, granule: 1 });
      rig.device(512, "before");
      const x = rig.device(48, "x");
      rig.device(512, "after");
      rig.begin();
      const value = bytes === 16 ? "%q1" : "%d1";
      const text = opcode === "ld"
        ? `ld.global.${type} ${value}, [%d0];`
        : `st.global.${type} [%d0], ${value};`;
      for (let offset = -64; offset <= 96; offset += bytes) {
        rig.point("d0", () => x + offset);
        if (offset >= 0 && offset + bytes <= 48) rig.run(text, 1);
        else {
          const fault = rig.fault(text, 1);
          assertEquals(fault.kind, "out of bounds", `${text} at ${offset}`);
          assertEquals(fault.lane, 0);
        }
      }
    }
  }
});

Deno.test("st says by how much it leaves a tensor, and in which lane", () => {
  const rig = new Rig({ checks: true });
  const y = rig.device(96, "y");
  rig.heap.describe(y, { name: "Y", dtype: "float32", elementBytes: 4, shape: [24] });
  rig.begin().point("d0", (lane) => y + 4 * lane);
  const fault = rig.fault("st.global.b32 [%d0], %r1;");
  assertEquals([fault.kind, fault.lane], ["out of bounds", 24]);
  assertStringIncludes(
    fault.detail,
    "store of 4 bytes at element 24, 0 bytes past the end of Y (24 float32)",
  );
  assertEquals(fault.site?.text, "st.global.b32 [%d0], %r1;");
  rig.run("st.global.b32 [%d0], %r1;", 0x00ffffff);
  rig.point("d0", () => y - 8);
  assertStringIncludes(rig.fault("st.global.b32 [%d0], %r1;").detail, "8 bytes before Y");
});

Deno.test("ld says which bytes of a vector are past the end", () => {
  const rig = new Rig({ checks: true });
  const x = rig.device(24, "x");
  rig.begin().point("d0", () => x + 16);
  const { detail } = rig.fault("ld.global.v4.b32 {%r1,%r2,%r3,%r4}, [%d0];", 8);
  assertStringIncludes(detail, "load of 16 bytes at byte 16 of `x` (24 bytes)");
  assertStringIncludes(detail, "its last 8 are past the end");
});

Deno.test("ld calls allocations by the arguments that point into them", () => {
  const rig = new Rig({ checks: true });
  const x = rig.device(16, "x");
  const named = new Rig({ checks: true, launch: { arguments: [{ name: "input", location: x }] } });
  assertEquals(named.device(16, "x"), x);
  named.begin().point("d0", () => x + 16);
  assertStringIncludes(named.fault("ld.global.b32 %r1, [%d0];").detail, "of input (16 bytes)");
});

Deno.test("ld finds memory that was freed, and pointers to nowhere", () => {
  const rig = new Rig({ checks: true });
  const x = rig.device(64, "x");
  rig.heap.free(x);
  rig.device(64, "y");
  rig.begin().point("d0", () => x + 8);
  const freed = rig.fault("ld.global.b32 %r1, [%d0];");
  assertEquals(freed.kind, "use after free");
  assertStringIncludes(freed.detail, "`x` (64 bytes), which was freed");
  rig.point("d0", () => 16);
  rig.point("d0", () => 0xf000_0000);
  assertStringIncludes(rig.fault("ld.global.b32 %r1, [%d0];").detail, "nothing is allocated");
});

Deno.test("ld and st demand alignment to the whole access, in every space", () => {
  const rig = new Rig({ checks: true });
  const x = rig.device(256, "x");
  rig.begin().point("d0", () => x + 8).set("r0", () => 2);
  const global = rig.fault("ld.global.v4.b32 {%r1,%r2,%r3,%r4}, [%d0];");
  assertEquals(global.kind, "misaligned");
  assertMatch(global.detail, /load of 16 bytes at byte 8 of `x`.*no multiple of 16/);
  assertEquals(rig.fault("st.shared.b32 [%r0], %r1;").kind, "misaligned");
  rig.run("ld.global.v2.b32 {%r1,%r2}, [%d0];").run("st.shared.b16 [%r0], %h1;", 1);
});

Deno.test("lanes of one warp may reach several allocations at once", () => {
  const rig = new Rig({ checks: true });
  const locations = [rig.device(64, "a"), rig.device(64, "b"), rig.device(64, "c")];
  rig.begin().point("d0", (lane) => (locations[lane % 3] ?? 0) + 4 * (lane >> 1));
  rig.run("ld.global.b32 %r1, [%d0];").run("ld.b32 %r1, [%d0];");
  rig.point("d0", (lane) => (locations[lane % 3] ?? 0) + (lane === 17 ? 64 : 0));
  assertEquals(rig.fault("ld.b32 %r1, [%d0];").lane, 17);
});

Deno.test("ld.shared finds bytes that nothing has written, to the byte", () => {
  const rig = new Rig({
    checks: true,
    granule: 1,
    launch: { shared: [{ name: "tile", location: 0, bytes: 64 }] },
  }).begin();
  rig.set("r0", () => 8).run("st.shared.b8 [%r0+1], %h1;", 1).run("st.shared.b8 [%r0+3], %h1;", 1);
  rig.run("ld.shared.b8 %h2, [%r0+1];", 1);
  const fault = rig.fault("ld.shared.b32 %r2, [%r0];", 1);
  assertEquals(fault.kind, "uninitialised memory");
  assertStringIncludes(fault.detail, "load of 4 bytes at tile + 8 in shared memory");
  rig.run("st.shared.b8 [%r0], %h1;", 1).run("st.shared.b8 [%r0+2], %h1;", 1);
  rig.run("ld.shared.b32 %r2, [%r0];", 1);
  assertStringIncludes(rig.fault("ld.shared.b64 %d2, [%r0];", 1).detail, "byte 4 nothing");
  assertEquals(rig.fault("atom.shared.add.u32 %r2, [%r0+4], %r1;", 1).kind, "uninitialised memory");
});

Deno.test("ld.shared sees nothing of the block before", () => {
  const rig = new Rig({ checks: true }).begin();
  rig.set("r0", (lane) => 4 * lane).run("st.shared.b32 [%r0], %r1;").run(
    "ld.shared.b32 %r1, [%r0];",
  );
  const [old] = rig.blocks;
  if (old === undefined) throw new Error("no block");
  const next = {
    ...old,
    linear: 1,
    phase: 0,
    cluster: [] as typeof rig.blocks,
    warps: [...old.warps],
  };
  next.cluster.push(next);
  rig.machine.block = next;
  rig.machine.warp = { ...rig.machine.warp, block: next };
  rig.set("r2", (lane) => 4 * lane ^ 4);
  assertEquals(rig.fault("ld.shared.b32 %r1, [%r2];").kind, "uninitialised memory");
  rig.run("st.shared.b32 [%r2], %r1;");
});

Deno.test("st.shared must stay inside, also in another block of the cluster", () => {
  const rig = new Rig({ checks: true, blocks: 2, cluster: true, sharedBytes: 100 }).begin();
  rig.set("r0", () => 96).run("st.shared.b32 [%r0], %r1;", 1);
  rig.set("r0", () => 100);
  assertStringIncludes(rig.fault("st.shared.b32 [%r0], %r1;", 2).detail, "which has 100 bytes");
  rig.set("r0", () => (2 << 24) | 96).run("st.shared::cluster.b32 [%r0], %r1;", 1);
  rig.set("r0", () => (2 << 24) | 100);
  assertEquals(rig.fault("st.shared::cluster.b32 [%r0], %r1;", 1).kind, "out of bounds");
});

Deno.test("ld.const and ld.param must stay inside variables and arguments", () => {
  const extents = {
    constants: [{ name: "c", location: 0x9000, bytes: 8 }],
    parameters: { name: "arguments", location: 0xa000, bytes: 12 },
  };
  const rig = new Rig({ checks: true, launch: extents }).begin();
  rig.set64("d0", () => 0x9004n).run("ld.const.b32 %r1, [%d0];");
  assertEquals(rig.fault("ld.const.b32 %r1, [%d0+4];").kind, "out of bounds");
  rig.set64("d0", () => 0xa008n).run("ld.param.b32 %r1, [%d0];");
  assertEquals(rig.fault("ld.param.b32 %r1, [%d0+4];").kind, "out of bounds");
});
