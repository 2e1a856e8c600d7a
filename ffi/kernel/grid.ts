/**
 * The grid of a launch for those who know its sizes and not yet its tensors. Which code such a launch runs, and with it
 * the tiles that programs have, may depend on the tensors; then there is no answer.
 */
import { ArgumentError } from "../errors.ts";
import { own } from "../arguments/options.ts";
import { computeGrid } from "./call/check.ts";
import type { Condition } from "./facts/facts.ts";
import type { CallArguments } from "./call/call_arguments.ts";
import type { NamedValues } from "./call/gather.ts";
import type { InstanceModel, VariantModel } from "./facts/model.ts";
import type { Grid } from "./types.ts";
import { namedVariant } from "./variant.ts";

/** The grid that all code has which a launch with these sizes may run; of the first variant unless another is named. */
export function gridForSizes<Name extends string>(
  call: CallArguments<Name>,
  sizes: NamedValues,
  variantName: string | undefined,
): Grid {
  const { name, variants, scalars, params } = call.model;
  const variant = variantName === undefined ? variants[0] : namedVariant(call.model, variantName);
  if (variant === undefined) throw new TypeError(`${name} has no variants`);
  for (const position of scalars) {
    const size = params[position]?.name;
    if (size === undefined) continue;
    // A size that the grid reads but that was not given must not be an earlier call's.
    call.values[size] = NaN;
    const value = own<NamedValues, string>(sizes, size);
    if (value !== undefined) call.setScalar(position, value, variant);
  }
  const grids = possibleInstances(call, variant).map((instance) => {
    const grid: [number, number, number] = [1, 1, 1];
    call.setConstants(instance);
    computeGrid(call, instance, undefined, grid);
    return { symbol: instance.facts.symbol, grid };
  });
  const [first, ...others] = grids;
  if (first === undefined) throw new TypeError(`${name} has no instances`);
  if (others.every(({ grid }) => grid.join() === first.grid.join())) return first.grid;
  throw new ArgumentError({
    argument: `arguments of ${name}.grid`,
    expected: "all that launch() takes, because they decide between tiles of different sizes",
    actual: `sizes for ${
      grids.map(({ symbol, grid }) => `${grid.join("×")} programs of ${symbol}`).join(" or ")
    }`,
  });
}

/** Those that a launch may take on any target in its default configuration, as far as numbers show. */
function possibleInstances<Name extends string>(
  call: CallArguments<Name>,
  { defaults }: VariantModel<Name>,
): readonly InstanceModel<Name>[] {
  const possible: InstanceModel<Name>[] = [];
  for (const ofTargets of defaults) {
    let isSure = true;
    for (const instance of ofTargets) {
      call.setConstants(instance);
      const known = instance.conditions.filter((condition) => isKnown(call, condition));
      if (known.every(({ holds }) => holds(call.values))) possible.push(instance);
      else isSure = false;
      if (known.length < instance.conditions.length) isSure = false;
    }
    if (isSure) break;
  }
  return possible;
}

/** Whether the condition reads nothing that was not given. */
function isKnown<Name extends string>(
  { model: { params }, values }: CallArguments<Name>,
  { text }: Condition<Name>,
): boolean {
  const mentioned = new Set<string>(text.match(/[A-Za-z_]\w*/g));
  return params.every(({ kind, name }) =>
    !mentioned.has(name) || kind === "scalar" && !Number.isNaN(values[name])
  );
}
