import { Streams } from "../../../emulator/driver/streams.ts";
import { CudaError } from "../../../ffi/errors.ts";
import { assert, assertEquals, assertThrows } from "../../support/assert.ts";

/** Two streams, and work that notes its name. */
function setup(): {
  readonly streams: Streams;
  readonly one: bigint;
  readonly two: bigint;
  readonly done: string[];
  readonly work: (stream: bigint, name: string) => void;
} {
  const streams = new Streams();
  const done: string[] = [];
  return {
    streams,
    one: streams.create(),
    two: streams.create(),
    done,
    work: (stream, name) => streams.queue(stream, "call", () => done.push(name)),
  };
}

function refuses(name: string, body: () => unknown): void {
  assertEquals(assertThrows(body, CudaError).cudaName, name);
}

Deno.test("Streams.queue() does work at once, or records it for graphs", () => {
  const { streams, one, two, done, work } = setup();
  work(one, "now");
  assertEquals(done, ["now"]);
  streams.beginCapture(one);
  work(one, "a");
  work(one, "b");
  work(two, "beside");
  assertEquals(done, ["now", "beside"]);
  const { handle: graph, nodes } = streams.endCapture(one);
  assertEquals(done, ["now", "beside"]);
  assertEquals(nodes, 2);
  streams.launchGraph(graph, two);
  streams.launchGraph(graph, one);
  assertEquals(done.slice(2), ["a", "b", "a", "b"]);
  streams.destroyGraph(graph);
  refuses("CUDA_ERROR_INVALID_HANDLE", () => streams.launchGraph(graph, one));
});

Deno.test("Streams.refuseCapture() breaks the capture, and the stream is usable after its end", () => {
  const { streams, one, done, work } = setup();
  streams.beginCapture(one);
  refuses("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", () => streams.refuseCapture(one, "copy"));
  refuses("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", () => work(one, "lost"));
  refuses("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", () => streams.endCapture(one));
  work(one, "after");
  assertEquals(done, ["after"]);
});

Deno.test("Streams.refuseCaptures() refuses what waits for the device while a stream is captured", () => {
  const { streams, one } = setup();
  streams.refuseCaptures("cuCtxSynchronize");
  streams.beginCapture(one);
  refuses("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", () => streams.refuseCaptures("wait"));
});

Deno.test("Streams.wait() lets a stream join a capture, in the order of the queues", () => {
  const { streams, one, two, done, work } = setup();
  const [fork, join] = [streams.createEvent(false), streams.createEvent(false)];
  streams.beginCapture(one);
  work(one, "a");
  streams.record(fork, one);
  streams.wait(two, fork);
  work(two, "b");
  work(one, "c");
  streams.record(join, two);
  streams.wait(one, join);
  work(one, "d");
  assertEquals(done, []);
  const { handle: graph } = streams.endCapture(one);
  work(two, "free again");
  streams.launchGraph(graph, one);
  assertEquals(done, ["free again", "a", "b", "c", "d"]);
});

Deno.test("Streams.endCapture() refuses work that nothing waits for", () => {
  const { streams, one, two, work } = setup();
  const [fork, join] = [streams.createEvent(false), streams.createEvent(false)];
  streams.beginCapture(one);
  streams.record(fork, one);
  streams.wait(two, fork);
  streams.record(join, two);
  work(two, "after the event");
  streams.wait(one, join);
  refuses("CUDA_ERROR_STREAM_CAPTURE_UNJOINED", () => streams.endCapture(one));
  refuses("CUDA_ERROR_INVALID_VALUE", () => streams.endCapture(one));
});

Deno.test("Streams.wait() refuses to join captures with other work", () => {
  const { streams, one, two } = setup();
  const event = streams.createEvent(false);
  streams.wait(one, event);
  streams.record(event, two);
  streams.wait(one, event);
  streams.beginCapture(one);
  refuses("CUDA_ERROR_STREAM_CAPTURE_ISOLATION", () => streams.wait(one, event));
  refuses("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", () => streams.endCapture(one));
  streams.beginCapture(one);
  streams.beginCapture(two);
  streams.record(event, two);
  refuses("CUDA_ERROR_STREAM_CAPTURE_MERGE", () => streams.wait(one, event));
});

Deno.test("Streams.reach() refuses to wait for an event of a capture", () => {
  const { streams, one } = setup();
  const event = streams.createEvent(false);
  streams.reach(event, "cuEventSynchronize");
  streams.beginCapture(one);
  streams.record(event, one);
  refuses("CUDA_ERROR_CAPTURED_EVENT", () => streams.reach(event, "cuEventSynchronize"));
  streams.endCapture(one);
  streams.record(event, one);
  streams.reach(event, "cuEventSynchronize");
});

Deno.test("Streams.elapsed() returns the time between recorded events with timing", () => {
  const { streams, one } = setup();
  const [start, end, silent] = [true, true, false].map((timing) => streams.createEvent(timing));
  assert(start !== undefined && end !== undefined && silent !== undefined);
  streams.record(start, one);
  refuses("CUDA_ERROR_INVALID_HANDLE", () => streams.elapsed(start, end));
  streams.record(end, one);
  assert(streams.elapsed(start, end) >= 0);
  streams.record(silent, one);
  refuses("CUDA_ERROR_INVALID_HANDLE", () => streams.elapsed(start, silent));
});

Deno.test("Streams refuses unknown handles", () => {
  const { streams, one } = setup();
  streams.destroy(one);
  refuses("CUDA_ERROR_INVALID_HANDLE", () => streams.queue(one, "call", () => {}));
  refuses("CUDA_ERROR_INVALID_HANDLE", () => streams.destroy(one));
  refuses("CUDA_ERROR_INVALID_HANDLE", () => streams.record(99n, 0n));
  refuses("CUDA_ERROR_INVALID_HANDLE", () => streams.destroyEvent(99n));
  refuses("CUDA_ERROR_INVALID_HANDLE", () => streams.destroyGraph(99n));
});
