/** Graphs: recorded work that is launched as a whole. */
import type { DeviceBuffer } from "./buffer.ts";
import { DisposedError } from "./errors.ts";
import type { Stream } from "./stream.ts";

/** The buffers that recorded work uses, so that each launch of the graph waits for their other users. */
export class Recording {
  readonly #uses = new Map<DeviceBuffer, boolean>();

  add(buffer: DeviceBuffer, write: boolean): void {
    this.#uses.set(buffer, write || this.#uses.get(buffer) === true);
  }

  replay(stream: Stream): void {
    for (const [buffer, write] of this.#uses) buffer.use(stream, write);
  }
}

/** Work recorded by `stream.capture()`. It keeps using the tensors it was recorded with: keep them alive. */
export class Graph {
  /** The stream that it was recorded on. */
  readonly stream: Stream;
  readonly #handle: bigint;
  readonly #recording: Recording;
  #disposed = false;

  /** Use `stream.capture()`. */
  constructor(stream: Stream, handle: bigint, recording: Recording) {
    this.stream = stream;
    this.#handle = handle;
    this.#recording = recording;
  }

  /** Queues the recorded work on a stream, by default on the one it was recorded on. */
  launch(stream: Stream = this.stream): void {
    if (this.#disposed) throw new DisposedError("Graph");
    const driver = stream.device.enter();
    this.#recording.replay(stream);
    driver.launchGraph(this.#handle, stream.handle);
  }

  /** Gives the graph back; launches that are queued are still done. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    const { device } = this.stream;
    if (!device.disposed) device.enter().destroyGraph(this.#handle);
  }
}
