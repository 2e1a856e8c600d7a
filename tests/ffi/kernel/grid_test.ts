/** `kernel.grid()` beside the launches that take what it says. */
import { ArgumentError } from "../../../ffi/errors.ts";
import { defineKernel } from "../../../ffi/kernel/define.ts";
import type { KernelFacts } from "../../../ffi/kernel/facts/facts.ts";
import type { Grid } from "../../../ffi/kernel/types.ts";
import type { Tensor } from "../../../ffi/mod.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { type FakeGpu, fakeGpu } from "./support.ts";

interface Touch {
  launch(args: { X: Tensor; n: number; m: number }, options?: { grid: Grid }): void;
  grid(args: { X?: Tensor; n: number; m?: number }): Grid;
}

const WIDE = "touch_a16";
const NARROW = "touch";

/** Aligned rows of an even number of elements get wider tiles. */
const touch: Touch = defineKernel(
  {
    name: "touch",
    params: [
      { kind: "pointer", name: "X", access: "in" },
      { kind: "scalar", name: "n", type: "int32" },
      { kind: "scalar", name: "m", type: "int32" },
    ],
    contract: {
      grid: [{ text: "cdiv(n, TM)", value: ({ n, TM }) => Math.ceil(n / TM) }],
      tensors: [],
      ranges: [],
      requires: [],
    },
    variants: [{ name: "v", bindings: {}, dtypes: { X: "float32" } }],
    instances: [
      { variant: "v", threads: 32, sharedBytes: 0, symbol: NARROW, constants: { TM: 64 } },
      {
        variant: "v",
        threads: 32,
        sharedBytes: 0,
        symbol: WIDE,
        constants: { TM: 256 },
        when: [
          { text: "X % 16 == 0", holds: ({ X }) => X % 16 === 0 },
          { text: "n % 2 == 0 && m % 2 == 0", holds: ({ n, m }) => n % 2 === 0 && m % 2 === 0 },
        ],
      },
    ],
    images: [{ target: "sm_90", kind: "ptx", base64: "" }],
  } satisfies KernelFacts<"X" | "n" | "m" | "TM">,
);

function gpuThatTouches(): FakeGpu {
  const symbols = [NARROW, WIDE];
  const parameters = [[0, 8], [8, 4], [12, 4]].map(([offset = 0, bytes = 0]) => ({
    offset,
    bytes,
  }));
  return fakeGpu({}, {
    kernels: Object.fromEntries(symbols.map((symbol) => [symbol, () => {}])),
    parameters: Object.fromEntries(symbols.map((symbol) => [symbol, parameters])),
  });
}

Deno.test("grid() of arguments counts with the tiles of the code that a launch with them runs", () => {
  using gpu = gpuThatTouches();
  const whole = gpu.device.zeros("float32", [1001]);
  for (
    const [X, n, m, symbol] of [
      [whole, 1000, 2, WIDE],
      [whole, 1000, 1, NARROW],
      [whole.narrow(0, 1, 1000), 1000, 2, NARROW],
      [whole.narrow(0, 4, 996), 996, 0, WIDE],
    ] as const
  ) {
    const grid = touch.grid({ X, n, m });
    touch.launch({ X, n, m }, { grid });
    assertEquals(gpu.lastKernel(), symbol);
    assertEquals(grid, [Math.ceil(n / (symbol === WIDE ? 256 : 64)), 1, 1]);
    touch.launch({ X, n, m });
    assertEquals(gpu.driver.launches.at(-1)?.grid, [...grid]);
  }
});

Deno.test("grid() of sizes answers where these decide, or where all code has the same grid", () => {
  assertEquals(touch.grid({ n: 1001, m: 2 }), [16, 1, 1]);
  assertEquals(touch.grid({ n: 64, m: 2 }), [1, 1, 1]);
  for (const sizes of [{ n: 1000, m: 2 }, { n: 1000 }]) {
    const error = assertThrows(() => touch.grid(sizes), ArgumentError);
    assertEquals(
      [error.argument, error.actual],
      [
        "arguments of touch.grid",
        "sizes for 4×1×1 programs of touch_a16 or 16×1×1 programs of touch",
      ],
    );
  }
});
