import { assertEquals } from "../../support/assert.ts";
import { Rig } from "./rig.ts";

/** Bits of a float and back, by the host. */
const view = new DataView(new ArrayBuffer(8));
const single = (bits: number): number => (view.setUint32(0, bits), view.getFloat32(0));
const f64 = (bits: bigint): number => (view.setBigUint64(0, bits), view.getFloat64(0));
const bits32 = (value: number): number => (view.setFloat32(0, value), view.getUint32(0));
const bits64 = (value: number): bigint => (view.setFloat64(0, value), view.getBigUint64(0));
const half = (bits: number): number => (view.setUint16(0, bits), view.getFloat16(0));
const bits16 = (value: number): number => (view.setFloat16(0, value), view.getUint16(0));
const big = (bits: number): bigint => BigInt(bits >>> 0);

type Reference = (old: bigint, by: bigint) => bigint;

const min = (a: bigint, b: bigint): bigint => a < b ? a : b;
const max = (a: bigint, b: bigint): bigint => a > b ? a : b;
const s = (width: number, f: Reference): Reference => (a, b) =>
  BigInt.asUintN(width, f(BigInt.asIntN(width, a), BigInt.asIntN(width, b)));

const INTEGERS: Readonly<Record<string, Reference>> = {
  "add.u32": (a, b) => BigInt.asUintN(32, a + b),
  "add.s32": (a, b) => BigInt.asUintN(32, a + b),
  "add.u64": (a, b) => BigInt.asUintN(64, a + b),
  "inc.u32": (a, b) => a >= b ? 0n : a + 1n,
  "dec.u32": (a, b) => a === 0n || a > b ? b : a - 1n,
  "min.u32": min,
  "max.u32": max,
  "min.s32": s(32, min),
  "max.s32": s(32, max),
  "min.u64": min,
  "max.u64": max,
  "min.s64": s(64, min),
  "max.s64": s(64, max),
  "and.b32": (a, b) => a & b,
  "or.b32": (a, b) => a | b,
  "xor.b32": (a, b) => a ^ b,
  "and.b64": (a, b) => a & b,
  "or.b64": (a, b) => a | b,
  "xor.b64": (a, b) => a ^ b,
  "exch.b32": (_, b) => b,
  "exch.b64": (_, b) => b,
};

const FLOATS: Readonly<Record<string, Reference>> = {
  "add.f32": (a, b) => big(bits32(single(Number(a)) + single(Number(b)))),
  "add.f64": (a, b) => bits64(f64(a) + f64(b)),
  "add.noftz.f16": (a, b) => big(bits16(half(Number(a)) + half(Number(b)))),
};

/** Values whose sums say something about signs, limits and rounding. */
const WORDS = [0n, 1n, 2n, 5n, 0x7fffffffn, 0x80000000n, 0xfffffffen, 0xffffffffn];
const LONGS = [...WORDS, 0x7fffffffffffffffn, 0x8000000000000000n, 0xffffffffffffffffn, 1n << 40n];
const SINGLES = [0, 1, -1, 1.5, 3e38, 0.1, 1e-3, -7.25].map((x) => big(bits32(x)));
const DOUBLES = [0, 1, -1, 0.1, 1e308, 1e-300, -7.25].map(bits64);
const HALVES = [0, 1, -1, 1.5, 60000, 0.1, 2 ** -24, -7.25].map((x) => big(bits16(x)));

function valuesOf(type: string): readonly bigint[] {
  if (type === "f32") return SINGLES;
  if (type === "f64") return DOUBLES;
  if (type === "f16") return HALVES;
  return type.endsWith("64") ? LONGS : WORDS;
}

Deno.test("atom returns the old value and red does without, lanes in ascending order", () => {
  for (const space of ["global", "shared"]) {
    for (const [name, reference] of Object.entries({ ...INTEGERS, ...FLOATS })) {
      const type = name.slice(name.lastIndexOf(".") + 1);
      const bits = Number(type.slice(1));
      const letter = bits === 64 ? "d" : bits === 16 ? "h" : "r";
      const values = valuesOf(type);
      const mask = 0xf0f0ff3f | 0;
      for (const opcode of name.startsWith("exch") ? ["atom"] : ["atom", "red"]) {
        const rig = new Rig();
        const x = rig.device(64);
        const base = space === "global" ? x : rig.blocks[0]?.shared ?? 0;
        // Two locations, so that lanes meet.
        rig.begin().point("d0", (lane) => x + 8 * (lane & 1)).set("r0", (lane) => 8 * (lane & 1));
        rig.set64(`${letter}1`, (lane) => values[(lane * 5) % values.length] ?? 0n);
        if (bits < 64) {
          rig.set(`${letter}1`, (lane) => Number(values[(lane * 5) % values.length] ?? 0n));
        }
        const { u64 } = rig.machine.views;
        const memory = [values[1] ?? 0n, values[2] ?? 0n];
        memory.forEach((value, i) => u64[base / 8 + i] = value);
        const address = space === "global" ? "%d0" : "%r0";
        const target = opcode === "atom" ? `%${letter}2, ` : "";
        rig.run(`${opcode}.${space}.${name} ${target}[${address}], %${letter}1;`, mask);
        for (let lane = 0; lane < 32; lane++) {
          if (((mask >>> lane) & 1) === 0) continue;
          const old = memory[lane & 1] ?? 0n;
          const got = bits === 64 ? rig.get64("d2", lane) : BigInt(rig.get(`${letter}2`, lane));
          if (opcode === "atom") assertEquals(got, old, `${space} ${name} lane ${lane}`);
          memory[lane & 1] = reference(old, values[(lane * 5) % values.length] ?? 0n);
        }
        memory.forEach((value, i) => assertEquals(u64[base / 8 + i], value, `${space} ${name}`));
      }
    }
  }
});

Deno.test("atom.cas swaps where the value is the expected one, in 16 to 128 bits", () => {
  const cases = [["b16", "h", 2], ["b32", "r", 4], ["b64", "d", 8], ["b128", "q", 16]] as const;
  for (const [type, letter, bytes] of cases) {
    const rig = new Rig();
    const x = rig.device(64);
    const { u8, u64 } = rig.machine.views;
    const expected = u8.slice(x, x + bytes);
    const after = u8.slice(x + bytes, x + 64);
    rig.begin().point("d0", () => x);
    const registerFile = rig.machine.warp.registerFile;
    const stride = Math.max(4, bytes);
    for (let lane = 0; lane < 32; lane++) {
      const compare = registerFile + rig.row(`${letter}1`) + stride * lane;
      const value = registerFile + rig.row(`${letter}2`) + stride * lane;
      u8.fill(0, compare, compare + stride);
      // Lane 3 expects what is there, lane 7 what lane 3 wrote.
      u8.set(lane === 3 ? expected : new Uint8Array(bytes).fill(lane === 7 ? 203 : 1), compare);
      u8.fill(0, value, value + stride).fill(200 + lane, value, value + bytes);
    }
    rig.run(`atom.global.cas.${type} %${letter}3, [%d0], %${letter}1, %${letter}2;`);
    assertEquals(u8.slice(x, x + bytes), new Uint8Array(bytes).fill(207));
    assertEquals(u8.slice(x + bytes, x + 64), after);
    const old = (lane: number): Uint8Array => {
      const at = registerFile + rig.row(`${letter}3`) + stride * lane;
      return u8.slice(at, at + bytes);
    };
    assertEquals(old(0), expected);
    assertEquals(old(5), new Uint8Array(bytes).fill(203));
    assertEquals(old(31), new Uint8Array(bytes).fill(207));
    assertEquals(u64.length > 0, true);
  }
});

Deno.test("atom.exch moves 128 bits", () => {
  const rig = new Rig();
  const x = rig.device(16);
  rig.begin().point("d0", () => x);
  const { u64 } = rig.machine.views;
  const row = (name: string, lane: number): number =>
    (rig.machine.warp.registerFile + rig.row(name)) / 8 + 2 * lane;
  for (let lane = 0; lane < 32; lane++) {
    u64[row("q1", lane)] = u64[row("q1", lane) + 1] = BigInt(lane);
  }
  const first = u64[x / 8];
  rig.run("atom.global.exch.b128 %q2, [%d0], %q1;");
  assertEquals(u64[row("q2", 0)], first);
  assertEquals([u64[row("q2", 9)], u64[row("q2", 9) + 1]], [8n, 8n]);
  assertEquals([u64[x / 8], u64[x / 8 + 1]], [31n, 31n]);
});

Deno.test("red adds both halves of packed floats, and vectors by element", () => {
  const rig = new Rig();
  const x = rig.device(32);
  rig.begin().point("d0", () => x);
  const { u16, u32, f32 } = rig.machine.views;
  u32[x / 4] = (bits16(2) << 16) | bits16(-1);
  rig.set("r1", () => (bits16(0.5) << 16) | bits16(0.25)).run(
    "red.global.add.noftz.f16x2 [%d0], %r1;",
  );
  assertEquals([half(u16[x / 2] ?? 0), half(u16[x / 2 + 1] ?? 0)], [7, 18]);
  f32.set([1, 2, 3, 4], x / 4);
  rig.set("r1", () => bits32(1)).set("r2", () => bits32(-1));
  rig.run("atom.global.add.v4.f32 {%r5,%r6,%r7,%r8}, [%d0], {%r1,%r2,%r1,%r2};", 3);
  assertEquals([...f32.subarray(x / 4, x / 4 + 4)], [3, 0, 5, 2]);
  assertEquals([5, 6, 7, 8].map((i) => single(rig.get(`r${i}`, 1))), [2, 1, 4, 3]);
  u16.fill(bits16(1), x / 2, x / 2 + 8);
  const names = Array.from({ length: 8 }, (_, i) => `%h${i}`);
  names.forEach((name, i) => rig.set(name.slice(1), () => bits16(i - 3)));
  rig.run(`red.global.max.noftz.v8.f16 [%d0], {${names.join(", ")}};`);
  assertEquals([...u16.subarray(x / 2, x / 2 + 8)].map(half), [1, 1, 1, 1, 1, 2, 3, 4]);
});

Deno.test("atom min and max of bf16 prefer numbers to NaN and order zeros", () => {
  const rig = new Rig();
  const x = rig.device(8);
  rig.begin().point("d0", () => x);
  const { u16 } = rig.machine.views;
  const after = (operation: string, old: number, by: number): number => {
    u16[x / 2] = u16[x / 2 + 1] = old;
    rig.set("h1", () => by).run(`red.global.${operation}.noftz.v2.bf16 [%d0], {%h1, %h1};`, 1);
    return u16[x / 2] ?? 0;
  };
  assertEquals(after("min", 0x7fff, 0x3f80), 0x3f80);
  assertEquals(after("max", 0x3f80, 0x7fff), 0x3f80);
  assertEquals(after("min", 0x0000, 0x8000), 0x8000);
  assertEquals(after("max", 0x8000, 0x0000), 0x0000);
  assertEquals(after("add", 0x3f80, 0x3b80), 0x3f80);
});

Deno.test("atom.add.f32 flushes subnormal numbers in global memory and keeps them in shared memory", () => {
  const rig = new Rig();
  const x = rig.device(8);
  const shared = rig.blocks[0]?.shared ?? 0;
  rig.begin().point("d0", () => x).set("r0", () => 0).set("r1", () => 1);
  const { u32 } = rig.machine.views;
  for (
    const [location, address, expected] of [[x, "global.add.f32 [%d0]", 0], [
      shared,
      "shared.add.f32 [%r0]",
      6,
    ]] as const
  ) {
    u32[location / 4] = 5;
    rig.run(`red.${address}, %r1;`, 1);
    assertEquals(u32[location / 4], expected);
  }
  rig.set64("d0", () => 0x7f20n << 32n).run("red.add.f32 [%d0], %r1;", 1);
  assertEquals(u32[shared / 4], 7);
});

Deno.test("atom.add.f64 passes NaN on as an H200 does", () => {
  const rig = new Rig();
  const x = rig.device(8);
  const shared = rig.blocks[0]?.shared ?? 0;
  rig.begin().point("d0", () => x).set("r0", () => 0);
  const { u64 } = rig.machine.views;
  const [one, signalling, quiet] = [0x3ff0000000000000n, 0x7ff0000000012345n, 0xfff8000000054321n];
  const [infinity, invalid] = [0x7ff0000000000000n, 0xfff8000000000000n];
  const cases = [
    [one, signalling, signalling, signalling | (1n << 51n)],
    [signalling, one, signalling, signalling | (1n << 51n)],
    [quiet, signalling, signalling, quiet],
    [infinity, infinity | (1n << 63n), invalid, invalid],
  ] as const;
  for (const [old, by, inGlobal, inShared] of cases) {
    u64[x / 8] = u64[shared / 8] = old;
    rig.set64("d1", () => by).run("red.global.add.f64 [%d0], %d1;", 1);
    rig.run("red.shared.add.f64 [%r0], %d1;", 1);
    assertEquals([u64[x / 8], u64[shared / 8]], [inGlobal, inShared]);
  }
});
