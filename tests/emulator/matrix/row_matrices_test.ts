import type { Operand } from "../../../compiler/ptx/func.ts";
import { must } from "../../../compiler/support/bug.ts";
import { accessOf } from "../../../emulator/access/state.ts";
import { sumCounters } from "../../../emulator/count/log.ts";
import { Fault } from "../../../emulator/fault.ts";
import { WINDOW } from "../../../emulator/memory.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { newStub, random, register, type Stub, vector } from "./stub.ts";

const COUNTS = [1, 2, 4] as const;

/** Addresses of 32 rows in any order, 16 bytes each, none twice. */
function scatter(next: () => number): number[] {
  const slots = Array.from({ length: 64 }, (_, i) => 16 * i);
  return Array.from({ length: 32 }, () => must(slots.splice(next() % slots.length, 1)[0], "slot"));
}

const address = (name: string, offset = 0n): Operand => ({
  kind: "address",
  base: register("b32", name),
  offset,
});

function setLanes(stub: Stub, name: string, values: readonly number[]): void {
  stub.machine.views.i32.set(values, (stub.registerFile() + stub.row(name)) >> 2);
}

/** A lane's two elements of a matrix in a register. */
function pairIn(stub: Stub, name: string, lane: number): [number, number] {
  const at = ((stub.registerFile() + stub.row(name)) >> 1) + 2 * lane;
  const { u16 } = stub.machine.views;
  return [u16[at] ?? 0, u16[at + 1] ?? 0];
}

Deno.test("ldmatrix gives lane 4r + c elements 2c and 2c + 1 of row r of each matrix", () => {
  for (const count of COUNTS) {
    for (const trans of [false, true]) {
      const stub = newStub();
      const next = random(count);
      const rows = scatter(next);
      const { u16 } = stub.machine.views;
      for (let i = 0; i < 512; i++) u16[(stub.shared >> 1) + i] = next();
      setLanes(stub, "at", rows.map((row) => row - 32));
      stub.run(`ldmatrix.sync.aligned.m8n8.x${count}${trans ? ".trans" : ""}.shared.b16`, [
        vector("b32", "d", count),
        address("at", 32n),
      ]);
      for (let matrix = 0; matrix < count; matrix++) {
        const element = (row: number, column: number): number =>
          u16[((stub.shared + (rows[8 * matrix + row] ?? 0)) >> 1) + column] ?? 0;
        for (let lane = 0; lane < 32; lane++) {
          const [row, column] = [lane >> 2, 2 * (lane % 4)];
          const expected: [number, number] = trans
            ? [element(column, row), element(column + 1, row)]
            : [element(row, column), element(row, column + 1)];
          assertEquals(pairIn(stub, `d${matrix}`, lane), expected, `x${count}, lane ${lane}`);
        }
      }
    }
  }
});

Deno.test("ldmatrix may write over its addresses", () => {
  const stub = newStub();
  setLanes(stub, "at", Array.from({ length: 32 }, (_, lane) => 16 * lane));
  stub.machine.views.i32.fill(7, stub.shared >> 2, (stub.shared + 512) >> 2);
  const d: Operand = { kind: "vector", elements: ["at", "x"].map((name) => register("b32", name)) };
  stub.run("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16", [d, address("at")]);
  for (const name of ["at", "x"]) assertEquals(pairIn(stub, name, 31), [7, 0]);
});

Deno.test("stmatrix writes what ldmatrix of the same form reads", () => {
  for (const count of COUNTS) {
    for (const trans of ["", ".trans"]) {
      const stub = newStub();
      const next = random(count);
      setLanes(stub, "at", scatter(next));
      for (let i = 0; i < count; i++) {
        setLanes(stub, `b${i}`, Array.from({ length: 32 }, () => next() | 0));
      }
      stub.run(`stmatrix.sync.aligned.m8n8.x${count}${trans}.shared.b16`, [
        address("at"),
        vector("b32", "b", count),
      ]);
      stub.run(`ldmatrix.sync.aligned.m8n8.x${count}${trans}.shared.b16`, [
        vector("b32", "d", count),
        address("at"),
      ]);
      for (let i = 0; i < count; i++) {
        for (let lane = 0; lane < 32; lane++) {
          assertEquals(pairIn(stub, `d${i}`, lane), pairIn(stub, `b${i}`, lane));
        }
      }
    }
  }
});

Deno.test("stmatrix writes no other rows than those of its matrices", () => {
  const stub = newStub();
  setLanes(stub, "at", Array.from({ length: 32 }, (_, lane) => 16 * lane));
  setLanes(stub, "b0", new Array<number>(32).fill(-1));
  stub.run("stmatrix.sync.aligned.m8n8.x1.shared.b16", [address("at"), vector("b32", "b", 1)]);
  const { i32 } = stub.machine.views;
  const words = [...i32.subarray(stub.shared >> 2, (stub.shared + 512) >> 2)];
  assertEquals(words, words.map((_, i) => i < 32 ? -1 : 0));
});

Deno.test("movmatrix transposes a matrix in registers", () => {
  const stub = newStub();
  setLanes(stub, "a", Array.from({ length: 32 }, (_, lane) => (2 * lane + 1) << 16 | (2 * lane)));
  stub.run("movmatrix.sync.aligned.m8n8.trans.b16", [register("b32", "d"), register("b32", "a")]);
  for (let lane = 0; lane < 32; lane++) {
    const [row, column] = [lane >> 2, 2 * (lane % 4)];
    assertEquals(pairIn(stub, "d", lane), [8 * column + row, 8 * (column + 1) + row]);
  }
});

Deno.test("ldmatrix takes generic addresses of shared memory, and no others", () => {
  const stub = newStub();
  const { i32, u32 } = stub.machine.views;
  i32.fill(9, stub.shared >> 2, (stub.shared + 512) >> 2);
  const at = (stub.registerFile() + stub.row("at")) >> 2;
  for (let lane = 0; lane < 32; lane++) u32.set([16 * lane, WINDOW.shared], at + 2 * lane);
  const operand: Operand = { kind: "address", base: register("b64", "at"), offset: 0n };
  const run = stub.compile("ldmatrix.sync.aligned.m8n8.x1.b16", [vector("b32", "d", 1), operand]);
  run(stub.registerFile(), -1);
  assertEquals(pairIn(stub, "d0", 13), [9, 0]);
  for (let lane = 0; lane < 32; lane++) u32[at + 2 * lane + 1] = WINDOW.global;
  const fault = assertThrows(() => run(stub.registerFile(), -1), Fault);
  assertEquals(fault.kind, "out of bounds");
});

Deno.test("ldmatrix faults on rows that are unwritten, misaligned or outside of shared memory", () => {
  const stub = newStub();
  const run = stub.compile("ldmatrix.sync.aligned.m8n8.x4.shared.b16", [
    vector("b32", "d", 4),
    address("at"),
  ]);
  stub.machine.checks = true;
  const rows = Array.from({ length: 32 }, (_, lane) => 16 * lane);
  setLanes(stub, "at", rows);
  const unwritten = assertThrows(() => run(stub.registerFile(), -1), Fault);
  assertEquals(unwritten.kind, "uninitialised memory");
  setLanes(stub, "at", rows.with(17, 8));
  const misaligned = assertThrows(() => run(stub.registerFile(), -1), Fault);
  assert(misaligned.kind === "misaligned" && misaligned.lane === 17);
  setLanes(stub, "at", rows.with(30, stub.machine.block.sharedBytes));
  const outside = assertThrows(() => run(stub.registerFile(), -1), Fault);
  assert(outside.kind === "out of bounds" && outside.lane === 30);
});

Deno.test("ldmatrix of one matrix ignores the addresses of the other lanes", () => {
  const stub = newStub();
  setLanes(stub, "at", Array.from({ length: 32 }, (_, lane) => lane < 8 ? 16 * lane : -1));
  stub.run("ldmatrix.sync.aligned.m8n8.x1.shared.b16", [vector("b32", "d", 1), address("at")]);
});

Deno.test("ldmatrix counts a request, and the conflicts of eight rows at a time, when the machine counts", () => {
  const stub = newStub();
  stub.machine.profile = true;
  const load = (rows: readonly number[]): number[] => {
    setLanes(stub, "at", rows);
    const { counters } = accessOf(stub.machine);
    counters.start();
    stub.run("ldmatrix.sync.aligned.m8n8.x2.shared.b16", [vector("b32", "d", 2), address("at")]);
    const { sharedRequests, wavefronts, bankConflicts } = sumCounters(counters.sites());
    return [sharedRequests, wavefronts, bankConflicts];
  };
  const lanes = Array.from({ length: 32 }, (_, lane) => lane);
  assertEquals(load(lanes.map((lane) => 16 * lane)), [1, 2, 0]);
  assertEquals(load(lanes.map((lane) => 128 * lane)), [1, 16, 14]);
});

Deno.test("ldmatrix of other matrices than m8n8 is unsupported", () => {
  const stub = newStub();
  const spelling = "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8";
  const compile = (): unknown => stub.compile(spelling, [vector("b32", "d", 2), address("at")]);
  assertEquals(assertThrows(compile, Fault).kind, "unsupported instruction");
});
