/**
 * What a kernel's wrapper looks like, decided from its contracts: the roles of parameters, the names callers
 * use, and how types vary between variants. Plain data; `types_section.ts` and `facts_section.ts` print it.
 */
import { distinctBy } from "@std/collections/distinct-by";
import type {
  Access,
  ContractParam,
  InstanceInfo,
  KernelContract,
} from "../compiler/contract/types.ts";
import type { KernelOutline } from "../compiler/options.ts";
import { must } from "../compiler/support/bug.ts";
import type { ScalarName } from "../compiler/support/scalar.ts";
import { GRID_NAMES, namesRead } from "./expression.ts";
import { camelCase, constantCase, pascalCase, RESERVED_NAMES, styledNames } from "./names.ts";
import { kernelExpressions } from "./expressions_read.ts";

/** A kernel that no wrapper can be written for; the message is for the kernel's author. */
export class CodegenError extends Error {
  override readonly name = "CodegenError";

  constructor(readonly kernel: string, readonly reason: string) {
    super(`Cannot wrap kernel ${kernel}: ${reason}`);
  }
}

/** Export names that the user chose, by kernel. */
export type ChosenNames = Readonly<Record<string, string>>;

/** How one wrapper is written. */
export interface KernelPlan {
  readonly kernel: KernelOutline;
  /** Name of the exported function. */
  readonly exportName: string;
  /** First part of the names of its types. */
  readonly typeName: string;
  /** First part of the names of its constants. */
  readonly constantName: string;
  /** Names of this kind of all kernels of the file. */
  readonly fileNames: ReadonlySet<string>;
  readonly params: readonly ParamPlan[];
  readonly variants: readonly VariantPlan[];
  /** Sets of parameters whose type varies between variants, always together. */
  readonly groups: readonly TypeGroup[];
  /** Each variant's types by group, where not every combination is a variant. */
  readonly combinations: readonly (readonly ScalarName[])[] | undefined;
  readonly tensorCall: TensorCallPlan | undefined;
  /** The caller gives the grid. */
  readonly isGridOpen: boolean;
  /** Scalar parameters that the grid reads. */
  readonly gridParams: readonly ParamPlan[];
}

/** A choice of the visible parameters. */
export interface VariantPlan {
  readonly name: string;
  readonly bindings: Readonly<Record<string, string>>;
  /** Types by position. */
  readonly types: readonly ScalarName[];
}

/** A kernel parameter over all variants. */
export interface ParamPlan {
  readonly position: number;
  /** The kernel's name for it. */
  readonly name: string;
  /** The caller's name for it in the short form. */
  readonly argumentName: string;
  readonly kind: "scalar" | "pointer";
  /** Types over the variants, without repetition. */
  readonly types: readonly ScalarName[];
  /** Index of the group that it varies with; undefined when it does not vary. */
  readonly group: number | undefined;
  readonly access: Access;
  readonly noalias: boolean;
  /** Arguments whose memory it may take, by the kernel's names. */
  readonly inPlace: readonly string[];
  readonly multipleof: number | undefined;
  /** Ranks that contracts see in it; empty: no contract. */
  readonly ranks: readonly number[];
  readonly isOptional: boolean;
  /** A 64-bit number that no expression reads. */
  readonly isOpaque: boolean;
}

/** Parameters that have the same type in every variant. */
export interface TypeGroup {
  /** Its type parameter. */
  readonly letter: string;
  readonly types: readonly ScalarName[];
}

/** Parameters of the short form by role. */
export interface TensorCallPlan {
  readonly inputs: readonly ParamPlan[];
  readonly outputs: readonly OutputPlan[];
  /** Scalars and pointers that no tensor contract covers. */
  readonly options: readonly ParamPlan[];
}

/** A result of the short form. */
export interface OutputPlan {
  readonly param: ParamPlan;
  /** Its extents follow from the other arguments. */
  readonly isDerivable: boolean;
}

/** Names that options of a call have already. */
const OPTION_NAMES: ReadonlySet<string> = new Set([
  "out",
  "stream",
  "variant",
  "grid",
  "form",
  "profile",
]);

const GROUP_LETTERS = [..."DEFGHIJKLMNOPQRSTUVWXYZ"];

/** Their types would be named like those of the run time. */
const TYPE_NAMES: ReadonlySet<string> = new Set(["Call", "GridCall", "Variant"]);

/** Plans the wrappers of a file's kernels; `chosen` has export names by kernel. */
export function planKernels(
  kernels: readonly KernelOutline[],
  chosen: ChosenNames = {},
): readonly KernelPlan[] {
  const originals = kernels.map(({ name }) => name);
  const names = exportedNames(originals, chosen);
  const constantNames = styledNames(
    originals,
    constantCase,
    new Set([...RESERVED_NAMES, ...names.map(({ exportName }) => exportName)]),
  );
  const fileNames = new Set([
    ...names.map(({ exportName }) => exportName),
    ...constantNames.values(),
  ]);
  return kernels.map((kernel, index) => {
    const { exportName, typeName } = must(names[index], "names of a kernel");
    const constantName = must(constantNames.get(kernel.name), "constant name");
    return { ...planKernel(kernel), exportName, typeName, constantName, fileNames };
  });
}

/** Throws a `CodegenError` for kernels that cannot have a wrapper, without writing one. */
export function checkWrappable(
  kernels: readonly KernelOutline[],
  chosen: ChosenNames = {},
): void {
  planKernels(kernels, chosen);
}

/** What the wrapper of a file exports for each of its kernels. */
export function exportedNames(
  kernels: readonly string[],
  chosen: ChosenNames = {},
): readonly (Pick<KernelPlan, "exportName" | "typeName"> & { readonly kernel: string })[] {
  const own = kernels.map((kernel) => chosenName(kernel, chosen) ?? kernel);
  const exportNames = styledNames(
    kernels.filter((kernel) => chosenName(kernel, chosen) === undefined),
    camelCase,
    RESERVED_NAMES,
  );
  const names = kernels.map((kernel) =>
    chosenName(kernel, chosen) ?? must(exportNames.get(kernel), "export name")
  );
  for (const [index, name] of names.entries()) {
    const first = must(kernels[names.indexOf(name)], "a kernel");
    const kernel = must(kernels[index], "a kernel");
    if (first !== kernel) {
      throw new CodegenError(
        kernel,
        `${first} is exported as ${name} too; choose another name for one of them in the settings' \`exports\` or with --export`,
      );
    }
  }
  const typeNames = styledNames(own, pascalCase, TYPE_NAMES);
  return kernels.map((kernel, index) => ({
    kernel,
    exportName: must(names[index], "export name"),
    typeName: must(typeNames.get(own[index] ?? kernel), "type name"),
  }));
}

function chosenName(kernel: string, chosen: ChosenNames): string | undefined {
  return Object.hasOwn(chosen, kernel) ? chosen[kernel] : undefined;
}

function planKernel(
  kernel: KernelOutline,
): Omit<KernelPlan, "exportName" | "typeName" | "constantName" | "fileNames"> {
  const contracts = kernel.instances.map(({ contract }) => contract);
  checkParameters(kernel, contracts);
  const variants = planVariants(kernel.instances);
  const { groups, groupOf } = planGroups(kernel.name, variants);
  const params = planParams(kernel, variants, groupOf);
  const grids = contracts.map(({ grid }) => grid);
  const gridNames = new Set(grids.flatMap((grid) => grid ?? []).flatMap(namesRead));
  return {
    kernel,
    params,
    variants,
    groups,
    combinations: groups.length < 2 ? undefined : combinationsOf(variants, groups, groupOf),
    tensorCall: planTensorCall(contracts, params),
    isGridOpen: grids.includes(null),
    gridParams: params.filter(({ name, kind }) => kind === "scalar" && gridNames.has(name)),
  };
}

function checkParameters(kernel: KernelOutline, contracts: readonly KernelContract[]): void {
  const lists = new Set(
    contracts.map(({ params }) => params.map(({ kind, name }) => `${kind} ${name}`).join(", ")),
  );
  if (lists.size !== 1) {
    throw new CodegenError(
      kernel.name,
      `its variants have different parameters (${[...lists].join("; ")})`,
    );
  }
  const taken = contracts[0]?.params.find(({ name }) =>
    GRID_NAMES.some((gridName) => gridName === name)
  );
  if (taken !== undefined) {
    throw new CodegenError(
      kernel.name,
      `rename its parameter ${taken.name}, which is the launch grid in wrappers`,
    );
  }
  // Tables by name, and arguments, are objects.
  const names = [
    ...contracts.flatMap(({ params }) => params.map(({ name }) => name)),
    ...kernel.instances.flatMap(({ variant, config }) =>
      Object.keys({ ...variant.bindings, ...config.bindings })
    ),
  ];
  const inherited = names.find((name) => Object.hasOwn(Object.prototype, name));
  if (inherited !== undefined) {
    throw new CodegenError(
      kernel.name,
      `rename its parameter ${inherited}: every object of JavaScript has something of that name`,
    );
  }
}

function planVariants(instances: readonly InstanceInfo[]): readonly VariantPlan[] {
  const variants = new Map<string, VariantPlan>();
  for (const { variant, contract } of instances) {
    if (variants.has(variant.name)) continue;
    variants.set(variant.name, { ...variant, types: contract.params.map(({ type }) => type) });
  }
  return [...variants.values()];
}

/** Parameters whose types vary alike are one group, in order of first appearance. */
function planGroups(name: string, variants: readonly VariantPlan[]): {
  readonly groups: readonly TypeGroup[];
  readonly groupOf: ReadonlyMap<number, number>;
} {
  const groups: TypeGroup[] = [];
  const groupOf = new Map<number, number>();
  const known = new Map<string, number>();
  const count = variants[0]?.types.length ?? 0;
  for (let position = 0; position < count; position++) {
    const types = variants.map((variant) => must(variant.types[position], "parameter type"));
    const distinct = [...new Set(types)];
    if (distinct.length === 1) continue;
    const key = types.join(" ");
    const group = known.get(key) ?? groups.length;
    if (group === groups.length) {
      const letter = GROUP_LETTERS[group];
      if (letter === undefined) {
        throw new CodegenError(
          name,
          `more than ${GROUP_LETTERS.length} of its parameters have types of their own; tie some together`,
        );
      }
      groups.push({ letter, types: distinct });
      known.set(key, group);
    }
    groupOf.set(position, group);
  }
  return { groups, groupOf };
}

/** Each variant's types by group; undefined when every combination is there. */
function combinationsOf(
  variants: readonly VariantPlan[],
  groups: readonly TypeGroup[],
  groupOf: ReadonlyMap<number, number>,
): KernelPlan["combinations"] {
  const positions = groups.map((_, group) => {
    const entry = [...groupOf].find(([, index]) => index === group);
    return must(entry, "member of the group")[0];
  });
  const rows = variants.map(({ types }) =>
    positions.map((position) => must(types[position], "type"))
  );
  const distinct = distinctBy(rows, (row) => row.join(" "));
  const all = groups.reduce((product, { types }) => product * types.length, 1);
  return distinct.length === all ? undefined : distinct;
}

function planParams(
  kernel: KernelOutline,
  variants: readonly VariantPlan[],
  groupOf: ReadonlyMap<number, number>,
): readonly ParamPlan[] {
  const contracts = kernel.instances.map(({ contract }) => contract);
  const first = must(contracts[0], "instance");
  const argumentNames = styledNames(first.params.map(({ name }) => name), camelCase, OPTION_NAMES);
  const read = new Set(kernelExpressions(kernel).flatMap(namesRead));
  return first.params.map(({ name, kind }, position): ParamPlan => {
    const all = contracts.map(({ params }) => must(params[position], "parameter"));
    const multiples = new Set(
      all.map((param) => param.kind === "scalar" ? param.multipleof : undefined),
    );
    const tensors = contracts.flatMap((contract) =>
      contract.tensors.filter(({ param }) => param === name)
    );
    const types = [...new Set(variants.map((variant) => must(variant.types[position], "type")))];
    return {
      position,
      name,
      argumentName: must(argumentNames.get(name), "argument name"),
      kind,
      types,
      group: groupOf.get(position),
      access: all.map((param) => param.kind === "pointer" ? param.access : "none").reduce(
        mergeAccess,
      ),
      noalias: all.some((param) => param.kind === "pointer" && param.noalias) ||
        isResultOfSome(all),
      inPlace: all.map((param) => param.kind === "pointer" ? param.inPlace ?? [] : [])
        .reduce((some, others) => some.filter((name) => others.includes(name))),
      multipleof: multiples.size === 1 ? [...multiples][0] : undefined,
      ranks: tensors.length < contracts.length
        ? []
        : [...new Set(tensors.map(({ extents }) => extents.length))],
      isOptional: tensors.some(({ optional }) => optional === true),
      isOpaque: kind === "scalar" && types.some((type) => type === "int64" || type === "uint64") &&
        !read.has(name),
    };
  });
}

/** Code of one variant may rely on it that a result lies apart, where another variant also reads it. */
function isResultOfSome(params: readonly ContractParam[]): boolean {
  const accesses = new Set(
    params.flatMap((param) =>
      param.kind === "pointer" && param.access !== "none" ? [param.access] : []
    ),
  );
  return accesses.size > 1 && accesses.has("out");
}

function mergeAccess(a: Access, b: Access): Access {
  if (a === b || b === "none") return a;
  return a === "none" ? b : "inout";
}

function planTensorCall(
  contracts: readonly KernelContract[],
  params: readonly ParamPlan[],
): TensorCallPlan | undefined {
  const tensors = params.filter(({ kind, ranks, isOptional }) =>
    kind === "pointer" && ranks.length > 0 && !isOptional
  );
  if (tensors.length === 0) return undefined;
  const inputs = tensors.filter(({ access }) => access !== "out");
  const outputs = tensors.filter(({ access }) => access === "out");
  const definedBy = (by: readonly ParamPlan[]): ReadonlySet<string> => {
    const names = new Set(by.map(({ name }) => name));
    return intersect(contracts.map((contract) => definedNames(contract, names)));
  };
  const definedByInputs = definedBy(inputs);
  const defined = definedBy(tensors);
  const options = params.filter((param) =>
    !tensors.includes(param) && !(param.kind === "scalar" && defined.has(param.name))
  );
  const known = new Set([...definedByInputs, ...options.map(({ name }) => name)]);
  const isDerivable = ({ name }: ParamPlan): boolean =>
    contracts.every((contract) =>
      contract.tensors.filter(({ param }) => param === name).flatMap(({ extents }) => extents)
        .every((extent) =>
          namesRead(extent).every((read) => known.has(read) || !isParam(params, read))
        )
    );
  return {
    inputs,
    outputs: outputs.map((param) => ({ param, isDerivable: isDerivable(param) })),
    options,
  };
}

function isParam(params: readonly ParamPlan[], name: string): boolean {
  return params.some((param) => param.name === name);
}

/** Scalars that are an extent or a stride of the named tensors. */
function definedNames(contract: KernelContract, tensors: ReadonlySet<string>): ReadonlySet<string> {
  const dimensions = contract.tensors.filter(({ param }) => tensors.has(param))
    .flatMap(({ extents, strides }) => [...extents, ...strides]);
  return new Set(
    dimensions.flatMap((dimension) => dimension.op === "param" ? [dimension.name] : []),
  );
}

/** std's needs `Set.intersection`, which Node 20 lacks. */
function intersect(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return sets.reduce((a, b) => new Set([...a].filter((name) => b.has(name))));
}
