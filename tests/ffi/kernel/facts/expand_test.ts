import { must } from "../../../../compiler/support/bug.ts";
import { WRAPPER_ABI } from "../../../../compiler/support/abi.ts";
import { WrapperError } from "../../../../ffi/errors.ts";
import { defineKernel, wrapKernel } from "../../../../ffi/kernel/define.ts";
import { expandConditions, expandKernel } from "../../../../ffi/kernel/facts/expand.ts";
import type { KernelRows } from "../../../../ffi/kernel/facts/rows.ts";
import { assertEquals, assertThrows } from "../../../support/assert.ts";

type Name = "X" | "Y" | "M" | "alpha" | "seed" | "TM";

const tile = (a: number, b = a - 1): KernelRows<Name>["contract"] => ({
  grid: null,
  ranges: [["X", ["0", () => 0], [`M + ${b}`, ({ M }) => M + b]]],
});

const ROWS: KernelRows<Name> = {
  made: { by: "0.1.0", abi: WRAPPER_ABI },
  name: "scale",
  params: {
    X: ["in", "D", "noalias"],
    Y: ["out", "float32"],
    M: { type: "int32", multipleof: 8 },
    alpha: "D",
    seed: { type: "uint64", opaque: true },
  },
  tensorCall: { inputs: { X: "x" }, options: { alpha: "alpha" } },
  tensors: [["X", ["M", 2], [["M", ({ M }) => M], 1]], ["Y", ["M"], [1], "optional"]],
  contract: { grid: [["M", ({ M }) => M]], requires: [{ M: 4 }] },
  variants: [
    ["half", { T: "half" }, { D: "float16" }],
    ["float", { T: "float" }, { D: "float32" }],
  ],
  constants: ["TM"],
  conditions: { a16: { X: 16, M: 2 }, s1: [["M >= 1", ({ M }) => M >= 1]] },
  instances: [
    [["float"], ["", 128, 0, [64]], ["=other", 32, 16, [null], "s1", { contract: tile(8) }]],
    [["half"], ["_a16", 64, 0, [32], "a16", {
      align: { X: 16 },
      targets: [[["sm_90", "sm_90a"], 96, 512, [
        ["_map", 32, 1, [{ M: 4 }], "late", "all", ["X", ["M"], [1], [64], 128], [
          "Y",
          [3],
          [1],
          [8],
          0,
          "int8",
        ]],
      ]]],
    }], ["", 128, 0, [64]]],
  ],
  images: { "sm_90a.cubin": "AAAA", "sm_80.ptx": ["", 7], "sm_75.ptx": ["", 5, 7, 12] },
  imageBytes: [3, 0, 0],
  startingEarly: ["sm_90a"],
  tuning: {
    key: ["M"],
    choices: [{
      of: ["half", "a16"],
      configs: [
        ["", "TM=32", [["1", () => 1], ["M", ({ M }) => M]]],
        ["_TM64", "TM=64", null, ["sm_90a"]],
        ["=scale_half", "TM=64"],
      ],
      measured: { "NVIDIA H200": ["sm_90", [[8], [1.5, null]]] },
    }],
  },
};

Deno.test("expandKernel() gives each variant and instance what its rows say", () => {
  const facts = expandKernel(ROWS);
  assertEquals(facts.params, [
    { kind: "pointer", name: "X", access: "in", noalias: true },
    { kind: "pointer", name: "Y", access: "out" },
    { kind: "scalar", name: "M", type: "int32", multipleof: 8 },
    { kind: "scalar", name: "alpha" },
    { kind: "scalar", name: "seed", type: "uint64", opaque: true },
  ]);
  assertEquals(facts.variants.map(({ name, dtypes }) => [name, dtypes]), [
    ["half", { X: "float16", Y: "float32", alpha: "float16" }],
    ["float", { X: "float32", Y: "float32", alpha: "float32" }],
  ]);
  assertEquals(facts.tensorCall, {
    inputs: [{ param: "X", name: "x" }],
    outputs: [],
    options: [{ param: "alpha", name: "alpha" }],
  });
  assertEquals(
    facts.instances.map((
      { symbol, variant, threads, sharedBytes, constants },
    ) => [symbol, variant, threads, sharedBytes, constants]),
    [
      ["scale_half_a16", "half", 64, 0, { TM: 32 }],
      ["scale_half", "half", 128, 0, { TM: 64 }],
      ["scale_float", "float", 128, 0, { TM: 64 }],
      ["other", "float", 32, 16, {}],
    ],
  );
  const [special, general, , other] = facts.instances;
  assertEquals(special?.when?.map(({ text }) => text), ["X % 16 == 0", "M % 2 == 0"]);
  assertEquals([general?.when, general?.align, general?.targets], [
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals(special?.align, { X: 16 });
  const form = special?.targets?.["sm_90a"]?.forms?.[0];
  assertEquals(form?.symbol, "scale_half_a16_map");
  assertEquals([form?.startsLate, form?.persistent], [true, "all"]);
  assertEquals(form?.maps.map(({ element }) => element), ["float16", "int8"]);
  assertEquals(special?.targets?.["sm_90"]?.threads, 96);
  assertEquals(other?.contract?.tensors, facts.contract.tensors, "the kernel's");
  assertEquals(facts.contract.tensors.map(({ optional }) => optional), [undefined, true]);
  const last = other?.contract?.ranges[0]?.last;
  assertEquals([last?.text, last?.value({ X: 0, Y: 0, M: 5, alpha: 0, seed: 0, TM: 0 })], [
    "M + 7",
    12,
  ]);
  assertEquals(facts.images, [
    { target: "sm_90a", kind: "cubin", bytes: 3, startsEarly: true, base64: "AAAA" },
    { target: "sm_80", kind: "ptx", bytes: 0, uncompressedBytes: 7, base64: "" },
    {
      target: "sm_75",
      kind: "ptx",
      bytes: 0,
      uncompressedBytes: 5,
      part: { offset: 7, total: 12 },
      base64: "",
    },
  ]);
  assertEquals(facts.tuning?.choices[0]?.instances.map(({ symbol }) => symbol), [
    "scale_half_a16",
    "scale_half_a16_TM64",
    "scale_half",
  ]);
  assertEquals(facts.tuning?.choices[0]?.instances.map(({ availableOn }) => availableOn), [
    undefined,
    ["sm_90a"],
    undefined,
  ]);
  assertEquals(facts.tuning?.choices[0]?.measured, [
    { gpu: "NVIDIA H200", arch: "sm_90", points: [{ at: [8], microseconds: [1.5, null] }] },
  ]);
});

Deno.test("expandKernel() gives a variant the rows of its groups, one group after the other", () => {
  const [float, half] = ROWS.instances;
  const rows = { ...ROWS, instances: [float, half, [["float", "half"], ["_s1", 1, 0, [8], "s1"]]] };
  assertEquals(
    expandKernel(rows as KernelRows<Name>).instances.map(({ symbol }) => symbol),
    ["scale_half_a16", "scale_half", "scale_half_s1", "scale_float", "other", "scale_float_s1"],
  );
});

Deno.test("expandKernel() gives each variant of a row of choices its own", () => {
  const [row] = must(ROWS.tuning, "choices").choices;
  const choices = [{ ...must(row, "choice"), of: ["half", "float", "a16"] as const }];
  const facts = expandKernel({ ...ROWS, tuning: { key: ["M"], choices } });
  assertEquals(
    facts.tuning?.choices.map(({ instances: [first], specialization }) => [
      first?.symbol,
      specialization,
    ]),
    [["scale_half_a16", "a16"], ["scale_float_a16", "a16"]],
  );
});

Deno.test("expandKernel() names no variant in the entries of a kernel that has one", () => {
  const one = { ...ROWS, variants: ROWS.variants.slice(0, 1) };
  assertEquals(expandKernel(one).instances.map(({ symbol }) => symbol), ["scale_a16", "scale"]);
});

Deno.test("expandConditions() makes a condition of each multiple, and of a range of 32 bits", () => {
  const conditions = expandConditions<"M" | "N">([
    { M: 4, N: 3 },
    ["int32", "M * N", ({ M, N }) => M * N],
    ["M != N", ({ M, N }) => M !== N],
  ]);
  assertEquals(conditions.map(({ text }) => text), [
    "M % 4 == 0",
    "N % 3 == 0",
    "-2147483648 <= M * N && M * N <= 2147483647",
    "M != N",
  ]);
  const held = (M: number, N: number): boolean[] => conditions.map(({ holds }) => holds({ M, N }));
  assertEquals(held(8, 9), [true, true, true, true]);
  assertEquals(held(-8, 10), [true, false, true, true]);
  assertEquals(held(2 ** 16, 2 ** 15), [true, false, false, true]);
  assertEquals(held(-(2 ** 16), 2 ** 15), [true, false, true, true]);
  assertEquals(held(2 ** 31 - 1, 1)[2], true);
  assertEquals(held(3, 3), [false, true, true, false]);
});

Deno.test("rows that lack something say what", () => {
  const { conditions: _conditions, ...less } = ROWS;
  assertThrows(
    () => expandKernel(less),
    TypeError,
    "The wrapper's rows lack the conditions a16 of scale_half_a16",
  );
  assertThrows(() => wrapKernel({} as never), Error, "rows of wrapKernel");
});

Deno.test("wrapKernel() refuses rows of another ABI, whatever else they are, and says what to do", () => {
  const made = (abi: number): object => ({ name: "scale", made: { by: "9.8.7", abi } });
  const newer = assertThrows(() => wrapKernel(made(WRAPPER_ABI + 1) as never), WrapperError);
  assertEquals([newer.kernel, newer.abi], ["scale", WRAPPER_ABI + 1]);
  assertEquals(
    newer.message,
    `Cannot use the wrapper of scale: tri 9.8.7 generated it with ABI ${
      WRAPPER_ABI + 1
    }, and this run time serves ABI ` +
      `${WRAPPER_ABI}\nhint: update the run time: \`npm install @tri/tri@9.8.7\` or \`deno add jsr:@tri/tri@9.8.7\``,
  );
  const older = assertThrows(() => wrapKernel(made(WRAPPER_ABI - 1) as never), WrapperError);
  assertEquals(
    older.hint,
    "generate it again with the version of tri that belongs to the run time: `tri build …`",
  );
});

Deno.test("wrapKernel() makes the function that defineKernel() makes of the facts", () => {
  interface Kernel {
    readonly name: string;
    readonly variants: readonly string[];
    readonly contract: unknown;
    readonly tune: unknown;
  }
  const wrapped = wrapKernel<Kernel, Name>(ROWS);
  const defined = defineKernel<Kernel, Name>(expandKernel(ROWS));
  assertEquals(wrapped.name, defined.name);
  assertEquals(wrapped.variants, defined.variants);
  assertEquals(Object.keys(wrapped), Object.keys(defined));
  assertEquals(JSON.stringify(wrapped.contract), JSON.stringify(defined.contract));
});
