/** The passes before layouts as a whole, and what runs them. */
import { parseFunc } from "../../../../compiler/ir/parse.ts";
import { printFunc } from "../../../../compiler/ir/print.ts";
import { cloneFunc } from "../../../../compiler/ir/walk.ts";
import type { Func } from "../../../../compiler/ir/func.ts";
import { PassFailure } from "../../../../compiler/driver/passes/pass_failure.ts";
import type { Step } from "../../../../compiler/driver/passes/pass_list.ts";
import { TILE_STEPS } from "../../../../compiler/driver/passes/passes.ts";
import { type PassWatch, runPasses } from "../../../../compiler/driver/passes/run_passes.ts";
import type { ScalarValue } from "../../../../compiler/support/arith.ts";
import { DEFAULT_FLOATS } from "../../../../compiler/support/float_options.ts";
import type { TileContext } from "../../../../compiler/tile/pass.ts";
import { assertEquals, assertThrows } from "../../../support/assert.ts";
import { golden } from "../../../support/golden.ts";
import fc from "../../../support/property.ts";
import { randomFunc } from "../../../support/compiler/random_func.ts";
import { type Machine, runFunc } from "../../../support/compiler/tile_interpreter.ts";

function optimise(
  func: Func,
  watch: PassWatch = {},
  { contract = true, steps = TILE_STEPS }: {
    readonly contract?: boolean;
    readonly steps?: readonly Step<TileContext>[];
  } = {},
): void {
  const original = cloneFunc(func);
  runPasses<TileContext>({
    func,
    again: () => cloneFunc(original),
    steps,
    context: (analyses) => ({ ...analyses, floats: { ...DEFAULT_FLOATS, contract } }),
    watch,
  });
}

const ARGS: readonly ScalarValue[] = [4096n, -3n, 5n, 1.5, 1n];

function memoryAfter(func: Func): string {
  const machine: Machine = { memory: new Map(), programId: [1, 2, 3], rounds: 1e6 };
  for (let i = 0; i < 64; i++) machine.memory.set(4096n + BigInt(4 * i), i / 2 - 7);
  runFunc(func, ARGS, machine);
  const spell = (value: ScalarValue): string => Object.is(value, -0) ? "-0" : String(value);
  return [...machine.memory].map(([address, value]) => `${address}: ${spell(value)}`).sort().join(
    "\n",
  );
}

Deno.test("runPasses() keeps random functions valid and what they store", () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), (seed) => {
      const func = randomFunc(seed, 20);
      const optimised = cloneFunc(func);
      // Fused products are not rounded on their own, which is allowed and seen.
      optimise(optimised, { verify: true }, { contract: false });
      assertEquals(memoryAfter(optimised), memoryAfter(func));
    }),
    { numRuns: 60 },
  );
});

Deno.test("runPasses() finds nothing more to do in its own result", () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), (seed) => {
      const func = randomFunc(seed, 10);
      for (let i = 0; i < 3; i++) optimise(func);
      const before = printFunc(func);
      optimise(func);
      assertEquals(printFunc(func), before);
    }),
    { numRuns: 30 },
  );
});

const TEXT = `func @f(%0 n: int32, %1 x: int32*) {
  %2: int32 = mul %0, %0
  %3: int32 = mul %0, %0
  %4: int32 = sub %2, %3
  store %1, %4
  return
}
`;

Deno.test("runPasses() reports the pass and the function of a failure, with the function before the pass", () => {
  const broken: Step<TileContext> = {
    name: "break-it",
    phase: "tile",
    pass: {
      name: "break-it",
      doc: "drops the end",
      run: (func) => {
        func.body.ops.pop();
        return true;
      },
    },
    needs: [],
    because: undefined,
  };
  const steps = [...TILE_STEPS.slice(0, 4), broken];
  const failure = assertThrows(
    () => optimise(parseFunc(TEXT), { verify: true }, { steps }),
    PassFailure,
    "Pass break-it failed on @f",
  );
  assertEquals([failure.step, failure.func], ["break-it", "f"]);
  assertEquals(
    failure.ir,
    `func @f(%0 n: int32, %1 x: int32*) {
  %2: int32 = mul %0, %0
  %3: int32 = sub %2, %2
  store %1, %3
  return
}
`,
  );
});

Deno.test("runPasses() gives the function and the time after every step", () => {
  const seen: string[] = [];
  let clock = 0;
  optimise(parseFunc(TEXT), {
    now: () => clock++,
    after: (step, milliseconds, func) =>
      seen.push(`${step} ${milliseconds} ${func?.body.ops.length}`),
  });
  assertEquals(seen, [
    "simplify 1 5",
    "straighten-loops 1 5",
    "hoist-invariants 1 5",
    "cse 1 4",
    "whole-masks 1 4",
    "zero-remainders 1 4",
    "simplify.2 1 4",
    "cse.2 1 4",
    "accumulate 1 4",
    "late-loads 1 4",
    "stepped-tiles 1 4",
    "flush-powers 1 4",
    "fuse-multiply-add 1 4",
    "drop-dead 1 3",
  ]);
});

for (
  const input of [
    "build/transpose.ir",
    "build/transpose_checked.ir",
    "build/control.ir",
    "tile/strided_copy.in.ir",
  ]
) {
  const name = input.replace(/^.*\/|\..*$/g, "");
  Deno.test(`runPasses() on ${name} gives the golden text`, () => {
    const folder = new URL("../../../golden/", import.meta.url);
    const func = parseFunc(Deno.readTextFileSync(new URL(input, folder)));
    optimise(func, { verify: true });
    golden(new URL(`tile/${name}.ir`, folder), printFunc(func));
  });
}
