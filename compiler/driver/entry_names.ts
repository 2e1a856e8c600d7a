/** What entries are called. */
import type { InstancePlan, KernelPlan } from "../instances/instances.ts";
import { type Form, FORMS } from "../tile/pass.ts";
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

/** A form beside the plain code. */
export type FasterForm = Exclude<Form, "plain">;

/** What their names end in. */
const FORM_ENDS: Readonly<Record<FasterForm, string>> = {
  tensor: "_tensor",
  turns: "_turns",
  ring: "_ring",
  shifted: "_shifted",
};

/** The name of a form of an entry. */
export const formName = (entry: string, form: FasterForm): string => entry + FORM_ENDS[form];

/** The entry that a name is of, or of a form of, and which form that is. */
export function readFormName(symbol: string): { readonly entry: string; readonly form: Form } {
  for (const form of FORMS) {
    if (form === "plain") continue;
    const end = FORM_ENDS[form];
    if (symbol.endsWith(end)) return { entry: symbol.slice(0, -end.length), form };
  }
  return { entry: symbol, form: "plain" };
}
