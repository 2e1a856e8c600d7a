/** Kernels as Markdown: what the comment above each says, and what its contract says of the call. */
import { printSource } from "../../codegen/expression.ts";
import {
  type ChosenNames,
  type KernelPlan,
  type ParamPlan,
  planKernels,
  type TensorCallPlan,
} from "../../codegen/plan.ts";
import type { KernelContract, TensorContract } from "../../compiler/contract/types.ts";
import type { KernelOutline } from "../../compiler/options.ts";

/** A source with its kernels. */
export interface DocumentedFile {
  /** From the project's root. */
  readonly name: string;
  readonly kernels: readonly KernelOutline[];
  /** Names that the user chose for what wrappers export. */
  readonly exports?: ChosenNames;
}

/** A page with all kernels of some files. */
export function kernelsPage(files: readonly DocumentedFile[]): string {
  const sections = files.map(({ name, kernels, exports }) => ({
    name,
    plans: planKernels(kernels, exports),
  }));
  const contents = sections.flatMap(({ plans }) =>
    plans.map(({ exportName, kernel }) =>
      `- [${exportName}](#${exportName.toLowerCase()})${summary(kernel.doc)}`
    )
  );
  return [
    "# Kernels",
    contents.join("\n"),
    ...sections.flatMap(({ name, plans }) => plans.map((plan) => kernelSection(plan, name))),
  ].join("\n\n") + "\n";
}

/** The first sentence of a comment. */
function summary(doc: string): string {
  const [first = ""] = /^[^]*?\.(?=\s|$)/.exec(doc) ?? [];
  return first === "" ? "" : `: ${first.replace(/\s+/g, " ")}`;
}

function kernelSection(plan: KernelPlan, file: string): string {
  const { kernel, exportName, params, isGridOpen } = plan;
  const contracts = kernel.instances.map(({ contract }) => contract);
  const [contract] = contracts;
  if (contract === undefined) return "";
  const conditions = unique(contracts.flatMap(({ requires }) => requires.map(({ text }) => text)));
  const grids = unique(
    contracts.flatMap(({ grid }) => grid === null ? [] : [grid.map(printSource).join(", ")]),
  );
  return [
    `## ${exportName}`,
    ...(kernel.doc === "" ? [] : [kernel.doc]),
    `\`${kernel.name}\` of \`${file}\`.`,
    "```ts\n" + signature(plan) + "\n```",
    table(
      ["parameter", "type", "shape", "strides", "notes"],
      params.map((param) => paramRow(param, contract, plan.tensorCall)),
    ),
    ...(conditions.length === 0
      ? []
      : ["Conditions:", conditions.map((text) => `- \`${text}\``).join("\n")]),
    ...variantsOf(plan),
    isGridOpen
      ? "The caller gives the grid."
      : `Grid: ${grids.map((text) => `\`${text}\``).join(" or ")}.`,
  ].join("\n\n");
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

/** What a caller writes. */
function signature({ exportName, tensorCall, params, groups, isGridOpen }: KernelPlan): string {
  const typeOf = (param: ParamPlan): string => {
    const { kind, group, types, ranks } = param;
    if (kind === "scalar") {
      return types.some((type) => type.endsWith("64")) ? "bigint | number" : "number";
    }
    const dtype = group === undefined ? `"${types[0]}"` : groups[group]?.letter ?? "";
    return `Tensor<${[dtype, ...(ranks.length > 0 ? [ranks.join(" | ")] : [])].join(", ")}>`;
  };
  const named = (param: ParamPlan): string => `${param.argumentName}: ${typeOf(param)}`;
  if (tensorCall === undefined) {
    const list = params.map((param) => `${param.name}: ${typeOf(param)}`).join(", ");
    return `${exportName}.launch({ ${list} }${isGridOpen ? ", { grid }" : ""})`;
  }
  const { inputs, outputs, options } = tensorCall;
  const isOut = outputs.length > 0;
  const words = [...options.map(named), ...(isOut ? ["out?"] : [])];
  const args = [...inputs.map(named), ...(words.length > 0 ? [`{ ${words.join(", ")} }`] : [])];
  const results = outputs.map(({ param }) => typeOf(param));
  const result = results.length === 0
    ? "void"
    : results.length === 1
    ? results[0] ?? ""
    : `{ ${outputs.map(({ param }) => named(param)).join(", ")} }`;
  const flat = `${exportName}(${args.join(", ")}): ${result}`;
  return flat.length <= 100
    ? flat
    : `${exportName}(\n${args.map((arg) => `  ${arg},\n`).join("")}): ${result}`;
}

const ACCESS = { none: "not used", in: "read", out: "written", inout: "read and written" } as const;

function paramRow(
  param: ParamPlan,
  { tensors }: KernelContract,
  call: TensorCallPlan | undefined,
): readonly string[] {
  const tensor = tensors.find((one) => one.param === param.name);
  const isGiven = call === undefined || param.kind === "pointer" ||
    call.options.some(({ name }) => name === param.name);
  const notes = [
    ...(param.kind === "pointer" ? [ACCESS[param.access]] : []),
    ...(isGiven ? [] : ["follows from the tensors"]),
    ...(param.multipleof === undefined ? [] : [`a multiple of ${param.multipleof}`]),
    ...(param.isOptional ? ["may be absent"] : []),
    ...(param.noalias ? ["overlaps no other"] : []),
  ];
  const list = (which: "extents" | "strides", of: TensorContract): string =>
    `\`[${of[which].map(printSource).join(", ")}]\``;
  return [
    `\`${param.name}\``,
    param.types.join(", "),
    tensor === undefined ? "" : list("extents", tensor),
    tensor === undefined ? "" : list("strides", tensor),
    notes.join("; "),
  ];
}

/** Nothing where there is no choice. */
function variantsOf({ variants, params }: KernelPlan): readonly string[] {
  if (variants.length < 2) return [];
  const varied = params.filter(({ types }) => types.length > 1);
  const titles = ["variant", ...varied.map(({ name }) => `\`${name}\``)];
  const rows = variants.map(({ name, types }) => [
    `\`${name}\``,
    ...varied.map(({ position }) => types[position] ?? ""),
  ]);
  return ["Variants:", table(titles, rows)];
}

/** A table of Markdown; `|` in cells is escaped. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(titles), line(titles.map(() => "---")), ...rows.map(line)].join("\n");
}
