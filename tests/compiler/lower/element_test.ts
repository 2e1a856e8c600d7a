/** Narrow elements as parts of words: what packing and unpacking emit, run and compared with plain bytes. */
import fc from "../../support/property.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { freshRandom } from "../../support/random.ts";
import { emulate } from "../../support/emulate.ts";
import { printEntry } from "../../support/compiler/lowering.ts";
import { nameRegisters } from "../../../compiler/lower/name_registers.ts";
import {
  accessShape,
  bankOf,
  packAccess,
  type Ref,
  unpackAccess,
  whole,
} from "../../../compiler/lower/element.ts";
import { Emitter, int } from "../../../compiler/lower/emitter.ts";
import { convertScalar } from "../../../compiler/lower/convert/convert.ts";
import { lowerBinary, lowerCompare, lowerScaled } from "../../../compiler/lower/arithmetic.ts";
import type { Operand } from "../../../compiler/ptx/func.ts";
import type { ScalarName } from "../../../compiler/support/scalar.ts";
import { must } from "../../../compiler/support/bug.ts";
import { TARGETS } from "../../../compiler/targets.ts";

const SIZES = {
  int8: 1,
  uint8: 1,
  float8e4: 1,
  int16: 2,
  float16: 2,
  int32: 4,
  float64: 8,
} as const;
type Narrow = keyof typeof SIZES;

/** Emits code between a buffer of input and one of output, runs it in one thread, and gives the output. */
class Bench {
  readonly e = new Emitter(TARGETS.sm_80);
  readonly #params = ["in", "out"].map((name) => ({ name, type: "u64" }));

  #address(name: string, offset: number): Operand {
    const base = this.e.pure("ld.param.u64", "b64", [{
      kind: "address",
      base: { kind: "symbol", name },
      offset: 0n,
    }]);
    return { kind: "address", base, offset: BigInt(offset) };
  }

  /** The elements of one access of the input. */
  load(offset: number, element: Narrow, count: number): Ref[] {
    const shape = accessShape(SIZES[element], count);
    const registers = Array.from({ length: shape.count }, () => this.e.register(shape.bank));
    const target: Operand = { kind: "vector", elements: registers };
    const suffix = shape.count > 1 ? `.v${shape.count}` : "";
    this.e.emit(`ld.global${suffix}.${shape.type}`, [target, this.#address("in", offset)]);
    return unpackAccess(this.e, registers, element, count);
  }

  /** Stores the elements as one access of the output. */
  store(offset: number, element: Narrow, refs: readonly Ref[]): void {
    const shape = accessShape(SIZES[element], refs.length);
    const registers = packAccess(this.e, refs, element);
    assertEquals(registers.length, shape.count);
    const suffix = shape.count > 1 ? `.v${shape.count}` : "";
    this.e.emit(`st.global${suffix}.${shape.type}`, [this.#address("out", offset), {
      kind: "vector",
      elements: registers,
    }]);
  }

  storeRegister(offset: number, operand: Operand, type: "b16" | "b32" | "b64"): void {
    this.e.emit(`st.global.${type}`, [
      this.#address("out", offset),
      this.e.inRegister(operand, type),
    ]);
  }

  count(opcode: string): number {
    return this.e.body.filter((item) => item.kind === "instruction" && item.opcode === opcode)
      .length;
  }

  run(input: Uint8Array, outputBytes: number): Uint8Array {
    const output = new Uint8Array(outputBytes);
    this.e.emit("ret", []);
    const kernel = {
      name: "bench",
      params: this.#params,
      directives: [],
      variables: [],
      body: this.e.body,
      registers: nameRegisters(this.e.body).registers,
    };
    emulate(printEntry(kernel), { block: [1, 1, 1], args: [input, output] });
    return output;
  }
}

function randomBytes(seed: number, count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  freshRandom(seed).fill(bytes);
  return bytes;
}

Deno.test("packAccess() puts any choice of loaded elements together, whatever words they came in", () => {
  const names = Object.keys(SIZES) as readonly Narrow[];
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.nat({ max: 4 }),
      fc.nat({ max: 4 }),
      fc.array(fc.nat(), { minLength: 16, maxLength: 16 }),
      fc.nat(),
      (element, loadBits, storeBits, choices, seed) => {
        const size = SIZES[element];
        const most = 16 / size;
        const [loaded, stored] = [Math.min(most, 2 ** loadBits), Math.min(most, 2 ** storeBits)];
        const bench = new Bench();
        // 64 bytes of elements, in accesses of `loaded` elements.
        const refs = Array.from(
          { length: 64 / size / loaded },
          (_, i) => bench.load(i * loaded * size, element, loaded),
        ).flat();
        const chosen = choices.slice(0, stored).map((choice) => choice % refs.length);
        bench.store(0, element, chosen.map((index) => must(refs[index], "element")));
        const input = randomBytes(seed, 64);
        const expected = chosen.flatMap((index) => [
          ...input.subarray(index * size, (index + 1) * size),
        ]);
        assertEquals([...bench.run(input, stored * size)], expected);
      },
    ),
    { numRuns: 400 },
  );
});

Deno.test("packAccess() transposes 4 x 4 bytes with at most eight permutations", () => {
  const bench = new Bench();
  const rows = [0, 1, 2, 3].map((row) => bench.load(4 * row, "int8", 4));
  for (let column = 0; column < 4; column++) {
    bench.store(4 * column, "int8", rows.map((row) => must(row[column], "element")));
  }
  assert(bench.count("prmt") <= 8, `${bench.count("prmt")} permutations`);
  const input = randomBytes(1, 16);
  const output = bench.run(input, 16);
  for (let i = 0; i < 16; i++) assertEquals(output[4 * (i % 4) + (i >> 2)], input[i]);
});

Deno.test("packAccess() transposes 2 x 2 halves with one permutation a word", () => {
  const bench = new Bench();
  const rows = [0, 1].map((row) => bench.load(4 * row, "float16", 2));
  for (const column of [0, 1]) {
    bench.store(4 * column, "float16", rows.map((row) => must(row[column], "element")));
  }
  assertEquals(bench.count("prmt"), 2);
  assertEquals([...bench.run(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 8)], [1, 2, 5, 6, 3, 4, 7, 8]);
});

Deno.test("packAccess() emits nothing for elements that stay where they are in their words", () => {
  for (const element of ["int8", "float8e4", "int16", "float16"] as const) {
    const bench = new Bench();
    bench.store(0, element, bench.load(0, element, 16 / SIZES[element]));
    const moves = ["prmt", "shr", "bfe", "cvt", "mov"].map((opcode) => bench.count(opcode));
    assertEquals(moves, [0, 0, 0, 0, 0], element);
    const input = randomBytes(2, 16);
    assertEquals(bench.run(input, 16), input);
  }
});

Deno.test("packAccess() takes elements that arithmetic made, alone and among parts", () => {
  const bench = new Bench();
  const bytes = bench.load(0, "uint8", 4);
  const [first, second] = [must(bytes[0], "element"), must(bytes[1], "element")];
  const sum = bench.e.add("b32", whole(bench.e, first, "uint8"), int(300));
  bench.store(0, "uint8", [sum, second, int(7), first]);
  bench.store(4, "uint8", [sum, second]);
  bench.store(6, "uint8", [sum]);
  assertEquals([...bench.run(Uint8Array.of(10, 20, 30, 40), 7)], [54, 20, 7, 10, 54, 20, 54]);
});

Deno.test("whole() extends narrow integers by their sign and leaves halves as they are", () => {
  const input = Uint8Array.of(0x7f, 0x80, 0xff, 0x01, 0x34, 0x92, 0xff, 0x7f);
  const view = new DataView(input.buffer);
  const cases: readonly [Narrow, (offset: number) => number][] = [
    ["int8", (offset) => view.getInt8(offset)],
    ["uint8", (offset) => view.getUint8(offset)],
    ["int16", (offset) => view.getInt16(offset, true)],
  ];
  for (const [element, valueAt] of cases) {
    const size = SIZES[element];
    const bench = new Bench();
    const refs = bench.load(0, element, 8 / size);
    refs.forEach((ref, i) => {
      bench.storeRegister(4 * i, whole(bench.e, ref, element), "b32");
    });
    const output = new DataView(bench.run(input, 32).buffer);
    refs.forEach((_, i) => assertEquals(output.getInt32(4 * i, true), valueAt(i * size), element));
  }
  const bench = new Bench();
  const halves = bench.load(0, "float16", 4);
  assertEquals(bankOf("float16"), "b16");
  halves.forEach((ref, i) => {
    bench.storeRegister(2 * i, whole(bench.e, ref, "float16"), "b16");
  });
  assertEquals(bench.run(input, 8), input);
});

Deno.test("whole() keeps booleans as predicates, any byte but 0 being true", () => {
  const bench = new Bench();
  const bytes = bench.load(0, "uint8", 4);
  const predicates = bytes.map((ref) => whole(bench.e, ref, "bool"));
  packAccess(bench.e, predicates, "bool").forEach((word) => bench.storeRegister(0, word, "b32"));
  assertEquals([...bench.run(Uint8Array.of(0, 1, 128, 0), 4)], [0, 1, 1, 0]);
});

Deno.test("lowerBinary() folds constants to numbers of their type", () => {
  const e = new Emitter(TARGETS.sm_80);
  const sub = (element: ScalarName): Operand => lowerBinary(e, "sub", element, int(0), int(2));
  assertEquals(sub("uint32"), int(4294967294));
  assertEquals(sub("int32"), int(-2));
  assertEquals(lowerCompare(e, "lt", "uint32", sub("uint32"), int(3)), int(0));
  assertEquals(lowerCompare(e, "lt", "int32", sub("int32"), int(3)), int(1));
  assertEquals(convertScalar(e, sub("uint32"), "uint32", "int64"), int(4294967294));
  assertEquals(lowerScaled(e, sub("uint32"), "uint32", 4), int(4n * 4294967294n));
  assertEquals(lowerBinary(e, "mul", "int8", int(100), int(3)), int(44));
});

Deno.test("packAccess() rounds two floats by one instruction where there is one", () => {
  for (const [target, count] of [["sm_75", 0], ["sm_80", 1]] as const) {
    const e = new Emitter(TARGETS[target]);
    const halves = [e.register("b32"), e.register("b32")].map((float) =>
      convertScalar(e, float, "float32", "float16")
    );
    packAccess(e, halves, "float16");
    const used = e.body.filter((item) =>
      item.kind === "instruction" && item.opcode === "cvt" && item.modifiers.includes("f16x2")
    );
    assertEquals(used.length, count, target);
  }
});
