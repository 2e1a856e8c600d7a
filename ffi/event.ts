/** Events: marks in a stream that can be waited for and timed. */
import type { Device } from "./device.ts";
import { expectBranded, registerBrand } from "./arguments/brands.ts";
import { ArgumentError, DisposedError, TriError } from "./errors.ts";
import { checkOptions, optionNames, own } from "./arguments/options.ts";
import type { Stream } from "./stream.ts";
import { describeValue } from "./arguments/values.ts";
import { untilDone } from "./wait.ts";

/** How an event is made. */
export interface EventOptions {
  /** Whether it can measure time, which costs more; true by default. */
  readonly timing?: boolean;
}

const EVENT_OPTIONS = optionNames<EventOptions>({ timing: true });

/** A mark in a stream. */
export class DeviceEvent {
  /** The device that it belongs to. */
  readonly device: Device;
  readonly #handle: bigint;
  #recorded = false;
  #disposed = false;

  static {
    registerBrand("event", (value) => #recorded in value);
  }

  /** Use `device.event()`. Throws `ArgumentError` for what is no device and for other options. */
  constructor(device: Device, options: EventOptions = {}) {
    expectBranded<Device>("device", device, "device of DeviceEvent");
    checkOptions("options of event", options, EVENT_OPTIONS);
    const { timing = true } = { timing: own(options, "timing") };
    if (typeof timing !== "boolean") {
      throw new ArgumentError({
        argument: "timing",
        expected: "true or false",
        actual: describeValue(timing),
      });
    }
    this.device = device;
    this.#handle = device.enter().createEvent({ timing });
  }

  /** The driver's handle. */
  get handle(): bigint {
    if (this.#disposed) throw new DisposedError("Event");
    return this.#handle;
  }

  /**
   * Puts the mark after all that is queued on the stream, by default the device's default stream; replaces an earlier
   * mark. Throws `ArgumentError` for a stream of another device.
   */
  record(stream: Stream = this.device.defaultStream): this {
    const { handle } = this;
    expectBranded<Stream>("stream", stream, "stream of record");
    this.#expectSameDevice("stream of record", stream);
    this.device.enter().recordEvent(handle, stream.handle);
    this.#recorded = true;
    return this;
  }

  /** Whether the stream has passed the mark; true as long as nothing was recorded. */
  get done(): boolean {
    const { handle } = this;
    return this.device.enter().isEventDone(handle);
  }

  /** Blocks until the stream has passed the mark. */
  synchronize(): void {
    const { handle } = this;
    this.device.enter().synchronizeEvent(handle);
  }

  /** Resolves when the stream has passed the mark, without blocking the event loop. */
  finished(): Promise<void> {
    return untilDone(() => this.done);
  }

  /**
   * Milliseconds on the device from an earlier event to this one; waits for both. Throws `ArgumentError` for an event of
   * another device, `TriError` where one of the two was never recorded.
   */
  millisecondsSince(start: DeviceEvent): number {
    expectBranded<DeviceEvent>("event", start, "start of millisecondsSince");
    this.#expectSameDevice("start of millisecondsSince", start);
    if (!this.#recorded || !start.#recorded) {
      throw new TriError("Cannot measure the time between events that were not recorded", {
        hint: "call start.record(stream) before the work and end.record(stream) after it",
      });
    }
    start.synchronize();
    this.synchronize();
    return this.device.enter().elapsedMilliseconds(start.handle, this.handle);
  }

  #expectSameDevice(argument: string, other: { readonly device: Device }): void {
    if (other.device === this.device) return;
    throw new ArgumentError({
      argument,
      expected: `one of the event's device, ${this.device.label}`,
      actual: "one of another device",
    });
  }

  /** Gives the event back; waits that are queued for it stay. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (!this.device.disposed) this.device.enter().destroyEvent(this.#handle);
  }
}
