/** Stores whose rows are rotated at run time, on the emulator. */
import fc from "../../../support/property.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { emulate, int } from "../../../support/emulate.ts";
import { halfOf } from "../../../support/sampled.ts";
import {
  type LoweredInstance,
  lowerGeneral,
  printEntry,
} from "../../../support/compiler/lowering.ts";
import {
  ANY_PLACES,
  generalTransposition,
  runTransposition,
} from "../../../support/kernels/transposition.ts";
import type { Op } from "../../../../compiler/ir/func.ts";
import { walkOps } from "../../../../compiler/ir/walk.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { ALL_TARGETS, type TargetName, TARGETS } from "../../../../compiler/targets.ts";

const isRotated = ({ laidOut }: LoweredInstance): boolean => {
  const found: Op[] = [];
  walkOps(laidOut.body, (op) => {
    if (op.name === "rotate") found.push(op);
  });
  return found.length > 0;
};

Deno.test("rotateStore() rotates rows of halves and floats that start anywhere, and no others", () => {
  const rotated = (type: string, tm: number): boolean =>
    isRotated(generalTransposition({ type, tm, tn: 8, numWarps: 1 }));
  assertEquals(["half", "float", "int16"].map((type) => rotated(type, 64)), [true, true, true]);
  // One access a row; accesses of less and of more than a line.
  assertEquals([rotated("half", 32), rotated("int8", 128), rotated("double", 64)], [
    false,
    false,
    false,
  ]);
});

Deno.test("rotateStore() leaves rows alone that are aligned, or whose data does not move", () => {
  const aligned = lowerGeneral(`#pragma tri grid(1)
__global__ void k(float *X, float *Y __aligned(32), int ld __multipleof(8)) {
  int m[64] = 0 ... 64;
  int n[8] = 0 ... 8;
  *(Y + m[newaxis, :] + n[:, newaxis] * ld) = ^*(X + m[:, newaxis] * ld + n[newaxis, :]);
}`);
  const copy = lowerGeneral(`#pragma tri grid(1)
__global__ void k(float *X, float *Y, int ld) {
  int m[64] = 0 ... 64;
  int n[8] = 0 ... 8;
  *(Y + m[newaxis, :] + n[:, newaxis] * ld) = *(X + m[newaxis, :] + n[:, newaxis] * ld);
}`);
  assertEquals([isRotated(aligned), isRotated(copy)], [false, false]);
});

Deno.test("lowerRotate() transposes matrices of any size, offset and stride bit by bit", () => {
  const anyConfiguration = fc.record({
    type: fc.constantFrom("half", "float"),
    tm: fc.constantFrom(64, 128, 256),
    tn: fc.constantFrom(1, 2, 8, 16, 64),
    numWarps: fc.constantFrom(1, 2, 4, 8),
  });
  const anyExtents = fc.record({
    rows: fc.integer({ min: 1, max: 300 }),
    columns: fc.integer({ min: 1, max: 40 }),
    ...ANY_PLACES,
  });
  fc.assert(
    fc.property(anyConfiguration, anyExtents, (c, e) => {
      const instance = generalTransposition(c);
      assert(c.tn === 1 || isRotated(instance));
      runTransposition(instance, c, { ...e, columns: Math.min(e.columns, 3 * c.tn) });
    }),
    { numRuns: 40 },
  );
});

Deno.test("lowerRotate() handles every distance of a row's start from a boundary", () => {
  for (const type of ["half", "float"]) {
    const c = { type, tm: 64, tn: 32, numWarps: 2 };
    const instance = generalTransposition(c);
    // Rows of Y lie 65 apart, so that 33 rows start at each of 32 distances.
    for (const startY of [0, 1, 31]) {
      runTransposition(instance, c, { rows: 64, columns: 33, gapX: 0, gapY: 1, startX: 1, startY });
    }
  }
});

for (const target of Object.keys(TARGETS) as TargetName[]) {
  Deno.test(`lowerRotate() transposes odd matrices on ${target}`, () => {
    for (const type of halfOf(["half", "float"], ALL_TARGETS[target].sm)) {
      const c = { type, tm: 128, tn: 16, numWarps: 4, target };
      const instance = generalTransposition(c);
      assert(isRotated(instance));
      runTransposition(instance, c, {
        rows: 199,
        columns: 21,
        gapX: 0,
        gapY: 0,
        startX: 3,
        startY: 5,
      });
    }
  });
}

Deno.test("rotateStore() computes masks at rotated positions and stores nothing between rows", () => {
  // Every third element of a row is stored; the others keep what they held.
  const instance = lowerGeneral(`#pragma tri grid(1)
__global__ void k(float *X, float *Y, int ldx, int ldy) {
  int m[64] = 0 ... 64;
  int n[8] = 0 ... 8;
  bool third[8, 64] = (m[newaxis, :] + n[:, newaxis]) % 3 == 0;
  *?(third) (Y + m[newaxis, :] + n[:, newaxis] * ldy) = ^*(X + m[:, newaxis] * ldx + n[newaxis, :]);
}`);
  assert(isRotated(instance));
  const [ldx, ldy] = [9, 67];
  const x = Float32Array.from({ length: 64 * ldx }, (_, i) => i + 1);
  const y = new Float32Array(8 * ldy).fill(-1);
  emulate(printEntry(instance.kernel), {
    block: [instance.threads, 1, 1],
    sharedBytes: instance.sharedBytes,
    args: [x, { buffer: y, offset: 0 }, int(ldx), int(ldy)],
  });
  const expected = Float32Array.from({ length: 8 * ldy }, (_, at) => {
    const [n, m] = [Math.floor(at / ldy), at % ldy];
    return m < 64 && (m + n) % 3 === 0 ? must(x[m * ldx + n], "element") : -1;
  });
  assertEquals(y, expected);
});
