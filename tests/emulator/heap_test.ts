import fc from "../support/property.ts";
import { Heap, HEAP_START, HeapFullError } from "../../emulator/heap.ts";
import { newMemory, type Views, viewsOf } from "../../emulator/memory.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";

const MIB = 2 ** 20;

function newHeap(
  limit?: number,
): { heap: Heap; machine: { memory: WebAssembly.Memory; views: Views } } {
  const memory = newMemory(MIB);
  const machine = { memory, views: viewsOf(memory) };
  return { heap: new Heap(machine, limit), machine };
}

Deno.test("Heap.allocate() leaves gaps and keeps to alignments", () => {
  const { heap } = newHeap();
  const a = heap.allocate(100, 1, "a");
  const b = heap.allocate(0, 1, "b");
  const c = heap.allocate(256, 4096, "c");
  assert(a >= HEAP_START && a % 256 === 0 && b % 256 === 0);
  assert(b >= a + 100 + 64);
  assertEquals(c % 4096, 0);
  assert(c >= b + 64);
});

Deno.test("Heap.allocate() grows the memory and its views", () => {
  const { heap, machine } = newHeap();
  const old = machine.views;
  const location = heap.allocate(3 * MIB, 256, "large");
  assert(machine.views !== old);
  machine.views.u8[location + 3 * MIB - 1] = 7;
  assertEquals(machine.views.u8[location + 3 * MIB - 1], 7);
  assertEquals(machine.views.u8.length, machine.memory.buffer.byteLength);
});

Deno.test("Heap.allocate() says how much was wanted and is free when memory is full", () => {
  const { heap } = newHeap(2 * MIB);
  heap.allocate(MIB, 1, "half");
  const error = assertThrows(() => heap.allocate(MIB, 1, "too much"), HeapFullError);
  assertEquals(error.requested, MIB);
  assert(error.free < MIB && error.free > MIB - 8192, String(error.free));
  assert(heap.allocate(error.free - 65536, 1, "rest") > 0);
});

Deno.test("Heap.free() reuses device memory late, system memory at once", () => {
  const { heap } = newHeap();
  const device = heap.allocate(1000, 1, "device");
  heap.free(device);
  assert(heap.allocate(1000, 1, "other") !== device);
  const system = heap.allocate(5000, 1, "system", "system");
  heap.free(system);
  assertEquals(heap.allocate(5000, 1, "system", "system"), system);
});

Deno.test("Heap.free() ends the quarantine when memory runs out", () => {
  const { heap } = newHeap(2 * MIB);
  for (let i = 0; i < 20; i++) heap.free(heap.allocate(MIB, 1, `${i}`));
  assertThrows(() => heap.free(12345), RangeError);
});

Deno.test("Heap.find() names live and freed allocations", () => {
  const { heap } = newHeap();
  const a = heap.allocate(24, 1, "a");
  const b = heap.allocate(24, 1, "b");
  heap.free(a);
  const past = heap.find(b + 28);
  assertEquals([past?.allocation.label, past?.offset, past?.allocation.freed], ["b", 28, false]);
  const freed = heap.find(a + 3);
  assertEquals([freed?.allocation.label, freed?.offset, freed?.allocation.freed], ["a", 3, true]);
  const before = heap.find(b - 4);
  assertEquals([before?.allocation.label, before?.offset], ["b", -4]);
});

Deno.test("Heap.describe() adds what messages say of a tensor", () => {
  const { heap } = newHeap();
  const location = heap.allocate(24, 1, "a");
  const before = heap.allocations();
  assert(heap.allocations() === before);
  heap.describe(location, { name: "X", dtype: "float32", elementBytes: 4, shape: [6] });
  assertEquals(heap.find(location)?.allocation.tensor?.name, "X");
  assert(heap.allocations() !== before);
});

Deno.test("Heap.allocations() has exactly the bytes that are allocated", () => {
  const step = fc.record({ free: fc.boolean(), pick: fc.nat(), bytes: fc.nat(3000) });
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const { heap } = newHeap();
    const live: { location: number; bytes: number; system: boolean }[] = [];
    for (const { free, pick, bytes } of steps) {
      if (free && live.length > 0) {
        const [gone] = live.splice(pick % live.length, 1);
        heap.free(gone?.location ?? 0);
      } else {
        const system = pick % 2 === 0;
        const location = heap.allocate(bytes, 1, "x", system ? "system" : "device");
        live.push({ location, bytes, system });
      }
    }
    const sorted = live.toSorted((a, b) => a.location - b.location);
    sorted.forEach(({ location, bytes }, i) => {
      const next = sorted[i + 1];
      assert(next === undefined || next.location >= location + bytes + 64);
    });
    const allocations = heap.allocations();
    for (const { location, bytes, system } of live) {
      const inside = !system && bytes > 0;
      assertEquals(allocations.liveAt(location) !== undefined, inside);
      assertEquals(allocations.liveAt(location + bytes - 1) !== undefined, inside);
      assertEquals(allocations.liveAt(location + bytes), undefined);
    }
  }));
});

Deno.test("Heap.allocations() costs the same however much is allocated", () => {
  const { heap } = newHeap();
  const count = 50_000;
  const locations = Array.from({ length: count }, () => heap.allocate(16, 1, "x"));
  // Building a list of all of them each time would take minutes.
  for (const location of locations) {
    const one = heap.allocate(16, 1, "y");
    assertEquals(heap.allocations().liveAt(location + 15)?.location, location);
    heap.free(one);
    assertEquals(heap.allocations().liveAt(one), undefined);
  }
});
