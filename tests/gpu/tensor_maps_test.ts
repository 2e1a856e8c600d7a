/** Tensor maps as libcuda encodes them: the demands that are checked here are its own, and forms give the same results. */
import { openCudaDriver } from "../../ffi/cuda/library.ts";
import { LaunchError } from "../../ffi/errors.ts";
import { Device } from "../../ffi/mod.ts";
import { type TensorMap, tensorMapProblem } from "../../ffi/tensor_map.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { rowsProduct } from "../support/forms/form_kernel.ts";
import { gpuArch, gpuTest } from "../support/gpu.ts";
import { loadWrapper } from "../support/load_wrapper.ts";
import {
  elements,
  type Half,
  halfMatrix,
  isProduct,
  type RowsProductWrapper,
} from "../support/kernels/rows_product.ts";

const unfit = gpuArch === 90 ? undefined : `it is for sm_90, the GPU is sm_${gpuArch}`;

const MATRIX: TensorMap = {
  type: "float16",
  address: 1n << 40n,
  extents: [64, 64],
  strides: [128],
  box: [64, 64],
  elementStrides: [1, 1],
  interleave: "none",
  swizzle: "128B",
  promotion: "128B",
  fill: "zero",
};

/** Maps at the edges of what is allowed, and beyond. */
const EDGES: readonly Partial<TensorMap>[] = [
  {},
  { address: MATRIX.address + 16n },
  { address: MATRIX.address + 8n },
  { strides: [136] },
  { strides: [144] },
  { strides: [16] },
  { strides: [2 ** 40 - 16] },
  { strides: [2 ** 40] },
  { extents: [1, 1] },
  { extents: [2 ** 32, 2 ** 32] },
  { extents: [64, 2 ** 32 + 1] },
  { extents: [0, 64] },
  { box: [64, 256] },
  { box: [64, 257] },
  { box: [64, 0] },
  { box: [128, 64] },
  { box: [8, 64] },
  { box: [4, 64] },
  { box: [32, 64], swizzle: "64B" },
  { box: [64, 64], swizzle: "64B" },
  { box: [16, 1], swizzle: "32B" },
  { box: [256, 8], swizzle: "none" },
  { type: "float32", box: [32, 64] },
  { type: "uint8", box: [128, 64] },
  { extents: [64, 64, 4], strides: [128, 48], box: [64, 64, 1], elementStrides: [1, 1, 1] },
  { extents: [64, 64, 4], strides: [4096, 128], box: [64, 64, 1], elementStrides: [1, 1, 1] },
  { extents: [64], strides: [], box: [64], elementStrides: [1] },
];

/** Windows of 3 x 3 around each pixel. */
const WINDOWS: TensorMap = {
  ...MATRIX,
  extents: [64, 14, 14, 2],
  strides: [128, 1792, 25_088],
  box: [64, 128, 1, 1],
  elementStrides: [1, 1, 1, 1],
  windows: [{ lower: -1, upper: -1 }, { lower: -1, upper: -1 }],
};
const window = (lower: number, upper: number): NonNullable<TensorMap["windows"]>[number] => ({
  lower,
  upper,
});
const EDGES_OF_WINDOWS: readonly Partial<TensorMap>[] = [
  {},
  { windows: [window(-128, 127), window(127, 127)] },
  { windows: [window(-129, 0), window(-1, -1)] },
  { windows: [window(0, 128), window(-1, -1)] },
  { windows: [window(-1, -1), window(-1, 128)] },
  { box: [64, 1024, 1, 1] },
  { box: [64, 1025, 1, 1] },
  { box: [256, 64, 1, 1], swizzle: "none" },
  { box: [264, 64, 1, 1], swizzle: "none" },
  { box: [128, 64, 1, 1] },
  { elementStrides: [1, 8, 8, 1] },
  { elementStrides: [1, 9, 1, 1] },
  {
    extents: [64, 14, 2],
    strides: [128, 1792],
    box: [64, 8, 1],
    elementStrides: [1, 2, 1],
    windows: [window(-32768, 32767)],
  },
  {
    extents: [64, 14, 2],
    strides: [128, 1792],
    box: [64, 8, 1],
    elementStrides: [1, 2, 1],
    windows: [window(-32769, 0)],
  },
  {
    extents: [64, 8, 8, 8, 2],
    strides: [128, 1024, 8192, 65_536],
    box: [64, 8, 1, 1, 1],
    elementStrides: [1, 1, 1, 1, 1],
    windows: [window(-16, 15), window(-16, 15), window(-1, 1)],
  },
  {
    extents: [64, 8, 8, 8, 2],
    strides: [128, 1024, 8192, 65_536],
    box: [64, 8, 1, 1, 1],
    elementStrides: [1, 1, 1, 1, 1],
    windows: [window(-17, 15), window(0, 0), window(0, 0)],
  },
];

gpuTest("libcuda encodes the maps whose demands are met, and no others", () => {
  const driver = openCudaDriver();
  driver.makeCurrent(driver.retainContext(0));
  try {
    const maps = [
      ...EDGES.map((edge) => ({ ...MATRIX, ...edge })),
      ...EDGES_OF_WINDOWS.map((edge) => ({ ...WINDOWS, ...edge })),
    ];
    const differing = maps.filter((map) =>
      (driver.encodeTensorMap(map) === undefined) !== (tensorMapProblem(map) !== undefined)
    );
    assertEquals(differing, []);
  } finally {
    driver.releaseContext(0);
    driver.close();
  }
}, unfit);

gpuTest(
  "forms give what their entries give: sizes, views, in turn, prepared, in graphs",
  async () => {
    const { rowsProduct: product } = await loadWrapper<RowsProductWrapper>(rowsProduct());
    using device = Device.open({ device: "cuda" });
    const check = async (a: Half, b: Half, fast = true): Promise<void> => {
      for (
        const form of fast ? ["fast", "plain", undefined] as const : ["plain", undefined] as const
      ) {
        using c = product(a, b, { form });
        assertEquals(await isProduct(a, b, c), true, `${a} ${b} ${form}`);
      }
      if (!fast) assertThrows(() => product(a, b, { form: "fast" }), LaunchError);
    };
    for (const [m, n, k] of [[64, 128, 448], [64, 72, 40], [3, 8, 8], [17, 200, 64]] as const) {
      await check(halfMatrix(device, m, k), halfMatrix(device, k, n));
    }
    const views = { stride: 48, from: 8 };
    await check(halfMatrix(device, 20, 40, views), halfMatrix(device, 40, 16, views));
    await check(halfMatrix(device, 8, 16, { from: 1 }), halfMatrix(device, 16, 8), false);
    await check(halfMatrix(device, 8, 16, { stride: 20 }), halfMatrix(device, 16, 8), false);
    await check(halfMatrix(device, 8, 16), halfMatrix(device, 16, 9), false);

    const b = halfMatrix(device, 16, 8);
    const [first, second] = [halfMatrix(device, 8, 16), halfMatrix(device, 8, 16, { from: 16 })];
    const [c, d] = [device.zeros("float16", [8, 8]), device.zeros("float16", [8, 8])];
    const prepared = [
      product.prepare(first, b, { out: c }),
      product.prepare(second, b, { out: d }),
    ];
    using stream = device.stream();
    using graph = stream.capture(() => {
      product(first, b, { out: c, stream, form: "fast" });
      product(second, b, { out: d, stream, form: "fast" });
    });
    const poison = elements(64);
    const runs = [
      () => prepared.forEach((run) => run()),
      () => {
        product(halfMatrix(device, 8, 16, { from: 40 }), b);
        graph.launch();
        stream.synchronize();
      },
      () => {
        product(first, b, { out: c });
        product(second, b, { out: d });
      },
    ];
    for (const run of runs) {
      c.write(poison);
      d.write(poison);
      run();
      device.synchronize();
      assertEquals(await isProduct(first, b, c), true);
      assertEquals(await isProduct(second, b, d), true);
    }
  },
  unfit,
);
