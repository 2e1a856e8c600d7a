/** Atomics on the emulator: exactly once per element and program, with the results that everybody sees. */
import { evalBinary } from "../../../../compiler/support/arith.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { type ScalarName, SCALARS } from "../../../../compiler/support/scalar.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import type { Scalar } from "../../../support/typed_arrays.ts";
import { halfOf } from "../../../support/sampled.ts";
import { CompiledText, zeros } from "../../../support/compiler/value_run.ts";

const INTEGERS: readonly ScalarName[] = ["int32", "uint32", "int64", "uint64"];
const FLOATS: readonly ScalarName[] = ["float32", "float64"];

const POINTEES = {
  add: [...INTEGERS, "float16", "bfloat16", ...FLOATS],
  sub: INTEGERS,
  min: [...INTEGERS, ...FLOATS],
  max: [...INTEGERS, ...FLOATS],
  and: INTEGERS,
  or: INTEGERS,
  xor: INTEGERS,
  xchg: [...INTEGERS, ...FLOATS],
} as const satisfies Record<string, readonly ScalarName[]>;
type Name = keyof typeof POINTEES;

function apply(name: Name, type: ScalarName, old: Scalar, value: Scalar): Scalar {
  return name === "xchg" ? value : must(evalBinary(name, type, old, value), "value");
}

function valuesOf(type: ScalarName, count: number, step: number): Scalar[] {
  return Array.from({ length: count }, (_, i) => {
    const value = (i * step) % 23 - 11;
    return SCALARS[type].class === "float"
      ? value
      : type.startsWith("u")
      ? BigInt(value + 11)
      : BigInt(value);
  });
}

/** A tile with a mask: as many elements as threads, fewer, or more. */
function checkTile(name: Name, type: ScalarName, count: number): void {
  const spelling = SCALARS[type].spelling;
  const all = CompiledText.forAll(`#pragma tri grid(1)
__global__ void k(${spelling} *P, ${spelling} *X, ${spelling} *Y) {
  int r[${count}] = 0 ... ${count};
  *(Y + r) = atomic_${name}(P + r, *(X + r), r % 3 != 1);
}`);
  const [before, x] = [valuesOf(type, count, 7), valuesOf(type, count, 5)];
  const isActive = (i: number): boolean => i % 3 !== 1;
  const zero = SCALARS[type].class === "float" ? 0 : 0n;
  const wanted = before.map((value, i) =>
    isActive(i) ? apply(name, type, value, must(x[i], "value")) : value
  );
  for (const compiled of all) {
    const [after, , old] = compiled.run([
      { type, values: before },
      { type, values: x },
      zeros(type, count),
    ]);
    assertEquals(after, wanted);
    assertEquals(old, before.map((value, i) => isActive(i) ? value : zero));
  }
}

for (const [index, name] of (Object.keys(POINTEES) as Name[]).entries()) {
  Deno.test(`lowerAtomic() changes each element of a tile once where the mask is set, by ${name}, on all targets`, () => {
    for (const type of halfOf<ScalarName>(POINTEES[name], index)) {
      for (const count of [8, 256]) checkTile(name, type, count);
    }
  });
}

/** All elements add to one address: order does not matter to the sum. */
Deno.test("lowerAtomic() adds all elements of all programs at one address", () => {
  for (const type of halfOf(POINTEES.add)) {
    const spelling = SCALARS[type].spelling;
    for (
      const compiled of CompiledText.forAll(
        `#pragma tri grid(1)
__global__ void k(${spelling} *P, ${spelling} *Q, ${spelling} *R) {
  atomic_add(P + ((0 ... 64) & 1), (${spelling}[64])1);
  ${spelling} old = atomic_add(Q, (${spelling})1);
  *(R + get_program_id(0) * 32 + 0 ... 32) = (${spelling}[32])old;
}`,
      )
    ) {
      const [p, q, r = []] = compiled.run([zeros(type, 2), zeros(type, 1), zeros(type, 96)], 3);
      assertEquals(p?.map(Number), [96, 96]);
      assertEquals(q?.map(Number), [3]);
      const tickets = [0, 32, 64].map((at) => Number(r[at])).toSorted();
      assertEquals(tickets, [0, 1, 2]);
      r.forEach((value, i) => assertEquals(value, r[i - i % 32]));
    }
  }
});

Deno.test("lowerAtomic() takes the extremes of floats as the language does: numbers win over NaN", () => {
  const compiled = new CompiledText(`#pragma tri grid(1)
__global__ void k(float *P, float *X) {
  atomic_max(P + 0 ... 4, *(X + 0 ... 4));
  atomic_min(P + 4 ... 8, *(X + 0 ... 4));
}`);
  const values = [NaN, 1, -0, NaN, NaN, 1, 0, NaN];
  const [p] = compiled.run([
    { type: "float32", values },
    { type: "float32", values: [2, NaN, 0, NaN] },
  ]);
  assertEquals(p, [2, 1, 0, NaN, 2, 1, 0, NaN]);
});

Deno.test("lowerAtomicCas() swaps where memory equals, and returns the old value to all threads", () => {
  for (const type of halfOf([...INTEGERS, ...FLOATS])) {
    const spelling = SCALARS[type].spelling;
    for (
      const compiled of CompiledText.forAll(
        `#pragma tri grid(1)
__global__ void k(${spelling} *P, ${spelling} *Q, ${spelling} *Y) {
  int r[16] = 0 ... 16;
  *(Y + r) = atomic_cas(P + r, (${spelling}[16])(r / 2), (${spelling}[16])100);
  *(Y + 16 + r) = (${spelling}[16])atomic_cas(Q, (${spelling})5, (${spelling})6);
}`,
      )
    ) {
      const count = SCALARS[type].class === "float" ? Number : BigInt;
      const p = Array.from({ length: 16 }, (_, i) => count(i % 4));
      const [after, q, y] = compiled.run([
        { type, values: p },
        { type, values: [count(5)] },
        zeros(type, 32),
      ]);
      assertEquals(after, p.map((value, i) => value === count(i >> 1) ? count(100) : value));
      assertEquals(q, [count(6)]);
      assertEquals(y, [...p, ...new Array<Scalar>(16).fill(count(5))]);
    }
  }
});

Deno.test("lowerAtomic() returns nothing where nothing uses the result: no exchange, and `red` unless it acquires", () => {
  const text = (call: string): string =>
    new CompiledText(`#pragma tri grid(1)
__global__ void k(int *P, float *F) { ${call}; }`).ptx;
  for (
    const [call, instruction] of [
      ['atomic_add(P, 1, "release", "sys")', "red.release.sys.global.add.u32"],
      ["atomic_add(P + 0 ... 32, (int[32])1)", "red.relaxed.gpu.global.add.u32"],
      ["atomic_sub(P + 0 ... 32, (int[32])1)", "red.relaxed.gpu.global.add.u32"],
      ["f32_atomic_add(F + 0 ... 32, (float[32])1)", "red.relaxed.gpu.global.add.f32"],
      ['atomic_max(F, 1.f, "release")', "atom.release.gpu.global.cas.b32"],
      ['atomic_xchg(P, 1, "release")', "atom.release.gpu.global.exch.b32"],
      ["atomic_add(P, 1)", "atom.acq_rel.gpu.global.add.u32"],
    ] as const
  ) {
    const ptx = text(call);
    assert(ptx.includes(instruction), `${call}:\n${ptx}`);
    assert(!ptx.includes("shared"), `${call} exchanges its result:\n${ptx}`);
  }
});

Deno.test("lowerAtomic() orders the whole program around scalar atomics and takes order and scope from the text", () => {
  const text = (call: string): string =>
    new CompiledText(`#pragma tri grid(1)
__global__ void k(int *P) { ${call}; }`).ptx;
  assert(text("atomic_add(P, 1)").includes("atom.acq_rel.gpu.global.add.u32"));
  assert(
    text("int o[32] = atomic_add(P + 0 ... 32, (int[32])1); *(P + 32 ... 64) = o")
      .includes("atom.relaxed.gpu.global.add.u32"),
  );
  assert(text('atomic_xchg(P, 1, "release", "sys")').includes("atom.release.sys.global.exch.b32"));
});
