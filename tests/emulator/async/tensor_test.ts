/** Tensor copies against plain loops over elements, and against what an H200 did. */
import fc from "../../support/property.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { must } from "../../../compiler/support/bug.ts";
import { SWIZZLES, TENSOR_TYPES, type TensorMap } from "../../../ffi/tensor_map.ts";
import { encodeTensorMap } from "../../../emulator/async/tensor_map.ts";
import { Fault } from "../../../emulator/fault.ts";
import { Bench } from "./bench.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(3);

/** Where the tensor map, the mbarrier and the box are. */
const MAP = 0x8000;
const BARRIER = 0x7f00;
const SHARED_BYTES = 0x8000;

function prepare(bench: Bench, map: TensorMap, origin: readonly number[], box: number): string {
  bench.globalBytes.set(encodeTensorMap(map), MAP);
  bench.setLong("rd1", bench.pointer(MAP));
  bench.set("r1", box);
  bench.set("r2", BARRIER);
  origin.forEach((at, axis) => bench.set(`r${10 + axis}`, at));
  return `[%rd1, {${origin.map((_, axis) => `%r${10 + axis}`).join(", ")}}]`;
}

function load(bench: Bench, map: TensorMap, origin: readonly number[], box: number): void {
  const source = prepare(bench, map, origin, box);
  bench.run("mbarrier.init.shared.b64 [%r2], 1;", 1);
  bench.run(
    `cp.async.bulk.tensor.${origin.length}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes ` +
      `[%r1], ${source}, [%r2];`,
    1,
  );
}

function store(
  bench: Bench,
  map: TensorMap,
  origin: readonly number[],
  box: number,
  reduction?: string,
): void {
  const to = prepare(bench, map, origin, box);
  const [name, how] = reduction === undefined ? ["cp", ""] : ["cp.reduce", `.${reduction}`];
  bench.run(
    `${name}.async.bulk.tensor.${origin.length}d.global.shared::cta${how}.tile.bulk_group ${to}, [%r1];`,
    1,
  );
}

/** Repeatable bytes; the same were in the memory of the H200. */
function noise(seed: number, bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, i) => {
    let x = (Math.imul(i, 0x9e3779b1) + Math.imul(seed, 40503) + 12345) >>> 0;
    x = Math.imul(x ^ (x >>> 15), 0x85ebca77) >>> 0;
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae3d) >>> 0;
    return (x ^ (x >>> 16)) & 0xff;
  });
}

function fnv1a(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}

const numbers = (list = "-"): number[] => list === "-" ? [] : list.split(",").map(Number);

/** Bytes of the memories that were compared; the box lies after the first 1024 bytes of shared memory. */
const H200_BYTES = 16384;
const H200_SHARED = 1024;

/*
 * tensor_h200.txt has a case per line: operation, element type (as CUtensorMapDataType), offset of the tensor, extents,
 * strides, box, element strides, swizzle and fill (as in the driver's API), coordinates, offset of the box, and the
 * FNV-1a hash of what was in shared memory after a load, in global memory after a store or reduction.
 */
test("cp.async.bulk.tensor and cp.reduce.async.bulk.tensor do what an H200 did", () => {
  const lines = Deno.readTextFileSync(new URL("tensor_h200.txt", import.meta.url)).trim();
  for (const line of lines.split("\n")) {
    const fields = line.split(" ");
    const [
      operation = "",
      type,
      offset,
      extents,
      strides,
      box,
      steps,
      swizzle,
      fill,
      at,
      location,
    ] = fields;
    const bench = new Bench({ checks: false, sharedBytes: SHARED_BYTES });
    const map: TensorMap = {
      type: must(TENSOR_TYPES[Number(type)], "type").name,
      address: bench.pointer(Number(offset)),
      extents: numbers(extents),
      strides: numbers(strides),
      box: numbers(box),
      elementStrides: numbers(steps),
      interleave: "none",
      swizzle: must(SWIZZLES[Number(swizzle)], "swizzle"),
      promotion: "none",
      fill: fill === "1" ? "nan" : "zero",
    };
    const to = H200_SHARED + Number(location);
    bench.globalBytes.set(noise(1, H200_BYTES));
    bench.sharedBytes().set(noise(2, H200_BYTES), H200_SHARED);
    const run = (): void => {
      if (operation === "load") load(bench, map, numbers(at), to);
      else store(bench, map, numbers(at), to, operation === "store" ? undefined : operation);
    };
    if (fields.at(-1) === "fault") {
      assertThrows(run, Fault);
      continue;
    }
    run();
    const result = operation === "load"
      ? bench.sharedBytes().subarray(H200_SHARED, H200_SHARED + H200_BYTES)
      : bench.globalBytes.subarray(0, H200_BYTES);
    assertEquals(fnv1a(result), fields.at(-1), line);
  }
});

/** A tensor, a box and coordinates that go beyond it on all sides. */
interface Scene {
  readonly map: Omit<TensorMap, "address">;
  readonly origin: readonly number[];
}

const scenes: fc.Arbitrary<Scene> = fc.integer({ min: 1, max: 5 }).chain((rank) => {
  const each = (least: number, most: number): fc.Arbitrary<number[]> =>
    fc.array(fc.integer({ min: least, max: most }), { minLength: rank, maxLength: rank });
  return fc.tuple(
    each(1, rank < 3 ? 30 : 6),
    each(1, rank < 3 ? 12 : 4),
    each(1, 3),
    each(-4, 6),
    fc.constantFrom(...SWIZZLES),
    fc.constantFrom("uint8", "uint16", "float32", "int64"),
  ).map(([extents, box, elementStrides, origin, swizzle, type]) => {
    const bytes = must(TENSOR_TYPES.find(({ name }) => name === type), "type").bytes;
    const chunk = 16 / bytes;
    const span = swizzle === "none" ? 64 : Number.parseInt(swizzle);
    const columns = Math.min(box[0] ?? 1, span / 16) * chunk;
    const strides: number[] = [];
    let pitch = Math.ceil((extents[0] ?? 1) * bytes / 16) * 16;
    for (const extent of extents.slice(1)) {
      strides.push(pitch);
      pitch *= extent;
    }
    return {
      map: {
        type,
        extents,
        strides,
        box: [columns, ...box.slice(1)],
        elementStrides,
        interleave: "none",
        swizzle,
        promotion: "none",
        fill: "zero",
      },
      origin: [(origin[0] ?? 0) * chunk, ...origin.slice(1)],
    };
  });
});

/** All index tuples below some counts, the first index fastest. */
function* tuples(counts: readonly number[]): Generator<number[]> {
  const total = counts.reduce((product, count) => product * count, 1);
  for (let i = 0; i < total; i++) {
    let rest = i;
    yield counts.map((count) => {
      const index = rest % count;
      rest = (rest - index) / count;
      return index;
    });
  }
}

Deno.test("cp.async.bulk.tensor computes addresses modulo 2^64", () => {
  const bench = new Bench({ checks: false, sharedBytes: SHARED_BYTES });
  const [tensor, pitch, end] = [512, 48, 5];
  bench.globalBytes.set(noise(3, MAP));
  // Rows 3 to 6, of which the last two are beyond the end (compiler/views/ragged.ts).
  const [most, limit] = [2 ** 31 - 1, 2 ** 30];
  load(
    bench,
    {
      type: "uint8",
      address: bench.pointer(tensor),
      extents: [32, limit, most, most],
      strides: [pitch, pitch, 2 ** 34 - pitch],
      box: [32, 4, 1, 1],
      elementStrides: [1, 1, 1, 1],
      interleave: "none",
      swizzle: "none",
      promotion: "none",
      fill: "zero",
    },
    [0, limit - end + 3, end, limit],
    2048,
  );
  for (let row = 0; row < 4; row++) {
    const from = tensor + (3 + row) * pitch;
    const expected = bench.globalBytes.subarray(from, from + 32);
    const found = bench.sharedBytes().subarray(2048 + row * 32, 2080 + row * 32);
    assertEquals(found, row < 2 ? expected : new Uint8Array(32));
  }
});

Deno.test("cp.async.bulk.tensor loads what a loop over elements finds", () => {
  fc.assert(
    fc.property(scenes, ({ map, origin }) => {
      const bench = new Bench({ checks: false, sharedBytes: SHARED_BYTES });
      const tensor = 512;
      bench.globalBytes.set(noise(3, MAP));
      load(bench, { ...map, address: bench.pointer(tensor) }, origin, 2048);
      const { bytes } = must(TENSOR_TYPES.find(({ name }) => name === map.type), "type");
      const counts = map.box.map((extent, axis) =>
        axis === 0 ? extent : Math.ceil(extent / (map.elementStrides[axis] ?? 1))
      );
      const span = map.swizzle === "none" ? (counts[0] ?? 0) * bytes : Number.parseInt(map.swizzle);
      for (const index of tuples(counts)) {
        const at = index.map((i, axis) =>
          (origin[axis] ?? 0) + i * (axis === 0 ? 1 : map.elementStrides[axis] ?? 1)
        );
        const isInside = at.every((c, axis) => c >= 0 && c < (map.extents[axis] ?? 0));
        const from = at.reduce(
          (sum, c, axis) => sum + c * (axis === 0 ? bytes : map.strides[axis - 1] ?? 0),
          tensor,
        );
        let row = 0;
        for (let axis = counts.length - 1; axis > 0; axis--) {
          row = row * (counts[axis] ?? 1) + (index[axis] ?? 0);
        }
        const to = 2048 + row * span + (index[0] ?? 0) * bytes;
        // A swizzle of 2^n chunks: the chunk's number in its span xor the number of the 128-byte line.
        const chunks = map.swizzle === "none" ? 1 : span / 16;
        const [line, chunk] = [Math.floor(to / 128), Math.floor(to / 16)];
        const moved = to + 16 * (((chunk % chunks) ^ (line % chunks)) - chunk % chunks);
        for (let byte = 0; byte < bytes; byte++) {
          const expected = isInside ? bench.globalBytes[from + byte] : 0;
          assertEquals(bench.sharedBytes()[moved + byte], expected);
        }
      }
    }),
    { numRuns: 200 },
  );
});

Deno.test("cp.async.bulk.tensor stores back what it loaded", () => {
  const bench = new Bench({ checks: false, sharedBytes: SHARED_BYTES });
  const map: TensorMap = {
    type: "float16",
    address: bench.pointer(0),
    extents: [64, 16, 3],
    strides: [128, 2048],
    box: [64, 8, 2],
    elementStrides: [1, 1, 1],
    interleave: "none",
    swizzle: "128B",
    promotion: "none",
    fill: "zero",
  };
  bench.globalBytes.set(noise(4, 6144));
  const before = bench.globalBytes.slice(0, 6144);
  for (let z = 0; z < 3; z += 2) {
    for (let y = 0; y < 16; y += 8) {
      load(bench, map, [0, y, z], 1024);
      bench.run("mbarrier.inval.shared.b64 [%r2];", 1);
      bench.globalBytes.fill(0, z * 2048 + y * 128, z * 2048 + (y + 8) * 128);
      store(bench, map, [0, y, z], 1024);
    }
  }
  assertEquals(bench.globalBytes.slice(0, 6144), before);
});

const FLAT: Omit<TensorMap, "address"> = {
  type: "float32",
  extents: [32, 4],
  strides: [128],
  box: [32, 4],
  elementStrides: [1, 1],
  interleave: "none",
  swizzle: "none",
  promotion: "none",
  fill: "zero",
};

Deno.test("cp.async.bulk.tensor faults at maps and boxes that it cannot use", () => {
  const bench = new Bench();
  const map: TensorMap = { ...FLAT, address: bench.pointer(0) };
  const fresh = (): Bench => new Bench({ sharedBytes: SHARED_BYTES });
  assertThrows(() => load(fresh(), map, [0], 0), Fault, "has 2 axes, not 1");
  assertThrows(() => load(fresh(), map, [1, 0], 0), Fault, "begins at byte 4, no multiple of 16");
  assertThrows(() => load(fresh(), map, [0, 0], 64), Fault, "not a multiple of 128");
  assertThrows(() => load(fresh(), map, [0, 0], 0x7f80), Fault, "goes past");
  assertThrows(
    () => load(fresh(), { ...FLAT, address: bench.pointer(0x1ffc0) }, [0, 0], 0),
    Fault,
    "past the end",
  );
  const sparse: TensorMap = {
    ...FLAT,
    address: bench.pointer(0),
    extents: [32, 4, 1],
    strides: [128, 128],
    box: [32, 4, 1],
    elementStrides: [1, 1, 1],
    interleave: "16B",
  };
  assertThrows(() => load(fresh(), sparse, [0, 0, 0], 0), Fault, "interleaved");
  bench.setLong("rd1", bench.pointer(0x100));
  assertThrows(
    () => bench.run("cp.async.bulk.prefetch.tensor.1d.L2.global [%rd1, {%r10}];", 1),
    Fault,
    "none that was encoded",
  );
});

Deno.test("cp.async.bulk.tensor.multicast::cluster writes the box into every block of the mask", () => {
  const bench = new Bench({ blocks: 4, checks: false });
  for (let rank = 0; rank < 4; rank++) {
    bench.enter(rank, 0);
    bench.set("r2", 0x3000);
    bench.run("mbarrier.init.shared.b64 [%r2], 1;", 1);
    bench.run("mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2], 512;", 1);
  }
  bench.enter(1, 0);
  bench.globalBytes.set(noise(5, 512));
  const source = prepare(bench, { ...FLAT, address: bench.pointer(0) }, [0, 0], 256);
  bench.set("r2", 0x3000);
  bench.set("h1", 0b1101);
  bench.run(
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster " +
      `[%r1], ${source}, [%r2], %h1;`,
    1,
  );
  for (let rank = 0; rank < 4; rank++) {
    const has = ((0b1101 >> rank) & 1) === 1;
    const bytes = bench.sharedBytes(rank).slice(256, 768);
    assertEquals(bytes, has ? noise(5, 512) : new Uint8Array(512));
    bench.enter(rank, 0);
    bench.run("mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0;", 1);
    assertEquals(bench.get("p1") & 1, has ? 1 : 0);
  }
});
