import { assertEquals, assertMatch } from "../../support/assert.ts";
import { Rig } from "./rig.ts";

/** An integer type in memory, read byte by byte. */
function readInteger(u8: Uint8Array, location: number, bytes: number, signed: boolean): bigint {
  let value = 0n;
  for (let i = bytes - 1; i >= 0; i--) value = (value << 8n) | BigInt(u8[location + i] ?? 0);
  return signed ? BigInt.asIntN(8 * bytes, value) : value;
}

const TYPES = [
  "b8",
  "u8",
  "s8",
  "b16",
  "u16",
  "s16",
  "b32",
  "u32",
  "s32",
  "f32",
  "b64",
  "u64",
  "s64",
];
const REGISTERS = { h: 16, r: 32, d: 64 } as const;

Deno.test("ld extends every type into every register that holds it", () => {
  for (const checks of [false, true]) {
    const rig = new Rig({ checks, granule: 1 });
    const x = rig.device(64 * 16);
    rig.begin().point("d0", (lane) => x + 8 * lane);
    const { u8 } = rig.machine.views;
    for (const type of TYPES) {
      const bytes = Number(type.slice(1)) / 8;
      for (const [letter, bits] of Object.entries(REGISTERS)) {
        if (bits < 8 * bytes || (type === "f32" && bits > 32)) continue;
        const name = `${letter}5`;
        rig.set64(name, () => -1n).run(`ld.global.${type} %${name}, [%d0];`);
        for (let lane = 0; lane < 32; lane++) {
          const value = readInteger(u8, x + 8 * lane, bytes, type.startsWith("s"));
          const expected = BigInt.asUintN(bits, value);
          const actual = bits === 64 ? rig.get64(name, lane) : BigInt(rig.get(name, lane));
          assertEquals(actual, expected, `${type} into ${bits} bits, lane ${lane}`);
        }
      }
    }
  }
});

Deno.test("ld and st move vectors of every shape, for the lanes of the mask only", () => {
  const shapes:
    readonly (readonly [vector: string, type: string, register: string, words: number])[] = [
      ["", "b32", "r", 1],
      [".v2", "b32", "r", 1],
      [".v4", "b32", "r", 1],
      [".v8", "b32", "r", 1],
      [".v2", "b16", "h", 1],
      [".v4", "b16", "h", 1],
      [".v4", "b8", "h", 1],
      [".v2", "b64", "d", 2],
      [".v4", "b64", "d", 2],
      ["", "b128", "q", 4],
    ];
  for (const order of ["", "relaxed.gpu.", "volatile."]) {
    for (const [vector, type, register, words] of shapes) {
      const count = Number(vector.slice(2) || 1);
      const element = Number(type.slice(1)) / 8;
      const bytes = count * element;
      if (bytes > 16 && order !== "") continue;
      const rig = new Rig({ checks: true, granule: 1 });
      const x = rig.device(32 * bytes, "x");
      const y = rig.device(32 * bytes, "y");
      rig.begin().point("d30", (lane) => x + bytes * lane).point("d31", (lane) => y + bytes * lane);
      const names = Array.from({ length: count }, (_, i) => `%${register}${i + 1}`);
      const value = count === 1 ? names[0] : `{${names.join(", ")}}`;
      const mask = 0x80010fff | 0;
      const { u8 } = rig.machine.views;
      const before = u8.slice(y, y + 32 * bytes);
      rig.run(`ld.${order}global${vector}.${type} ${value}, [%d30];`, mask);
      rig.run(`st.${order}global${vector}.${type} [%d31], ${value};`, mask);
      for (let i = 0; i < 32 * bytes; i++) {
        const lane = Math.floor(i / bytes);
        const moved = ((mask >>> lane) & 1) === 1;
        assertEquals(
          u8[y + i],
          moved ? u8[x + i] : before[i],
          `${order}${vector}.${type} byte ${i}`,
        );
      }
      assertEquals(words * 4 >= element, true);
    }
  }
});

Deno.test("st keeps the low bits of wider registers", () => {
  const rig = new Rig();
  const y = rig.device(1024);
  rig.begin().point("d0", (lane) => y + 8 * lane).set64(
    "d1",
    (lane) => 0x1122334455667700n + BigInt(lane),
  );
  const { u8 } = rig.machine.views;
  for (const [type, bytes] of [["u8", 1], ["b16", 2], ["s32", 4], ["b64", 8]] as const) {
    u8.fill(0xee, y, y + 256);
    rig.run(`st.global.${type} [%d0], %d1;`);
    const expected = [7, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11];
    for (let i = 0; i < 8; i++) {
      assertEquals(u8[y + 56 + i], i < bytes ? expected[i] : 0xee, `${type} byte ${i}`);
    }
  }
});

Deno.test("st takes literals and negative offsets", () => {
  const rig = new Rig();
  const y = rig.device(256);
  rig.begin().point("d0", (lane) => y + 4 * lane + 8).run("st.global.u32 [%d0+-8], 77;");
  for (let lane = 0; lane < 32; lane++) assertEquals(rig.machine.views.u32[y / 4 + lane], 77);
});

Deno.test("ld and st add offsets as 64 bits, and wrap", () => {
  for (const checks of [true, false]) {
    const rig = new Rig({ checks, granule: 1 });
    const x = rig.device(64, "x");
    rig.begin().point("d0", () => x + 8);
    const address = rig.get64("d0", 0);
    const value = (offset: bigint, base = address - offset): number =>
      rig.set64("d1", () => base).run(`ld.global.b32 %r1, [%d1${offset < 0n ? "" : "+"}${offset}];`)
        .get("r1", 0);
    rig.run("ld.global.b32 %r2, [%d0];");
    // 2^64 is 0, forwards and back.
    for (const offset of [0n, 8n, -8n, 2n ** 31n - 1n, -(2n ** 31n), 2n ** 40n, -(2n ** 40n)]) {
      assertEquals(value(offset), rig.get("r2", 0), `${offset}`);
    }
    assertEquals(value(2n ** 32n, address + 2n ** 64n - 2n ** 32n), rig.get("r2", 0));
    rig.set64("d2", () => -16n).set("r3", (lane) => 100 + lane);
    for (const space of ["local", "shared"]) {
      rig.run(`st.${space}.b32 [%d2+16], %r3;`, 4).run(`ld.${space}.b32 %r4, [%d2+16];`, 4);
      assertEquals(rig.get("r4", 2), 102);
    }
    rig.set64("d3", () => (0x7f30n << 32n) - 4n).run("ld.b32 %r5, [%d3+4];", 4);
    assertEquals(rig.get("r5", 2), 102);
    assertMatch(rig.fault("ld.local.b32 %r4, [%d2+8];", 4).detail, /^address 0x/);
  }
});

Deno.test("ld reads every state space, by symbol and by register, also by generic addresses", () => {
  const rig = new Rig({
    blocks: 2,
    cluster: true,
    symbols: {
      svar: { space: "shared", location: 16 },
      gvar: { space: "global", location: 0x9000 },
      parameter: { space: "param", location: 0x9100 },
    },
  }).begin();
  const { u32 } = rig.machine.views;
  const [own, other] = rig.blocks;
  u32[((own?.shared ?? 0) + 16) / 4] = 11;
  u32[((other?.shared ?? 0) + 16) / 4] = 12;
  u32[0x9000 / 4] = 13;
  u32[0x9100 / 4] = 14;
  rig.set("r0", () => 16).set("r1", () => (2 << 24) | 16);
  const expect = (text: string, value: number): void => {
    rig.run(text);
    assertEquals([rig.get("r5", 0), rig.get("r5", 31)], [value, value], text);
  };
  expect("ld.shared.u32 %r5, [svar];", 11);
  expect("ld.shared.u32 %r5, [%r0];", 11);
  expect("ld.shared::cluster.u32 %r5, [%r1];", 12);
  expect("ld.global.u32 %r5, [gvar];", 13);
  expect("ld.u32 %r5, [gvar];", 13);
  expect("ld.param.u32 %r5, [parameter];", 14);
  const windows = [[0x7f20, 16, 11], [0x7f20, (2 << 24) | 16, 12], [0x7f10, 0x9000, 13], [
    0x7f50,
    0x9100,
    14,
  ]] as const;
  rig.set64("d9", (lane) => {
    const [upper, lower] = windows[lane % 4] ?? [0, 0];
    return (BigInt(upper) << 32n) | BigInt(lower);
  }).run("ld.u32 %r5, [%d9];");
  for (let lane = 0; lane < 32; lane++) assertEquals(rig.get("r5", lane), windows[lane % 4]?.[2]);
});

Deno.test("ld and st give each lane local memory of its own", () => {
  for (const checks of [false, true]) {
    const rig = new Rig({ checks }).begin();
    rig.set("r0", () => 12).set("r1", (lane) => 1000 + lane).run("st.local.u32 [%r0], %r1;");
    rig.set64("d0", () => (0x7f30n << 32n) | 8n).run("ld.u32 %r2, [%d0+4];");
    for (let lane = 0; lane < 32; lane++) assertEquals(rig.get("r2", lane), 1000 + lane);
    rig.set("r0", () => 64);
    const fault = rig.fault("st.local.u32 [%r0], %r1;");
    assertEquals(fault.kind, "out of bounds");
  }
  const rig = new Rig({ checks: true }).begin().set("r0", () => 60);
  assertEquals(rig.fault("ld.local.b64 %d1, [%r0];").kind, "misaligned");
  rig.set("r0", () => 48).run("ld.local.v4.b32 {%r1,%r2,%r3,%r4}, [%r0];");
});

Deno.test("ld refuses addresses of no state space, with or without checks", () => {
  for (const checks of [false, true]) {
    const rig = new Rig({ checks }).begin();
    rig.set64("d0", () => 0x1234_0000_0000n);
    assertEquals(rig.fault("ld.u32 %r1, [%d0];").kind, "out of bounds");
    assertEquals(rig.fault("ld.global.u32 %r1, [%d0];").kind, "out of bounds");
    assertEquals(rig.fault("ld.shared.u32 %r1, [%d0];").kind, "out of bounds");
    rig.set("r0", () => 5 << 24);
    assertEquals(rig.fault("ld.shared.u32 %r1, [%r0];").kind, "out of bounds");
    rig.set64("d0", () => 16n);
    assertEquals(rig.fault("ld.global.u32 %r1, [%d0];").kind, "out of bounds");
  }
});
