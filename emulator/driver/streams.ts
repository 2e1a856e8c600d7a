/**
 * Streams, events, captures and graphs of the emulator. Work is done when it is queued, so a stream is always done
 * and nothing ever waits. Captures follow the rules of CUDA's (programming guide, "Creating a Graph Using Stream
 * Capture"), so that a program that works here works on a GPU: a stream that waits for an event of a capture joins
 * it, and must be waited for before the capture ends.
 */
import type { RecordedGraph } from "../../ffi/driver.ts";
import { refusal, type RefusalName } from "./failure.ts";

type Work = () => void;

/** How much of each stream's captured work something comes after. */
type Reach = Map<bigint, number>;

interface Capture {
  readonly origin: bigint;
  readonly work: Work[];
  /** By stream: what its next work comes after, its own included. */
  readonly reach: Map<bigint, Reach>;
  isBroken: boolean;
}

interface Event {
  readonly timing: boolean;
  /** When it was recorded; undefined: never. */
  time?: number;
  /** It was recorded last in a capture. */
  captured?: { readonly capture: Capture; readonly reach: Reach };
}

/** All streams of a device. */
export class Streams {
  readonly #streams = new Set<bigint>();
  readonly #captures = new Map<bigint, Capture>();
  readonly #events = new Map<bigint, Event>();
  readonly #graphs = new Map<bigint, readonly Work[]>();
  #next = 1n;

  create(): bigint {
    const stream = this.#next++;
    this.#streams.add(stream);
    return stream;
  }

  destroy(stream: bigint): void {
    if (!this.#streams.delete(stream)) {
      throw refusal("CUDA_ERROR_INVALID_HANDLE", "cuStreamDestroy");
    }
  }

  /** Does work now, or records it. */
  queue(stream: bigint, call: string, work: Work): void {
    const capture = this.#captureOf(stream, call);
    if (capture === undefined) return work();
    capture.work.push(work);
    const reach = capture.reach.get(stream);
    reach?.set(stream, (reach.get(stream) ?? 0) + 1);
  }

  /** For what cannot be recorded: waits and copies that the host sees. */
  refuseCapture(stream: bigint, call: string): void {
    const capture = this.#captureOf(stream, call);
    if (capture !== undefined) {
      throw this.#break(capture, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", call);
    }
  }

  /** For what waits for the whole device. */
  refuseCaptures(call: string): void {
    for (const stream of this.#captures.keys()) this.refuseCapture(stream, call);
  }

  isCapturing(stream: bigint): boolean {
    return this.#captures.has(stream);
  }

  createEvent(timing: boolean): bigint {
    const event = this.#next++;
    this.#events.set(event, { timing });
    return event;
  }

  destroyEvent(event: bigint): void {
    this.#event(event, "cuEventDestroy");
    this.#events.delete(event);
  }

  record(handle: bigint, stream: bigint): void {
    const event = this.#event(handle, "cuEventRecord");
    const capture = this.#captureOf(stream, "cuEventRecord");
    if (capture === undefined) {
      delete event.captured;
      event.time = performance.now();
    } else {
      event.captured = { capture, reach: new Map(capture.reach.get(stream)) };
    }
  }

  /** Lets the stream's later work come after the event. */
  wait(stream: bigint, handle: bigint): void {
    const call = "cuStreamWaitEvent";
    const { captured, time } = this.#event(handle, call);
    const own = this.#captureOf(stream, call);
    if (captured === undefined) {
      if (own === undefined || time === undefined) return;
      throw this.#break(own, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", call);
    }
    const { capture, reach } = captured;
    if (own !== undefined && own !== capture) {
      throw this.#break(own, "CUDA_ERROR_STREAM_CAPTURE_MERGE", call);
    }
    // Once the capture is over, its events say nothing.
    if (this.#captures.get(capture.origin) !== capture) {
      throw refusal("CUDA_ERROR_CAPTURED_EVENT", call);
    }
    this.#captures.set(stream, capture);
    const known = capture.reach.get(stream) ?? new Map<bigint, number>([[stream, 0]]);
    for (const [other, count] of reach) known.set(other, Math.max(count, known.get(other) ?? 0));
    capture.reach.set(stream, known);
  }

  /** Refuses to query a captured event. */
  reach(handle: bigint, call: string): void {
    const { captured } = this.#event(handle, call);
    if (captured !== undefined) throw refusal("CUDA_ERROR_CAPTURED_EVENT", call);
  }

  elapsed(start: bigint, end: bigint): number {
    const call = "cuEventElapsedTime";
    const [from, to] = [start, end].map((handle) => {
      const { timing, time } = this.#event(handle, call);
      if (!timing || time === undefined) throw refusal("CUDA_ERROR_INVALID_HANDLE", call);
      return time;
    });
    return (to ?? 0) - (from ?? 0);
  }

  beginCapture(stream: bigint): void {
    this.refuseCapture(stream, "cuStreamBeginCapture");
    const reach = new Map([[stream, new Map([[stream, 0]])]]);
    this.#captures.set(stream, { origin: stream, work: [], reach, isBroken: false });
  }

  endCapture(stream: bigint): RecordedGraph {
    const call = "cuStreamEndCapture";
    const capture = this.#captures.get(stream);
    if (capture?.origin !== stream) throw refusal("CUDA_ERROR_INVALID_VALUE", call);
    for (const [member, of] of this.#captures) {
      if (of === capture) this.#captures.delete(member);
    }
    if (capture.isBroken) throw refusal("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", call);
    const reached = capture.reach.get(stream);
    const isJoined = [...capture.reach].every(([other, reach]) =>
      (reached?.get(other) ?? -1) >= (reach.get(other) ?? 0)
    );
    if (!isJoined) throw refusal("CUDA_ERROR_STREAM_CAPTURE_UNJOINED", call);
    const handle = this.#next++;
    this.#graphs.set(handle, capture.work);
    return { handle, nodes: capture.work.length };
  }

  /** Does what was recorded, or records it once more. */
  launchGraph(graph: bigint, stream: bigint): void {
    const call = "cuGraphLaunch";
    const work = this.#graphs.get(graph);
    if (work === undefined) throw refusal("CUDA_ERROR_INVALID_HANDLE", call);
    this.queue(stream, call, () => {
      for (const step of work) step();
    });
  }

  destroyGraph(graph: bigint): void {
    if (!this.#graphs.delete(graph)) {
      throw refusal("CUDA_ERROR_INVALID_HANDLE", "cuGraphExecDestroy");
    }
  }

  #event(handle: bigint, call: string): Event {
    const event = this.#events.get(handle);
    if (event === undefined) throw refusal("CUDA_ERROR_INVALID_HANDLE", call);
    return event;
  }

  /** The capture that the stream takes part in; 0n is the legacy default stream, which takes part in none. */
  #captureOf(stream: bigint, call: string): Capture | undefined {
    if (stream !== 0n && !this.#streams.has(stream)) {
      throw refusal("CUDA_ERROR_INVALID_HANDLE", call);
    }
    const capture = this.#captures.get(stream);
    if (capture?.isBroken) throw refusal("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", call);
    return capture;
  }

  #break(capture: Capture, name: RefusalName, call: string): Error {
    capture.isBroken = true;
    return refusal(name, call);
  }
}
