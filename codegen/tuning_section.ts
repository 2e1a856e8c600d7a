/** The part of a wrapper's facts that says which of several configurations a launch takes. */
import type { KernelOutline } from "../compiler/options.ts";
import type { InstanceInfo } from "../compiler/contract/types.ts";
import { groupBy } from "../compiler/support/group_by.ts";
import { array, type Doc, object, quote } from "./doc.ts";
import type { Measured } from "./input.ts";

/** Undefined where every instance has one configuration. */
export function tuningDoc(
  kernel: KernelOutline,
  measured: readonly Measured[],
): Doc | undefined {
  const choices = choicesOf(kernel);
  if (choices.length === 0) return undefined;
  return object({
    key: array(kernel.key.map(quote)),
    choices: array(choices.map((instances) => choiceDoc(kernel, instances, measured))),
  });
}

/** Whether a wrapper of this kernel has to choose between configurations. */
export function hasChoices(kernel: KernelOutline): boolean {
  return choicesOf(kernel).length > 0;
}

/** Instances that differ in their configuration alone, the first configuration first. */
function choicesOf({ instances }: KernelOutline): readonly (readonly InstanceInfo[])[] {
  const sets = groupBy(
    instances,
    ({ configuration, symbol }) => configuration?.first ?? symbol,
  );
  return [...sets].filter(([, set]) => set.length > 1).map(([first, set]) =>
    set.toSorted((a, b) => Number(b.symbol === first) - Number(a.symbol === first))
  );
}

function choiceDoc(
  { name, key }: KernelOutline,
  instances: readonly InstanceInfo[],
  measured: readonly Measured[],
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
      instances.map(({ symbol }, index) =>
        object({ symbol: quote(symbol), config: quote(labels[index] ?? "") })
      ),
    ),
    measured: array(own.map(({ gpu, arch, points }) =>
      object({
        gpu: quote(gpu),
        arch: quote(arch),
        points: array(points.flatMap(({ at, configs }) => {
          const best = configs.find((config) => labels.includes(config));
          const place = key.map((name) => at[name]);
          // Measured before the kernel's key was another one.
          if (best === undefined || place.includes(undefined)) return [];
          return [object({ at: array(place.map(String)), best: String(labels.indexOf(best)) })];
        })),
      })
    )),
  });
}
