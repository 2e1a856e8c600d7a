/**
 * Which of several configurations a launch takes: of those that the device's image has, the one with the least time.
 *
 * Near is the measured key where the sum of |log2(value / measured value)| over the key's parameters is smallest; true is
 * 1, and 0 counts as 0.5. Of equals, the one measured first in order. Timings are those of the same product, else of another GPU of the
 * architecture. Each is scaled by what the model of the configuration says of the two keys: at a measured key the timings
 * decide, far from any the model does. Without timings the model alone decides, without a model the nearest timings;
 * without both, or among equals, the first.
 */
import type { DeviceInfo } from "../../driver.ts";
import type { ChoiceFacts, CostFacts, PointFacts, Values } from "../facts/facts.ts";
import { type Lookup, noticeFarTiming } from "./far_timing.ts";

/** Instances that differ in their configuration alone. `target` is always that of the image that a device has loaded. */
export class Choice<Name extends string, Instance> {
  /** A target's default is the first that it has. */
  readonly instances: readonly Instance[];
  /** How they are called in the kernel's source, in the same order. */
  readonly configs: readonly string[];
  readonly key: readonly Name[];
  readonly facts: ChoiceFacts<Name>;
  readonly #kernel: string;
  readonly #notice: (lookup: Lookup) => void;
  /** Whether targets have different instances; if not, any `target` will do. */
  readonly isByTarget: boolean;
  readonly #offers = new WeakMap<DeviceInfo, Offer<Name>[]>();
  /** Answers to the latest questions: a model asks for the products of a layer in turn, layer after layer. */
  readonly #recent: Answer<Instance>[] = [];

  constructor(
    key: readonly Name[],
    instances: readonly Instance[],
    facts: ChoiceFacts<Name>,
    kernel: string,
    notice: (lookup: Lookup) => void = noticeFarTiming,
  ) {
    this.#kernel = kernel;
    this.#notice = notice;
    this.instances = instances;
    this.configs = facts.instances.map(({ config }) => config);
    this.key = key;
    this.facts = facts;
    this.isByTarget = facts.instances.some(({ availableOn }) => availableOn !== undefined);
  }

  /** Whether the target has the instance with this index in {@linkcode instances}. */
  isAvailable(index: number, target: string): boolean {
    return this.facts.instances[index]?.availableOn?.includes(target) ?? true;
  }

  /** The default on a target. */
  first(target: string): Instance | undefined {
    return this.instances.find((_, index) => this.isAvailable(index, target));
  }

  /** The instance for a launch with these numbers on this device; undefined where its target has none. */
  pick(values: Values<Name>, device: DeviceInfo, target: string): Instance | undefined {
    const { instances, key } = this;
    for (const recent of this.#recent) {
      if (
        recent.device === device && recent.target === target &&
        key.every((name, axis) => recent.at[axis] === values[name])
      ) {
        return recent.instance;
      }
    }
    const offer = this.#offerFor(device, target);
    const index = offer.indices[this.#best(values, device, offer)];
    const instance = index === undefined ? undefined : instances[index];
    this.#recent.unshift({ device, target, at: key.map((name) => values[name]), instance });
    if (this.#recent.length > RECENT) this.#recent.pop();
    return instance;
  }

  /** Takes a new measurement into account, before all others. */
  learn(device: DeviceInfo, target: string, point: PointFacts): void {
    const { points, indices } = this.#offerFor(device, target);
    points.unshift(...pointsOf([point], indices));
    this.#recent.length = 0;
  }

  /** The index of the best among those offered. */
  #best(values: Values<Name>, device: DeviceInfo, { points, models }: Offer<Name>): number {
    const near = this.#nearest(values, points);
    const costs = costsAt(models, values, device);
    if (near === undefined) return costs === undefined ? 0 : least(costs);
    const { point, distance } = near;
    if (distance !== 0) {
      const { key } = this;
      const wanted = key.map((name) => values[name]);
      this.#notice({ kernel: this.#kernel, key, wanted, nearest: point.at, device });
    }
    if (distance === 0 || costs === undefined) return least(point.times);
    point.costs ??= costsAt(models, this.#valuesOf(point), device) ?? [];
    return least(scaled(point.times, point.costs, costs));
  }

  #nearest(
    values: Values<Name>,
    points: readonly Point[],
  ): { readonly point: Point; readonly distance: number } | undefined {
    const logarithms = this.key.map((name) => magnitude(values[name]));
    let near: { readonly point: Point; readonly distance: number } | undefined;
    for (const point of points) {
      const distance = logarithms.reduce(
        (sum, at, axis) => sum + Math.abs(at - (point.logarithms[axis] ?? 0)),
        0,
      );
      if (near === undefined || distance < near.distance) near = { point, distance };
    }
    return near;
  }

  /** A measured key as the numbers of a launch; models read nothing else. */
  #valuesOf({ at }: Point): Values<Name> {
    return Object.fromEntries(this.key.map((name, axis) => [name, at[axis] ?? 0])) as Values<Name>;
  }

  #offerFor(device: DeviceInfo, target: string): Offer<Name> {
    const offers = this.#offers.get(device) ?? [];
    this.#offers.set(device, offers);
    const known = offers.find((one) => one.target === target);
    if (known !== undefined) return known;
    const { name, arch } = device;
    const { measured } = this.facts;
    const found = measured.find(({ gpu }) => gpu === name) ??
      measured.find((other) => other.arch === arch);
    const indices = [...this.instances.keys()].filter((index) => this.isAvailable(index, target));
    const offer: Offer<Name> = {
      target,
      indices,
      models: indices.map((index) => this.facts.instances[index]?.cost),
      points: pointsOf(found?.points ?? [], indices),
    };
    offers.push(offer);
    return offer;
  }
}

/** How many answers a choice keeps: more than a layer of a transformer has sizes of products. */
const RECENT = 8;

/** An instance and the question that it answers. */
interface Answer<Instance> {
  readonly device: DeviceInfo;
  readonly target: string;
  /** The key's values. */
  readonly at: readonly number[];
  readonly instance: Instance | undefined;
}

/** What a target has of a choice; the other lists are in the order of `indices`. */
interface Offer<Name extends string> {
  readonly target: string;
  /** Of the choice's instances. */
  readonly indices: readonly number[];
  readonly models: readonly (CostFacts<Name> | undefined)[];
  readonly points: Point[];
}

/** A key where configurations were timed. */
interface Point {
  readonly at: readonly number[];
  /** Logarithms of the key's values. */
  readonly logarithms: readonly number[];
  /** By what is offered; infinite: not timed. */
  readonly times: readonly number[];
  /** By the model, once they have been asked for; none: there is no model. */
  costs?: readonly number[];
}

/** Points with the times of these instances; without those where none of them was timed. */
function pointsOf(points: readonly PointFacts[], indices: readonly number[]): Point[] {
  return points.flatMap(({ at, microseconds }) => {
    const times = indices.map((index) => microseconds[index] ?? Infinity);
    return times.every((time) => time === Infinity)
      ? []
      : [{ at, logarithms: at.map(magnitude), times }];
  });
}

/** By instance; undefined where one has no model, or its numbers leave what can be counted. */
function costsAt<Name extends string>(
  models: readonly (CostFacts<Name> | undefined)[],
  values: Values<Name>,
  { multiprocessors }: DeviceInfo,
): number[] | undefined {
  const costs: number[] = [];
  for (const cost of models) {
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

/** Nothing counts as one half: near one, but true and false differ. */
function magnitude(value: number): number {
  return Math.log2(Math.max(Math.abs(value), 0.5));
}
