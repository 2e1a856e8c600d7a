/** What lowered kernels do to memory, bit by bit, on the emulator. */
import fc from "../../support/property.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";
import { Fault } from "../../../emulator/fault.ts";
import { emulate, int } from "../../support/emulate.ts";
import {
  type LoweredInstance,
  lowerGeneral,
  lowerText,
  printEntry,
} from "../../support/compiler/lowering.ts";
import { checkMatrixRun, type StoredMatrix } from "../../support/compiler/matrix_run.ts";
import {
  cdiv,
  columnMajor,
  type Configuration,
  configured,
  type Extents,
  readKernel,
  rowMajor,
  runTransposition,
  SIZES,
} from "../../support/kernels/transposition.ts";
import { must } from "../../../compiler/support/bug.ts";
import { testsInTurn } from "../../support/sampled.ts";

const test = testsInTurn(2);

/** The specialised instance wants everything in units of 16 bytes. */
function rounded(extents: Extents, unit: number): Extents {
  const up = (value: number): number => unit * cdiv(value, unit);
  return {
    rows: up(extents.rows),
    columns: up(extents.columns),
    gapX: up(extents.gapX),
    gapY: up(extents.gapY),
    startX: up(extents.startX),
    startY: up(extents.startY),
  };
}

function runCopy(instance: LoweredInstance, c: Configuration, e: Extents): void {
  const [ldx, ldy] = [e.columns + e.gapX, e.columns + e.gapY];
  checkMatrixRun(instance, {
    elementBytes: must(SIZES[c.type], "size"),
    rows: e.rows,
    columns: e.columns,
    from: rowMajor(e.startX, ldx),
    to: rowMajor(e.startY, ldy),
    grid: [cdiv(e.columns, c.tn), cdiv(e.rows, c.tm)],
    scalars: [e.rows, e.columns, ldx, ldy],
  });
}

const anyConfiguration = fc.record({
  type: fc.constantFrom(...Object.keys(SIZES)),
  tm: fc.integer({ min: 0, max: 6 }).map((bits) => 2 ** bits),
  tn: fc.integer({ min: 0, max: 6 }).map((bits) => 2 ** bits),
  numWarps: fc.constantFrom(1, 2, 4),
});
const anyExtents = fc.record({
  rows: fc.integer({ min: 1, max: 70 }),
  columns: fc.integer({ min: 1, max: 70 }),
  gapX: fc.integer({ min: 0, max: 5 }),
  gapY: fc.integer({ min: 0, max: 5 }),
  startX: fc.integer({ min: 0, max: 3 }),
  startY: fc.integer({ min: 0, max: 3 }),
});

/** At most this many blocks: tiny tiles of large matrices take long and show nothing new. */
const MANY_BLOCKS = 24;

/** Runs the general and the specialised instance of random configurations on random matrices. */
function checkAll(
  file: string,
  kernel: string,
  run: (instance: LoweredInstance, c: Configuration, e: Extents) => void,
): void {
  fc.assert(
    fc.property(anyConfiguration, anyExtents, (c, extents) => {
      for (const instance of configured(file, kernel, c)) {
        const isGeneral = instance.conditions.length === 0;
        const e = isGeneral ? extents : rounded(extents, 16 / must(SIZES[c.type], "size"));
        const rows = Math.min(e.rows, c.tm * 4);
        const columns = Math.min(e.columns, c.tn * 4);
        if (isGeneral) run(instance, c, { ...e, rows, columns });
        else if (cdiv(e.rows, c.tm) * cdiv(e.columns, c.tn) <= MANY_BLOCKS) run(instance, c, e);
      }
    }),
    { numRuns: 60 },
  );
}

test("compileFile() transposes matrices of any size, type, tile and number of warps bit by bit", () => {
  checkAll("transpose", "transpose", runTransposition);
});

test("compileFile() copies matrices of any size, type, tile and number of warps bit by bit", () => {
  checkAll("copy", "copy", runCopy);
});

Deno.test("compileFile() copies between any two strides", () => {
  const c: Configuration = { type: "float", tm: 16, tn: 32, numWarps: 2 };
  const sides: readonly ((rows: number, columns: number) => StoredMatrix)[] = [
    (_rows, columns) => rowMajor(0, columns),
    (rows) => columnMajor(0, rows + 3),
    (rows) => ({ offset: 1, rowStride: 2, columnStride: 2 * rows + 1 }),
    (_rows, columns) => ({ offset: 2, rowStride: 3 * columns, columnStride: 3 }),
  ];
  for (const type of Object.keys(SIZES)) {
    const instance = must(configured("copy", "strided_copy", { ...c, type })[0], "instance");
    assertEquals(instance.conditions, []);
    for (const from of sides) {
      for (const to of sides) {
        const [rows, columns] = [19, 37];
        const [x, y] = [from(rows, columns), to(rows, columns)];
        checkMatrixRun(instance, {
          elementBytes: must(SIZES[type], "size"),
          rows,
          columns,
          from: x,
          to: y,
          grid: [2, 2],
          scalars: [rows, columns, x.rowStride, x.columnStride, y.rowStride, y.columnStride],
        });
      }
    }
  }
});

test("compileFile() transposes tiles by pointer arithmetic alone, in both directions", () => {
  const ROWS = { text: "m[:, newaxis] * ld + n[newaxis, :]", matrix: rowMajor(0, 80) };
  const COLUMNS = { text: "m[:, newaxis] + n[newaxis, :] * ld", matrix: columnMajor(0, 80) };
  for (const type of Object.keys(SIZES)) {
    for (const [from, to] of [[ROWS, COLUMNS], [COLUMNS, ROWS]] as const) {
      const instances = lowerText(`#pragma tri grid(1)
__global__ void k(${type} *X, ${type} *Y, int ld) {
  int m[32] = 0 ... 32;
  int n[64] = 0 ... 64;
  ${type} *px[32, 64] = X + ${from.text};
  ${type} *py[32, 64] = Y + ${to.text};
  *py = *px;
}`);
      assertEquals(instances.length, 2);
      for (const instance of instances) {
        checkMatrixRun(instance, {
          elementBytes: must(SIZES[type], "size"),
          rows: 32,
          columns: 64,
          from: from.matrix,
          to: to.matrix,
          grid: [1, 1],
          scalars: [80],
        });
      }
    }
  }
});

test("compileFile() computes the shipped configurations of transpose right at ragged edges", () => {
  const text = readKernel("transpose");
  const pragmas = [...text.matchAll(
    /TM in \{([\d, ]+)\}, +TN in \{(\d+)\}; +num_warps in \{(\d+)\}(?:, max_registers in \{\d+\})? +if (!?)__TRI_SPECIALIZED__ && sizeof\(TYPE\) == (\d)/g,
  )];
  assertEquals(pragmas.length, text.match(/^#pragma tri configs /gm)?.length);
  const configs = pragmas.flatMap(([, rows = "", tn, numWarps, not, size]) =>
    rows.split(",").map((tm) => ({
      type: must(Object.keys(SIZES).find((type) => SIZES[type] === Number(size)), "type"),
      tm: Number(tm),
      tn: Number(tn),
      numWarps: Number(numWarps),
      isGeneral: not === "!",
    }))
  );
  for (const c of configs) {
    const extents = { rows: c.tm + 17, columns: c.tn - 5, gapX: 1, gapY: 3, startX: 1, startY: 1 };
    // Each by itself: without timings only the first of a type is compiled.
    const variants = text.replace(/^#pragma tri configs .*\n/gm, "").replace(
      /^#pragma tri variants .*$/m,
      `#pragma tri variants TYPE in {${c.type}}
#pragma tri config TM=${c.tm}, TN=${c.tn}; num_warps=${c.numWarps}`,
    );
    const instance = must(
      lowerText(variants).find(({ conditions }) => (conditions.length === 0) === c.isGeneral),
      "instance",
    );
    assertEquals(instance.threads, 32 * c.numWarps);
    const unit = 16 / must(SIZES[c.type], "size");
    runTransposition(instance, c, c.isGeneral ? extents : rounded(extents, unit));
  }
});

Deno.test("compileFile() adds vectors up to their last element and not beyond", () => {
  const text = readKernel("vector_add").replace(
    /^#pragma tri variants .*$/m,
    "#pragma tri variant TYPE=int",
  ).replace("1024", "128");
  for (const instance of lowerText(text)) {
    const count = instance.conditions.length === 0 ? 131 : 132;
    const numbers = Array.from({ length: count }, (_, i) => i * 0x01234567 | 0);
    const [x, y, z] = [
      Int32Array.from(numbers),
      Int32Array.from(numbers.toReversed()),
      new Int32Array(count),
    ];
    emulate(printEntry(instance.kernel), {
      grid: [2, 1, 1],
      block: [instance.threads, 1, 1],
      args: [x, y, z, int(count)],
    });
    assertEquals([...z], [...x.map((value, i) => value + must(y[i], "element"))]);
  }
});

Deno.test("compileFile() wraps 32-bit indices before it scales them to addresses", () => {
  const instance = lowerGeneral(`#pragma tri grid(1)
__global__ void k(int *X, uint32 x __multipleof(64)) {
  uint32 r[64] = x + 64u + (uint32[64])(0 ... 64);
  *(X + r) = (int[64])r;
}`);
  const x = new Int32Array(64).fill(-1);
  emulate(printEntry(instance.kernel), {
    block: [instance.threads, 1, 1],
    args: [x, int(2 ** 32 - 64)],
  });
  assertEquals([...x], Array.from({ length: 64 }, (_, i) => i));
});

Deno.test("emulate() catches what lowering must not do: strays, misalignment, missing barriers", () => {
  const c: Configuration = { type: "float", tm: 16, tn: 16, numWarps: 2 };
  const instances = configured("transpose", "transpose", c);
  const general = must(instances[0], "general instance");
  const special = must(instances[1], "specialised instance");
  const fits: Extents = { rows: 16, columns: 16, gapX: 0, gapY: 0, startX: 0, startY: 0 };
  runTransposition(special, c, fits);
  const kindOf = (body: () => void): string => assertThrows(body, Fault).kind;
  assertEquals(kindOf(() => runTransposition(special, c, { ...fits, startX: 1 })), "misaligned");
  const stray = lowerGeneral(`#pragma tri grid(1)
__global__ void k(float *X, float *Y) { *(Y + 0 ... 64) = *(X + 1 ... 65); }`);
  assertEquals(
    kindOf(() =>
      checkMatrixRun(stray, {
        elementBytes: 4,
        rows: 1,
        columns: 64,
        from: rowMajor(0, 64),
        to: rowMajor(0, 64),
        grid: [1, 1],
        scalars: [],
      })
    ),
    "out of bounds",
  );
  const barriers = (item: LoweredInstance["kernel"]["body"][number]): boolean =>
    item.kind === "instruction" && item.opcode === "bar";
  assert(general.kernel.body.some(barriers));
  const unordered = {
    ...general,
    kernel: { ...general.kernel, body: general.kernel.body.filter((item) => !barriers(item)) },
  };
  // A warp that does not wait reads what the other has not written yet.
  assertEquals(kindOf(() => runTransposition(unordered, c, fits)), "missing barrier");
});
