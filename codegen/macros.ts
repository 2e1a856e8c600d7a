/** Compile-time constants that the expressions of a kernel read. */
import type { InstanceInfo } from "../compiler/contract/types.ts";
import type { KernelOutline } from "../compiler/options.ts";
import { collectMacros, GRID_NAMES, namesRead } from "./expression.ts";
import type { KernelPlan } from "./plan.ts";
import { formExpressions, instanceExpressions, kernelExpressions } from "./expressions_read.ts";

/** Everything that expressions of the kernel can read, as members of a union of strings. */
export function expressionNames({ kernel, params }: KernelPlan): readonly string[] {
  const macros = kernel.instances.flatMap((instance) => Object.keys(macrosOf(kernel, instance)));
  const read = new Set(kernelExpressions(kernel).flatMap(namesRead));
  return [
    ...new Set([
      ...params.map(({ name }) => name),
      ...macros,
      ...GRID_NAMES.filter((name) => read.has(name)),
    ]),
  ];
}

/** Values of the compile-time parameters that the expressions of the instance and of its forms mention. */
export function macrosOf(
  kernel: KernelOutline,
  instance: InstanceInfo,
): Readonly<Record<string, number>> {
  const macros = new Map<string, number>();
  const forms = formExpressions(kernel, instance.symbol);
  for (const expr of [...instanceExpressions(instance), ...forms]) collectMacros(expr, macros);
  return Object.fromEntries(macros);
}

/** Largest magnitude of each of them over the instances. */
export function macroBounds(kernel: KernelOutline): ReadonlyMap<string, number> {
  const bounds = new Map<string, number>();
  for (const instance of kernel.instances) {
    for (const [name, value] of Object.entries(macrosOf(kernel, instance))) {
      bounds.set(name, Math.max(bounds.get(name) ?? 0, Math.abs(value)));
    }
  }
  return bounds;
}
