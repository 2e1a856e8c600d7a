/** The expressions that wrappers evaluate, of a kernel, of its instances and of their forms. */
import type { ContractExpr, InstanceInfo } from "../compiler/contract/types.ts";
import type { KernelOutline } from "../compiler/options.ts";

/** All expressions of an instance that wrappers evaluate; those of tensors may be names that they define. */
export function instanceExpressions(
  { contract, specialization }: InstanceInfo,
): readonly ContractExpr[] {
  return [
    ...contract.grid ?? [],
    ...contract.tensors.flatMap(({ extents, strides }) => [...extents, ...strides]),
    ...contract.ranges.flatMap(({ first, last }) => [first, last]),
    ...[...contract.requires, ...specialization].map(({ condition }) => condition),
  ];
}

/** Expressions of the forms that an entry has for any target. */
export function formExpressions(
  { modules }: Pick<KernelOutline, "modules">,
  symbol: string,
): readonly ContractExpr[] {
  return modules.flatMap(({ entries }) =>
    entries.filter((entry) => entry.symbol === symbol).flatMap(({ forms = [] }) =>
      forms.flatMap(({ when, maps }) => [
        ...when.map(({ condition }) => condition),
        ...maps.flatMap(({ axes }) => axes.flatMap(({ extent, stride }) => [extent, stride])),
      ])
    )
  );
}

/** All expressions that wrappers evaluate. */
export function kernelExpressions(kernel: KernelOutline): readonly ContractExpr[] {
  return kernel.instances.flatMap((instance) => [
    ...instanceExpressions(instance),
    ...formExpressions(kernel, instance.symbol),
  ]);
}
