/** What entries are called. */
import type { InstancePlan, KernelPlan } from "../instances/instances.ts";
import { entrySymbol, type Specialization } from "../instances/specialize.ts";

export interface EntryName {
  readonly symbol: string;
  /** The name with the first configuration. */
  readonly first: string;
}

export function entryName(
  plan: KernelPlan,
  { kernel, variant, configuration: { suffix } }: InstancePlan,
  specialization: Specialization,
): EntryName {
  const variants = new Set(plan.instances.map((one) => one.variant.name));
  const first = entrySymbol(kernel, variants.size > 1 ? variant.name : undefined, specialization);
  return { symbol: suffix === "" ? first : `${first}${suffix}`, first };
}
