/** `printf` and `assert`, compiled and run on the emulator, for every architecture. */
import { withoutChecks } from "../../../../compiler/ptx/checks.ts";
import { must } from "../../../../compiler/support/bug.ts";
import { type TargetName, TARGETS } from "../../../../compiler/targets.ts";
import { createEmulator } from "../../../../emulator/launch.ts";
import { setPrinter } from "../../../../emulator/calls/mod.ts";
import { Fault } from "../../../../emulator/fault.ts";
import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "../../../support/assert.ts";
import { assemblyErrors, ptxasTest } from "../../../support/tools/ptxas.ts";
import { compileFile } from "../../../support/compile.ts";

const NAMES = Object.values(TARGETS).map(({ name }): TargetName => name);

function ptxOf(body: string, target: TargetName, debug = false): string {
  const text = `#pragma tri specialize(off)\n__global__ void k(int n, float f) {\n${body}\n}\n`;
  const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, {
    targets: [target],
    verify: true,
    debug,
  });
  assertEquals(diagnostics.map(({ message }) => message), []);
  return must(kernels[0]?.modules[0], "a module").ptx;
}

/** What a launch of two programs with n = 5 and f = 1.5 prints. */
function printedBy(ptx: string, n = 5): string {
  const emulator = createEmulator();
  let printed = "";
  setPrinter(emulator.machine, (text) => printed += text);
  const kernel = must(emulator.load(ptx, "test").kernels.get("k"), "the kernel");
  kernel.launch({
    grid: [2, 1, 1],
    block: [128, 1, 1],
    sharedBytes: 0,
    argumentBlock: new Uint8Array(new Uint32Array([n, 0x3fc00000]).buffer),
    checks: true,
    profile: false,
    budget: 1e7,
    workers: 1,
  });
  return printed;
}

const lines = (text: string): string[] => text.split("\n").slice(0, -1).toSorted();

const VALUES = `long big = (long)n << 40; double d = 0.1; half h = 0.5h;
printf("%d %u %x %ld %lu %f %g %f %%", n, (unsigned)n - 6u, n + 250, -big, (unsigned long)n, f, d, h);`;

Deno.test("lowerPrint() prints scalars once per program, on every architecture", () => {
  const line = "5 4294967295 ff -5497558138880 5 1.500000 0.1 0.500000 %\n";
  for (const target of NAMES) assertEquals(printedBy(ptxOf(VALUES, target)), line + line, target);
});

Deno.test("lowerPrint() prints each element of a tile once, with its index and the scalars beside it", () => {
  const body = `int r[4] = 0 ... 4; int c[2] = 0 ... 2; if (get_program_id(0) == 1)
  printf("%d of %g\\n", r[:, newaxis] * 10 + c[newaxis, :], f);`;
  const wanted = Array.from({ length: 8 }, (_, i) => {
    const [row, column] = [i >> 1, i & 1];
    return `[${row}, ${column}] ${row * 10 + column} of 1.5`;
  });
  for (const target of NAMES) assertEquals(lines(printedBy(ptxOf(body, target))), wanted, target);
});

Deno.test("lowerPrint() prints large tiles whose elements several registers of a thread hold", () => {
  const printed = lines(
    printedBy(ptxOf(`int r[1024] = 0 ... 1024; printf("%d", r * n);`, "sm_80")),
  );
  const wanted = Array.from({ length: 2048 }, (_, i) => `[${i >> 1}] ${5 * (i >> 1)}`);
  assertEquals(printed, wanted.toSorted());
});

Deno.test("lowerCheck() stops at one false element, and says where and what", () => {
  const body = `int r[64] = 0 ... 64;\nassert(r  !=\n n + 90, "no such element");`;
  for (const target of NAMES) {
    const ptx = ptxOf(body, target);
    assertEquals(printedBy(ptx), "");
    const fault = assertThrows(() => printedBy(ptx, -58), Fault);
    assertEquals(fault.kind, "failed assertion");
    assertStringIncludes(
      fault.detail,
      "k.tc:4: k: assertion `r != n + 90: no such element` failed",
    );
    assertEquals([fault.site?.file, fault.site?.line, fault.lane], ["k.tc", 4, 0]);
  }
});

Deno.test("lowerCheck() checks the condition of `assume`, in loops and branches too", () => {
  const body = `for (int i = 0; i < 3; i++) if (i == 2) assume(n % 4 == i - 1);`;
  assertEquals(printedBy(ptxOf(body, "sm_80")), "");
  const fault = assertThrows(() => printedBy(ptxOf(body, "sm_80"), 6), Fault);
  assertStringIncludes(fault.detail, "assertion `assume(n % 4 == i - 1)` failed");
});

Deno.test("buildAssume() informs axis analysis: accesses become vectors", () => {
  const widest = (promise: string): number => {
    const ptx = must(
      compileFile({
        name: "k.tc",
        text: `#pragma tri specialize(off)
__global__ void k(float *X __aligned(16), float *Y __aligned(16), int M, int ldx, long n) {
  ${promise}
  int r[16] = 0 ... 16; int c[64] = 0 ... 64;
  int o[16, 64] = r[:, newaxis] * ldx + c[newaxis, :];
  bool m[16, 64] = c[newaxis, :] < M;
  *?(m)(Y + o + n) = *?(m)(X + o + n);
}`,
      }, { targets: ["sm_80"] }).kernels[0]?.modules[0],
      "a module",
    ).ptx;
    return Math.max(...[...ptx.matchAll(/ld\.global\S*\.v(\d)/g)].map(([, n]) => Number(n)), 1);
  };
  assertEquals(widest(""), 1);
  assertEquals(widest("assume(ldx % 4 == 0); assume((M & 7) == 0); assume(n % 16 == 0);"), 4);
  assertEquals(widest("assume(ldx % 4 == 0 && M % 4 == 0 && 0 == n % 8);"), 4);
  assertEquals(widest("assume(ldx % 2 == 0 & M % 4 == 0 & n % 4 == 0);"), 2);
  assertEquals(widest("assume(ldx % 4 == 1 && M % 4 == 0 && n % 4 == 0);"), 1);
  assertEquals(widest("assume(ldx % 4 == 0 || M % 4 == 0 || n % 4 == 0);"), 1);
  // What is assigned later is something else.
  assertEquals(widest("assume(ldx % 4 == 0 && M % 4 == 0 && n % 4 == 0); ldx = ldx / 2;"), 2);
  assertEquals(widest("assume(ldx % 4 == 0 && M % 4 == 0 && n % 4 == 0); ldx = ldx + 1;"), 1);
});

Deno.test("lowerPrefetch() prefetches once for each access, to L2, where the mask is set", () => {
  const ptx = must(
    compileFile({
      name: "k.tc",
      text: `#pragma tri specialize(off)
__global__ void k(float *X __aligned(16), int n) {
  int r[512] = 0 ... 512;
  prefetch(X + r, r < n); prefetch(X + n);
}`,
    }, { targets: ["sm_70"] }).kernels[0]?.modules[0],
    "a module",
  ).ptx;
  const found = [...ptx.matchAll(/^ {2}(@%p\d+ )?prefetch\.global\.L2 \[\S+\];$/gm)];
  assertEquals(found.map(([, guard]) => guard !== undefined), [true, true, true, true, true]);
});

Deno.test("withoutChecks() leaves programs that check nothing and mean the same; debug builds keep their checks", () => {
  const body =
    `int r[64] = 0 ... 64; assert(n == 5); assert(r < n); printf("%d", r[+]); assume(f > 0);`;
  for (const target of NAMES) {
    const ptx = withoutChecks(ptxOf(body, target));
    assert(!ptx.includes("call __assertfail"));
    assertEquals(printedBy(ptx), "2016\n2016\n");
    assertThrows(() => printedBy(withoutChecks(ptxOf(body, target, true))), Fault);
  }
});

ptxasTest(
  "lowerCheck() and lowerPrint() make PTX that assembles, with and without checks",
  async () => {
    const body =
      `${VALUES} int r[64] = 0 ... 64; assert(r < n, "small"); printf("%d %p", r, (int*)0 + r);`;
    for (const target of NAMES.filter((name) => name !== "sm_70")) {
      const ptx = ptxOf(body, target);
      for (const text of [ptx, withoutChecks(ptx)]) {
        assertEquals([...await assemblyErrors(text, target)], [], target);
      }
    }
  },
);

Deno.test("buildMultiple() checks attributes of locals in debug builds, tiles and pointers too", () => {
  const wrong = [
    'int s __multipleof(4) = n; printf("%d", s);',
    'printf("%d", multiple_of(n + 2, 2));',
    'int r[8] __multipleof(3) = (0 ... 8) * 3 + n; printf("%d", r);',
    'const int *p __aligned(16) = (const int *)((long)n + 3); printf("%p", p);',
  ];
  for (const body of wrong) {
    const fault = assertThrows(() => printedBy(ptxOf(body, "sm_80", true)), Fault);
    assertEquals(fault.kind, "failed assertion", body);
    assertStringIncludes(fault.detail, "is a multiple of");
    printedBy(ptxOf(body, "sm_80"));
  }
  const right = 'int s __multipleof(4) = n + 3; printf("%d", s + multiple_of(n * 6, 3));';
  assertEquals(printedBy(ptxOf(right, "sm_80", true)), "38\n38\n");
});
