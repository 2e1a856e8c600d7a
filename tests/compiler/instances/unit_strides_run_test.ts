/** Wrappers of kernels that take the strides of all axes: which instance they launch, and its results. */
import { must } from "../../../compiler/support/bug.ts";
import type { TargetName } from "../../../compiler/targets.ts";
import { Device, type LaunchProfile, type Profiled, type Tensor } from "../../../ffi/mod.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";
import { stridedText } from "../../support/compiler/strided_texts.ts";
import {
  assertMoved,
  columnMajor,
  type Placement,
  randomMatrix,
  rowMajor,
} from "../../support/kernels/matrices.ts";
import { assertProductOf, operandOf, type Storage } from "../../support/kernels/products.ts";
import { loadWrapper } from "../../support/load_wrapper.ts";
import { numbersOf, randomNumbers, stridedOf } from "../../support/numbers.ts";

const TARGETS: readonly TargetName[] = ["sm_80", "sm_90a"];
/** Devices that load them. */
const DEVICES = ["sm_80", "sm_90"];

async function wrapperOf<Module>(name: string): Promise<Module> {
  const { kernels: [kernel], diagnostics } = compileFile(
    { name: `${name}.tc`, text: stridedText(name).text },
    { targets: TARGETS },
  );
  assertEquals(diagnostics, []);
  return await loadWrapper<Module>(must(kernel, "a kernel"));
}

/** Which instance a launch took, without the forms of targets that have tensor copies. */
const instanceOf = (kernel: string): string => kernel.replace(/^[a-z]+/, "").replace("_tensor", "");

type Matrix = Tensor<"float16", 2>;

interface Product {
  readonly matmul: (
    a: Matrix,
    b: Matrix,
    options: { readonly out: Matrix; readonly profile: true },
  ) => Profiled<Matrix>;
}

/** Sizes, storage and gaps of the operands, and the instance. */
const PRODUCTS: readonly (readonly [
  size: readonly [m: number, n: number, k: number],
  a: Storage,
  b: Storage,
  gap: number,
  instance: string,
])[] = [
  [[70, 72, 40], "rows", "rows", 0, "_a16"],
  [[70, 72, 40], "rows", "columns", 8, "_a16nt"],
  [[72, 40, 72], "columns", "rows", 0, "_a16tn"],
  [[72, 40, 72], "columns", "columns", 8, "_a16tt"],
  // Rows that start anywhere, or that end anywhere.
  [[70, 72, 40], "rows", "rows", 3, "_a1"],
  [[67, 71, 37], "rows", "rows", 0, "_a1"],
  // Columns likewise, and every other column.
  [[72, 40, 72], "columns", "rows", 1, ""],
  [[72, 40, 72], "rows", "apart", 0, ""],
  [[67, 71, 37], "columns", "columns", 0, ""],
];

Deno.test("a product with all strides takes the instance of how its operands are stored", async () => {
  const { matmul } = await wrapperOf<Product>("matmul");
  for (const arch of DEVICES) {
    using device = Device.open({ device: "emulator", arch });
    for (const [[m, n, k], ofA, ofB, gap, instance] of PRODUCTS) {
      using a = operandOf(device, "float16", [m, k], { storage: ofA, gap });
      using b = operandOf(device, "float16", [k, n], { storage: ofB, gap });
      using out = device.tensor(new Uint16Array(m * n).fill(0x7e00), [m, n], { dtype: "float16" });
      const { profile } = matmul(a.tensor, b.tensor, { out, profile: true });
      assertEquals(instanceOf(profile.kernel), instance, `${arch}, ${m} x ${n} x ${k}`);
      assertProductOf(out, a, b);
    }
    // A result by columns, whose other axis has the stride 1.
    using a = operandOf(device, "float16", [40, 24]);
    using b = operandOf(device, "float16", [24, 56]);
    using columns = device.tensor(new Uint16Array(56 * 40).fill(0x7e00), [56, 40], {
      dtype: "float16",
    });
    const out = columns.transpose();
    assertEquals(instanceOf(matmul(a.tensor, b.tensor, { out, profile: true }).profile.kernel), "");
    assertProductOf(out, a, b);
  }
});

interface Moves {
  readonly copied: Move;
  readonly transposition: Move;
}
type Move = (
  x: Tensor<"float32", 2>,
  options: { readonly out: Tensor<"float32", 2>; readonly profile: true },
) => Profiled<Tensor<"float32", 2>>;

Deno.test("copies and transpositions with all strides take the instance of rows where these are contiguous", async () => {
  const [rows, columns] = [36, 136];
  const apart: Placement = { offset: 1, rowStride: 2 * columns, columnStride: 2 };
  const cases:
    readonly (readonly [x: Placement, padded: number, offset: number, instance: string])[] = [
      [rowMajor(columns), 0, 0, "_a16"],
      [rowMajor(columns, 4), 8, 0, "_a16"],
      [rowMajor(columns, 1, 3), 0, 0, "_a1"],
      [rowMajor(columns), 2, 1, "_a1"],
      [columnMajor(rows), 0, 0, ""],
      [apart, 0, 0, ""],
    ];
  for (const name of ["copied", "transposition"] as const) {
    const move = (await wrapperOf<Moves>(name))[name];
    const isTransposed = name === "transposition";
    for (const arch of DEVICES) {
      using device = Device.open({ device: "emulator", arch });
      for (const [placement, padded, offset, instance] of cases) {
        using x = randomMatrix(device, "float32", [rows, columns], placement);
        const shape = isTransposed ? [columns, rows] as const : [rows, columns] as const;
        using y = randomMatrix(device, "float32", shape, rowMajor(shape[1], padded, offset));
        // The tile has the axes of X.
        const out = isTransposed ? y.tensor.transpose() : y.tensor;
        const { profile } = move(x.tensor, { out, profile: true });
        assertMoved(x, y, isTransposed);
        assertEquals(instanceOf(profile.kernel), instance, `${name}, ${arch}`);
      }
    }
  }
});

interface Attention {
  readonly attention: (
    args: Readonly<Record<string, number | Tensor<"float16">>>,
    options: { readonly profile: true },
  ) => LaunchProfile;
}

/** Of heads x rows x columns, with this stride between columns. */
function stridesOf(rows: number, columns: number, step: number, gap: number): readonly number[] {
  const row = step * columns + gap;
  return [rows * row, row, step];
}

Deno.test("attention with all strides takes the instance of rows, and keys are read as columns", async () => {
  const { attention } = await wrapperOf<Attention>("attention");
  const columns = 32;
  const cases = [
    { heads: 8, rows: 40, step: 1, gap: 0, instance: "_a16" },
    // Neither decides where rows begin.
    { heads: 3, rows: 37, step: 1, gap: 0, instance: "_a16" },
    { heads: 2, rows: 67, step: 1, gap: 1, instance: "_a1" },
    { heads: 1, rows: 45, step: 2, gap: 0, instance: "" },
  ];
  for (const arch of DEVICES.slice(0, 1)) {
    using device = Device.open({ device: "emulator", arch });
    for (const { heads, rows, step, gap, instance } of cases) {
      const shape = [heads, rows, columns] as const;
      const strides = stridesOf(rows, columns, step, gap);
      const count = heads * rows * columns;
      const [q, k, v] = [0, 1, 2].map(() => randomNumbers("float16", count, 1));
      const made = (values: readonly number[] = []): Tensor<"float16", 3> =>
        stridedOf(device, "float16", values, shape, strides);
      const O = made(new Array<number>(count).fill(NaN));
      const args = Object.fromEntries(
        ["q", "k", "v", "o"].flatMap((tensor) =>
          ["h", tensor === "q" || tensor === "o" ? "m" : "n", "d"].map((axis, i) =>
            [`s${tensor}${axis}`, must(strides[i], "a stride")] as const
          )
        ),
      );
      const scale = 1 / 8;
      const { kernel } = attention(
        { Q: made(q), K: made(k), V: made(v), O, heads, T: rows, scale, ...args },
        { profile: true },
      );
      assertEquals(instanceOf(kernel), instance, `${arch}, ${heads} heads`);
      const found = numbersOf(O);
      for (let i = 0; i < heads * rows; i++) {
        const first = Math.floor(i / rows) * rows;
        const scores = Array.from({ length: rows }, (_, j) => {
          let sum = 0;
          for (let d = 0; d < columns; d++) {
            sum += (q?.[i * columns + d] ?? NaN) * (k?.[(first + j) * columns + d] ?? NaN);
          }
          return Math.exp(sum * scale);
        });
        const total = scores.reduce((a, b) => a + b, 0);
        for (let d = 0; d < columns; d++) {
          const wanted = scores.reduce(
            (sum, one, j) => sum + one / total * (v?.[(first + j) * columns + d] ?? NaN),
            0,
          );
          // Weights are rounded to half, and so is the result; values are below 1.
          const error = Math.abs((found[i * columns + d] ?? NaN) - wanted);
          assert(error < 2 ** -9, `${arch} [${i}, ${d}]: ${found[i * columns + d]}, not ${wanted}`);
        }
      }
    }
  }
});
