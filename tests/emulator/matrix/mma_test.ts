import { MATRIX_OPS } from "../../../compiler/ptx/ops/matrix.ts";
import { must } from "../../../compiler/support/bug.ts";
import { Fault } from "../../../emulator/fault.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { bitsOf, nearestF16, valueOf } from "./number_formats.ts";
import { newStub, random, vector } from "./stub.ts";

type At = (i: number, g: number, t: number) => readonly [row: number, column: number];

/** Elements of a lane by the manual's formulas, with g the lane's group and t its number in the group. */
interface Layout {
  readonly a: At;
  readonly b: At;
}

const between = (i: number, first: number, end: number): boolean => i >= first && i < end;

/** By shape and bits of an element of a and b. */
const LAYOUTS: Readonly<Record<string, Layout>> = {
  "m8n8k4 64": { a: (_i, g, t) => [g, t], b: (_i, g, t) => [t, g] },
  "m16n8k4 64": { a: (i, g, t) => [i === 0 ? g : g + 8, t], b: (_i, g, t) => [t, g] },
  "m16n8k8 64": {
    a: (i, g, t) => [i === 0 || i === 2 ? g : g + 8, i < 2 ? t : t + 4],
    b: (i, g, t) => [i === 0 ? t : t + 4, g],
  },
  "m16n8k16 64": {
    a: (i, g, t) => [i % 2 === 0 ? g : g + 8, i % 2 === 0 ? i * 2 + t : i * 2 - 2 + t],
    b: (i, g, t) => [t + i * 4, g],
  },
  "m16n8k4 32": { a: (i, g, t) => [i === 0 ? g : g + 8, t], b: (_i, g, t) => [t, g] },
  "m16n8k8 32": {
    a: (i, g, t) => [i === 0 || i === 2 ? g : g + 8, i < 2 ? t : t + 4],
    b: (i, g, t) => [i === 0 ? t : t + 4, g],
  },
  "m16n8k8 16": {
    a: (i, g, t) => [i < 2 ? g : g + 8, t * 2 + (i & 1)],
    b: (i, g, t) => [t * 2 + i, g],
  },
  "m16n8k16 16": {
    a: (i, g, t) => [
      between(i, 0, 2) || between(i, 4, 6) ? g : g + 8,
      i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8,
    ],
    b: (i, g, t) => [i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g],
  },
  "m8n8k16 8": { a: (i, g, t) => [g, t * 4 + i], b: (i, g, t) => [t * 4 + i, g] },
  "m16n8k16 8": {
    a: (i, g, t) => [i < 4 ? g : g + 8, t * 4 + (i & 3)],
    b: (i, g, t) => [t * 4 + i, g],
  },
  "m16n8k32 8": {
    a: (i, g, t) => [
      between(i, 0, 4) || between(i, 8, 12) ? g : g + 8,
      i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16,
    ],
    b: (i, g, t) => [i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g],
  },
  "m8n8k32 4": { a: (i, g, t) => [g, t * 8 + i], b: (i, g, t) => [t * 8 + i, g] },
  "m16n8k32 4": {
    a: (i, g, t) => [i < 8 ? g : g + 8, t * 8 + (i & 7)],
    b: (i, g, t) => [t * 8 + i, g],
  },
  "m16n8k64 4": {
    a: (i, g, t) => [
      between(i, 0, 8) || between(i, 16, 24) ? g : g + 8,
      i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32,
    ],
    b: (i, g, t) => [i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32, g],
  },
  "m8n8k128 1": { a: (i, g, t) => [g, t * 32 + i], b: (i, g, t) => [t * 32 + i, g] },
  "m16n8k128 1": {
    a: (i, g, t) => [i < 32 ? g : g + 8, t * 32 + (i & 0x1f)],
    b: (i, g, t) => [t * 32 + i, g],
  },
  "m16n8k256 1": {
    a: (i, g, t) => [
      between(i, 0, 32) || between(i, 64, 96) ? g : g + 8,
      i < 64 ? t * 32 + (i & 0x1f) : t * 32 + (i & 0x1f) + 128,
    ],
    b: (i, g, t) => [i < 32 ? t * 32 + (i & 0x1f) : t * 32 + (i & 0x1f) + 128, g],
  },
};

const sumAt: At = (i, g, t) => [i < 2 ? g : g + 8, t * 2 + (i & 1)];

/** The instructions of the table, a and b of the same types where it leaves a choice, then of different ones. */
function spellings(): string[] {
  return MATRIX_OPS.mma.forms.flatMap(({ form }) => {
    let choices = [""];
    for (const word of form.split(" ")[0]?.split(".").slice(1) ?? []) {
      const names = word === "satfinite?"
        ? ["", ".satfinite"]
        : word.split("|").map((n) => `.${n}`);
      choices = choices.flatMap((choice) => names.map((name) => choice + name));
    }
    return choices.map((choice) => `mma${choice}`);
  });
}

interface Case {
  readonly spelling: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly types: readonly [d: string, a: string, b: string, c: string];
}

function caseOf(spelling: string): Case {
  const [, m, n, k] = /m(\d+)n(\d+)k(\d+)/.exec(spelling) ?? [];
  const words = spelling.split(".").filter((word) => word !== "popc" && !/^(xor|and)$/.test(word));
  const [d = "", a = "", b = "", c = ""] = words.slice(-4);
  return { spelling, m: Number(m), n: Number(n), k: Number(k), types: [d, a, b, c] };
}

/** Rounds a sum as d holds it: bits, or for f64 the number. */
function resultOf(type: string, saturates: boolean, sum: number): number {
  if (type === "f16") return nearestF16(sum);
  if (type === "s32") {
    return saturates
      ? Math.min(Math.max(sum, -(2 ** 31)), 2 ** 31 - 1)
      : Number(BigInt.asIntN(32, BigInt(sum)));
  }
  if (Number.isNaN(sum)) return 0x7fffffff;
  return Int32Array.from(new Int32Array(Float32Array.of(sum).buffer))[0] ?? 0;
}

/** Writes a lane's elements, low bits first, into registers `prefix0`, … */
function put(
  stub: ReturnType<typeof newStub>,
  prefix: string,
  bits: number,
  lane: number,
  elements: readonly number[],
): void {
  const perRegister = 32 / bits;
  for (let register = 0; register < elements.length / perRegister; register++) {
    let word = 0;
    for (let part = 0; part < perRegister; part++) {
      word |= (elements[register * perRegister + part] ?? 0) << (part * bits);
    }
    stub.machine.views.i32[((stub.registerFile() + stub.row(`${prefix}${register}`)) >> 2) + lane] =
      word;
  }
}

function get(stub: ReturnType<typeof newStub>, bits: number, lane: number, i: number): number {
  const perRegister = 32 / bits;
  const register = Math.floor(i / perRegister);
  const word =
    stub.machine.views.i32[((stub.registerFile() + stub.row(`d${register}`)) >> 2) + lane] ?? 0;
  return bits === 32 ? word : (word >>> (bits * (i % perRegister))) & (2 ** bits - 1);
}

const REGISTER = { s32: "s32", f32: "f32", f16: "b32", f64: "f64" } as const;
const registerOf = (type: string): "s32" | "f32" | "b32" | "f64" =>
  REGISTER[
    must(
      type === "s32" || type === "f32" || type === "f16" || type === "f64" ? type : undefined,
      type,
    )
  ];

/** Bits of an element: mostly of moderate size, so that sums say something; sometimes any. */
function element(type: string, next: () => number, special: boolean): number {
  const bits = bitsOf(type);
  const any = bits === 32 ? next() : next() >>> (32 - bits);
  if (special || !["f16", "bf16", "tf32", "f32", "e5m2"].includes(type)) return any;
  for (;;) {
    const drawn = bits === 32 ? next() : next() >>> (32 - bits);
    const size = Math.abs(valueOf(type, drawn));
    if (size > 2 ** -9 && size < 2 ** 9) return drawn;
  }
}

function combination(spelling: string): (a: number, b: number) => number {
  return spelling.includes(".xor") ? (a, b) => a ^ b : (a, b) => a * b;
}

const cases = spellings().map(caseOf);

Deno.test("mma multiplies matrices of every shape and type as a triple loop does", () => {
  for (const { spelling, m, n, k, types: [d, a, b, c] } of cases) {
    if (a === "f64" || (m === 8 && a === "f16")) continue;
    const layout = must(
      LAYOUTS[`m${m}n${n}k${k} ${bitsOf(a)}`],
      `layout of ${spelling}`,
    );
    const combine = combination(spelling);
    const next = random(m * n * k + spelling.length);
    for (const special of [false, true]) {
      const stub = newStub();
      const draw = (type: string, count: number): number[] =>
        Array.from({ length: count }, () => element(type, next, special));
      const [aBits, bBits, cBits] = [draw(a, m * k), draw(b, k * n), draw(c, m * n)];
      for (let lane = 0; lane < 32; lane++) {
        const [g, t] = [lane >> 2, lane % 4];
        const pick = (bits: readonly number[], columns: number, at: At, count: number): number[] =>
          Array.from({ length: count }, (_, i) => {
            const [row, column] = at(i, g, t);
            return bits[row * columns + column] ?? 0;
          });
        put(stub, "a", bitsOf(a), lane, pick(aBits, k, layout.a, m * k / 32));
        put(stub, "b", bitsOf(b), lane, pick(bBits, n, layout.b, n * k / 32));
        put(stub, "c", bitsOf(c), lane, pick(cBits, n, sumAt, m * n / 32));
      }
      const sums = m * n * bitsOf(c) / 1024;
      stub.run(spelling, [
        vector(registerOf(d), "d", sums),
        vector("b32", "a", m * k * bitsOf(a) / 1024),
        vector("b32", "b", n * k * bitsOf(b) / 1024),
        vector(registerOf(c), "c", sums),
      ]);
      for (let lane = 0; lane < 32; lane++) {
        for (let i = 0; i < m * n / 32; i++) {
          const [row, column] = sumAt(i, lane >> 2, lane % 4);
          let sum = 0;
          for (let j = 0; j < k; j++) {
            const [left, right] = [aBits[row * k + j] ?? 0, bBits[j * n + column] ?? 0];
            sum += combine(valueOf(a, left), valueOf(b, right));
          }
          sum += valueOf(c, cBits[row * n + column] ?? 0);
          const expected = resultOf(d, spelling.includes("satfinite"), sum);
          assertEquals(
            get(stub, bitsOf(d), lane, i),
            expected,
            `${spelling}: d[${row}][${column}]`,
          );
        }
      }
    }
  }
});

/** a * b + c rounded once, by integers; for numbers of moderate size. */
function fused(a: number, b: number, c: number): number {
  const scaled = (value: number): bigint => BigInt(value * 2 ** 70);
  const sum = scaled(a) * scaled(b) + (scaled(c) << 70n);
  return Number(sum) / 2 ** 140;
}

Deno.test("mma of f64 is a chain of fused multiply-adds along k", () => {
  const f64Cases = cases.filter(({ types: [, a] }) => a === "f64");
  assertEquals(f64Cases.length, 4);
  for (const { spelling, m, n, k } of f64Cases) {
    const layout = must(LAYOUTS[`m${m}n${n}k${k} 64`], `layout of ${spelling}`);
    const stub = newStub();
    const next = random(m * k);
    const draw = (count: number): number[] =>
      Array.from({ length: count }, () => (next() + next() * 2 ** -32) * 2 ** -31 - 1);
    const [a, b, c] = [draw(m * k), draw(k * n), draw(m * n)];
    const { f64 } = stub.machine.views;
    const indexOf = (name: string, lane: number): number =>
      ((stub.registerFile() + stub.row(name)) >> 3) + lane;
    for (let lane = 0; lane < 32; lane++) {
      const [g, t] = [lane >> 2, lane % 4];
      const fill = (prefix: string, from: readonly number[], columns: number, at: At): void => {
        for (let i = 0; i < from.length / 32; i++) {
          const [row, column] = at(i, g, t);
          f64[indexOf(`${prefix}${i}`, lane)] = from[row * columns + column] ?? 0;
        }
      };
      fill("a", a, k, layout.a);
      fill("b", b, n, layout.b);
      fill("c", c, n, sumAt);
    }
    stub.run(spelling, [
      vector("f64", "d", m * n / 32),
      vector("f64", "a", m * k / 32),
      vector("f64", "b", n * k / 32),
      vector("f64", "c", m * n / 32),
    ]);
    for (let lane = 0; lane < 32; lane++) {
      for (let i = 0; i < m * n / 32; i++) {
        const [row, column] = sumAt(i, lane >> 2, lane % 4);
        let sum = c[row * n + column] ?? 0;
        for (let j = 0; j < k; j++) sum = fused(a[row * k + j] ?? 0, b[j * n + column] ?? 0, sum);
        assertEquals(f64[indexOf(`d${i}`, lane)], sum, `${spelling}: d[${row}][${column}]`);
      }
    }
  }
});

Deno.test("mma.m8n8k4 of f16 multiplies for four quad pairs, any layout of a and b", () => {
  const quadCases = cases.filter(({ m, types: [, a] }) => m === 8 && a === "f16");
  assertEquals(quadCases.length, 8);
  for (const { spelling, types: [d] } of quadCases) {
    const [layoutOfA, layoutOfB] = spelling.split(".").slice(4, 6);
    const aAt = (i: number, lane: number): readonly [number, number] =>
      layoutOfA === "row"
        ? [lane < 16 ? lane % 4 : lane % 4 + 4, i]
        : [lane < 16 ? i % 4 : i % 4 + 4, lane % 4];
    const bAt = (i: number, lane: number): readonly [number, number] =>
      layoutOfB === "row"
        ? [lane % 4, lane < 16 ? i : i + 4]
        : [i, lane < 16 ? lane % 4 : lane % 4 + 4];
    const cAt = (i: number, lane: number): readonly [number, number] => {
      if (d === "f16") return [lane < 16 ? lane % 4 : lane % 4 + 4, i];
      const x = (lane & 0b1) + (i & 0b10);
      return [lane < 16 ? x : x + 4, (i & 0b100) + (lane & 0b10) + (i & 0b1)];
    };
    const stub = newStub();
    const next = random(spelling.length);
    const draw = (type: string, count: number): number[] =>
      Array.from({ length: count }, () => element(type, next, false));
    const pairs = Array.from(
      { length: 4 },
      () => ({ a: draw("f16", 32), b: draw("f16", 32), c: draw(d, 64) }),
    );
    const pairOf = (lane: number): typeof pairs[number] =>
      must(
        pairs.find((_, q) => [0, 16].some((top) => between(lane, top + 4 * q, top + 4 * q + 4))),
        "pair",
      );
    for (let lane = 0; lane < 32; lane++) {
      const { a, b, c } = pairOf(lane);
      const pick = (
        from: readonly number[],
        columns: number,
        at: typeof aAt,
        count: number,
      ): number[] =>
        Array.from({ length: count }, (_, i) => {
          const [row, column] = at(i, lane);
          return from[row * columns + column] ?? 0;
        });
      put(stub, "a", 16, lane, pick(a, 4, aAt, 4));
      put(stub, "b", 16, lane, pick(b, 8, bAt, 4));
      put(stub, "c", bitsOf(d), lane, pick(c, 8, cAt, 8));
    }
    const sums = d === "f16" ? 4 : 8;
    stub.run(spelling, [
      vector(registerOf(d), "d", sums),
      vector("b32", "a", 2),
      vector("b32", "b", 2),
      vector(registerOf(d), "c", sums),
    ]);
    for (let lane = 0; lane < 32; lane++) {
      const { a, b, c } = pairOf(lane);
      for (let i = 0; i < 8; i++) {
        const [row, column] = cAt(i, lane);
        let sum = 0;
        for (let j = 0; j < 4; j++) {
          sum += valueOf("f16", a[row * 4 + j] ?? 0) * valueOf("f16", b[j * 8 + column] ?? 0);
        }
        sum += valueOf(d, c[row * 8 + column] ?? 0);
        assertEquals(
          get(stub, bitsOf(d), lane, i),
          resultOf(d, false, sum),
          `${spelling}, lane ${lane}`,
        );
      }
    }
  }
});

Deno.test("mma may write its result over its own operands", () => {
  const stub = newStub();
  const { i32 } = stub.machine.views;
  for (const name of ["r0", "r1", "r2", "r3"]) {
    i32.fill(
      0x01010101,
      (stub.registerFile() + stub.row(name)) >> 2,
      (stub.registerFile() + stub.row(name) + 128) >> 2,
    );
  }
  const r = vector("s32", "r", 4);
  stub.run("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", [
    r,
    vector("s32", "r", 2),
    vector("s32", "r", 1),
    r,
  ]);
  assertEquals(i32[(stub.registerFile() + stub.row("r3")) >> 2], 0x01010101 + 16);
});

Deno.test("mma refuses to run without all lanes of the warp", () => {
  const stub = newStub();
  const run = stub.compile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", [
    vector("b32", "d", 2),
    vector("b32", "a", 2),
    vector("b32", "b", 1),
    vector("b32", "c", 2),
  ]);
  const fault = assertThrows(() => run(stub.registerFile(), 0x0fff_ffff), Fault);
  assert(fault.kind === "illegal instruction" && fault.lane === 28);
});
