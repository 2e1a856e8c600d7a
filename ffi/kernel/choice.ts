/**
 * Which of several configurations a launch takes: the one that was fastest for the same key, else for the nearest key,
 * measured on the same product, else on another GPU of the architecture; else the first. Near is where the sum of
 * |log2(value / measured value)| over the key's parameters is smallest; of equals, the one measured first in order.
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
  readonly facts: ChoiceFacts;
  readonly #byDevice = new WeakMap<DeviceInfo, Point[]>();

  constructor(
    key: readonly Name[],
    instances: readonly Instance[],
    facts: ChoiceFacts,
  ) {
    this.instances = instances;
    this.configs = facts.instances.map(({ config }) => config);
    this.key = key;
    this.facts = facts;
  }

  /** The instance for a launch with these numbers on this device. */
  pick(values: Values<Name>, device: DeviceInfo): Instance | undefined {
    const { instances, key } = this;
    let best = 0;
    let least = Infinity;
    for (const { place, index } of this.#pointsFor(device)) {
      let distance = 0;
      for (let axis = 0; axis < key.length; axis++) {
        const name = key[axis];
        if (name !== undefined) distance += Math.abs(magnitude(values[name]) - (place[axis] ?? 0));
      }
      if (distance >= least) continue;
      [best, least] = [index, distance];
      if (distance === 0) break;
    }
    return instances[best];
  }

  /** Takes a new measurement into account, before all others. */
  learn(device: DeviceInfo, { at, best }: PointFacts): void {
    this.#pointsFor(device).unshift(pointOf({ at, best }));
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

/** A key where one configuration was the fastest. */
interface Point {
  /** Logarithms of the key's values. */
  readonly place: readonly number[];
  readonly index: number;
}

function pointOf({ at, best }: PointFacts): Point {
  return { place: at.map(magnitude), index: best };
}

/** Sizes of nothing are as good as one. */
function magnitude(value: number): number {
  return Math.log2(Math.max(Math.abs(value), 1));
}
