/** Stores of what dots have computed take the warps of their data. */
import { assert, assertEquals } from "../../../support/assert.ts";
import { blockedLayout } from "../../../../compiler/layout/blocked.ts";
import { planConversion } from "../../../../compiler/layout/conversion.ts";
import { withWarpsOf } from "../../../../compiler/layout/beside/warp_local.ts";
import { elementAt, type LinearLayout } from "../../../../compiler/linear/linear.ts";

/** Sums of `mma` with 16 rows and 8 columns; warps take these bits. */
function sums(rows: number, columns: number, warp: readonly number[]): LinearLayout {
  const core = [1, 2, 4, ...[0, 1, 2, 3].map((bit) => columns << bit)];
  const [n0 = 0, n1 = 0, n2 = 0, m0 = 0, m1 = 0, m2 = 0, m3 = 0] = core;
  const all = Array.from({ length: Math.log2(rows * columns) }, (_, bit) => 1 << bit);
  const rest = all.filter((basis) => !core.includes(basis) && !warp.includes(basis));
  return {
    shape: [rows, columns],
    register: [n0, m3, ...rest],
    lane: [n1, n2, m0, m1, m2],
    warp,
    block: [],
  };
}

const CASES = [
  { rows: 128, columns: 256, warp: [256 << 4, 256 << 5, 256 << 6] },
  { rows: 128, columns: 128, warp: [128 << 5, 128 << 6] },
  { rows: 64, columns: 64, warp: [64 << 4, 64 << 5] },
];

Deno.test("withWarpsOf() keeps the exchange within warps, with accesses as wide as before", () => {
  for (const { rows, columns, warp } of CASES) {
    for (const bytes of [2, 4, 8]) {
      const data = sums(rows, columns, warp);
      const numWarps = 1 << warp.length;
      const vector = 16 / bytes;
      const shape = [rows, columns];
      const anchor = blockedLayout({ shape, numWarps, order: [1, 0], vector });
      const store = withWarpsOf(anchor, data);
      assert(store !== undefined, `${rows}x${columns} of ${bytes}`);
      const plan = planConversion(data, store, bytes);
      assert(plan.kind === "shared" && plan.withinWarp);
      const elements = new Set<number>();
      for (let warp = 0; warp < numWarps; warp++) {
        for (let lane = 0; lane < 32; lane++) {
          for (let register = 0; register < 1 << store.register.length; register++) {
            elements.add(elementAt(store, register, lane, warp));
          }
        }
      }
      assertEquals(elements.size, rows * columns);
      // The first access of the first warp: runs of 128 bytes or more.
      const starts = Array.from({ length: 32 }, (_, lane) => elementAt(store, 0, lane, 0));
      const lanes = Math.min(32, 128 / 16);
      for (const [lane, start] of starts.entries()) {
        if (lane % lanes !== 0) assertEquals(start, (starts[lane - 1] ?? 0) + vector);
      }
    }
  }
});

Deno.test("withWarpsOf() leaves a store alone where its accesses would become narrower", () => {
  const data = sums(128, 128, [64, 128 << 6]);
  const anchor = blockedLayout({ shape: [128, 128], numWarps: 4, order: [1, 0], vector: 8 });
  assertEquals(withWarpsOf(anchor, data), undefined);
});
