/**
 * Which of several configurations a launch takes: the one with the least time.
 *
 * Near is the measured key where the sum of |log2(value / measured value)| over the key's parameters is smallest; of
 * equals, the one measured first in order. Timings are those of the same product, else of another GPU of the
 * architecture. Each is scaled by what the model of the configuration says of the two keys: at a measured key the timings
 * decide, far from any the model does. Without timings the model alone decides, without a model the nearest timings;
 * without both, or among equals, the first.
 */
import type { DeviceInfo } from "../driver.ts";
import type { ChoiceFacts, PointFacts, Values } from "./facts.ts";

/** Instances that differ in their configuration alone. */
export class Choice<Name extends string, Instance> {
  /** The default first. */
  readonly instances: readonly Instance[];
  /** How they are called in the kernel's source, in the same order. */
  readonly configs: readonly string[];
  readonly key: readonly Name[];
  readonly facts: ChoiceFacts<Name>;
  readonly #byDevice = new WeakMap<DeviceInfo, Point[]>();
  /** The last answer: most launches have the sizes of the launch before. */
  #last: { readonly device: DeviceInfo; readonly at: number[]; readonly index: number } | undefined;

  constructor(
    key: readonly Name[],
    instances: readonly Instance[],
    facts: ChoiceFacts<Name>,
  ) {
    this.instances = instances;
    this.configs = facts.instances.map(({ config }) => config);
    this.key = key;
    this.facts = facts;
  }

  /** The instance for a launch with these numbers on this device. */
  pick(values: Values<Name>, device: DeviceInfo): Instance | undefined {
    const { instances, key } = this;
    const last = this.#last;
    if (last?.device === device && key.every((name, axis) => last.at[axis] === values[name])) {
      return instances[last.index];
    }
    const index = this.#best(values, device);
    this.#last = { device, at: key.map((name) => values[name]), index };
    return instances[index];
  }

  /** Takes a new measurement into account, before all others. */
  learn(device: DeviceInfo, point: PointFacts): void {
    this.#pointsFor(device).unshift(pointOf(point));
    this.#last = undefined;
  }

  #best(values: Values<Name>, device: DeviceInfo): number {
    const near = this.#nearest(values, device);
    const costs = this.#costsAt(values, device);
    if (near === undefined) return costs === undefined ? 0 : least(costs);
    const { point, distance } = near;
    if (distance === 0 || costs === undefined) return least(point.times);
    point.costs ??= this.#costsAt(this.#valuesOf(point), device) ?? [];
    return least(scaled(point.times, point.costs, costs));
  }

  #nearest(
    values: Values<Name>,
    device: DeviceInfo,
  ): { readonly point: Point; readonly distance: number } | undefined {
    const logarithms = this.key.map((name) => magnitude(values[name]));
    let near: { readonly point: Point; readonly distance: number } | undefined;
    for (const point of this.#pointsFor(device)) {
      const distance = logarithms.reduce(
        (sum, at, axis) => sum + Math.abs(at - (point.logarithms[axis] ?? 0)),
        0,
      );
      if (near === undefined || distance < near.distance) near = { point, distance };
    }
    return near;
  }

  /** By instance; undefined where one has no model, or its numbers leave what can be counted. */
  #costsAt(values: Values<Name>, { multiprocessors }: DeviceInfo): number[] | undefined {
    const costs: number[] = [];
    for (const { cost } of this.facts.instances) {
      if (cost === undefined) return undefined;
      try {
        const turns = Math.ceil(cost.blocks.value(values) / Math.max(multiprocessors, 1));
        costs.push(Math.max(turns, 1) * Math.max(cost.clocks.value(values), 1));
      } catch {
        // The grid or a condition says what is wrong with such numbers.
        return undefined;
      }
    }
    return costs.length === 0 ? undefined : costs;
  }

  /** A measured key as the numbers of a launch; models read nothing else. */
  #valuesOf({ at }: Point): Values<Name> {
    return Object.fromEntries(this.key.map((name, axis) => [name, at[axis] ?? 0])) as Values<Name>;
  }

  #pointsFor(device: DeviceInfo): Point[] {
    const known = this.#byDevice.get(device);
    if (known !== undefined) return known;
    const { name, arch } = device;
    const { measured } = this.facts;
    const found = measured.find(({ gpu }) => gpu === name) ??
      measured.find((other) => other.arch === arch);
    const points = (found?.points ?? []).map(pointOf);
    this.#byDevice.set(device, points);
    return points;
  }
}

/** A key where configurations were timed. */
interface Point {
  readonly at: readonly number[];
  /** Logarithms of the key's values. */
  readonly logarithms: readonly number[];
  /** By instance; infinite: not timed. */
  readonly times: readonly number[];
  /** By the model, once they have been asked for; none: there is no model. */
  costs?: readonly number[];
}

function pointOf({ at, microseconds }: PointFacts): Point {
  return { at, logarithms: at.map(magnitude), times: microseconds.map((time) => time ?? Infinity) };
}

/** Times at another key. What was not timed there is compared with the fastest by the model. */
function scaled(
  times: readonly number[],
  measured: readonly number[],
  wanted: readonly number[],
): readonly number[] {
  if (measured.length === 0) return times;
  const best = least(times);
  const clock = (times[best] ?? 1) / (measured[best] ?? 1);
  return wanted.map((cost, index) => {
    const [time = Infinity, then = 1] = [times[index], measured[index]];
    return time === Infinity ? cost * clock : cost * time / then;
  });
}

/** Index of the smallest; of equals the first. */
function least(numbers: readonly number[]): number {
  return numbers.reduce((best, number, index) => number < (numbers[best] ?? 0) ? index : best, 0);
}

/** Sizes of nothing are as good as one. */
function magnitude(value: number): number {
  return Math.log2(Math.max(Math.abs(value), 1));
}
