/** Memory operations take effect in program order: barriers where lanes of other threads may be met, no others. */
import { assertEquals } from "../../support/assert.ts";
import { emulate } from "../../support/emulate.ts";
import {
  type LoweredInstance,
  lowerGeneral,
  opsNamed,
  printEntry,
} from "../../support/compiler/lowering.ts";
import { walkOps } from "../../../compiler/ir/walk.ts";

/** A kernel over 128 elements; tiles of pointers are written where they are used. */
function kernel(statements: string, attribute = ""): LoweredInstance {
  return lowerGeneral(`#pragma tri grid(1)
__global__ void k(int *X ${attribute}, int *Y) {
  int r[128] = 0 ... 128;
  int m[16] = 0 ... 16;
  int n[8] = 0 ... 8;
  ${statements}
}`);
}

/** Loads, stores, barriers and exchanges with a barrier, in order. */
function sequence({ laidOut }: LoweredInstance): string {
  const names: string[] = [];
  walkOps(laidOut.body, ({ name }) => {
    if (["load", "store", "barrier", "convert_layout"].includes(name)) names.push(name);
  });
  return names.join(" ");
}

const barriersIn = ({ kernel: { body } }: LoweredInstance): number =>
  body.filter((item) => item.kind === "instruction" && item.opcode === "bar").length;

/** Runs the kernel on X = 0, 1, 2, … of 256 elements and Y = 0; races are errors. */
function run(instance: LoweredInstance): { readonly x: number[]; readonly y: number[] } {
  const [x, y] = [Int32Array.from({ length: 256 }, (_, i) => i), new Int32Array(256)];
  emulate(printEntry(instance.kernel), { block: [instance.threads, 1, 1], args: [x, y] });
  return { x: [...x], y: [...y] };
}

Deno.test("orderMemory() puts a barrier between a load and a store that may alias", () => {
  assertEquals(sequence(kernel("*(Y + r) = *(X + r) + *(Y + r);")), "load load barrier store");
  assertEquals(sequence(kernel("*(X + r + 1) = *(X + r);")), "load barrier store");
});

Deno.test("orderMemory() puts none before a result that can be no argument: launches where they meet are refused", () => {
  assertEquals(sequence(kernel("*(Y + r) = *(X + r);")), "load store");
});

Deno.test("orderMemory() puts one between a result and what an integer points to, which no launch is refused for", () => {
  const instance = lowerGeneral(`#pragma tri grid(1)
__global__ void k(long address, int *Y) {
  int r[128] = 0 ... 128;
  *(Y + r) = 1;
  *((int *) address + 127 - r) = r;
}`);
  assertEquals(sequence(instance), "store barrier store");
});

Deno.test("orderMemory() puts none where a parameter is promised not to alias", () => {
  const instance = kernel("*(Y + r) = *(X + r);", "__noalias");
  assertEquals([sequence(instance), barriersIn(instance)], ["load store", 0]);
});

Deno.test("orderMemory() does not apply __noalias of other parameters to the same one", () => {
  assertEquals(
    sequence(kernel("*(X + r + 1) = *(X + r);", "__noalias")),
    "load barrier store",
  );
});

Deno.test("orderMemory() leaves it to an exchange through shared memory that has a barrier already", () => {
  const instance = kernel(`int *px[16, 8] = X + m[:, newaxis] * 8 + n[newaxis, :];
  int *py[8, 16] = Y + m[newaxis, :] + n[:, newaxis] * 16;
  *py = ^(*px);`);
  assertEquals([sequence(instance), barriersIn(instance)], ["load convert_layout store", 1]);
});

Deno.test("orderMemory() needs none between a load and a store through the same pointers", () => {
  const instance = kernel("int *p[128] = X + r; *p = *p + 1;");
  assertEquals([sequence(instance), barriersIn(instance)], ["load store", 0]);
  assertEquals(run(instance).x.slice(0, 130), [
    ...Array.from({ length: 128 }, (_, i) => i + 1),
    128,
    129,
  ]);
});

Deno.test("orderMemory() orders a store before the load of what other threads stored", () => {
  const instance = kernel("*(X + r) = r * 2; *(Y + r) = *(X + (127 - r));");
  assertEquals(sequence(instance), "store barrier load store");
  assertEquals(run(instance).y.slice(0, 128), Array.from({ length: 128 }, (_, i) => 2 * (127 - i)));
});

Deno.test("orderMemory() orders two stores, of which the later one wins", () => {
  const instance = kernel("*(X + r) = 1; *(X + r + 64) = 2;");
  assertEquals(sequence(instance), "store barrier store");
  assertEquals(
    run(instance).x.slice(0, 192),
    Array.from({ length: 192 }, (_, i) => i < 64 ? 1 : 2),
  );
});

Deno.test("orderMemory() needs none between loads", () => {
  assertEquals(
    sequence(kernel("*(Y + r) = *(X + r) + *(X + r + 1);", "__noalias")),
    "load load store",
  );
});

Deno.test("orderMemory() shifts a tile within one buffer as if all of it were read first", () => {
  const instance = kernel("*(X + r + 1) = *(X + r);");
  assertEquals(run(instance).x.slice(0, 130), [
    0,
    ...Array.from({ length: 128 }, (_, i) => i),
    129,
  ]);
});

Deno.test("orderMemory() transposes a tile in place", () => {
  const instance = kernel(`int m2[16] = 0 ... 16;
  int *p[16, 16] = X + m[:, newaxis] * 16 + m2[newaxis, :];
  *p = ^(*p);`);
  assertEquals(opsNamed(instance.laidOut, "convert_layout").length, 1);
  assertEquals(run(instance).x, Array.from({ length: 256 }, (_, i) => 16 * (i % 16) + (i >> 4)));
});

Deno.test("orderMemory() lets all threads see a scalar that one of them stored", () => {
  const instance = kernel("*X = 7; int x = *X; *(Y + r) = x + r;");
  assertEquals(run(instance).y.slice(0, 128), Array.from({ length: 128 }, (_, i) => i + 7));
});

Deno.test("orderMemory() lets all threads read a scalar before one of them changes it", () => {
  const instance = kernel("int x = *(X + 5); *(X + 5) = 100; *(Y + r) = x + r;");
  assertEquals(run(instance).y.slice(0, 128), Array.from({ length: 128 }, (_, i) => i + 5));
});

Deno.test("orderMemory() orders threads that hold copies of the same elements", () => {
  const instance = kernel(`int *p[16] = X + m; *p = *p + 1; *(Y + m) = *p;`);
  const { x, y } = run(instance);
  assertEquals(x.slice(0, 17), [...Array.from({ length: 16 }, (_, i) => i + 1), 16]);
  assertEquals(y.slice(0, 17), [...Array.from({ length: 16 }, (_, i) => i + 1), 0]);
});

for (const blocks of [2, 8]) {
  Deno.test(`orderMemory() orders copies before stores behind a reduction over ${blocks} blocks, to which they give nothing`, () => {
    const [extent, warps] = [blocks * 32, 2];
    const { kernel, threads, sharedBytes } = lowerGeneral(
      `#pragma tri num_ctas=${blocks}
#pragma tri num_warps=${warps}
__global__ void k(int *X) {
  int *at[${extent}] = X + 0 ... ${extent};
  int x[${extent}] = *at;
  *at = x[max] - x;
}`,
      "sm_90",
    );
    const x = Int32Array.from({ length: extent }, (_, i) => i);
    emulate(printEntry(kernel, "sm_90"), {
      grid: [blocks, 1, 1],
      block: [threads, 1, 1],
      sharedBytes,
      args: [x],
    });
    assertEquals([...x], Array.from({ length: extent }, (_, i) => extent - 1 - i));
  });
}

Deno.test("orderMemory() needs no barrier between the iterations of a loop over tiles that never overlap", () => {
  const loop =
    "#pragma unroll 1\n for (int i = 0; i < 3; i += 1) { int q[128] = i * 128 + r; *(Y + q) = *(X + q); }";
  const instance = kernel(loop, "__noalias");
  assertEquals([sequence(instance), barriersIn(instance)], ["load store", 0]);
});

Deno.test("orderMemory() orders an iteration's store before that of the next one, which may overlap", () => {
  const instance = kernel(
    "int *p[128] = Y + r; for (int i = 0; i < 3; i += 1) { *p = i; p += 1; }",
  );
  assertEquals(sequence(instance), "barrier store");
  assertEquals(run(instance).y.slice(0, 131), [
    0,
    1,
    ...new Array<number>(128).fill(2),
    0,
  ]);
});

Deno.test("orderMemory() orders what a branch stored before what follows it loads", () => {
  const instance = kernel("if (*X == 0) *(Y + r) = r; *(X + r) = *(Y + (127 - r));", "__noalias");
  assertEquals(sequence(instance), "load store barrier load store");
  assertEquals(run(instance).x.slice(0, 128), Array.from({ length: 128 }, (_, i) => 127 - i));
});

Deno.test("orderMemory() follows pointers that loops and branches carry", () => {
  const text = "int *p[128] = X + r; for (int i = 0; i < 2; i += 1) p += 1;";
  const instance = kernel(`${text} if (*X == 0) p += 5; *(Y + r) = *p;`, "__noalias");
  assertEquals(sequence(instance), "load load store");
});
