/** Pragmas about floats: in the instructions, and in what programs compute on the emulator. */
import { must } from "../../../compiler/support/bug.ts";
import { type TargetName, TARGETS } from "../../../compiler/targets.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { emulate } from "../../support/emulate.ts";
import { testsInTurn } from "../../support/sampled.ts";
import { assemblyErrors, ptxasTest } from "../../support/tools/ptxas.ts";
import { compileFile } from "../../support/compile.ts";

const test = testsInTurn(2);

const NAMES = Object.values(TARGETS).map(({ name }): TargetName => name);

/** Statements that store to Y what they make of a, b and c, elements of X. */
function ptxOf(pragmas: readonly string[], body: string, target: TargetName): string {
  const text = `${pragmas.map((one) => `#pragma tri ${one}\n`).join("")}#pragma tri specialize(off)
__global__ void k(const float *X, float *Y) {
  int r[128] = 0 ... 128;
  float a[128] = *(X + r); float b[128] = *(X + 128 + r); float c[128] = *(X + 256 + r);
  ${body}
}
`;
  const { kernels, diagnostics } = compileFile({ name: "k.tc", text }, { targets: [target] });
  assertEquals(diagnostics.map(({ message }) => message), []);
  return must(kernels[0]?.modules[0], "a module").ptx;
}

type Lanes = (lane: number) => readonly [a: number, b: number, c: number];

/** What 128 lanes store. */
function run(ptx: string, lanes: Lanes): Float32Array {
  const inputs = new Float32Array(384);
  for (let i = 0; i < 128; i++) lanes(i).forEach((value, part) => inputs[128 * part + i] = value);
  const out = new Float32Array(128);
  emulate(ptx, { args: [inputs, out], block: [128, 1, 1] });
  return out;
}

const TINY = 2 ** -149;

Deno.test("readOptions() keeps subnormal numbers, and flushes them for ftz(on)", () => {
  const body = "*(Y + r) = r < 32 ? a + b : r < 64 ? a * c : r < 96 ? max(a, b) : a / c;";
  // 3, 2 and 1 times the least float, a subnormal product, and quotients.
  const lanes: Lanes = () => [3 * TINY, 2 * TINY, 0.5];
  for (const target of NAMES) {
    const kept = run(ptxOf([], body, target), lanes);
    assertEquals([0, 32, 64, 96].map((i) => must(kept[i], "lane") / TINY), [5, 2, 3, 6], target);
    const flushed = run(ptxOf(["ftz(on)"], body, target), lanes);
    assertEquals([0, 32, 64, 96].map((i) => flushed[i]), [0, 0, 0, 0], target);
  }
  const ptx = ptxOf(["ftz"], `${body} *(Y + r) = exp(a) + log(fma(a, b, c)) + floor(a);`, "sm_80");
  const unflushed = [...ptx.matchAll(/^ +(?:@\S+ )?(\w+)\.\S*f32 /gm)]
    .filter(([line, opcode]) => !/\.ftz/.test(line) && opcode !== "ld" && opcode !== "cvt");
  assertEquals(unflushed.map(([line]) => line.trim()), []);
});

test("readOptions() lets products be fused into sums, unless fp_contract(off) rounds both", () => {
  // a * b is 1 + 2^-11 + 2^-24: the last bit is lost when the product is rounded.
  const a = 1 + 2 ** -12;
  const lanes: Lanes = () => [a, a, -1 - 2 ** -11];
  for (const target of NAMES) {
    for (
      const [body, sign] of [
        ["*(Y + r) = a * b + c;", 1],
        ["float p[128] = a * b; *(Y + r) = c + p;", 1],
        ["*(Y + r) = a * b - -c;", 1],
        ["*(Y + r) = -c - a * b;", -1],
      ] as const
    ) {
      assertEquals(run(ptxOf([], body, target), lanes)[5], sign * 2 ** -24, body);
      assertEquals(run(ptxOf(["fp_contract(off)"], body, target), lanes)[5], 0, body);
    }
  }
  // A product that is used twice is made once.
  const twice = ptxOf([], "float p[128] = a * b; *(Y + r) = p + c; *(Y + r) = p;", "sm_80");
  assert(!twice.includes("fma.rn.f32"));
  const explicit = ptxOf(["fp_contract(off)"], "*(Y + r) = fma(a, b, c);", "sm_80");
  assertEquals(run(explicit, lanes)[5], 2 ** -24);
});

Deno.test("readOptions() takes quotients of 2 ulp for fast_div(on), of floats only", () => {
  const body = "*(Y + r) = a / b;";
  const lanes: Lanes = (i) => [1 + i * 1.37, 3.1 + i * 0.77, 0];
  const relaxed = ptxOf(["fast_div(on)"], body, "sm_80");
  assert(relaxed.includes("div.full.f32") && !relaxed.includes("div.rn"));
  assert(ptxOf(["fast_div(off)"], body, "sm_80").includes("div.rn.f32"));
  assert(ptxOf(["fast_div(on)", "ftz(on)"], body, "sm_80").includes("div.full.ftz.f32"));
  assert(ptxOf(["fast_div(on)"], "*(Y + r) = div_rn(a, b);", "sm_80").includes("div.rn.f32"));
  // A reciprocal takes no scaling of its divisor.
  const reciprocal = ptxOf(["fast_div(on)"], "*(Y + r) = 1 / b;", "sm_80");
  assert(reciprocal.includes("rcp.approx.f32") && !reciprocal.includes("div."));
  assert(
    ptxOf(["fast_div(on)", "ftz(on)"], "*(Y + r) = 1 / b;", "sm_80").includes("rcp.approx.ftz.f32"),
  );
  assert(ptxOf(["fast_div(off)"], "*(Y + r) = 1 / b;", "sm_80").includes("div.rn.f32"));
  run(reciprocal, lanes).forEach((got, i) => {
    const wanted = 1 / must(lanes(i).map(Math.fround)[1], "b");
    assert(Math.abs(got - wanted) <= 2 ** -22 * wanted, `${got} for ${wanted}`);
  });
  const half = ptxOf(["fast_div(on)"], "*(Y + r) = (half[128])a / (half[128])b;", "sm_80");
  assert(half.includes("div.rn.f32"));
  run(relaxed, lanes).forEach((got, i) => {
    const [x, y] = lanes(i).map(Math.fround);
    const wanted = must(x, "a") / must(y, "b");
    assert(Math.abs(got - wanted) <= 2 ** -22 * wanted, `${got} for ${wanted}`);
  });
});

Deno.test("readOptions() bounds exp, exp2 and logarithms by 2 ulp for math(precise)", () => {
  const functions = {
    exp: Math.exp,
    exp2: (x: number) => 2 ** x,
    log: Math.log,
    log2: Math.log2,
    log10: Math.log10,
  };
  for (const [name, reference] of Object.entries(functions)) {
    const body = `*(Y + r) = ${name}(a);`;
    const isLog = name.startsWith("log");
    const lanes: Lanes = (i) => [isLog ? 0.25 + i * 0.013 : -60.3 + i * 0.93, 0, 0];
    assert(ptxOf([], body, "sm_80").includes(".approx."));
    const ptx = ptxOf(["math(precise)"], body, "sm_80");
    assert(!ptx.includes(".approx."), name);
    run(ptx, lanes).forEach((got, i) => {
      const wanted = reference(Math.fround(lanes(i)[0]));
      const ulp = 2 ** (Math.floor(Math.log2(Math.abs(wanted))) - 23);
      assert(Math.abs(got - wanted) <= 2 * ulp, `${name} of lane ${i}: ${got} for ${wanted}`);
    });
  }
});

Deno.test("readOptions() passes max_registers on to the assembler", () => {
  const ptx = ptxOf(["max_registers=40"], "*(Y + r) = a;", "sm_80");
  assert(/^\.maxnreg 40$/m.test(ptx) && !ptx.includes(".minnctapersm"), ptx);
  // A multiprocessor has 65536.
  const many = ptxOf(["max_registers=255", "num_warps=32"], "*(Y + r) = a;", "sm_80");
  assert(/^\.maxnreg 64$/m.test(many), many);
});

ptxasTest("readOptions() makes PTX that assembles, whatever it says of floats", async () => {
  const body = `*(Y + r) = min(exp(a) / b, sqrt(c)) + log2(a) * sin(b) - minimum(abs(a), -b);
  *(Y + r) = pow(a, b) + floor(c) + rsqrt(a); *(Y + r) = a < b ? tanh(c) : erf(a);`;
  const pragmas = [
    "ftz(on)",
    "fast_div(on)",
    "math(precise)",
    "fp_contract(off)",
    "max_registers=64",
  ];
  for (const target of NAMES.filter((name) => name !== "sm_70")) {
    assertEquals([...await assemblyErrors(ptxOf(pragmas, body, target), target)], [], target);
  }
}, test);
