/** Streams: queues of work on one device. Work on one stream is done in order. */
import type { Device } from "./device.ts";
import { expectBranded, isBranded, nameValue, registerBrand } from "./arguments/brands.ts";
import { ArgumentError, DisposedError } from "./errors.ts";
import type { DeviceEvent } from "./event.ts";
import { Graph, Recording } from "./graph.ts";
import { arePeers } from "./memory/peers.ts";
import { describeValue } from "./arguments/values.ts";

/** Whether the value is a stream, and not merely of its form. */
export let isStream: (value: unknown) => value is Stream;

/**
 * A queue of copies and launches. Tensors remember the streams that use them, so work on a tensor waits for
 * what other streams do with it; two streams run side by side as far as they share nothing.
 */
export class Stream {
  /** The device that it belongs to. */
  readonly device: Device;
  readonly #handle: bigint;
  #recording: Recording | undefined;
  #disposed = false;

  static {
    isStream = (value): value is Stream =>
      typeof value === "object" && value !== null && #handle in value;
    registerBrand("stream", isStream);
  }

  /** Use `device.stream()`. */
  constructor(device: Device) {
    expectBranded<Device>("device", device, "device of Stream");
    this.device = device;
    this.#handle = device.enter().createStream();
  }

  /** The driver's handle. */
  get handle(): bigint {
    if (this.disposed) throw new DisposedError("Stream");
    return this.#handle;
  }

  /** Whether it was disposed, by itself or with its device. */
  get disposed(): boolean {
    return this.#disposed || this.device.disposed;
  }

  /**
   * What `capture` is recording on this stream, if anything.
   *
   * @ignore
   */
  get recording(): Recording | undefined {
    return this.#recording;
  }

  /** Whether everything queued so far is done. */
  get done(): boolean {
    const { handle } = this;
    return this.device.enter().isStreamDone(handle);
  }

  /** Blocks until everything queued so far is done. */
  synchronize(): void {
    const { handle } = this;
    this.device.enter().synchronizeStream(handle);
  }

  /** Resolves when everything queued so far is done, without blocking the event loop. */
  async finished(): Promise<void> {
    const event = this.device.event({ timing: false });
    try {
      event.record(this);
      await event.finished();
    } catch (error) {
      try {
        event[Symbol.dispose]();
      } catch {
        // After a fault nothing can be freed; the fault itself is the error to report.
      }
      throw error;
    }
    event[Symbol.dispose]();
  }

  /**
   * Lets what is queued here from now on wait for an event, or for all that is queued on another stream. They may be of
   * another device; between a GPU and an emulator the host waits.
   */
  waitFor(other: Stream | DeviceEvent): void {
    const { handle } = this;
    if (other === this) return;
    const isEvent = isBranded<DeviceEvent>("event", other);
    if (!isEvent && !isStream(other)) {
      throw new ArgumentError({
        argument: "other of waitFor",
        expected: "a stream or an event",
        actual: nameValue(other),
      });
    }
    if (isEvent) {
      if (arePeers(other.device, this.device)) {
        this.device.enter().waitForEvent(handle, other.handle);
      } else {
        other.synchronize();
      }
    } else if (!other.disposed) {
      this.device.order(other, this);
    }
  }

  /**
   * Records the work that `body` queues on this stream, without doing it, as a graph that can be launched
   * again and again at less cost per launch. Reads and writes of host memory cannot be recorded. The recording ends when
   * `body` returns; throws `ArgumentError` for a `body` that is `async`, a generator, or returns a promise.
   */
  capture(body: () => void): Graph {
    expectSynchronous(body);
    const { device, handle } = this;
    // Nothing outside the recording is then left to wait for.
    device.synchronize();
    const recording = new Recording();
    device.enter().beginCapture(handle);
    this.#recording = recording;
    try {
      const returned: unknown = body();
      if (isThenable(returned)) {
        // Nothing waits for the promise, so its failure would end the program.
        returned.then(undefined, () => {});
        throw asynchronousBody("one that returns a promise");
      }
    } catch (error) {
      this.#abandonCapture();
      throw error;
    }
    this.#recording = undefined;
    return new Graph(this, device.enter().endCapture(handle).handle, recording);
  }

  #abandonCapture(): void {
    this.#recording = undefined;
    try {
      const driver = this.device.enter();
      driver.destroyGraph(driver.endCapture(this.#handle).handle);
    } catch {
      // The error that broke the recording is the one to report.
    }
  }

  /** Waits for the stream's work, then gives the stream back. The default stream lives as long as its device. */
  [Symbol.dispose](): void {
    if (this.disposed || this === this.device.defaultStream) return;
    const driver = this.device.enter();
    this.device.retire(this);
    this.#disposed = true;
    driver.destroyStream(this.#handle);
  }
}

/** Functions whose calls end before their work is queued, as `Object.prototype.toString` names them. */
const DEFERRED_KINDS: Readonly<Record<string, string>> = {
  "[object AsyncFunction]": "an async function",
  "[object AsyncGeneratorFunction]": "an async generator",
  "[object GeneratorFunction]": "a generator",
};

function expectSynchronous(body: unknown): void {
  if (typeof body !== "function") throw asynchronousBody(describeValue(body));
  const deferred = DEFERRED_KINDS[Object.prototype.toString.call(body)];
  if (deferred !== undefined) throw asynchronousBody(deferred);
  // A call of a class is a TypeError of the language.
  const text = Function.prototype.toString.call(body);
  if (text.startsWith("class")) throw asynchronousBody("a class");
}

function isThenable(
  value: unknown,
): value is { then(done: undefined, failed: () => void): unknown } {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}

function asynchronousBody(actual: string): ArgumentError {
  return new ArgumentError({
    argument: "body of capture",
    expected: "a function that has queued all of its work when it returns",
    actual,
  }, { hint: "`await` what the work needs before the capture" });
}
