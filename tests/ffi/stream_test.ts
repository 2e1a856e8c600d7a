import { Device } from "../../ffi/device.ts";
import { ArgumentError, CudaError, DisposedError, TriError } from "../../ffi/errors.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "../support/assert.ts";
import { FakeDriver } from "../support/driver/fake_driver.ts";

Deno.test("Stream.finished() resolves when the device has caught up", async () => {
  const driver = new FakeDriver({ busyPolls: 3 });
  using device = Device.fromDriver(driver);
  await device.defaultStream.finished();
  assertEquals(driver.names().filter((name) => name === "isEventDone").length, 4);
});

Deno.test("Stream.finished() reports what failed first, although nothing can be freed after a fault", async () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  driver.fail("isEventDone", "CUDA_ERROR_ILLEGAL_ADDRESS");
  driver.fail("destroyEvent", "CUDA_ERROR_INVALID_VALUE");
  const error = await assertRejects(() => device.defaultStream.finished(), CudaError);
  assertEquals(error.cudaName, "CUDA_ERROR_ILLEGAL_ADDRESS");
});

Deno.test("Stream.waitFor() orders streams and events, and never a stream after itself", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using stream = device.stream();
  using event = device.event();
  event.record(device.defaultStream);
  const before = driver.calls.length;
  stream.waitFor(event);
  stream.waitFor(stream);
  stream.waitFor(device.defaultStream);
  const names = driver.calls.slice(before).map(({ name }) => name).filter((name) =>
    name !== "makeCurrent"
  );
  assertEquals(names, ["waitForEvent", "recordEvent", "waitForEvent"]);
});

Deno.test("Stream disposal waits for the work, is idempotent, and ends its use", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  const stream = device.stream();
  const before = driver.names().length;
  stream[Symbol.dispose]();
  stream[Symbol.dispose]();
  assertEquals(driver.names().slice(before), ["synchronizeStream", "destroyStream"]);
  assertThrows(() => stream.synchronize(), DisposedError, "Stream was disposed");
});

Deno.test("Stream disposal leaves the default stream to its device", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  device.defaultStream[Symbol.dispose]();
  device.defaultStream.synchronize();
  assert(!device.defaultStream.disposed);
});

Deno.test("Stream.capture() records work that Graph.launch() repeats", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using stream = device.stream();
  using tensor = device.tensor(new Uint8Array([1, 2, 3, 4]), [4], { stream });
  using graph = stream.capture(() => tensor.buffer.fill(9));
  assertEquals(tensor.readSync(), new Uint8Array([1, 2, 3, 4]));
  graph.launch();
  assertEquals(tensor.readSync(), new Uint8Array([9, 9, 9, 9]));
  tensor.write(new Uint8Array([1, 2, 3, 4]));
  graph.launch();
  assertEquals(tensor.readSync(), new Uint8Array([9, 9, 9, 9]));
});

Deno.test("Graph.launch() on another stream waits for that of the recording", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using stream = device.stream();
  using tensor = device.zeros("uint8", [4], { stream });
  using graph = stream.capture(() => tensor.buffer.fill(9));
  const before = driver.names().length;
  graph.launch(device.defaultStream);
  assertEquals(driver.names().slice(before), ["recordEvent", "waitForEvent", "launchGraph"]);
  assertEquals(tensor.buffer.stream, device.defaultStream);
});

Deno.test("Graph.launch() refuses a graph whose tensor was disposed, and a disposed graph", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  const tensor = device.zeros("uint8", [4]);
  const graph = device.defaultStream.capture(() => tensor.buffer.fill(9));
  tensor[Symbol.dispose]();
  assertThrows(() => graph.launch(), DisposedError, "Buffer of 4 bytes");
  graph[Symbol.dispose]();
  graph[Symbol.dispose]();
  assertThrows(() => graph.launch(), DisposedError, "Graph was disposed");
  assertEquals(driver.names().filter((name) => name === "destroyGraph").length, 1);
});

Deno.test("Stream.capture() ends the recording when its body fails", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using tensor = device.zeros("uint8", [4]);
  const error = assertThrows(
    () => device.defaultStream.capture(() => tensor.readSync()),
    CudaError,
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
  );
  assert(error.hint?.includes("cannot be part of a captured graph"));
  assertEquals(driver.names().slice(-2), ["endCapture", "destroyGraph"]);
  assertEquals(tensor.readSync(), new Uint8Array(4));
});

Deno.test("DeviceEvent.millisecondsSince() needs both events recorded, and waits for them", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using start = device.event();
  using end = device.event();
  start.record();
  assertThrows(() => end.millisecondsSince(start), TriError, "were not recorded");
  end.record();
  assertEquals(end.millisecondsSince(start), 1);
  assertEquals(driver.names().slice(-3), [
    "synchronizeEvent",
    "synchronizeEvent",
    "elapsedMilliseconds",
  ]);
});

Deno.test("DeviceEvent disposal is idempotent and ends its use", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  const event = device.event({ timing: false });
  event[Symbol.dispose]();
  event[Symbol.dispose]();
  assertEquals(driver.names().filter((name) => name === "destroyEvent").length, 1);
  assertThrows(() => event.record(), DisposedError, "Event was disposed");
});

Deno.test("capture() refuses what cannot have queued its work when it returns", async () => {
  using device = Device.fromDriver(new FakeDriver());
  using stream = device.stream();
  using x = device.zeros("float32", [4]);
  let ran = 0;
  const body = async (): Promise<void> => {
    ran++;
    await Promise.resolve();
    throw new Error("not waited for");
  };
  const generator = function* (): Generator<number> {
    yield ran++;
  };
  for (
    const [wrong, actual] of [
      [body, "an async function"],
      [generator, "a generator"],
      [class {}, "a class"],
      [() => void 0 as unknown, undefined],
      [() => body(), "one that returns a promise"],
      [5, "5"],
      [null, "null"],
      [undefined, "undefined"],
      [{ call: 1 }, "an object"],
    ] as const
  ) {
    const capture: () => unknown = () => Reflect.apply(stream.capture, stream, [wrong]);
    if (actual === undefined) {
      capture();
      continue;
    }
    const error = assertThrows(capture, ArgumentError);
    assertEquals([error.argument, error.actual], ["body of capture", actual]);
    // The stream records no longer.
    assertEquals(stream.recording, undefined);
    x.buffer.fill(1);
    stream.synchronize();
  }
  assertEquals(ran, 1);
  await new Promise((resolve) => setTimeout(resolve, 0));
});

Deno.test("streams, events and graphs refuse what is none of theirs", () => {
  const driver = new FakeDriver();
  using device = Device.fromDriver(driver);
  using other = Device.fromDriver(driver);
  using stream = device.stream();
  using event = device.event();
  using graph = stream.capture(() => {});
  const forged: unknown[] = [
    null,
    5,
    "stream",
    Symbol("s"),
    1n,
    {},
    { device, handle: 1n },
    Object.create(Object.getPrototypeOf(stream)),
    new Proxy(stream, {}),
    device,
  ];
  assertThrows(() => graph.launch(other.defaultStream), ArgumentError);
  assertThrows(() => event.record(other.defaultStream), ArgumentError);
  for (const value of forged) {
    for (
      const [of, method] of [
        [stream, stream.waitFor],
        [event, event.record],
        [event, event.millisecondsSince],
        [graph, graph.launch],
      ] as const
    ) {
      const error = assertThrows(() => Reflect.apply(method, of, [value]), ArgumentError);
      assert(error.expected !== "", error.message);
    }
  }
  using foreign = other.event();
  assertThrows(() => event.millisecondsSince(foreign), ArgumentError, "one of another device");
  event.record(stream);
  stream.waitFor(event);
  graph.launch();
});
