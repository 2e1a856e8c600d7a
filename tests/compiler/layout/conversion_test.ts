import fc from "../../support/property.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { idealWavefronts, wavefronts } from "../../support/compiler/banks.ts";
import { blockedLayout, orderFrom } from "../../../compiler/layout/blocked.ts";
import {
  offsetBases,
  planConversion,
  type SharedPlan,
} from "../../../compiler/layout/conversion.ts";
import {
  applyBases,
  elementAt,
  type LinearLayout,
  permuteLayout,
  product,
} from "../../../compiler/linear/linear.ts";

/** Offsets (elements) at which each coordinate of a layout finds its elements. */
function offsetAt(
  layout: LinearLayout,
  plan: SharedPlan,
  register: number,
  lane: number,
  warp: number,
): number {
  const bases = offsetBases(layout, plan.columns);
  return applyBases(bases.register, register) ^ applyBases(bases.lane, lane) ^
    applyBases(bases.warp, warp);
}

/** Worst ratio of wavefronts to the ideal over all accesses of one side. */
function worstConflict(layout: LinearLayout, plan: SharedPlan, elementBytes: number): number {
  const bytes = elementBytes << plan.vectorBits;
  let worst = 1;
  for (let warp = 0; warp < 1 << layout.warp.length; warp++) {
    for (let register = 0; register < 1 << layout.register.length; register++) {
      const first = offsetAt(layout, plan, register, 0, warp);
      if (first & ((1 << plan.vectorBits) - 1)) continue;
      const addresses = Array.from(
        { length: 32 },
        (_, lane) => elementBytes * offsetAt(layout, plan, register, lane, warp),
      );
      worst = Math.max(worst, wavefronts(addresses, bytes) / idealWavefronts(bytes));
    }
  }
  return worst;
}

function transposition(
  rows: number,
  columns: number,
  numWarps: number,
  vector: number,
): { src: LinearLayout; dst: LinearLayout } {
  const side = (shape: number[]): LinearLayout =>
    blockedLayout({
      shape,
      numWarps,
      order: orderFrom(1, 2),
      vector,
      block: { axis: 0, size: vector },
    });
  return { src: permuteLayout(side([rows, columns]), [1, 0]), dst: side([columns, rows]) };
}

const CASES = [1, 2, 4, 8].flatMap((bytes) =>
  [[64, 64], [128, 128], [32, 32], [128, 64], [64, 256], [16, 64]].flatMap((
    [rows = 1, columns = 1],
  ) =>
    [1, 4, 8].flatMap((numWarps) =>
      [1, 16 / bytes].map((vector) => ({ bytes, rows, columns, numWarps, vector }))
    )
  )
);

Deno.test("planConversion() exchanges every transposed tile without bank conflicts", () => {
  for (const { bytes, rows, columns, numWarps, vector } of CASES) {
    const { src, dst } = transposition(rows, columns, numWarps, vector);
    const plan = planConversion(src, dst, bytes);
    if (plan.kind !== "shared") continue;
    const name = `${rows}x${columns} of ${bytes} bytes, ${numWarps} warps, vectors of ${vector}`;
    assertEquals(worstConflict(src, plan, bytes), 1, `${name}: write`);
    assertEquals(worstConflict(dst, plan, bytes), 1, `${name}: read`);
  }
});

Deno.test("planConversion() uses 16-byte accesses where both sides hold the block", () => {
  for (const { bytes, rows, columns, numWarps, vector } of CASES) {
    if (vector === 1 || rows * columns < 32 * numWarps * vector * vector) continue; // no room for the block
    const { src, dst } = transposition(rows, columns, numWarps, vector);
    const plan = planConversion(src, dst, bytes);
    assert(plan.kind === "shared");
    assertEquals(
      bytes << plan.vectorBits,
      16,
      `${rows}x${columns} of ${bytes} bytes, ${numWarps} warps`,
    );
  }
});

/** Random layouts: a random permutation of the index bits dealt to registers, lanes and warps. */
const arbitraryPair = fc.record({
  bits: fc.integer({ min: 6, max: 12 }),
  warps: fc.integer({ min: 0, max: 2 }),
  bytes: fc.constantFrom(1, 2, 4, 8),
  seed: fc.array(fc.nat(), { minLength: 24, maxLength: 24 }),
}).map(({ bits, warps, bytes, seed }) => {
  const random = (from: number): LinearLayout => {
    const order = Array.from({ length: bits }, (_, i) => i)
      .sort((a, b) => (seed[from + a] ?? 0) - (seed[from + b] ?? 0)).map((bit) => 1 << bit);
    const registers = Math.max(0, bits - 5 - warps);
    const deal = [...order, ...new Array<number>(5 + warps).fill(0)];
    return {
      shape: [2 ** bits],
      register: deal.slice(0, registers),
      lane: deal.slice(registers, registers + 5),
      warp: deal.slice(registers + 5, registers + 5 + warps),
      block: [],
    };
  };
  return { src: random(0), dst: random(12), bytes };
});

Deno.test("planConversion() moves every element to where the destination layout has it", () => {
  fc.assert(fc.property(arbitraryPair, ({ src, dst, bytes }) => {
    const plan = planConversion(src, dst, bytes);
    for (let warp = 0; warp < 1 << dst.warp.length; warp++) {
      for (let lane = 0; lane < 32; lane++) {
        for (let register = 0; register < 1 << dst.register.length; register++) {
          const wanted = elementAt(dst, register, lane, warp);
          if (plan.kind === "none") assertEquals(elementAt(src, register, lane, warp), wanted);
          if (plan.kind === "registers") {
            assertEquals(elementAt(src, plan.sources[register] ?? -1, lane, warp), wanted);
          }
        }
      }
    }
    if (plan.kind !== "shared") return;
    // The offsets of both sides name the same cell for the same element, and no two elements share one.
    const cells = new Map<number, number>();
    for (const layout of [src, dst]) {
      for (let warp = 0; warp < 1 << layout.warp.length; warp++) {
        for (let lane = 0; lane < 32; lane++) {
          for (let register = 0; register < 1 << layout.register.length; register++) {
            const offset = offsetAt(layout, plan, register, lane, warp);
            const element = elementAt(layout, register, lane, warp);
            assertEquals(cells.get(offset) ?? element, element);
            cells.set(offset, element);
          }
        }
      }
    }
    assertEquals(cells.size, product(src.shape));
  }));
});

Deno.test("planConversion() never conflicts on random layouts more than it says", () => {
  fc.assert(fc.property(arbitraryPair, ({ src, dst, bytes }) => {
    const plan = planConversion(src, dst, bytes);
    if (plan.kind !== "shared") return;
    assert(worstConflict(src, plan, bytes) <= plan.conflicts.write);
    assert(worstConflict(dst, plan, bytes) <= plan.conflicts.read);
  }));
});

Deno.test("planConversion() is free where only registers are renamed", () => {
  const src: LinearLayout = {
    shape: [256],
    register: [1, 2, 4],
    lane: [8, 16, 32, 64, 128],
    warp: [],
    block: [],
  };
  const dst: LinearLayout = { ...src, register: [4, 1, 2] };
  const plan = planConversion(src, dst, 4);
  assert(plan.kind === "registers");
  assertEquals(plan.sources.slice(0, 4), [0, 4, 1, 5]);
  assertEquals(planConversion(src, src, 4).kind, "none");
});

Deno.test("planConversion() needs no block barrier where elements stay in their warp", () => {
  const src: LinearLayout = {
    shape: [256],
    register: [1, 2],
    lane: [4, 8, 16, 32, 64],
    warp: [128],
    block: [],
  };
  const dst: LinearLayout = { ...src, register: [32, 64], lane: [1, 2, 4, 8, 16] };
  const plan = planConversion(src, dst, 4);
  assert(plan.kind === "shared" && plan.withinWarp);
});

/** Fragments of `mma.m16n8k16` sums, 64 x 64 in each of four warps. */
const fragments = (rows: number, columns: number): LinearLayout => {
  const m = (bit: number): number => columns << bit;
  const registers = [1, m(3), 8, 16, 32, m(4), m(5)];
  return {
    shape: [rows, columns],
    register: registers,
    lane: [2, 4, m(0), m(1), m(2)],
    warp: [64, m(6)],
    block: [],
  };
};

Deno.test("planConversion() stores fragments as matrices, without conflicts, and loads them in vectors", () => {
  for (const transposed of [false, true]) {
    const src = transposed ? permuteLayout(fragments(128, 128), [1, 0]) : fragments(128, 128);
    const dst = blockedLayout({ shape: src.shape, numWarps: 4, order: [1, 0], vector: 8 });
    const plan = planConversion(src, dst, 2, { matrices: "store" });
    assert(plan.kind === "shared");
    assertEquals(plan.vectorBits, 3);
    assertEquals(worstConflict(dst, plan, 2), 1);
    const { matrices, columns } = plan;
    assert(matrices?.side === "store");
    assertEquals(matrices.transposed, transposed);
    // Eight rows of 16 bytes at once: each on banks of its own.
    const bases = offsetBases({ ...src, lane: matrices.rows }, columns);
    const addresses = Array.from({ length: 8 }, (_, row) => 2 * applyBases(bases.lane, row));
    assertEquals(wavefronts(addresses, 16), 1);
    assert(addresses.every((address) => address % 16 === 0));
  }
});

Deno.test("planConversion() leaves vectors as wide as they are for elements that matrices do not fit", () => {
  const src = fragments(128, 128);
  const dst = blockedLayout({ shape: src.shape, numWarps: 4, order: [1, 0], vector: 4 });
  for (const bytes of [4, 8]) {
    const plain = planConversion(src, dst, bytes);
    const plan = planConversion(src, dst, bytes, { matrices: "store" });
    assert(plain.kind === "shared" && plan.kind === "shared");
    assertEquals(plan.vectorBits, plain.vectorBits);
  }
});

Deno.test("planConversion() leaves runs together that are copied together, where the reader holds a part of them", () => {
  // 64 x 32 doubles by rows, two to a copy, and the fragments of m16n8k8, whose lanes hold one each.
  const [row, column] = [(bit: number): number => 32 << bit, (bit: number): number => 1 << bit];
  const src: LinearLayout = {
    shape: [64, 32],
    register: [column(0), row(3), row(4), row(5)],
    lane: [column(1), column(2), column(3), column(4), row(0)],
    warp: [row(1), row(2)],
    block: [],
  };
  const dst: LinearLayout = {
    shape: [64, 32],
    register: [row(3), column(2), column(3), column(4), row(4)],
    lane: [column(0), column(1), row(0), row(1), row(2)],
    warp: [row(5), 0],
    block: [],
  };
  const plan = planConversion(src, dst, 8, { lines: true });
  assert(plan.kind === "shared");
  assertEquals([plan.columns[0], plan.vectorBits], [column(0), 0]);
  assertEquals(worstConflict(dst, plan, 8), 1);
  for (let register = 0; register < 16; register += 2) {
    assertEquals(
      offsetAt(src, plan, register, 0, 0) ^ offsetAt(src, plan, register + 1, 0, 0),
      1,
    );
  }
});
