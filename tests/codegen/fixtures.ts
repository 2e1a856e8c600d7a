/** Compiled kernels made by hand, as the compiler would deliver them. */
import type {
  ContractExpr,
  ContractParam,
  InstanceInfo,
  KernelContract,
} from "../../compiler/contract/types.ts";
import type { CompiledKernel, EntryForm } from "../../compiler/options.ts";
import type { ScalarName } from "../../compiler/support/scalar.ts";
import type { WrapperInput } from "../../codegen/mod.ts";

export function param(name: string): ContractExpr {
  return { op: "param", name };
}

export function constant(value: number, macro?: string): ContractExpr {
  return macro === undefined ? { op: "const", value } : { op: "const", value, macro };
}

export function operation(
  op: Extract<ContractExpr, { args: unknown }>["op"],
  ...args: ContractExpr[]
): ContractExpr {
  return { op, args };
}

export function gridExtent(axis: number): ContractExpr {
  return { op: "grid", axis };
}

export function isMultiple(name: string, of: number): { condition: ContractExpr; text: string } {
  const condition = operation("==", operation("%", param(name), constant(of)), constant(0));
  return { condition, text: `${name} % ${of} == 0` };
}

export function pointer(
  name: string,
  type: ScalarName,
  access: "in" | "out" | "inout",
  align = 1,
): ContractParam {
  return { kind: "pointer", name, type, access, align, noalias: false };
}

export function scalar(
  name: string,
  type: ScalarName = "int32",
  multipleof?: number,
): ContractParam {
  return { kind: "scalar", name, type, ...multipleof === undefined ? {} : { multipleof } };
}

const SPELLINGS = [
  ["float32", "float"],
  ["float16", "half"],
  ["float64", "double"],
  ["int8", "char"],
  ["int16", "short"],
  ["int32", "int"],
] as const satisfies readonly (readonly [ScalarName, string])[];

/** `Y[j, i] = X[i, j]`, tile by tile; `masked` says whether accesses stop at the edges. */
function transposeContract(type: ScalarName, masked: boolean): KernelContract {
  const [TM, TN] = [constant(64, "TM"), constant(32, "TN")];
  const rows = masked ? param("M") : operation("*", gridExtent(0), TM);
  const columns = masked ? param("N") : operation("*", gridExtent(1), TN);
  const last = (outer: ContractExpr, stride: string, inner: ContractExpr): ContractExpr =>
    operation(
      "-",
      operation("+", operation("*", operation("-", outer, constant(1)), param(stride)), inner),
      constant(1),
    );
  return {
    params: [
      pointer("X", type, "in"),
      pointer("Y", type, "out"),
      scalar("M"),
      scalar("N"),
      scalar("ldx"),
      scalar("ldy"),
    ],
    grid: [operation("cdiv", param("M"), TM), operation("cdiv", param("N"), TN)],
    gridOrigin: "pragma",
    tensors: [
      {
        param: "X",
        extents: [param("M"), param("N")],
        strides: [param("ldx"), constant(1)],
        origin: "pragma",
      },
      {
        param: "Y",
        extents: [param("N"), param("M")],
        strides: [param("ldy"), constant(1)],
        origin: "pragma",
      },
    ],
    ranges: [
      { param: "X", first: constant(0), last: last(rows, "ldx", columns) },
      { param: "Y", first: constant(0), last: last(columns, "ldy", rows) },
    ],
    requires: [],
  };
}

/** The transposition of the seeds, with bounds checks or without, in six types and two specialisations. */
export function transposeKernel(masked = true): CompiledKernel {
  const file = { name: "kernels/transpose.tc", text: "" };
  const instances = SPELLINGS.flatMap(([type, spelling]): InstanceInfo[] => {
    const common = {
      variant: { name: type, bindings: { TYPE: spelling } },
      config: { bindings: { TM: "64", TN: "32" }, numWarps: 4 },
      contract: transposeContract(type, masked),
    };
    const specialization = [
      isMultiple("X", 16),
      isMultiple("Y", 16),
      isMultiple("ldx", 16),
      isMultiple("ldy", 16),
    ];
    return [
      { ...common, symbol: `transpose_${type}_s1`, specialization },
      { ...common, symbol: `transpose_${type}`, specialization: [] },
    ];
  });
  const module = (target: "sm_80" | "sm_90"): CompiledKernel["modules"][number] => ({
    target,
    ptx: `.target ${target}\n`,
    entries: instances.map(({ symbol, contract }) => ({
      symbol,
      threads: 128,
      sharedBytes: contract.params[0]?.type === "float64" ? 16384 : 8192,
    })),
  });
  return {
    name: "transpose",
    doc: "Transposes a matrix: Y[j, i] = X[i, j].",
    span: { file, start: 0, end: 0 },
    instances,
    key: [],
    constants: [],
    modules: [module("sm_80"), module("sm_90")],
  };
}

/** A kernel of one instance with this contract. */
export function simpleKernel(name: string, contract: KernelContract, doc = ""): CompiledKernel {
  const file = { name: `kernels/${name}.tc`, text: "" };
  return {
    name,
    doc,
    span: { file, start: 0, end: 0 },
    instances: [{
      symbol: name,
      variant: { name: "default", bindings: {} },
      config: { bindings: {}, numWarps: 4 },
      specialization: [],
      contract,
    }],
    key: [],
    constants: [],
    modules: [{
      target: "sm_80",
      ptx: "",
      entries: [{ symbol: name, threads: 128, sharedBytes: 0 }],
    }],
  };
}

/** What the build hands to codegen for these kernels. */
export function wrapperInput(kernels: readonly CompiledKernel[], embed = false): WrapperInput {
  const stem = kernels[0]?.name ?? "empty";
  return {
    source: { name: `kernels/${stem}.tc`, text: "__global__ void f() {}" },
    generator: "0.0.0",
    stem,
    kernels,
    embed,
    images: kernels.flatMap(({ name, modules }) =>
      modules.flatMap(({ target, ptx }) =>
        (["cubin", "ptx"] as const).map((kind) => ({
          kernel: name,
          target,
          kind,
          path: `${stem}/${name}.${target}.${kind}`,
          bytes: kind === "ptx" ? ptx.length : `cubin ${target}`.length,
          sha256: "0".repeat(64),
          content: () => new TextEncoder().encode(kind === "ptx" ? ptx : `cubin ${target}`),
        }))
      )
    ),
  };
}

/** The transposition of float32; its general entry has forms, which differ between targets. */
export function transposeWithForms(): CompiledKernel {
  const kernel = transposeKernel();
  const instances = kernel.instances.filter(({ variant: { name } }) => name === "float32");
  const symbols = instances.map(({ symbol }) => symbol);
  const form: EntryForm = {
    symbol: "transpose_float32_maps",
    threads: 160,
    sharedBytes: 32768,
    when: [isMultiple("N", 4)],
    maps: [{
      param: "X",
      element: "float32",
      axes: [
        { extent: param("N"), stride: constant(1) },
        { extent: operation("*", gridExtent(0), constant(64, "TM")), stride: param("ldx") },
        { extent: constant(2), stride: operation("*", param("M"), param("ldx")) },
      ],
      box: [32, 64, 1],
      swizzle: 128,
    }, {
      param: "Y",
      element: "float32",
      axes: [
        { extent: param("M"), stride: constant(1) },
        {
          extent: param("N"),
          stride: param("ldy"),
          windows: {
            lower: operation("-", constant(0), param("M")),
            upper: param("N"),
            step: constant(2),
          },
        },
        { extent: constant(1), stride: param("ldy") },
      ],
      box: [32, 64, 1],
      swizzle: 128,
    }],
  };
  return {
    ...kernel,
    instances,
    modules: kernel.modules.map(({ entries, ...module }, moduleIndex) => ({
      ...module,
      entries: entries.filter(({ symbol }) => symbols.includes(symbol)).map((entry, index) =>
        index > 0
          ? entry
          : { ...entry, forms: moduleIndex === 0 ? [form] : [{ ...form, threads: 96 }, form] }
      ),
    })),
  };
}

/** The transposition of float32 and float16 with two configurations of the specialised instances. */
export function tunedTranspose(): CompiledKernel {
  const kernel = transposeKernel();
  const instances = kernel.instances.filter(({ variant: { name } }) => /^float(32|16)$/.test(name))
    .flatMap((instance): InstanceInfo[] => {
      const first = instance.symbol;
      const specialization = instance.specialization.length === 0 ? "general" : "s1";
      const one = {
        ...instance,
        configuration: { label: "TM=64, TN=32", specialization, first, rank: 0 },
      };
      if (specialization === "general") return [one];
      const label = "TM=128, TN=32; num_warps=8";
      return [{
        ...one,
        symbol: `${first}_TM128_TN32_num_warps8`,
        config: { bindings: { TM: "128", TN: "32" }, numWarps: 8 },
        configuration: { label, specialization, first, rank: 1 },
      }, one];
    });
  return {
    ...kernel,
    instances,
    key: ["M", "N"],
    modules: kernel.modules.map((module) => ({
      ...module,
      entries: instances.map(({ symbol, config }) => ({
        symbol,
        threads: 32 * config.numWarps,
        sharedBytes: 8192,
      })),
    })),
  };
}
