/** Kernels that a macro names: each value of the macro is a kernel of its own. */
import type { CompileOptions, CompileResult } from "../../../../compiler/mod.ts";
import { surveyFile } from "../../../../compiler/driver/survey.ts";
import { assertEquals } from "../../../support/assert.ts";
import { compileFile } from "../../../support/compile.ts";

const OPTIONS: CompileOptions = { targets: ["sm_80"], verify: true };

const pragmas = (...lines: readonly string[]): string =>
  lines.map((line) => `#pragma tri ${line}\n`).join("");

/** A kernel whose body is the same for each name but for the operator. */
const kernel = (name: string): string =>
  `__global__ void ${name}(const T *X, T *Y, int n) {
  int r[64] = get_program_id(0) * 64 + 0 ... 64;
  *?(r < n) (Y + r) = *?(r < n) (X + r) + *?(r < n) (X + r);
}
`;

function compile(text: string, options: Partial<CompileOptions> = {}): CompileResult {
  return compileFile({ name: "k/f.tc", text }, { ...OPTIONS, ...options });
}

/** Kernels with their entries and the variants of these: `first: first(a) first_a16(a)`. */
function show({ kernels }: CompileResult): string[] {
  return kernels.map(({ name, instances, modules }) => {
    const entries = modules.flatMap(({ ptx }) =>
      [...ptx.matchAll(/\.entry (\w+)/g)].map(([, entry]) => entry)
    );
    assertEquals(entries, instances.map(({ symbol }) => symbol), name);
    return `${name}: ${
      instances.map(({ symbol, variant }) => `${symbol}(${variant.name})`).join(" ")
    }`;
  });
}

const codes = ({ diagnostics }: CompileResult): string[] => diagnostics.map(({ code }) => code);

const one = (name: string, variant: string): string =>
  `${name}: ${name}(${variant}) ${name}_a16(${variant})`;

Deno.test("compileFile() makes a kernel of each name that variants give a definition", () => {
  for (
    const [title, text, wanted] of [
      [
        "named variants",
        pragmas("variant a: NAME=first, T=float", "variant b: NAME=second, T=half") +
        kernel("NAME"),
        [one("first", "a"), one("second", "b")],
      ],
      [
        "variants without names",
        pragmas("variant NAME=first, T=float", "variant NAME=second, T=half") + kernel("NAME"),
        [one("first", "float32"), one("second", "float16")],
      ],
      [
        "several variants of a name",
        pragmas(
          "variant a: NAME=first, T=float",
          "variant b: NAME=second, T=half",
          "variant c: NAME=first, T=int",
        ) + kernel("NAME"),
        [
          "first: first_a(a) first_a_a16(a) first_c(c) first_c_a16(c)",
          one("second", "b"),
        ],
      ],
      [
        "a product, and what follows in the file",
        pragmas("variants NAME in {first, second}, T in {float, half}") + kernel("NAME") +
        "__global__ void last(int *P) { *P = 1; }",
        [
          "first: first_float32(float32) first_float32_a16(float32) first_float16(float16) first_float16_a16(float16)",
          "second: second_float32(float32) second_float32_a16(float32) second_float16(float16) second_float16_a16(float16)",
          one("last", "default"),
        ],
      ],
      [
        "names made by ##",
        "#define JOIN_(a, b) a ## b\n#define JOIN(a, b) JOIN_(a, b)\n" +
        pragmas("variants OP in {sdd, dsd}, T in {float}") + kernel("JOIN(OP, _fwd)") +
        pragmas("variants OP in {sdd, dsd}, T in {float}") + kernel("JOIN(OP, _bwd)"),
        ["sdd_fwd", "dsd_fwd", "sdd_bwd", "dsd_bwd"].map((name) => one(name, "float32")),
      ],
      [
        "text that takes one flag at a time",
        pragmas(
          "variant sdd: NAME=sdd_kernel, SDD=1, T=float",
          "variant dsd: NAME=dsd_kernel, DSD=1, T=float",
          "variant dds: NAME=dds_kernel, DDS=1, T=float",
        ) +
        "#if defined(SDD) + defined(DSD) + defined(DDS) != 1\n#error one of the three\n#endif\n" +
        kernel("NAME").replace("int n)", "int n\n#ifdef DDS\n, int m\n#endif\n)"),
        [one("sdd_kernel", "sdd"), one("dsd_kernel", "dsd"), one("dds_kernel", "dds")],
      ],
      [
        "pragmas directed at a name",
        pragmas(
          "kernel first",
          "variant NAME=first, T=float",
          "kernel second",
          "variant NAME=second, T=half",
        ) + kernel("NAME"),
        [one("first", "float32"), one("second", "float16")],
      ],
    ] as const
  ) {
    const result = compile(text);
    assertEquals(codes(result), [], title);
    assertEquals(show(result), [...wanted], title);
  }
});

const PRODUCT = pragmas("variants NAME in {first, second}, T in {float}") + kernel("NAME");

Deno.test("compileFile() takes each of these names in options and in -D", () => {
  assertEquals(show(compile(PRODUCT, { kernels: ["second"] })), [one("second", "float32")]);
  const overrides = [
    { kernel: "second", isForFile: true as const, text: "num_warps = 8", origin: "deno.json" },
  ];
  const warps = compile(PRODUCT, { overrides }).kernels.map(({ name, instances }) =>
    `${name} ${instances[0]?.config.numWarps}`
  );
  assertEquals(warps, ["first 4", "second 8"]);
  const renamed = compile(PRODUCT, { defines: [{ name: "NAME", value: "mine" }] });
  assertEquals(show(renamed), [one("mine", "float32")]);
  assertEquals(codes(renamed), ["W9001"]);
});

Deno.test("compileFile() reports a name that two definitions have in one variant", () => {
  const clash = compile(PRODUCT + "__global__ void second(int *P) { *P = 1; }");
  assertEquals(codes(clash), ["E4021"]);
  const unused = compile(
    pragmas("variants NAME in {first, second}, T in {float}, SPARE in {1}") + kernel("NAME"),
  );
  assertEquals(codes(unused), ["W9011"]);
});

Deno.test("surveyFile() finds the definition of a kernel that a macro names", () => {
  const { kernels } = surveyFile({ name: "f.tc", text: PRODUCT }, OPTIONS);
  assertEquals(
    kernels.map(({ plan, definition }) => [plan?.kernel, definition?.declarator.name?.text]),
    [["first", "first"], ["second", "second"]],
  );
});
