/** Graphs: recorded work that is launched as a whole. */
import { expectBranded } from "./arguments/brands.ts";
import { ArgumentError, DisposedError } from "./errors.ts";
import { describeValue } from "./arguments/values.ts";
import type { Stream } from "./stream.ts";

/** Memory that records which streams use it. */
export interface SharedMemory {
  /** To be called before work that reads or writes the memory is queued on a stream. */
  use(stream: Stream, write: boolean): void;
}

/** The memory that recorded work uses, so that each launch of the graph waits for its other users. */
export class Recording {
  /** What became of it; undefined where recording failed. */
  graph: Graph | undefined;
  readonly #uses = new Map<SharedMemory, boolean>();

  add(memory: SharedMemory, write: boolean): void {
    this.#uses.set(memory, write || this.#uses.get(memory) === true);
  }

  replay(stream: Stream): void {
    for (const [memory, write] of this.#uses) memory.use(stream, write);
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
    expectBranded<Stream>("stream", stream, "stream of Graph");
    if (typeof handle !== "bigint" || !(recording instanceof Recording)) {
      throw new ArgumentError({
        argument: "handle and recording of Graph",
        expected: "what `stream.capture()` passes",
        actual: `${describeValue(handle)} and ${describeValue(recording)}`,
      });
    }
    this.stream = stream;
    this.#handle = handle;
    this.#recording = recording;
    recording.graph = this;
  }

  /** Whether it was given back. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /**
   * Queues the recorded work on a stream, by default on the one it was recorded on. Throws `ArgumentError` for a stream
   * of another device.
   */
  launch(stream: Stream = this.stream): void {
    if (this.#disposed) throw new DisposedError("Graph");
    expectBranded<Stream>("stream", stream, "stream of launch");
    if (stream.device !== this.stream.device) {
      throw new ArgumentError({
        argument: "stream of launch",
        expected: `a stream of the graph's device, ${this.stream.device.label}`,
        actual: "one of another device",
      });
    }
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
