import type { Operand } from "../../../compiler/ptx/func.ts";
import { must } from "../../../compiler/support/bug.ts";
import { accessOf } from "../../../emulator/access/state.ts";
import { setWritten } from "../../../emulator/check/written.ts";
import { Fault } from "../../../emulator/fault.ts";
import { mayPassWait } from "../../../emulator/matrix/mod.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { halfOf, sampled, testsInTurn } from "../../support/sampled.ts";
import { bitsOf, nearestF16, valueOf } from "./number_formats.ts";
import { newStub, random, register, type Stub, vector } from "./stub.ts";

const test = testsInTurn(2);

type Major = "k" | "mn";
/** Bytes of a swizzled line; 16: no swizzle. */
type Swizzle = 16 | 32 | 64 | 128;

const CODES: Readonly<Record<Swizzle, bigint>> = { 16: 0n, 128: 1n, 64: 2n, 32: 3n };

/** An operand of `extent` rows or columns by k in shared memory, and where each byte of it is. */
interface Stored {
  readonly descriptor: bigint;
  /** From a line's and a byte's number along the operand's extent, and k in bytes. */
  readonly at: (extent: number, kByte: number) => number;
}

/**
 * Chunk c of line r of a repeating pattern goes to the position of chunk: (manual's figures of the swizzling modes).
 */
function swizzled(swizzle: Swizzle, line: number, chunk: number): number {
  const r = line % 8;
  const position =
    { 16: chunk, 32: chunk ^ (r >> 2), 64: chunk ^ (r >> 1), 128: chunk ^ r }[swizzle];
  return 16 * position;
}

const encode = (bytes: number): bigint => BigInt((bytes & 0x3ffff) >> 4);

function describe(
  start: number,
  leading: number,
  stride: number,
  swizzle: Swizzle,
  baseOffset = 0,
): bigint {
  return encode(start) | encode(leading) << 16n | encode(stride) << 32n |
    BigInt(baseOffset) << 49n | CODES[swizzle] << 62n;
}

/**
 * A matrix of `lines` along m or n and `kBytes` along k, of which one instruction uses 32 bytes from `kFrom` on. Along
 * k, rows of 8 lines are packed tightly, so panels of the swizzle's width follow one another.
 */
function storeAlongK(swizzle: Swizzle, start: number, lines: number, kFrom: number): Stored {
  if (swizzle === 16) {
    // Core matrices of 8 rows of 16 bytes; those of the same rows follow each other, with a gap.
    const [leading, stride] = [128 + 16 * 4, 4 * (128 + 16 * 4) + 32];
    return {
      descriptor: describe(start + leading * (kFrom / 16), leading, stride, swizzle),
      at: (line, kByte) =>
        start + (line >> 3) * stride + (kByte >> 4) * leading + (line % 8) * 16 + kByte % 16,
    };
  }
  const stride = 8 * swizzle;
  const panel = lines * swizzle;
  const offset = Math.floor(kFrom / swizzle) * panel + kFrom % swizzle;
  return {
    descriptor: describe(start + offset, 16, stride, swizzle),
    at: (line, kByte) =>
      start + Math.floor(kByte / swizzle) * panel + line * swizzle +
      swizzled(swizzle, line, (kByte % swizzle) >> 4) + kByte % 16,
  };
}

/** The same, with elements of 2 bytes that lie along m or n. */
function storeAlongExtent(swizzle: Swizzle, start: number, lines: number, kFrom: number): Stored {
  const k0 = kFrom / 2;
  if (swizzle === 16) {
    const [stride, leading] = [128 + 16, (lines / 8) * (128 + 16) + 48];
    return {
      descriptor: describe(start + leading * (k0 >> 3), leading, stride, swizzle),
      at: (line, kByte) => {
        const k = kByte >> 1;
        return start + (line >> 3) * stride + (k >> 3) * leading + (k % 8) * 16 + (line % 8) * 2 +
          kByte % 2;
      },
    };
  }
  const [stride, leading] = [8 * swizzle, 64 * swizzle];
  const perPanel = swizzle / 2;
  return {
    descriptor: describe(start + stride * (k0 >> 3), leading, stride, swizzle),
    at: (line, kByte) => {
      const k = kByte >> 1;
      const inPanel = line % perPanel;
      return start + Math.floor(line / perPanel) * leading + (k >> 3) * stride + (k % 8) * swizzle +
        swizzled(swizzle, k, inPanel >> 3) + (inPanel % 8) * 2 + kByte % 2;
    },
  };
}

const store = (major: Major, ...rest: Parameters<typeof storeAlongK>): Stored =>
  major === "k" ? storeAlongK(...rest) : storeAlongExtent(...rest);

interface Case {
  readonly n: number;
  readonly types: readonly [d: "f16" | "f32" | "s32", a: string, b: string];
  readonly a: { readonly swizzle: Swizzle; readonly major: Major } | "registers";
  readonly b: { readonly swizzle: Swizzle; readonly major: Major };
  /** Bytes along k before those that the instruction uses. */
  readonly kFrom: number;
  readonly satfinite?: boolean;
  /** Whether c is added. */
  readonly adds: boolean;
  readonly signs: readonly [a: 1 | -1, b: 1 | -1];
}

/** Bits of elements of moderate size. */
function drawer(seed: number): (type: string) => number {
  const next = random(seed);
  return (type) => {
    const bits = bitsOf(type);
    if (type === "f32" || type === "tf32") {
      return ((next() & 0x807fffff) | ((118 + next() % 18) << 23)) >>> 0;
    }
    for (;;) {
      const drawn = bits === 32 ? next() : next() >>> (32 - bits);
      if (/^[su]/.test(type)) return drawn;
      const size = Math.abs(valueOf(type, drawn));
      if (size > 2 ** -9 && size < 2 ** 9) return drawn;
    }
  };
}

const M = 64;

const wordAt = (stub: Stub, warp: number, name: string, lane: number): number =>
  ((stub.registerFile(warp) + stub.row(name)) >> 2) + lane;

function writeElement(stub: Stub, bytes: number, location: number, bits: number): void {
  const { u8 } = stub.machine.views;
  for (let i = 0; i < bytes; i++) u8[stub.shared + location + i] = bits >>> (8 * i);
}

function setDescriptor(stub: Stub, name: string, descriptor: bigint): void {
  for (let warp = 0; warp < 4; warp++) {
    const at = (stub.registerFile(warp) + stub.row(name)) >> 3;
    stub.machine.views.u64.fill(descriptor, at, at + 32);
  }
}

/** Runs a case in the four warps of a warp group and compares with a triple loop. */
function check(test: Case): void {
  const { n, types: [d, a, b], adds, signs, kFrom } = test;
  const bytes = bitsOf(a) / 8;
  const k = 32 / bytes;
  const stub = newStub(4);
  const draw = drawer(n + kFrom + a.length + d.length);
  const matrix = (type: string, count: number): number[] =>
    Array.from({ length: count }, () => draw(type));
  const [aBits, bBits, cBits] = [matrix(a, M * k), matrix(b, n * k), matrix(d, M * n)];
  const aValues = aBits.map((bits) => valueOf(a, bits));
  const bValues = bBits.map((bits) => valueOf(b, bits));

  // b by columns, a by rows.
  const matrixB = store(test.b.major, test.b.swizzle, 0x10000, n, kFrom);
  for (let column = 0; column < n; column++) {
    for (let j = 0; j < k; j++) {
      const at = matrixB.at(column, kFrom + j * bytes);
      writeElement(stub, bytes, at, bBits[column * k + j] ?? 0);
    }
  }
  setDescriptor(stub, "b", matrixB.descriptor);
  if (test.a !== "registers") {
    const matrixA = store(test.a.major, test.a.swizzle, 0x1000, M, kFrom);
    for (let row = 0; row < M; row++) {
      for (let j = 0; j < k; j++) {
        writeElement(stub, bytes, matrixA.at(row, kFrom + j * bytes), aBits[row * k + j] ?? 0);
      }
    }
    setDescriptor(stub, "a", matrixA.descriptor);
  }
  const { i32 } = stub.machine.views;
  const count = d === "f16" ? n / 4 : n / 2;
  const rowsOfD = Array.from({ length: count }, (_, i) => stub.row(`d${i}`) >> 2);
  const wordOfD = (warp: number, lane: number, i: number): number =>
    (stub.registerFile(warp) >> 2) + (rowsOfD[i] ?? 0) + lane;
  /** Rows and columns of a lane's elements of d, by the manual's figure. */
  const sums = (warp: number, lane: number): { row: number; column: number }[] =>
    Array.from({ length: n / 2 }, (_, i) => ({
      row: 16 * warp + (lane >> 2) + 8 * ((i >> 1) & 1),
      column: 8 * (i >> 2) + 2 * (lane % 4) + (i & 1),
    }));
  for (let warp = 0; warp < 4; warp++) {
    for (let lane = 0; lane < 32; lane++) {
      const own = sums(warp, lane).map(({ row, column }) => cBits[row * n + column] ?? 0);
      if (d === "f16") {
        for (let i = 0; i < n / 4; i++) {
          i32[wordOfD(warp, lane, i)] = (own[2 * i] ?? 0) | (own[2 * i + 1] ?? 0) << 16;
        }
      } else own.forEach((bits, i) => i32[wordOfD(warp, lane, i)] = bits);
      if (test.a !== "registers") continue;
      for (let r = 0; r < 4; r++) {
        const row = 16 * warp + (lane >> 2) + (r % 2 === 1 ? 8 : 0);
        const first = (r >= 2 ? k / 2 : 0) + (lane % 4) * (k / 8);
        let word = 0;
        for (let part = 0; part < k / 8; part++) {
          word |= (aBits[row * k + first + part] ?? 0) << (8 * bytes * part);
        }
        i32[wordAt(stub, warp, `a${r}`, lane)] = word;
      }
    }
  }
  const literal = (value: number): Operand => ({ kind: "integer", value: BigInt(value) });
  const scales = d === "s32" ? [] : signs.map(literal);
  const majors = [...(test.a === "registers" ? [] : [test.a]), test.b];
  const transposed = bytes === 2 ? majors.map(({ major }) => literal(major === "k" ? 0 : 1)) : [];
  const type = d === "f16" ? "b32" : d;
  const saturates = test.satfinite === true ? ".satfinite" : "";
  for (let warp = 0; warp < 4; warp++) {
    stub.run(
      `wgmma.mma_async.sync.aligned.m64n${n}k${k}${saturates}.${d}.${a}.${b}`,
      [
        vector(type, "d", count),
        test.a === "registers" ? vector("b32", "a", 4) : register("b64", "a"),
        register("b64", "b"),
        literal(adds ? 1 : 0),
        ...scales,
        ...transposed,
      ],
      warp,
    );
  }
  // Products take effect when a warp waits for them.
  for (let warp = 0; warp < 4; warp++) {
    stub.run("wgmma.commit_group.sync.aligned", [], warp);
    stub.run("wgmma.wait_group.sync.aligned", [literal(0)], warp);
  }
  const sign = d === "s32" ? 1 : signs[0] * signs[1];
  for (let warp = 0; warp < 4; warp++) {
    for (let lane = 0; lane < 32; lane++) {
      for (const [i, { row, column }] of sums(warp, lane).entries()) {
        let sum = 0;
        for (let j = 0; j < k; j++) {
          sum += sign * (aValues[row * k + j] ?? 0) * (bValues[column * k + j] ?? 0);
        }
        if (adds) sum += valueOf(d, cBits[row * n + column] ?? 0);
        const found = d === "f16"
          ? ((i32[wordOfD(warp, lane, i >> 1)] ?? 0) >>> (16 * (i & 1))) & 0xffff
          : i32[wordOfD(warp, lane, i)];
        const expected = expectedBits(d, sum, test.satfinite);
        if (found === expected) continue;
        assertEquals(found, expected, JSON.stringify({ test, row, column }));
      }
    }
  }
}

const single = new DataView(new ArrayBuffer(4));

function singleBits(value: number): number {
  single.setFloat32(0, value);
  return single.getInt32(0);
}

function expectedBits(type: string, sum: number, saturates = false): number {
  if (type === "f16") return nearestF16(sum);
  if (type === "f32") return singleBits(sum);
  return saturates
    ? Math.min(Math.max(sum, -(2 ** 31)), 2 ** 31 - 1)
    : Number(BigInt.asIntN(32, BigInt(sum)));
}

const SWIZZLES: readonly Swizzle[] = [16, 32, 64, 128];
const MAJORS: readonly Major[] = ["k", "mn"];
const PLAIN = { kFrom: 0, adds: true, signs: [1, 1] } as const;

test("wgmma reads 16-bit operands in every swizzle, along k and across it", () => {
  for (const swizzle of halfOf(SWIZZLES)) {
    for (const major of MAJORS) {
      const b = { swizzle, major };
      for (const other of SWIZZLES) {
        check({ ...PLAIN, n: 64, types: ["f32", "f16", "f16"], a: { swizzle: other, major }, b });
      }
      check({ ...PLAIN, n: 128, types: ["f32", "bf16", "bf16"], a: "registers", b });
      check({ ...PLAIN, n: 64, types: ["f16", "f16", "f16"], a: b, b });
    }
  }
});

test("wgmma steps along k by moving the start address", () => {
  for (const swizzle of halfOf(SWIZZLES)) {
    for (const major of MAJORS) {
      for (const kFrom of [32, 64, 96]) {
        const operand = { swizzle, major };
        check({ ...PLAIN, n: 64, types: ["f32", "f16", "f16"], a: operand, b: operand, kFrom });
      }
    }
  }
});

test("wgmma multiplies every pair of types", () => {
  const float8 = ["e4m3", "e5m2"];
  const pairs = [
    ["tf32", "tf32", "f32"],
    ...float8.flatMap((a) => float8.flatMap((b) => ["f16", "f32"].map((d) => [a, b, d]))),
    ...["s8", "u8"].flatMap((a) => ["s8", "u8"].map((b) => [a, b, "s32"])),
  ];
  for (const [a = "", b = "", sum] of halfOf(pairs)) {
    const d = sum === "f16" || sum === "s32" ? sum : "f32";
    for (const swizzle of SWIZZLES) {
      const operand = { swizzle, major: "k" } as const;
      check({ ...PLAIN, n: 32, types: [d, a, b], a: operand, b: operand });
      check({ ...PLAIN, n: 32, types: [d, a, b], a: "registers", b: operand, kFrom: 32 });
    }
    if (d === "s32") {
      const operand = { swizzle: 64, major: "k" } as const;
      check({ ...PLAIN, n: 32, types: [d, a, b], a: operand, b: operand, satfinite: true });
    }
  }
});

test("wgmma takes every n from 8 to 256, negates operands, and leaves out c", () => {
  const operand = { swizzle: 128, major: "k" } as const;
  const all = Array.from({ length: 32 }, (_, i) => 8 * (i + 1));
  for (const n of sampled(all, 8)) {
    const signs = [n % 16 === 0 ? -1 : 1, n % 24 === 0 ? -1 : 1] as const;
    const test: Case = {
      ...PLAIN,
      n,
      types: ["f32", "f16", "f16"],
      a: operand,
      b: operand,
      adds: n % 40 !== 0,
      signs,
    };
    check(test);
  }
});

const DESCRIPTOR = describe(0, 16, 1024, 128);

function small(stub: Stub): ReturnType<Stub["compile"]> {
  return stub.compile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", [
    vector("f32", "d", 4),
    register("b64", "a"),
    register("b64", "b"),
    ...[1, 1, 1, 0, 0].map((value): Operand => ({ kind: "integer", value: BigInt(value) })),
  ]);
}

Deno.test("wgmma faults on operands outside of shared memory", () => {
  const stub = newStub(4);
  stub.machine.checks = true;
  stub.run("wgmma.fence.sync.aligned", []);
  setWritten(accessOf(stub.machine).shared.of(stub.machine.block, 0), 0, 0x1000);
  setDescriptor(stub, "a", DESCRIPTOR);
  setDescriptor(stub, "b", describe(stub.machine.block.sharedBytes - 64, 16, 1024, 16));
  const fault = assertThrows(() => small(stub)(stub.registerFile(), -1), Fault);
  assertEquals(fault.kind, "out of bounds");
});

Deno.test("wgmma demands a fence before the first product, and equal descriptors, while accesses are checked", () => {
  const stub = newStub(4);
  stub.machine.checks = true;
  setDescriptor(stub, "a", DESCRIPTOR);
  setDescriptor(stub, "b", DESCRIPTOR);
  setWritten(accessOf(stub.machine).shared.of(stub.machine.block, 0), 0, 0x1000);
  const run = small(stub);
  const unfenced = assertThrows(() => run(stub.registerFile(), -1), Fault);
  assert(unfenced.message.includes("wgmma.fence"));
  stub.run("wgmma.fence.sync.aligned", []);
  run(stub.registerFile(), -1);
  stub.machine.views.u64[((stub.registerFile() + stub.row("b")) >> 3) + 9] = 0n;
  const different = assertThrows(() => run(stub.registerFile(), -1), Fault);
  assert(different.kind === "illegal instruction" && different.lane === 9);
});

Deno.test("mayPassWait() holds a warp until the others of its group have issued what it waits for", () => {
  const stub = newStub(8);
  const warp = must(stub.machine.block.warps[1], "warp");
  const commit = (index: number): void => stub.run("wgmma.commit_group.sync.aligned", [], index);
  assert(mayPassWait(warp, 0));
  commit(1);
  assert(!mayPassWait(warp, 0) && mayPassWait(warp, 1));
  commit(0);
  commit(2);
  commit(4);
  assert(!mayPassWait(warp, 0));
  commit(3);
  assert(mayPassWait(warp, 0));
  stub.run("wgmma.wait_group.sync.aligned", [{ kind: "integer", value: 0n }]);
});
