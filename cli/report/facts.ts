/**
 * A compiled kernel as facts for `defineKernel`, without the detour over a wrapper's text. Every instance is a variant
 * of its own, so that each can be launched, and its conditions are demands.
 */
import { macrosOf } from "../../codegen/macros.ts";
import { GRID_NAMES, namesRead, printSource } from "../../codegen/expression.ts";
import { type Environment, evaluate } from "../../compiler/contract/expr.ts";
import type { ContractExpr, InstanceInfo, Requirement } from "../../compiler/contract/types.ts";
import type {
  CompiledKernel,
  CompiledModule,
  EntryForm,
  KernelOutline,
  WindowsPlan,
} from "../../compiler/options.ts";
import type { TargetName } from "../../compiler/targets.ts";
import { must } from "../../compiler/support/bug.ts";
import type {
  Condition,
  ContractFacts,
  Dimension,
  Expression,
  FormFacts,
  InstanceFacts,
  KernelFacts,
  ParamFacts,
  Values,
  VariantFacts,
} from "../../ffi/mod.ts";

/** The instances that a target has. */
export function instancesOn(
  { instances }: Pick<KernelOutline, "instances">,
  target: TargetName,
): readonly InstanceInfo[] {
  return instances.filter(({ availableOn }) => availableOn?.includes(target) ?? true);
}

/** The facts of a kernel as one of its modules has it. */
export function factsOf(kernel: CompiledKernel, module: CompiledModule): KernelFacts {
  const { name } = kernel;
  const { target, ptx } = module;
  const instances = instancesOn(kernel, target);
  const bytes = new TextEncoder().encode(ptx);
  return {
    name,
    params: must(instances[0], "instance").contract.params.map((param): ParamFacts => {
      const { name } = param;
      if (param.kind === "scalar") return { kind: "scalar", name, opaque: true };
      const { access, noalias } = param;
      return { kind: "pointer", name, access, noalias };
    }),
    contract: contractFacts(must(instances[0], "instance")),
    variants: instances.map(({ symbol, contract }): VariantFacts => ({
      name: symbol,
      bindings: {},
      dtypes: Object.fromEntries(contract.params.map(({ name, type }) => [name, type])),
    })),
    instances: instances.map((instance): InstanceFacts => {
      const { symbol, contract } = instance;
      const entry = must(module.entries.find((each) => each.symbol === symbol), `entry ${symbol}`);
      const { threads, sharedBytes, forms } = entry;
      return {
        symbol,
        threads,
        sharedBytes,
        ...forms === undefined ? {} : { forms: forms.map(formFacts) },
        variant: symbol,
        constants: macrosOf(kernel, instance),
        align: Object.fromEntries(
          contract.params.flatMap((param) =>
            param.kind === "pointer" ? [[param.name, param.align]] : []
          ),
        ),
        contract: contractFacts(instance),
      };
    }),
    images: [{ target, kind: "ptx", base64: base64Of(bytes) }],
    ...kernel.constants.length === 0 ? {} : { constantBuffers: kernel.constants },
  };
}

function formFacts(
  { symbol, threads, sharedBytes, when, maps, persistent }: EntryForm,
): FormFacts {
  return {
    symbol,
    threads,
    sharedBytes,
    when: when.map(condition),
    maps: maps.map(({ axes, ...map }) => ({
      ...map,
      extents: axes.map(({ extent }) => dimension(extent)),
      strides: axes.map(({ stride }) => dimension(stride)),
      ...windowFacts(axes.flatMap(({ windows }) => windows ?? [])),
    })),
    ...persistent === undefined ? {} : { persistent },
  };
}

function windowFacts(
  windows: readonly WindowsPlan[],
): Pick<FormFacts["maps"][number], "windows"> {
  const facts = windows.map(({ lower, upper, step }) => ({
    lower: dimension(lower),
    upper: dimension(upper),
    step: dimension(step),
  }));
  return facts.length === 0 ? {} : { windows: facts };
}

/** The instance's contract, with the conditions under which a wrapper takes it. */
function contractFacts({ contract, specialization }: InstanceInfo): ContractFacts {
  const { grid, tensors, ranges, requires, params } = contract;
  const multiples = params.flatMap((param): Condition[] => {
    if (param.kind !== "scalar" || param.multipleof === undefined) return [];
    const { name, multipleof } = param;
    return [{
      text: `${name} % ${multipleof} == 0`,
      holds: (values) => (values[name] ?? 0) % multipleof === 0,
    }];
  });
  return {
    grid: grid === null ? null : grid.map(expression),
    tensors: tensors.map(({ param, extents, strides, optional }) => ({
      param,
      extents: extents.map(dimension),
      strides: strides.map(dimension),
      ...(optional === undefined ? {} : { optional }),
    })),
    ranges: ranges.map(({ param, first, last }) => ({
      param,
      first: expression(first),
      last: expression(last),
    })),
    requires: [...multiples, ...[...requires, ...specialization].map(condition)],
  };
}

function expression(expr: ContractExpr): Expression {
  const names = namesRead(expr);
  return {
    text: printSource(expr),
    // As in wrappers, an expression that reads a missing size is NaN.
    value: (values) =>
      names.some((name) => Number.isNaN(values[name]))
        ? NaN
        : Number(evaluate(expr, environmentOf(values))),
  };
}

function condition({ condition, text }: Requirement): Condition {
  return { text, holds: (values) => evaluate(condition, environmentOf(values)) !== 0n };
}

function environmentOf(values: Values): Environment {
  return { param: (name) => values[name], grid: (axis) => values[GRID_NAMES[axis] ?? "gridX"] };
}

function dimension(expr: ContractExpr): Dimension {
  if (expr.op === "param") return expr.name;
  return expr.op === "const" && expr.macro === undefined ? expr.value : expression(expr);
}

/** The bytes as facts hold them. std's `encodeBase64` needs `ArrayBuffer.transfer`, which Node 20 lacks. */
export function base64Of(bytes: Uint8Array): string {
  // Arguments of a call have a limit.
  const piece = 8192;
  let text = "";
  for (let at = 0; at < bytes.length; at += piece) {
    text += String.fromCharCode(...bytes.subarray(at, at + piece));
  }
  return btoa(text);
}
