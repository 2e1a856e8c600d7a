/**
 * Timing: calls of several contenders on a GPU, interleaved, because a warm GPU is slower, and then all
 * contenders should have been slowed alike.
 *
 * With a hot cache a sample is a CUDA graph of many calls between two events, so that no launch from the host is
 * timed; what a call left in the L2 cache is there for the next. With a cold cache a sample is one call between two
 * events, queued after a write of `flushBytes`, which is more than the cache holds and long enough that the call is
 * queued before it is over.
 */
import { expectBranded } from "../ffi/arguments/brands.ts";
import type { Device } from "../ffi/device.ts";
import { TriError } from "../ffi/errors.ts";
import type { DeviceEvent } from "../ffi/event.ts";
import type { Graph } from "../ffi/graph.ts";
import { isList } from "../ffi/arguments/numbers.ts";
import { expectThat } from "./arguments.ts";
import { checkTiming } from "./check_timing.ts";
import { Resources } from "./resources.ts";
import { DEFAULT_TIMING, type Timing } from "./timing.ts";

/** Rounds at the start that do not count: clocks rise, caches fill. */
const WARM_UP_ROUNDS = 3;

/** The device has no times: the emulator computes what a GPU does, not when. */
export class NoTimesError extends TriError {
  /** The class, for those who compare names. */
  override readonly name = "NoTimesError";

  /** For `measure()`. */
  constructor(device: Device) {
    super(`Cannot measure on ${device.label} (taken because ${device.why}): it has no times`, {
      hint: "benchmarks need an NVIDIA GPU; the emulator counts instead, with { profile: true }",
    });
  }
}

/** Takes one sample, in milliseconds per call. */
type Sampler = () => number;

/**
 * Milliseconds per call, `timing.rounds` samples of each contender, in the order of the contenders. Each queues one
 * call on the device's default stream and allocates nothing. Throws `NoTimesError` on the emulator, `ArgumentError` for
 * contenders that are no functions and a timing out of range.
 */
export function measure(
  device: Device,
  contenders: readonly (() => unknown)[],
  timing: Timing = DEFAULT_TIMING,
): number[][] {
  expectBranded("device", device, "device of measure");
  const areCalls = isList(contenders) &&
    contenders.every((contender) => typeof contender === "function");
  expectThat(areCalls, "contenders", "a list of functions", contenders);
  checkTiming(timing);
  if (device.info.kind === "emulator") throw new NoTimesError(device);
  const resources = new Resources();
  try {
    return takeSamples(device, contenders, timing, resources);
  } finally {
    resources.giveBack();
  }
}

function takeSamples(
  device: Device,
  contenders: readonly (() => unknown)[],
  timing: Timing,
  resources: Resources,
): number[][] {
  const clock = new Clock(device, resources);
  const samplers = timing.cache === "hot"
    ? contenders.map((call) => hotSampler(device, call, clock, timing, resources))
    : coldSamplers(device, contenders, clock, timing, resources);
  const samples: number[][] = samplers.map(() => []);
  for (let round = -WARM_UP_ROUNDS; round < timing.rounds; round++) {
    // The order rotates: no contender is always first, or always after the same one.
    for (let turn = 0; turn < samplers.length; turn++) {
      const index = (turn + round + WARM_UP_ROUNDS) % samplers.length;
      const sample = samplers[index]?.() ?? NaN;
      if (round >= 0) samples[index]?.push(sample);
    }
  }
  return samples;
}

/** Two events, used again and again. */
class Clock {
  readonly #start: DeviceEvent;
  readonly #end: DeviceEvent;

  constructor(device: Device, resources: Resources) {
    this.#start = resources.use(device.event());
    this.#end = resources.use(device.event());
  }

  /** How long the device is busy with what `queue` queues on the default stream. */
  time(queue: () => void): number {
    this.#start.record();
    queue();
    this.#end.record();
    return this.#end.millisecondsSince(this.#start);
  }
}

function hotSampler(
  device: Device,
  call: () => unknown,
  clock: Clock,
  timing: Timing,
  resources: Resources,
): Sampler {
  // The first call loads modules and allocates, which cannot be recorded.
  call();
  device.synchronize();
  const few = clock.time(() => {
    for (let i = 0; i < 3; i++) call();
  }) / 3;
  const wanted = Math.round(timing.sampleMilliseconds / Math.max(few, 1e-6));
  const calls = Math.min(Math.max(wanted, 1), timing.maxCalls);
  const graph: Graph = resources.use(device.defaultStream.capture(() => {
    for (let i = 0; i < calls; i++) call();
  }));
  return () => clock.time(() => graph.launch()) / calls;
}

function coldSamplers(
  device: Device,
  contenders: readonly (() => unknown)[],
  clock: Clock,
  timing: Timing,
  resources: Resources,
): Sampler[] {
  const flush = resources.use(device.empty("uint8", [timing.flushBytes]));
  return contenders.map((call) => () => {
    flush.buffer.fill(0);
    return clock.time(() => void call());
  });
}
