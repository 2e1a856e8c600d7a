import type { Operand } from "../../../compiler/ptx/func.ts";
import { WMMA_OPS } from "../../../compiler/ptx/ops/wmma.ts";
import { must } from "../../../compiler/support/bug.ts";
import { Fault } from "../../../emulator/fault.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { bitsOf, nearestF16, valueOf } from "./number_formats.ts";
import { newStub, random, register, type Stub, vector } from "./stub.ts";

interface Case {
  readonly spelling: string;
  readonly layouts: readonly [a: string, b: string];
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly types: Readonly<Record<"a" | "b" | "c" | "d", string>>;
  /** Registers of each operand. */
  readonly counts: Readonly<Record<"a" | "b" | "c" | "d", number>>;
}

/** Products of the table, without those of f64 that round otherwise than to nearest. */
function cases(): Case[] {
  return WMMA_OPS["wmma.mma"].forms.flatMap(({ form }) => {
    let choices = [""];
    for (const word of (form.split(" ")[0] ?? "").split(".").slice(1)) {
      const optional = word.endsWith("?");
      const name = optional ? word.slice(0, -1) : word;
      const names = name === "ALAYOUT" || name === "BLAYOUT"
        ? ["row", "col"]
        : name === "RND"
        ? ["rn"]
        : [name];
      const added = [...(optional ? [""] : []), ...names.map((each) => `.${each}`)];
      choices = choices.flatMap((choice) => added.map((each) => choice + each));
    }
    const counts = Object.fromEntries(
      [...form.matchAll(/\b([dabc])\*(\d+)/g)].map(([, name, count]) => [name, Number(count)]),
    );
    return choices.map((choice): Case => {
      const [, a = "", b = "", m, n, k, rest = ""] =
        /\.(row|col)\.(row|col)\.m(\d+)n(\d+)k(\d+)(.*)/.exec(choice) ?? [];
      const types = rest.split(".").filter((name) =>
        name !== "" && name !== "rn" && name !== "satfinite"
      );
      const [d = "", aType = "f16", bType = "f16", c = ""] = types.length === 2
        ? [types[0], undefined, undefined, types[1]]
        : types;
      const count = (name: string): number => must(counts[name], `registers of ${name}`);
      return {
        spelling: `wmma.mma${choice}`,
        layouts: [a, b],
        m: Number(m),
        n: Number(n),
        k: Number(k),
        types: { a: aType, b: bType, c, d },
        counts: { a: count("a"), b: count("b"), c: count("c"), d: count("d") },
      };
    });
  });
}

const REGISTERS = { s32: "s32", f32: "f32", f64: "f64" } as const;
const registerOf = (type: string): "s32" | "f32" | "f64" | "b32" =>
  type === "s32" || type === "f32" || type === "f64" ? REGISTERS[type] : "b32";

/** A small whole number in a type, as bits; of f64 the number. */
function small(type: string, next: () => number): number {
  const value = next() % 5;
  switch (type) {
    case "f16":
      return nearestF16(value);
    case "f32":
    case "tf32":
      return must(new Uint32Array(Float32Array.of(value).buffer)[0], "bits");
    case "bf16":
      return small("f32", () => value) >>> 16;
    case "b1":
      return value & 1;
    default:
      return value;
  }
}

/** A matrix in shared memory. */
interface StoredMatrix {
  readonly start: number;
  readonly type: string;
  readonly stride: number;
  readonly layout: string;
}

function access(stub: Stub, { start, type, stride, layout }: StoredMatrix): {
  get: (row: number, column: number) => number;
  set: (row: number, column: number, bits: number) => void;
} {
  const view = new DataView(stub.machine.memory.buffer, stub.shared + start);
  const bits = bitsOf(type);
  const at = (row: number, column: number): number =>
    (layout === "row" ? row * stride + column : column * stride + row) * bits;
  return {
    get: (row, column) => {
      const bit = at(row, column) / 8;
      if (type === "f64") return view.getFloat64(bit, true);
      return bits === 16 ? view.getUint16(bit, true) : view.getInt32(bit, true);
    },
    set: (row, column, value) => {
      const bit = at(row, column);
      if (type === "f64") view.setFloat64(bit / 8, value, true);
      else if (bits === 32) view.setUint32(bit / 8, value, true);
      else if (bits === 16) view.setUint16(bit / 8, value, true);
      else {
        const old = view.getUint8(bit >> 3);
        const mask = (2 ** bits - 1) << (bit & 7);
        view.setUint8(bit >> 3, (old & ~mask) | (value << (bit & 7)));
      }
    },
  };
}

const at = (name: string): Operand => ({
  kind: "address",
  base: register("b32", name),
  offset: 0n,
});

const numberOf = (type: string, bits: number): number =>
  type === "f64" ? bits : valueOf(type, bits);

function check({ spelling, layouts, m, n, k, types, counts }: Case, sumLayout: string): void {
  const stub = newStub();
  const next = random(spelling.length);
  const shape = `m${m}n${n}k${k}`;
  const { u32 } = stub.machine.views;
  const setLanes = (name: string, value: number): void => {
    const first = (stub.registerFile() + stub.row(name)) >> 2;
    u32.fill(value, first, first + 32);
  };
  const matrixOf = (
    which: "a" | "b" | "c" | "d",
    layout: string,
    rows: number,
    columns: number,
  ): StoredMatrix => {
    const start = { a: 0, b: 0x4000, c: 0x8000, d: 0xc000 }[which];
    const type = types[which];
    const stride = (layout === "row" ? columns : rows) + 128 / bitsOf(type);
    setLanes(`at${which}`, start);
    setLanes(`stride${which}`, stride);
    return { start, type, stride, layout };
  };
  const load = (which: "a" | "b" | "c", layout: string, rows: number, columns: number) => {
    const stored = matrixOf(which, layout, rows, columns);
    const { set } = access(stub, stored);
    const matrix = Array.from(
      { length: rows },
      (_, row) =>
        Array.from({ length: columns }, (_, column) => {
          const bits = small(stored.type, next);
          set(row, column, bits);
          return numberOf(stored.type, bits);
        }),
    );
    stub.run(`wmma.load.${which}.sync.aligned.${layout}.${shape}.shared.${stored.type}`, [
      vector(registerOf(stored.type), which, counts[which]),
      at(`at${which}`),
      register("u32", `stride${which}`),
    ]);
    return matrix;
  };
  const a = load("a", layouts[0], m, k);
  const b = load("b", layouts[1], k, n);
  const c = load("c", sumLayout, m, n);
  const operand = (which: "a" | "b" | "c" | "d"): Operand =>
    vector(registerOf(types[which]), which, counts[which]);
  stub.run(spelling, [operand("d"), operand("a"), operand("b"), operand("c")]);
  const stored = matrixOf("d", sumLayout, m, n);
  stub.run(`wmma.store.d.sync.aligned.${sumLayout}.${shape}.shared.${types.d}`, [
    at("atd"),
    operand("d"),
    register("u32", "strided"),
  ]);
  const { get } = access(stub, stored);
  const combine = spelling.includes(".xor")
    ? (x: number, y: number) => x ^ y
    : (x: number, y: number) => x * y;
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let sum = c[row]?.[column] ?? 0;
      for (let j = 0; j < k; j++) sum += combine(a[row]?.[j] ?? 0, b[j]?.[column] ?? 0);
      const found = numberOf(types.d, get(row, column));
      if (found !== sum) assertEquals(found, sum, `${spelling}: d[${row}][${column}]`);
    }
  }
}

Deno.test("wmma multiplies matrices of every shape, type and layout in memory", () => {
  for (const test of cases()) {
    check(test, "row");
    check(test, "col");
  }
});

Deno.test("wmma.load of a matrix that nothing has written is a fault in checked runs", () => {
  const stub = newStub();
  stub.machine.checks = true;
  const run = stub.compile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", [
    vector("b32", "d", 8),
    at("at"),
  ]);
  const fault = assertThrows(() => run(stub.registerFile(), -1), Fault);
  assertEquals(fault.kind, "uninitialised memory");
});
