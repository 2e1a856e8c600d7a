/** The part of a wrapper's facts that says which of several configurations a launch takes. */
import type { KernelOutline } from "../compiler/options.ts";
import { apply, constant, isOperation, paramsOf } from "../compiler/contract/expr.ts";
import type { ContractExpr, InstanceInfo } from "../compiler/contract/types.ts";
import { groupBy } from "../compiler/support/group_by.ts";
import { array, type Doc, object, quote } from "./doc.ts";
import type { Measured } from "./input.ts";

/** Undefined where every instance has one configuration. `print` prints an expression with its text. */
export function tuningDoc(
  kernel: KernelOutline,
  measured: readonly Measured[],
  print: (expr: ContractExpr) => Doc,
): Doc | undefined {
  const choices = choicesOf(kernel);
  if (choices.length === 0) return undefined;
  return object({
    key: array(kernel.key.map(quote)),
    choices: array(choices.map((instances) => choiceDoc(kernel, instances, measured, print))),
  });
}

/** Whether a wrapper of this kernel has to choose between configurations. */
export function hasChoices(kernel: KernelOutline): boolean {
  return choicesOf(kernel).length > 0;
}

/** Instances that differ in their configuration alone, in the order in which targets take them as defaults. */
function choicesOf({ instances }: KernelOutline): readonly (readonly InstanceInfo[])[] {
  const sets = groupBy(
    instances,
    ({ configuration, symbol }) => configuration?.first ?? symbol,
  );
  const rankOf = ({ configuration }: InstanceInfo): number => configuration?.rank ?? 0;
  return [...sets.values()].filter((set) => set.length > 1)
    .map((set) => set.toSorted((a, b) => rankOf(a) - rankOf(b)));
}

function choiceDoc(
  { name, key }: KernelOutline,
  instances: readonly InstanceInfo[],
  measured: readonly Measured[],
  print: (expr: ContractExpr) => Doc,
): Doc {
  const [first] = instances;
  const labels = instances.map(({ configuration }) => configuration?.label ?? "");
  const own = measured.filter((one) =>
    one.kernel === name && one.variant === first?.variant.name &&
    one.specialization === first.configuration?.specialization
  );
  return object({
    specialization: quote(first?.configuration?.specialization ?? "general"),
    instances: array(
      instances.map((instance, index) =>
        object({
          symbol: quote(instance.symbol),
          config: quote(labels[index] ?? ""),
          availableOn: instance.availableOn && array(instance.availableOn.map(quote)),
          cost: costDoc(instance, key, print),
        })
      ),
    ),
    measured: array(own.map(({ gpu, arch, points }) =>
      object({
        gpu: quote(gpu),
        arch: quote(arch),
        points: array(points.flatMap(({ at, timings }) => {
          const times = labels.map((label) =>
            timings.find(({ config }) => config === label)?.microseconds ?? null
          );
          const values = key.map((name) => at[name]);
          // Measured before the kernel's key was another one, or of configurations that are not shipped.
          if (times.every((time) => time === null) || values.includes(undefined)) return [];
          return [
            object({ at: array(values.map(String)), microseconds: array(times.map(String)) }),
          ];
        })),
      })
    )),
  });
}

/** The model of a launch; undefined where there is none, or it reads more than the key. */
function costDoc(
  { clocks, contract: { grid } }: InstanceInfo,
  key: readonly string[],
  print: (expr: ContractExpr) => Doc,
): Doc | undefined {
  if (clocks === undefined || grid === null) return undefined;
  const blocks = grid.map(withoutMacros).reduce((all, extent) => apply("*", all, extent));
  const isKey = [blocks, clocks].flatMap(paramsOf).every((name) => key.includes(name));
  return isKey ? object({ blocks: print(blocks), clocks: print(clocks) }) : undefined;
}

/** With numbers for compile-time parameters: configurations differ in these. */
function withoutMacros(expr: ContractExpr): ContractExpr {
  if (expr.op === "const") return constant(expr.value);
  return isOperation(expr) ? { ...expr, args: expr.args.map(withoutMacros) } : expr;
}
