/**
 * Arguments to launch an instance with, from its contract alone: sizes that fulfil its conditions, rows without gaps, 1 for
 * what is neither a size nor a stride.
 */
import { type Environment, evaluate, paramsOf } from "../../compiler/contract/expr.ts";
import type {
  ContractExpr,
  InstanceInfo,
  KernelContract,
  TensorContract,
} from "../../compiler/contract/types.ts";
import { must } from "../../compiler/support/bug.ts";
import type { ScalarName } from "../../compiler/support/scalar.ts";

/** What parameters are called with, by name. */
export type Sizes = ReadonlyMap<string, number>;

/** A tensor to be made. */
export interface TensorPlan {
  readonly param: string;
  readonly dtype: ScalarName;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  /** Whether the kernel reads it. */
  readonly isRead: boolean;
}

/** What an instance is to be launched with. */
export interface Arguments {
  /** Scalar parameters, in the kernel's order. */
  readonly scalars: Sizes;
  /** Those of them that are true or false. */
  readonly flags: readonly string[];
  readonly tensors: readonly TensorPlan[];
  /** Pointers that the kernel can do without. */
  readonly absent: readonly string[];
}

/** The default of an extent. */
const DEFAULT_EXTENT = 256;

/** Arguments that go with the given sizes, or why there are none; other extents are `extent`. */
export function chooseArguments(
  instance: InstanceInfo,
  given: Sizes,
  extent = DEFAULT_EXTENT,
): Arguments | string {
  const { contract } = instance;
  const pointers = contract.params.filter((param) => param.kind === "pointer");
  const unknown = pointers.filter(({ name, access }) =>
    access !== "none" && !contract.tensors.some(({ param }) => param === name)
  );
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name).join(" and ");
    return `the size of ${names} is not known: neither the code nor a pragma states it`;
  }
  const scalars = chooseScalars(instance, given, extent);
  const environment = environmentOf(scalars);
  const value = (expr: ContractExpr): number => Number(evaluate(expr, environment));
  const used = contract.tensors.filter(({ optional }) => optional !== true);
  const tensors = used.map(({ param, extents, strides }): TensorPlan => {
    const pointer = must(pointers.find(({ name }) => name === param), `pointer ${param}`);
    return {
      param,
      dtype: pointer.type,
      shape: extents.map(value),
      strides: strides.map(value),
      isRead: pointer.access !== "out",
    };
  });
  const absent = pointers.filter(({ name }) => !used.some(({ param }) => param === name));
  const flags = contract.params.filter(({ kind, type }) => kind === "scalar" && type === "bool");
  return {
    scalars,
    flags: flags.map(({ name }) => name),
    tensors,
    absent: absent.map(({ name }) => name),
  };
}

/** Values of scalar parameters as a call takes them. */
export function scalarValues(
  { scalars, flags }: Pick<Arguments, "scalars" | "flags">,
): Record<string, unknown> {
  return Object.fromEntries(
    [...scalars].map(([name, value]) => [name, flags.includes(name) ? value !== 0 : value]),
  );
}

/** Addresses count as multiples of everything. */
function environmentOf(scalars: Sizes): Environment {
  return { param: (name) => scalars.get(name) ?? 0 };
}

function chooseScalars(instance: InstanceInfo, given: Sizes, extent: number): Sizes {
  const { contract } = instance;
  const values = new Map<string, number>();
  const { multiples, fixed } = demandsOf(instance);
  const roundUp = (name: string, value: number): number => {
    const multiple = multiples.get(name) ?? 1;
    return Math.ceil(value / multiple) * multiple;
  };
  const extents = extentParams(contract);
  for (const { kind, name } of contract.params) {
    if (kind !== "scalar") continue;
    values.set(
      name,
      given.get(name) ?? fixed.get(name) ?? roundUp(name, extents.has(name) ? extent : 1),
    );
  }
  const free = strideParams(contract, extents);
  // A parameter may be the stride of several tensors; it must do for all of them.
  for (const tensor of [...contract.tensors, ...contract.tensors]) {
    for (const [name, least] of denseStrides(tensor, values, fixed)) {
      if (!free.has(name) || given.has(name) || fixed.has(name)) continue;
      values.set(name, Math.max(values.get(name) ?? 0, roundUp(name, least)));
    }
  }
  return values;
}

/** Parameters that extents of tensors or of the grid are made of. */
export function extentParams({ tensors, grid }: KernelContract): ReadonlySet<string> {
  return new Set([
    ...tensors.flatMap((tensor) => tensor.extents.flatMap(paramsOf)),
    ...(grid ?? []).flatMap(paramsOf),
  ]);
}

/** Parameters that are strides and nothing else. */
function strideParams(
  { tensors }: KernelContract,
  extents: ReadonlySet<string>,
): ReadonlySet<string> {
  const names = tensors.flatMap(({ strides }) =>
    strides.flatMap((stride) => stride.op === "param" ? [stride.name] : [])
  );
  return new Set(names.filter((name) => !extents.has(name)));
}

/** The least strides that rows without overlap have, of axes whose stride is a parameter. */
function denseStrides(
  { extents, strides }: TensorContract,
  values: Sizes,
  fixed: Sizes,
): [string, number][] {
  const environment = environmentOf(values);
  const isUnit = (stride: ContractExpr): boolean =>
    stride.op === "const"
      ? stride.value === 1
      : stride.op === "param" && fixed.get(stride.name) === 1;
  const axes = strides.map((stride, axis) => ({ stride, axis }));
  const inwards = [
    ...axes.filter(({ stride }) => !isUnit(stride)),
    ...axes.filter(({ stride }) => isUnit(stride)),
  ];
  const least: [string, number][] = [];
  let span = 1;
  for (const { stride, axis } of inwards.reverse()) {
    const known = Number(evaluate(stride, environment));
    if (stride.op === "param") least.push([stride.name, span]);
    const step = stride.op === "param" ? Math.max(known, span) : known;
    span = step * Number(evaluate(must(extents[axis], "extent of an axis"), environment));
  }
  return least;
}

/** What each parameter must be a multiple of, or must be, as far as a condition states it literally. */
function demandsOf(
  { contract, specialization }: InstanceInfo,
): { readonly multiples: Sizes; readonly fixed: Sizes } {
  const fixed = new Map<string, number>();
  const multiples = new Map<string, number>();
  const note = (name: string, multiple: number): void => {
    const known = multiples.get(name) ?? 1;
    multiples.set(name, known * multiple / greatestDivisor(known, multiple));
  };
  for (const param of contract.params) {
    if (param.kind === "scalar" && param.multipleof !== undefined) {
      note(param.name, param.multipleof);
    }
  }
  const read = (condition: ContractExpr): void => {
    if (condition.op === "&&") return condition.args.forEach(read);
    if (condition.op !== "==") return;
    const [rest, zero] = condition.args;
    if (rest?.op === "param" && zero?.op === "const") fixed.set(rest.name, zero.value);
    if (zero?.op !== "const" || zero.value !== 0 || rest?.op !== "%") return;
    const [dividend, divisor] = rest.args;
    if (dividend?.op === "param" && divisor?.op === "const" && divisor.value > 0) {
      note(dividend.name, divisor.value);
    }
  };
  for (const { condition } of [...contract.requires, ...specialization]) read(condition);
  return { multiples, fixed };
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
