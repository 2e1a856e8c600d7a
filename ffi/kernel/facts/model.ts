/**
 * A kernel's facts made ready for launching: names resolved to positions, and everything worked out once that
 * does not depend on a launch's arguments.
 */
import type { DType } from "../../dtype.ts";
import { Choice } from "../tuning/choice.ts";
import type {
  ArgumentFacts,
  Condition,
  ConfigurationFacts,
  ContractFacts,
  Dimension,
  Expression,
  InstanceFacts,
  KernelFacts,
  ParamFacts,
  TensorFacts,
  VariantFacts,
} from "./facts.ts";
import { POINTER_BYTES, SCALARS } from "../call/scalars.ts";

/** A kernel as its launcher sees it. `position` is always an index into `params`. */
export interface KernelModel<Name extends string> {
  readonly name: string;
  readonly facts: KernelFacts<Name>;
  readonly params: readonly ParamFacts<Name>[];
  readonly positions: ReadonlyMap<Name, number>;
  readonly paramNames: ReadonlySet<string>;
  /** What messages call the arguments by name. */
  readonly argumentsOf: string;
  readonly pointers: readonly PointerModel<Name>[];
  readonly scalars: readonly number[];
  readonly variants: readonly VariantModel<Name>[];
  /** Everything that expressions read. */
  readonly names: readonly Name[];
  readonly tensorCall: TensorCallModel | undefined;
  /** Targets have different instances. */
  readonly isByTarget: boolean;
  readonly apart: readonly ApartModel[];
}

/** Two pointers that must not reach the same memory. */
export interface ApartModel {
  readonly one: number;
  readonly two: number;
  /** But both may be the same tensor. */
  readonly isInPlace: boolean;
}

/** A parameter that is an address. */
export interface PointerModel<Name extends string> {
  readonly position: number;
  readonly name: Name;
  readonly isWritten: boolean;
  /** The kernel can do without it: null is passed. */
  readonly isOptional: boolean;
}

/** A parameter under a caller's name for it. */
export interface ArgumentModel {
  readonly position: number;
  readonly name: string;
}

/** The short form: inputs by position, the rest by name. */
export interface TensorCallModel {
  readonly inputs: readonly ArgumentModel[];
  readonly outputs: readonly ArgumentModel[];
  readonly options: readonly ArgumentModel[];
  /** What messages call each parameter. */
  readonly labels: readonly string[];
}

/** How a variant's arguments lie in memory. */
export interface ArgumentLayout {
  /** By position: a pointer's element type, or a scalar's type. */
  readonly dtypes: readonly DType[];
  /** By position: where each parameter lies in the argument block. */
  readonly offsets: readonly number[];
  readonly parameterBytes: number;
}

/** One choice of the visible parameters. */
export interface VariantModel<Name extends string> extends ArgumentLayout {
  readonly name: string;
  /** In order of preference; the last is the general one. Each represents all of its configurations. */
  readonly instances: readonly InstanceModel<Name>[];
  /** By index in `instances`: what targets have by default, each once. */
  readonly defaults: readonly (readonly InstanceModel<Name>[])[];
  /** By index in `instances`: what decides between configurations; undefined where there is one. */
  readonly choices: readonly (Choice<Name, InstanceModel<Name>> | undefined)[];
  /** The instance without conditions; its contract says how tensors define parameters. */
  readonly general: InstanceModel<Name>;
}

/** One entry of the images. */
export interface InstanceModel<Name extends string> {
  readonly facts: InstanceFacts<Name>;
  /** Its number among all instances of the kernel. */
  readonly index: number;
  readonly layout: ArgumentLayout;
  readonly conditions: readonly Condition<Name>[];
  readonly constants: readonly Constant<Name>[];
  readonly contract: ContractModel<Name>;
  /** By position: bytes that the address must be a multiple of. */
  readonly align: readonly number[];
}

/** A compile-time constant that expressions read. */
export interface Constant<Name extends string> {
  readonly name: Name;
  readonly value: number;
}

/** Contract facts with positions for names. */
export interface ContractModel<Name extends string> {
  readonly grid: readonly Expression<Name>[] | null;
  readonly tensors: readonly TensorModel<Name>[];
  readonly ranges: readonly RangeModel<Name>[];
  readonly requires: readonly Condition<Name>[];
}

/** A pointer parameter seen as a tensor. */
export interface TensorModel<Name extends string> {
  readonly position: number;
  readonly extents: readonly DimensionModel<Name>[];
  readonly strides: readonly DimensionModel<Name>[];
  /** The extents, then the strides. */
  readonly dimensions: readonly DimensionModel<Name>[];
  /** Accesses are bounded by a range of the contract rather than by the extents. */
  readonly hasRange: boolean;
  /** The kernel writes it. */
  readonly isWritten: boolean;
}

/** An extent or a stride of a tensor, which defines a parameter, is fixed, or is computed. */
export type DimensionModel<Name extends string> =
  & DimensionSource
  & (
    | { readonly kind: "define"; readonly defines: number; readonly name: Name }
    | { readonly kind: "fixed"; readonly value: number }
    | { readonly kind: "computed"; readonly expression: Expression<Name> }
  );

/** Which extent or stride of which tensor. */
export interface DimensionSource {
  readonly position: number;
  readonly what: "shape" | "strides";
  readonly axis: number;
}

/** Elements that a launch touches. */
export interface RangeModel<Name extends string> {
  readonly position: number;
  readonly first: Expression<Name>;
  readonly last: Expression<Name>;
}

/** Works out the model of a kernel. */
export function modelKernel<Name extends string>(facts: KernelFacts<Name>): KernelModel<Name> {
  const { params } = facts;
  const positions = new Map(params.map((param, position) => [param.name, position]));
  const contracts = new Map<ContractFacts<Name>, ContractModel<Name>>();
  const contractOf = (contract: ContractFacts<Name>): ContractModel<Name> => {
    const known = contracts.get(contract) ?? modelContract(contract, params, positions);
    contracts.set(contract, known);
    return known;
  };
  const constants = facts.instances.flatMap((instance) =>
    constantsOf(instance).map(({ name }) => name)
  );
  const variants = facts.variants.map((variant) => modelVariant(facts, variant, contractOf));
  return {
    name: facts.name,
    facts,
    params,
    positions,
    paramNames: new Set(params.map(({ name }) => name)),
    argumentsOf: `arguments of ${facts.name}`,
    pointers: params.flatMap((param, position) =>
      param.kind !== "pointer" ? [] : [{
        position,
        name: param.name,
        isWritten: isWritten(param),
        isOptional: facts.contract.tensors.some((tensor) =>
          tensor.param === param.name && tensor.optional === true
        ),
      }]
    ),
    scalars: params.flatMap((param, position) => param.kind === "scalar" ? [position] : []),
    variants,
    names: [...new Set([...params.map(({ name }) => name), ...constants])],
    tensorCall: modelTensorCall(facts, positions),
    isByTarget: variants.some(({ choices }) => choices.some((choice) => choice?.isByTarget)),
    apart: pairsApart(params),
  };
}

/** The position of a parameter that the facts name. */
function positionOf<Name extends string>(positions: ReadonlyMap<Name, number>, name: Name): number {
  const position = positions.get(name);
  if (position === undefined) throw new TypeError(`The facts name ${name}, which is no parameter`);
  return position;
}

function isWritten(param: ParamFacts | undefined): boolean {
  return param?.kind === "pointer" && (param.access === "out" || param.access === "inout");
}

/**
 * A pure result must lie apart from everything else; some may take the place of an argument, as the compiler has found.
 * Other pointers need only do so where the kernel relies on it, and one without accesses never.
 */
function pairsApart(params: readonly ParamFacts[]): ApartModel[] {
  const pairs: ApartModel[] = [];
  params.forEach((param, position) => {
    params.forEach((other, before) => {
      if (before >= position || param.kind !== "pointer" || other.kind !== "pointer") return;
      if (!isWritten(param) && !isWritten(other)) return;
      if (param.access === "none" || other.access === "none") return;
      const demanded = param.noalias === true || other.noalias === true;
      if (demanded || param.access === "out" || other.access === "out") {
        const isInPlace = param.inPlace?.includes(other.name) === true ||
          other.inPlace?.includes(param.name) === true;
        pairs.push({ one: before, two: position, isInPlace });
      }
    });
  });
  return pairs;
}

function modelTensorCall<Name extends string>(
  facts: KernelFacts<Name>,
  positions: ReadonlyMap<Name, number>,
): TensorCallModel | undefined {
  const call = facts.tensorCall;
  if (call === undefined) return undefined;
  const labels: string[] = facts.params.map(({ name }) => name);
  const model = ({ param, name }: ArgumentFacts<Name>): ArgumentModel => {
    const position = positionOf(positions, param);
    labels[position] = name;
    return { position, name };
  };
  const inputs = call.inputs.map(model);
  const outputs = call.outputs.map(model);
  for (const { position, name } of outputs) {
    labels[position] = outputs.length === 1 ? "out" : `out.${name}`;
  }
  return { inputs, outputs, options: call.options.map(model), labels };
}

function modelVariant<Name extends string>(
  facts: KernelFacts<Name>,
  variant: VariantFacts<Name>,
  contractOf: (facts: ContractFacts<Name>) => ContractModel<Name>,
): VariantModel<Name> {
  const layout = layArguments(facts.params, variant);
  const instances = facts.instances.flatMap((instance, index): InstanceModel<Name>[] =>
    instance.variant !== variant.name ? [] : [{
      facts: instance,
      index,
      layout,
      conditions: instance.when ?? [],
      constants: constantsOf(instance),
      contract: contractOf(instance.contract ?? facts.contract),
      align: facts.params.map(({ name }, position) =>
        instance.align?.[name] ?? SCALARS[layout.dtypes[position] ?? "uint8"].bytes
      ),
    }]
  );
  const general = instances.find(({ conditions }) => conditions.length === 0);
  if (general === undefined) {
    throw new TypeError(`The facts have no general instance of variant ${variant.name}`);
  }
  const { key = [], choices = [] } = facts.tuning ?? {};
  const others = new Set(choices.flatMap((choice) => choice.instances.slice(1).map(symbolOf)));
  const special = instances.filter((instance) =>
    instance.conditions.length > 0 && !others.has(instance.facts.symbol)
  );
  const ordered = [...special, general];
  const modelled = ordered.map((first) => {
    const choice = choices.find((choice) => choice.instances[0]?.symbol === first.facts.symbol);
    if (choice === undefined) return undefined;
    const symbols = choice.instances.map(symbolOf);
    const options = symbols.flatMap((symbol) =>
      instances.filter((instance) => instance.facts.symbol === symbol)
    );
    return new Choice(key, options, choice, facts.name);
  });
  const targets = facts.images.map(({ target }) => target);
  return {
    ...layout,
    name: variant.name,
    instances: ordered,
    defaults: ordered.map((first, index) => {
      const choice = modelled[index];
      if (choice?.isByTarget !== true) return [first];
      return [...new Set(targets.flatMap((target) => choice.first(target) ?? []))];
    }),
    choices: modelled,
    general,
  };
}

function symbolOf({ symbol }: ConfigurationFacts): string {
  return symbol;
}

function layArguments<Name extends string>(
  params: readonly ParamFacts<Name>[],
  variant: VariantFacts<Name>,
): ArgumentLayout {
  const dtypes = params.map((param): DType => {
    const dtype = variant.dtypes[param.name] ?? (param.kind === "scalar" ? param.type : undefined);
    if (dtype === undefined) {
      throw new TypeError(`The facts give ${param.name} no type in variant ${variant.name}`);
    }
    return dtype;
  });
  let parameterBytes = 0;
  const offsets = dtypes.map((dtype, position) => {
    const bytes = params[position]?.kind === "pointer" ? POINTER_BYTES : SCALARS[dtype].bytes;
    const offset = Math.ceil(parameterBytes / bytes) * bytes;
    parameterBytes = offset + bytes;
    return offset;
  });
  return { dtypes, offsets, parameterBytes };
}

function constantsOf<Name extends string>(instance: InstanceFacts<Name>): Constant<Name>[] {
  const constants: Constant<Name>[] = [];
  for (const name in instance.constants) {
    const value = instance.constants[name];
    if (value !== undefined) constants.push({ name, value });
  }
  return constants;
}

function modelContract<Name extends string>(
  contract: ContractFacts<Name>,
  params: readonly ParamFacts<Name>[],
  positions: ReadonlyMap<Name, number>,
): ContractModel<Name> {
  const ranges = contract.ranges.map(({ param, first, last }) => ({
    position: positionOf(positions, param),
    first,
    last,
  }));
  const dimension = (dimension: Dimension<Name>, source: DimensionSource): DimensionModel<Name> => {
    if (typeof dimension === "number") return { ...source, kind: "fixed", value: dimension };
    if (typeof dimension === "object") {
      return { ...source, kind: "computed", expression: dimension };
    }
    return {
      ...source,
      kind: "define",
      defines: positionOf(positions, dimension),
      name: dimension,
    };
  };
  const tensor = (tensor: TensorFacts<Name>): TensorModel<Name> => {
    const position = positionOf(positions, tensor.param);
    const extents = tensor.extents.map((extent, axis) =>
      dimension(extent, { position, what: "shape", axis })
    );
    const strides = tensor.strides.map((stride, axis) =>
      dimension(stride, { position, what: "strides", axis })
    );
    return {
      position,
      extents,
      strides,
      dimensions: [...extents, ...strides],
      hasRange: ranges.some((range) => range.position === position),
      isWritten: isWritten(params[position]),
    };
  };
  return {
    grid: contract.grid,
    tensors: contract.tensors.map(tensor),
    ranges,
    requires: contract.requires,
  };
}
