import fc from "../../support/property.ts";
import { parseFunc } from "../../../compiler/ir/parse.ts";
import { printFunc } from "../../../compiler/ir/print.ts";
import { cloneFunc } from "../../../compiler/ir/walk.ts";
import { verifyFunc } from "../../../compiler/ir/verify.ts";
import type { Func } from "../../../compiler/ir/func.ts";
import type { ScalarValue } from "../../../compiler/support/arith.ts";
import { CompilerBug } from "../../../compiler/support/bug.ts";
import { dropDead } from "../../../compiler/tile/drop_dead.ts";
import { hoistInvariants } from "../../../compiler/tile/hoist.ts";
import { mergeEqual } from "../../../compiler/tile/merge_equal.ts";
import type { Pass } from "../../../compiler/tile/pass.ts";
import { PASSES, runPasses } from "../../../compiler/tile/passes.ts";
import { assertEquals, assertThrows } from "../../support/assert.ts";
import { golden } from "../../support/golden.ts";
import { randomFunc } from "../../support/random_func.ts";
import { type Machine, runFunc } from "../../support/tile_interpreter.ts";

const wrap = (body: string): string =>
  `func @f(%p: float32*, %n: int32, %c: bool, %x: int32*) {\n${body.trim()}\nreturn\n}`;

function assertPass(pass: Pass, before: string, after: string): void {
  const func = parseFunc(wrap(before));
  verifyFunc(func);
  const changed = pass.run(func);
  verifyFunc(func);
  assertEquals(printFunc(func), printFunc(parseFunc(wrap(after))));
  assertEquals(changed, before !== after);
}

const assertUnchanged = (pass: Pass, body: string): void => assertPass(pass, body, body);

// ---- merge-equal ------------------------------------------------------------------------------------

Deno.test("mergeEqual() keeps the first of equal operations, also of commuted ones", () => {
  assertPass(
    mergeEqual,
    "%1: int32 = mul %n, %n\n%2: int32 = mul %n, %n\n%3: int32 = add %1, %n\n%4: int32 = add %n, %2\n%5: int32 = sub %3, %4\nstore %x, %5",
    "%1: int32 = mul %n, %n\n%3: int32 = add %1, %n\n%5: int32 = sub %3, %3\nstore %x, %5",
  );
});

Deno.test("mergeEqual() tells apart attributes, types, zeros and the order of what does not commute", () => {
  assertUnchanged(
    mergeEqual,
    "%1: int32 = constant 1\n%2: int64 = constant 1\n%3: int32 = program_id 0\n%4: int32 = program_id 1\n%5: int32 = sub %1, %3\n%6: int32 = sub %3, %1\n%7: float32 = constant 0.0\n%8: float32 = constant -0.0",
  );
});

Deno.test("mergeEqual() does not merge loads", () => {
  assertUnchanged(
    mergeEqual,
    "%1: float32 = load %p\n%2: float32 = load %p\n%3: float32 = add %1, %2\nstore %p, %3",
  );
});

Deno.test("mergeEqual() uses an outer operation inside a region, but not one of another region", () => {
  assertPass(
    mergeEqual,
    "%1: int32 = neg %n\nif %c {\n%2: int32 = neg %n\n%3: int32 = not %n\nstore %x, %2\nstore %x, %3\nyield\n} {\n%4: int32 = not %n\nstore %x, %4\nyield\n}",
    "%1: int32 = neg %n\nif %c {\n%3: int32 = not %n\nstore %x, %1\nstore %x, %3\nyield\n} {\n%4: int32 = not %n\nstore %x, %4\nyield\n}",
  );
});

// ---- drop-dead --------------------------------------------------------------------------------------

Deno.test("dropDead() removes unused operations and loads, and what only they used", () => {
  assertPass(
    dropDead,
    "%1: int32 = neg %n\n%2: int32 = not %1\n%3: float32 = load %p\nstore %x, %n",
    "store %x, %n",
  );
});

Deno.test("dropDead() keeps stores, barriers and volatile loads", () => {
  assertUnchanged(
    dropDead,
    'barrier\n%1: float32 = load %p {modifiers = ["volatile"]}\nstore %x, %n',
  );
});

Deno.test("dropDead() removes unused results of an if, and an if without any use", () => {
  assertPass(
    dropDead,
    "%1: int32, %2: int32 = if %c {\n%3: int32 = neg %n\nyield %n, %3\n} {\n%4: int32 = not %n\nyield %4, %n\n}\nstore %x, %1\n%5: int32 = if %c {\nyield %n\n} {\nyield %n\n}",
    "%1: int32 = if %c {\nyield %n\n} {\n%4: int32 = not %n\nyield %4\n}\nstore %x, %1",
  );
});

const LOOP = (carried: boolean): string => {
  const [init, test, body] = carried ? [", %n", ", %s: int32", ", %t: int32"] : ["", "", ""];
  return `%0: int32 = constant 0
%r: int32${carried ? ", %u: int32" : ""} = while %0${init} (%i: int32${test}) {
  %g: bool = lt %i, %n
  condition %g, %i${carried ? ", %s" : ""}
} (%j: int32${body}) {
  %k: int32 = add %j, %n
  ${carried ? "%l: int32 = mul %t, %n" : ""}
  yield %k${carried ? ", %l" : ""}
}
store %x, %r`;
};

Deno.test("dropDead() removes values that a loop carries only for themselves", () => {
  assertPass(dropDead, LOOP(true), LOOP(false));
});

Deno.test("dropDead() keeps what a loop needs to end, and what is stored inside", () => {
  assertUnchanged(
    dropDead,
    `%0: int32 = constant 0
%r: int32 = while %0 (%i: int32) {
  %g: bool = lt %i, %n
  condition %g, %i
} (%j: int32) {
  %k: int32 = add %j, %n
  if %c {
    store %x, %j
    yield
  } {
    yield
  }
  yield %k
}`,
  );
});

Deno.test("dropDead() removes a loop that does nothing", () => {
  assertPass(dropDead, LOOP(true).replace("store %x, %r", "store %x, %n"), "store %x, %n");
});

// ---- hoist-invariants -------------------------------------------------------------------------------

Deno.test("hoistInvariants() moves what does not change out of all loops it does not change in", () => {
  assertPass(
    hoistInvariants,
    `while {
  condition %c
} {
  %1: int32 = neg %n
  %2: int32 = load %x
  while {
    %3: int32 = not %1
    condition %c
  } {
    %4: int32 = add %2, %3a
    store %x, %4
    yield
  }
  yield
}`.replace("%3a", "%1"),
    `%1: int32 = neg %n
%3: int32 = not %1
while {
  condition %c
} {
  %2: int32 = load %x
  %4: int32 = add %2, %1
  while {
    condition %c
  } {
    store %x, %4
    yield
  }
  yield
}`,
  );
});

Deno.test("hoistInvariants() leaves loads, carried values and the branches of an if", () => {
  assertUnchanged(
    hoistInvariants,
    `%r: int32 = while %n (%i: int32) {
  %1: int32 = load %x
  %2: int32 = neg %i
  if %c {
    %3: int32 = neg %n
    store %x, %3
    yield
  } {
    yield
  }
  condition %c, %2
} (%j: int32) {
  yield %j
}`,
  );
});

// ---- all together -----------------------------------------------------------------------------------

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
      runPasses(optimised, { verify: true, contract: false });
      assertEquals(memoryAfter(optimised), memoryAfter(func));
    }),
    { numRuns: 60 },
  );
});

Deno.test("runPasses() finds nothing more to do in its own result", () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), (seed) => {
      const func = randomFunc(seed, 10);
      for (let i = 0; i < 3; i++) runPasses(func);
      const before = printFunc(func);
      runPasses(func);
      assertEquals(printFunc(func), before);
    }),
    { numRuns: 30 },
  );
});

Deno.test("runPasses() tells the pass and the function of a failure", () => {
  const broken: Pass = {
    name: "break-it",
    run: (func) => {
      func.body.ops.pop();
      return true;
    },
  };
  const func = parseFunc(wrap(""));
  assertThrows(
    () => runPasses(func, { verify: true }, [{ pass: broken }]),
    CompilerBug,
    "Pass break-it failed on @f",
  );
});

Deno.test("runPasses() calls dump after every pass", () => {
  const seen: string[] = [];
  runPasses(parseFunc(wrap("")), {
    dump: (pass, _func, changed) => seen.push(`${pass} ${changed}`),
  });
  assertEquals(seen, PASSES.map(({ pass }) => `${pass.name} false`));
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
    const folder = new URL("../../golden/", import.meta.url);
    const func = parseFunc(Deno.readTextFileSync(new URL(input, folder)));
    runPasses(func, { verify: true });
    golden(new URL(`tile/${name}.ir`, folder), printFunc(func));
  });
}
