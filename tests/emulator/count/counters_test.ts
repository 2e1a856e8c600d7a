import fc from "../../support/property.ts";
import { accessOf } from "../../../emulator/access/state.ts";
import { type AccessCounters, addCounters, newCounters } from "../../../emulator/count/counters.ts";
import { sumCounters } from "../../../emulator/count/log.ts";
import { assertEquals } from "../../support/assert.ts";
import { Rig } from "../access/rig.ts";

function counters(rig: Rig): AccessCounters {
  return sumCounters(accessOf(rig.machine).counters.sites());
}

Deno.test("a coalesced load touches as many sectors as its bytes fill", () => {
  const rig = new Rig({ profile: true });
  const x = rig.device(1024);
  rig.begin().point("d0", (lane) => x + 4 * lane).run("ld.global.b32 %r1, [%d0];");
  const expected = {
    ...newCounters(),
    requests: 1,
    bytes: 128,
    sectors: 4,
    idealSectors: 4,
    lines: 1,
  };
  assertEquals(counters(rig), expected);
  rig.begin().point("d0", (lane) => x + 16 * lane).run("ld.v4.b32 {%r1,%r2,%r3,%r4}, [%d0];");
  assertEquals(counters(rig), { ...expected, bytes: 512, sectors: 16, idealSectors: 16, lines: 4 });
  rig.begin().point("d0", (lane) => x + 32 * lane).run("red.global.add.u32 [%d0], %r1;", 7);
  assertEquals(counters(rig), { ...expected, bytes: 12, sectors: 3, idealSectors: 1, atomics: 1 });
});

Deno.test("bank conflicts are counted by half and quarter warps", () => {
  const cases: readonly (readonly [string, (lane: number) => number, number, number])[] = [
    ["ld.shared.b32 %r1, [%r0];", (lane) => 4 * lane, 1, 0],
    ["ld.shared.b32 %r1, [%r0];", () => 64, 1, 0],
    ["ld.shared.b32 %r1, [%r0];", (lane) => 8 * lane, 2, 1],
    ["ld.shared.b32 %r1, [%r0];", (lane) => 128 * lane, 32, 31],
    ["ld.shared.b8 %h1, [%r0];", (lane) => lane, 1, 0],
    ["st.shared.b64 [%r0], %d1;", (lane) => 8 * lane, 2, 0],
    ["st.shared.b64 [%r0], %d1;", (lane) => 8 * (lane & 15), 2, 0],
    ["st.shared.v4.b32 [%r0], {%r1,%r2,%r3,%r4};", (lane) => 16 * lane, 4, 0],
    ["st.shared.v4.b32 [%r0], {%r1,%r2,%r3,%r4};", (lane) => 32 * lane, 8, 4],
  ];
  for (const [text, offset, wavefronts, bankConflicts] of cases) {
    const rig = new Rig({ profile: true, sharedBytes: 8192 }).begin().set("r0", offset).run(text);
    assertEquals(counters(rig), { ...newCounters(), sharedRequests: 1, wavefronts, bankConflicts });
  }
});

Deno.test("counters agree with sets of sectors and words by bank", () => {
  const locations = fc.array(fc.nat(255), { minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(locations, fc.constantFrom(1, 2, 4), fc.integer(), (offsets, words, mask) => {
      if (mask === 0) return;
      const rig = new Rig({ profile: true, sharedBytes: 8192 });
      const x = rig.device(8192);
      const bytes = 4 * words;
      const at = (lane: number): number => bytes * (offsets[lane] ?? 0);
      rig.begin().point("d0", (lane) => x + at(lane)).set("r0", at);
      const names = ["", "%r1", "{%r1,%r2}", "", "{%r1,%r2,%r3,%r4}"][words];
      const vector = words === 1 ? "" : `.v${words}`;
      rig.run(`ld.global${vector}.b32 ${names}, [%d0];`, mask);
      rig.run(`ld.shared${vector}.b32 ${names}, [%r0];`, mask);
      const lanes = Array.from({ length: 32 }, (_, i) => i).filter((i) => ((mask >>> i) & 1) === 1);
      const touched = (unit: number): number =>
        new Set(
          lanes.flatMap((lane) =>
            Array.from({ length: words }, (_, i) => Math.floor((x + at(lane) + 4 * i) / unit))
          ),
        ).size;
      let [wavefronts, groups] = [0, 0];
      for (let first = 0; first < 32; first += 32 / words) {
        const group = lanes.filter((lane) => lane >= first && lane < first + 32 / words);
        if (group.length === 0) continue;
        const distinct = new Set(
          group.flatMap((lane) => Array.from({ length: words }, (_, i) => at(lane) / 4 + i)),
        );
        const banks = Array.from(
          { length: 32 },
          (_, bank) => [...distinct].filter((word) => word % 32 === bank).length,
        );
        wavefronts += Math.max(...banks);
        groups++;
      }
      assertEquals(counters(rig), {
        ...newCounters(),
        requests: 1,
        bytes: bytes * lanes.length,
        sectors: touched(32),
        idealSectors: Math.ceil((bytes * new Set(lanes.map(at)).size) / 32),
        lines: touched(128),
        sharedRequests: 1,
        wavefronts,
        bankConflicts: wavefronts - groups,
      });
    }),
  );
});

Deno.test("counters are kept by instruction and begin anew with each launch", () => {
  const rig = new Rig({ profile: true });
  const x = rig.device(256);
  rig.begin().point("d0", (lane) => x + 4 * lane);
  const load = rig.compile("ld.global.b32 %r1, [%d0];");
  const { registerFile } = rig.machine.warp;
  load(registerFile, -1);
  load(registerFile, -1);
  rig.run("st.global.b32 [%d0], %r1;");
  const sites = accessOf(rig.machine).counters.sites();
  assertEquals(sites.map(({ site, counters: { requests } }) => [site.text, requests]), [
    ["ld.global.b32 %r1, [%d0];", 2],
    ["st.global.b32 [%d0], %r1;", 1],
  ]);
  rig.begin();
  load(registerFile, 1);
  assertEquals(counters(rig).requests, 1);
  assertEquals(
    addCounters({ ...newCounters(), lines: 2 }, { ...newCounters(), lines: 3 }).lines,
    5,
  );
});
