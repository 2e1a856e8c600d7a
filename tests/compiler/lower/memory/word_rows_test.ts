/** Transpositions of bytes and halves by words (layout/rows/word_rows.ts), on the emulator, which finds reads outside of buffers. */
import fc from "../../../support/property.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { emulate, int } from "../../../support/emulate.ts";
import {
  type LoweredInstance,
  lowerGeneral,
  printEntry,
} from "../../../support/compiler/lowering.ts";
import {
  ANY_PLACES,
  type Configuration,
  generalTransposition,
  runTransposition,
} from "../../../support/kernels/transposition.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { type TargetName, TARGETS } from "../../../../compiler/targets.ts";
import { sampled, testsInTurn } from "../../../support/sampled.ts";

const test = testsInTurn(2);

const BYTES: Configuration = { type: "int8", tm: 256, tn: 128, numWarps: 4 };
const HALVES: Configuration = { type: "half", tm: 128, tn: 128, numWarps: 4 };

/** How often the text has an instruction. */
const count = ({ kernel }: LoweredInstance, opcode: string): number =>
  printEntry(kernel).split(`${opcode} `).length - 1;

for (const [c, vector, bytes] of [[BYTES, "b32", 1], [HALVES, "v2.b32", 2]] as const) {
  Deno.test(`lowerWordLoad() reads two words of global memory for a word of ${c.type}, and lowerWordStore() stores one`, () => {
    const instance = generalTransposition(c);
    const words = c.tm * c.tn * bytes / instance.threads / 4;
    const loads = ["", ".L2::256B"].map((hint) => count(instance, `ld.global${hint}.${vector}`));
    // A vector has as many words as an element has bytes.
    assertEquals(Math.max(...loads), 2 * words / bytes);
    // Where rows do not end in the tile, and where they do.
    assertEquals(count(instance, "st.global.b32"), 2 * words);
    assertEquals(count(instance, "st.shared.b32"), words);
  });
}

Deno.test("lowerWordLoad() and lowerWordStore() transpose bytes and halves of any size, offset and stride", () => {
  const numWarps = fc.constantFrom(4, 8);
  const anyConfiguration = fc.oneof(
    fc.record({
      type: fc.constant("int8"),
      tm: fc.constantFrom(256, 512),
      tn: fc.constantFrom(128, 256),
      numWarps,
    }),
    fc.record({
      type: fc.constant("half"),
      tm: fc.constantFrom(128, 256),
      tn: fc.constant(128),
      numWarps,
    }),
  );
  // Three tiles beside each other, so that the middle one is inside.
  const anyExtents = fc.record({
    rows: fc.integer({ min: 200, max: 530 }),
    columns: fc.integer({ min: 380, max: 400 }),
    ...ANY_PLACES,
  });
  fc.assert(
    fc.property(
      anyConfiguration,
      anyExtents,
      (c, e) => runTransposition(generalTransposition(c), c, e),
    ),
    { numRuns: 12 },
  );
});

for (const c of [BYTES, HALVES]) {
  test(`lowerWordStore() handles every distance of a row's start from a sector, of ${c.type}`, () => {
    // Rows of Y lie an odd number of elements apart, so that they start at each distance.
    runTransposition(generalTransposition(c), c, {
      rows: c.tm,
      columns: 263,
      gapX: 0,
      gapY: 1,
      startX: 1,
      startY: 0,
    });
  });
  // The second tile of a row is whole, and not followed by a word; the last rows are those of a second program or the first.
  for (const rows of [c.tm, c.tm + 1]) {
    for (const columns of [256, 257, 259]) {
      test(`lowerWordLoad() reads nothing behind ${rows}×${columns} of ${c.type}`, () => {
        const places = { gapX: 0, gapY: 1, startX: 1, startY: 0 };
        runTransposition(generalTransposition(c), c, { rows, columns, ...places });
      });
    }
  }
}

for (const target of sampled(Object.keys(TARGETS) as TargetName[], 2)) {
  test(`lowerWordLoad() and lowerWordStore() transpose odd matrices on ${target}`, () => {
    for (const c of [{ ...BYTES, target }, { ...HALVES, target }]) {
      const instance = generalTransposition(c);
      assert(count(instance, "st.global.b32") > 0);
      const extents = { rows: 259, columns: 261, gapX: 1, gapY: 2, startX: 3, startY: 5 };
      runTransposition(instance, c, extents);
    }
  });
}

test("wordRows turns what is computed from bytes, and writes nothing between rows", () => {
  const instance = lowerGeneral(`#pragma tri grid(1, cdiv(N, 128))
__global__ void k(uint8 *X, uint8 *Y, int N, int ldx, int ldy) {
  int m[256] = 0 ... 256;
  int n[128] = get_program_id(1) * 128 + 0 ... 128;
  bool x[256, 128] = n[newaxis, :] < N;
  bool y[128, 256] = n[:, newaxis] < N;
  uint8 a[256, 128] = *?(x) (X + m[:, newaxis] * ldx + n[newaxis, :]);
  *?(y) (Y + m[newaxis, :] + n[:, newaxis] * ldy) = ^(a + a + 1);
}`);
  assert(count(instance, "st.global.b32") > 0);
  const [columns, ldx, ldy] = [262, 263, 259];
  const x = Uint8Array.from({ length: 256 * ldx }, (_, i) => i * 7 + (i >> 8));
  const y = new Uint8Array(columns * ldy).fill(0xa5);
  emulate(printEntry(instance.kernel), {
    grid: [1, 3, 1],
    block: [instance.threads, 1, 1],
    sharedBytes: instance.sharedBytes,
    args: [x, { buffer: y, offset: 0 }, int(columns), int(ldx), int(ldy)],
  });
  const expected = Uint8Array.from({ length: columns * ldy }, (_, at) => {
    const [n, m] = [Math.floor(at / ldy), at % ldy];
    return m < 256 ? 2 * must(x[m * ldx + n], "element") + 1 : 0xa5;
  });
  assertEquals(y, expected);
});
