/** Events: marks in a stream that can be waited for and timed. */
import type { Device } from "./device.ts";
import { DisposedError, TriError } from "./errors.ts";
import type { Stream } from "./stream.ts";
import { untilDone } from "./wait.ts";

/** A mark in a stream. */
export class DeviceEvent {
  /** The device that it belongs to. */
  readonly device: Device;
  readonly #handle: bigint;
  #recorded = false;
  #disposed = false;

  /** Use `device.event()`. */
  constructor(device: Device, options: { readonly timing: boolean }) {
    this.device = device;
    this.#handle = device.enter().createEvent(options);
  }

  /** The driver's handle. */
  get handle(): bigint {
    if (this.#disposed) throw new DisposedError("Event");
    return this.#handle;
  }

  /** Puts the mark behind all that is queued on the stream; replaces an earlier mark. */
  record(stream: Stream = this.device.defaultStream): this {
    const { handle } = this;
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

  /** Milliseconds on the device from an earlier event to this one; waits for both. */
  millisecondsSince(start: DeviceEvent): number {
    if (!this.#recorded || !start.#recorded) {
      throw new TriError("Cannot measure the time between events that were not recorded", {
        hint: "call start.record(stream) before the work and end.record(stream) after it",
      });
    }
    start.synchronize();
    this.synchronize();
    return this.device.enter().elapsedMilliseconds(start.handle, this.handle);
  }

  /** Gives the event back; waits that are queued for it stay. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (!this.device.disposed) this.device.enter().destroyEvent(this.#handle);
  }
}
