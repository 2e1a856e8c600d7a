/** Whole wrappers: their text, and that Deno's own tools have nothing to say about it. */
import {
  type GeneratedWrapper,
  generateIndex,
  generateWrapper,
  type Measured,
  type WrapperInput,
} from "../../codegen/mod.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "../support/assert.ts";
import { WRAPPER_ABI } from "../../compiler/support/abi.ts";
import { CodegenError } from "../../codegen/plan.ts";
import { golden } from "../support/golden.ts";
import { typeErrors } from "../support/tools/type_check.ts";
import {
  constant,
  isMultiple,
  operation,
  param,
  pointer,
  scalar,
  simpleKernel,
  transposeKernel,
  transposeWithForms,
  tunedTranspose,
  wrapperInput,
} from "./fixtures.ts";
import type { KernelContract } from "../../compiler/contract/types.ts";
import type { CompiledKernel } from "../../compiler/options.ts";

function typescriptOf({ modules }: GeneratedWrapper): string {
  const text = modules.get(".ts");
  assert(text !== undefined);
  return text;
}

const GOLDEN = new URL("../golden/codegen/", import.meta.url);
const RUNTIME = "../../../ffi/mod.ts";

/** `y += alpha * x` with an optional bias, a scratch buffer without contract, and a wide number. */
function axpy(): CompiledKernel {
  return simpleKernel(
    "scaled_add",
    {
      params: [
        pointer("X", "float32", "in"),
        pointer("Y", "float32", "inout"),
        pointer("B", "float32", "in"),
        pointer("lock", "int32", "inout"),
        scalar("N", "int64"),
        scalar("alpha", "float32"),
        scalar("seed", "uint64"),
        scalar("exact", "bool"),
      ],
      grid: [operation("cdiv", param("N"), constant(1024, "BLOCK"))],
      gridOrigin: "pragma",
      tensors: ["X", "Y", "B"].map((name) => ({
        param: name,
        extents: [param("N")],
        strides: [constant(1)],
        origin: "pragma",
        ...name === "B" ? { optional: true } : {},
      })),
      ranges: [],
      requires: [isMultiple("N", 4)],
    },
    "Adds alpha * X to Y.\n\nThe second paragraph is long enough that it has to be wrapped to stay within the columns of a page */.",
  );
}

/** Two results, the grid left to the caller. */
function split(): CompiledKernel {
  return simpleKernel("split", {
    params: [
      pointer("in", "float32", "in"),
      pointer("lo", "float16", "out"),
      pointer("hi", "float16", "out"),
      scalar("n"),
      scalar("ldh"),
    ],
    grid: null,
    gridOrigin: "caller",
    tensors: [
      {
        param: "in",
        extents: [param("n"), constant(2)],
        strides: [constant(2), constant(1)],
        origin: "pragma",
      },
      { param: "lo", extents: [param("n")], strides: [constant(1)], origin: "pragma" },
      {
        param: "hi",
        extents: [operation("*", param("n"), constant(2))],
        strides: [param("ldh")],
        origin: "pragma",
      },
    ],
    ranges: [],
    requires: [],
  });
}

/** No contract: every parameter is the caller's. */
function bare(): CompiledKernel {
  return simpleKernel("delete", {
    params: [pointer("p", "int32", "inout", 4), scalar("n")],
    grid: null,
    gridOrigin: "caller",
    tensors: [],
    ranges: [],
    requires: [],
  });
}

/** Operands and result vary, but not freely; one variant has another rank and configuration. */
function product(): CompiledKernel {
  const base = simpleKernel("product_with_a_name_that_fills_lines", {
    params: [],
    grid: null,
    gridOrigin: "caller",
    tensors: [],
    ranges: [],
    requires: [],
  });
  const rows = [
    ["f16", "float16", "float32"],
    ["f16_small", "float16", "float16"],
    ["bf16", "bfloat16", "float32"],
  ] as const;
  const instances = rows.map((
    [name, operand, result],
    index,
  ): CompiledKernel["instances"][number] => ({
    symbol: `product_${name}`,
    variant: { name, bindings: { T: operand, R: result } },
    config: { bindings: { TM: "64" }, numWarps: 4 },
    specialization: [],
    contract: {
      params: [
        pointer("A", operand, "in", 16),
        pointer("B", operand, "in"),
        pointer("C", result, "out"),
        scalar("alpha", result),
        scalar("M", "int32"),
        scalar("K", "int32", index === 2 ? 8 : 16),
      ],
      grid: [operation("cdiv", param("M"), constant(64 << index, "TM"))],
      gridOrigin: "inferred",
      tensors: ["A", "B", "C"].map((tensor) => ({
        param: tensor,
        extents: [param("M"), param("K")],
        strides: [param("K"), constant(1)],
        origin: "inferred",
      })),
      ranges: [],
      requires: [],
    },
  }));
  return {
    ...base,
    instances,
    modules: (["sm_80", "sm_90a"] as const).map((target) => ({
      target,
      ptx: "",
      entries: instances.map(({ symbol }) => ({
        symbol,
        threads: target === "sm_90a" ? 384 : 128,
        sharedBytes: 1024,
      })),
    })),
  };
}

/** Kernels that share constant memory, each with a name that the wrapper has for itself. */
function tables(): CompiledKernel[] {
  const contract: KernelContract = {
    params: [pointer("Y", "int32", "out"), scalar("N")],
    grid: [param("N")],
    gridOrigin: "inferred",
    tensors: [],
    ranges: [],
    requires: [],
  };
  return [
    {
      ...simpleKernel("constants", contract, "Reads two tables."),
      constants: [{ name: "AD", bytes: 256 }, { name: "class", bytes: 1 }],
    },
    { ...simpleKernel("define_constants", contract), constants: [{ name: "AD", bytes: 1024 }] },
    {
      ...simpleKernel("tables_with_a_name_that_fills_lines", contract),
      constants: [{ name: "AD", bytes: 4 }],
    },
    simpleKernel("without", contract),
  ];
}

/** Of a kernel without parameters. */
const NO_CONTRACT: KernelContract = {
  params: [],
  grid: null,
  gridOrigin: "caller",
  tensors: [],
  ranges: [],
  requires: [],
};

const timing = (
  config: string,
  microseconds: number,
): Measured["points"][number]["timings"][number] => ({ config, microseconds });

/** Two GPUs for one type; points of another key and winners that are no longer compiled count for nothing. */
const MEASURED: readonly Measured[] = ([
  ["NVIDIA A100", "sm_80", [{ at: { M: 512, N: 512 }, timings: [timing("TM=64, TN=32", 5)] }]],
  ["NVIDIA H200", "sm_90", [
    {
      at: { M: 512, N: 512 },
      timings: [
        timing("TM=32", 2),
        timing("TM=64, TN=32", 2.5),
        timing("TM=128, TN=32; num_warps=8", 3),
      ],
    },
    { at: { N: 4096, M: 8192 }, timings: [timing("TM=128, TN=32; num_warps=8", 40)] },
    { at: { M: 512 }, timings: [timing("TM=64, TN=32", 2)] },
    { at: { M: 1, N: 1 }, timings: [timing("TM=32", 1)] },
  ]],
] satisfies [string, string, Measured["points"]][]).map(([gpu, arch, points]): Measured => ({
  kernel: "transpose",
  variant: "float16",
  specialization: "s1",
  gpu,
  arch,
  points,
}));

const CASES: readonly { readonly name: string; readonly input: WrapperInput }[] = [
  { name: "transpose", input: wrapperInput([transposeKernel()]) },
  {
    name: "transpose_unmasked",
    input: { ...wrapperInput([transposeKernel(false)], true), stem: "transpose_unmasked" },
  },
  { name: "mixed", input: { ...wrapperInput([axpy(), split(), bare()], true), stem: "mixed" } },
  {
    name: "nothing",
    input: {
      ...wrapperInput([{ ...simpleKernel("does_nothing", NO_CONTRACT), doc: "" }], true),
      stem: "nothing",
    },
  },
  { name: "constants", input: wrapperInput(tables(), true) },
  { name: "product", input: { ...wrapperInput([product()], true), stem: "product" } },
  { name: "forms", input: { ...wrapperInput([transposeWithForms()], true), stem: "forms" } },
  {
    name: "tuned",
    input: { ...wrapperInput([tunedTranspose()], true), stem: "tuned", measured: MEASURED },
  },
];

for (const { name, input } of CASES) {
  Deno.test(`generateWrapper() writes ${name} as in its golden file`, async () => {
    const module = typescriptOf(await generateWrapper({ ...input, runtime: RUNTIME }));
    golden(new URL(`${name}.ts`, GOLDEN), module);
    for (const { path, content } of name === "transpose" ? input.images : []) {
      golden(new URL(path, GOLDEN), new TextDecoder().decode(Uint8Array.from(content())));
    }
  });
}

Deno.test("generateWrapper() writes what deno fmt, lint and check accept", async () => {
  const files = CASES.map(({ name }) => new URL(`${name}.ts`, GOLDEN).pathname);
  assertEquals(await deno("fmt", "--check", "--no-config", ...files), "");
  assertEquals(await deno("lint", "--no-config", ...files), "");
  assertEquals(await typeErrors(".", files), "");
});

/** The complaints of a Deno command; nothing when it succeeds. */
async function deno(...args: string[]): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), { args, stdout: "piped", stderr: "piped" });
  const { success, stdout, stderr } = await command.output();
  return success ? "" : new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

Deno.test("generateWrapper() has one row of choices for variants with the same configurations and timings", async () => {
  const choices = async (measured: readonly Measured[]): Promise<readonly string[]> => {
    const input = { ...wrapperInput([tunedTranspose()], true), measured, runtime: RUNTIME };
    return typescriptOf(await generateWrapper(input)).match(/(?<=of: )\[.*?\]/g) ?? [];
  };
  const both = '["float32", "float16", "s1"]';
  const timed = ["float32", "float16"].flatMap((variant) =>
    MEASURED.map((one) => ({ ...one, variant }))
  );
  assertEquals(await choices([]), [both]);
  assertEquals(await choices(timed), [both]);
  assertEquals(await choices(MEASURED), ['["float32", "s1"]', '["float16", "s1"]']);
});

Deno.test("generateWrapper() writes the same bytes for the same input", async () => {
  const input = wrapperInput([transposeKernel()]);
  assertEquals(await generateWrapper(input), await generateWrapper(input));
});

Deno.test("generateWrapper() names the source without its folder, its hash, and the package", async () => {
  const module = typescriptOf(await generateWrapper(wrapperInput([transposeKernel()])));
  assertMatch(
    module,
    /^\/\/ Generated by tri 0\.0\.0 from transpose\.tc \(sha256 [0-9a-f]{16}\)\. Do not edit:\n/,
  );
  assertStringIncludes(module, `} from "@tri/tri/ffi";\n`);
  assertStringIncludes(module, `  made: { by: "0.0.0", abi: ${WRAPPER_ABI} },\n`);
});

Deno.test("generateWrapper() puts images into the module when asked, else names their files", async () => {
  const kernel = transposeKernel();
  const files = await generateWrapper(wrapperInput([kernel]));
  assertStringIncludes(
    typescriptOf(files),
    `new URL("./transpose/transpose.sm_90.cubin", import.meta.url)`,
  );
  const embedded = await generateWrapper(wrapperInput([kernel], true));
  assertStringIncludes(typescriptOf(embedded), `"sm_90.cubin": "${btoa("cubin sm_90")}"`);
  assert(!typescriptOf(embedded).includes("new URL"), "an embedded wrapper names no files");
});

Deno.test("generateWrapper() gives the manifest's facts by kernel", async () => {
  const kernel = transposeKernel();
  const { manifest } = await generateWrapper(wrapperInput([kernel]));
  const facts = manifest["transpose"];
  assertEquals(
    facts?.instances.map(({ symbol }) => symbol),
    kernel.instances.map(({ symbol }) => symbol),
  );
  const first = facts?.instances[0];
  const contract = facts?.contracts[first?.contract ?? -1];
  assertEquals(contract?.grid, ["cdiv(M, TM)", "cdiv(N, TN)"]);
  assertEquals(contract?.tensors.map(({ param, strides }) => [param, ...strides]), [
    ["X", "ldx", "1"],
    ["Y", "ldy", "1"],
  ]);
  assertEquals(facts?.images[0], {
    target: "sm_80",
    kind: "cubin",
    path: "transpose/transpose.sm_80.cubin",
    bytes: "cubin sm_80".length,
    sha256: "0".repeat(64),
    entries: (kernel.modules[0]?.entries ?? []).map(({ symbol, threads, sharedBytes }) => ({
      symbol,
      threads,
      sharedBytes,
    })),
  });
  assertEquals(JSON.parse(JSON.stringify(manifest)), manifest as unknown);
  assertEquals(facts !== undefined && "constants" in facts, false);
  const formed = (await generateWrapper(wrapperInput([transposeWithForms()]))).manifest;
  assertEquals(formed["transpose"]?.images[0]?.entries[0]?.forms, [
    {
      symbol: "transpose_float32_maps",
      threads: 160,
      sharedBytes: 32768,
      when: ["N % 4 == 0"],
      maps: [{
        param: "X",
        element: "float32",
        extents: ["N", "grid[0] * TM", "2"],
        strides: ["1", "ldx", "M * ldx"],
        box: [32, 64, 1],
        swizzle: 128,
      }, {
        param: "Y",
        element: "float32",
        extents: ["M", "N", "1"],
        strides: ["1", "ldy", "ldy"],
        box: [32, 64, 1],
        swizzle: 128,
        windows: [{ lower: "0 - M", upper: "N", step: "2" }],
      }],
    },
  ]);
  const both = (await generateWrapper(wrapperInput(tables()))).manifest;
  assertEquals(both["define_constants"]?.constants, [{ name: "AD", bytes: 1024 }]);
});

Deno.test("generateWrapper() puts what the kernel's comment says of parameters where callers see it", async () => {
  const doc = "Adds.\n\n@param X What is scaled,\n  over two lines.\n@param alpha - The factor.\n" +
    "@param out No parameter of it.";
  const text = typescriptOf(await generateWrapper(wrapperInput([{ ...axpy(), doc }])));
  assertStringIncludes(
    text,
    "   * Adds.\n   *\n   * @param x What is scaled, over two lines.\n   */",
  );
  assertStringIncludes(text, "  /** What is scaled, over two lines. */\n  readonly X: ");
  assertEquals(text.split("  /** The factor. */\n  readonly alpha: number;").length, 3);
  assertStringIncludes(text, "/** Adds. */\nexport const scaledAdd");
  assert(!text.includes("No parameter"));
});

Deno.test("generateWrapper() refuses variants with different parameters", async () => {
  const kernel = transposeKernel();
  const [first, ...rest] = kernel.instances;
  assert(first !== undefined);
  const contract = { ...first.contract, params: first.contract.params.slice(0, 5) };
  const broken = { ...kernel, instances: [{ ...first, contract }, ...rest] };
  await assertRejects(
    () => generateWrapper(wrapperInput([broken])),
    CodegenError,
    "different parameters",
  );
});

Deno.test("generateWrapper() refuses a parameter with the name of a grid extent", async () => {
  const kernel = simpleKernel("f", { ...must(bare()).contract, params: [scalar("gridX")] });
  await assertRejects(
    () => generateWrapper(wrapperInput([kernel])),
    CodegenError,
    "rename its parameter gridX",
  );
});

Deno.test("generateWrapper() refuses a parameter with the name of what every object has", async () => {
  for (const name of ["toString", "constructor", "__proto__", "valueOf"]) {
    const kernel = simpleKernel("f", { ...must(bare()).contract, params: [scalar(name)] });
    await assertRejects(
      () => generateWrapper(wrapperInput([kernel])),
      CodegenError,
      `rename its parameter ${name}`,
    );
  }
});

function must(kernel: CompiledKernel): CompiledKernel["instances"][number] {
  const [instance] = kernel.instances;
  assert(instance !== undefined);
  return instance;
}

const EXPORTS = {
  transpose: { values: ["transpose"], types: ["TransposeKernel"] },
  copy: { values: ["copy"], types: ["CopyKernel"] },
};

Deno.test("generateIndex() re-exports all wrappers in order", async () => {
  const index = await generateIndex([
    { stem: "transpose", exports: EXPORTS.transpose },
    { stem: "nn/softmax", exports: { values: ["softmax", "softMax2"], types: [] } },
    { stem: "copy", exports: EXPORTS.copy },
  ]);
  assertEquals(
    index.get(".ts"),
    "// Generated by tri. Do not edit: run `tri build`.\n\n" +
      `export * from "./copy.ts";\nexport * from "./nn/softmax.ts";\nexport * from "./transpose.ts";\n`,
  );
});

Deno.test("generateIndex() gives a name that several wrappers export an alias for each", async () => {
  const modules = [
    { stem: "copy", exports: EXPORTS.copy },
    { stem: "nn/ü b", exports: { values: ["copy", "other"], types: ["CopyKernel"] } },
    { stem: "transpose", exports: EXPORTS.transpose },
  ];
  const expected = (end: string): string =>
    "// Generated by tri. Do not edit: run `tri build`.\n\n" +
    `export {\n  copy as copy_copy,\n  type CopyKernel as CopyKernel_copy,\n} from "./copy${end}";\n` +
    "export {\n  copy as copy_nn_ü_b,\n  other,\n  type CopyKernel as CopyKernel_nn_ü_b,\n" +
    `} from "./nn/ü b${end}";\nexport * from "./transpose${end}";\n`;
  assertEquals((await generateIndex(modules)).get(".ts"), expected(".ts"));
  const script = await generateIndex(modules, { javascript: true });
  assertEquals(
    script.get(".js"),
    `// @ts-self-types="./mod.d.ts"\n// Generated by tri. Do not edit: run \`tri build\`.\n` +
      `export { copy as copy_copy, } from "./copy.js";\n` +
      `export { copy as copy_nn_ü_b, other, } from "./nn/ü b.js";\nexport * from "./transpose.js";\n`,
  );
  assertStringIncludes(script.get(".d.ts") ?? "", "type CopyKernel as CopyKernel_copy");
});

Deno.test("generateIndex() lengthens an alias that is taken", async () => {
  const index = await generateIndex([
    { stem: "a", exports: { values: ["copy", "copy_b_c"], types: [] } },
    { stem: "b-c", exports: { values: ["copy"], types: [] } },
    { stem: "b_c", exports: { values: ["copy"], types: [] } },
  ]);
  const aliases = [...(index.get(".ts") ?? "").matchAll(/copy as (\w+)/g)].map(([, name]) => name);
  assertEquals(aliases, ["copy_a", "copy_b_c_", "copy_b_c__"]);
});

Deno.test("generateWrapper() has type parameters for any number of types that vary alone", async () => {
  const count = 7;
  const instances = Array.from({ length: 2 ** count }, (_, bits) => ({
    symbol: `k_${bits}`,
    variant: { name: `v${bits}`, bindings: {} },
    config: { bindings: {}, numWarps: 4 },
    specialization: [],
    contract: {
      ...NO_CONTRACT,
      params: Array.from(
        { length: count },
        (_, at) => pointer(`p${at}`, bits >> at & 1 ? "float32" : "float16", "in"),
      ),
    },
  }));
  const entries = instances.map(({ symbol }) => ({ symbol, threads: 128, sharedBytes: 0 }));
  const modules = [{ target: "sm_80" as const, ptx: "", entries }];
  const kernel = { ...simpleKernel("k", NO_CONTRACT), instances, modules };
  const module = typescriptOf(await generateWrapper(wrapperInput([kernel])));
  assertStringIncludes(module, "readonly p6: Tensor<J>;");
});
