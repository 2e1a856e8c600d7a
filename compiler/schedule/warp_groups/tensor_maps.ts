/** What the host must encode for a scheduled function. */
import type { Func } from "../../ir/func.ts";
import { walkOps } from "../../ir/walk.ts";
import type { TensorMapPlan } from "../../options.ts";

/**
 * The tensor maps in the order of the entry's parameters after those of the kernel; undefined where scheduling made no
 * copies of a `tensor_load`, so that nothing can be emitted.
 */
export function tensorMapPlans({ maps, body }: Func): readonly TensorMapPlan[] | undefined {
  let isLoaded = false;
  walkOps(body, ({ name }) => isLoaded ||= name === "tensor_load");
  const plans = maps.flatMap(({ param, element, axes, copied }): TensorMapPlan[] =>
    copied === undefined ? [] : [{
      param,
      element,
      axes: axes.map(({ extent, stride, windows }) => ({
        extent,
        stride,
        ...windows === undefined ? {} : { windows },
      })),
      ...copied,
    }]
  );
  return isLoaded || plans.length < maps.length ? undefined : plans;
}
