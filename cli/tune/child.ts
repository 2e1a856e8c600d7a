/** The process that `tri tune` starts for a GPU; its argument is the GPU's number. */
import process from "node:process";
import { Device, type Graph, type Stream } from "../../ffi/mod.ts";
import { serveTimings } from "./serve.ts";

/** Measured by the GPU itself, between two events. */
async function timeGraph(graph: Graph, stream: Stream): Promise<number> {
  using start = stream.device.event();
  using end = stream.device.event();
  start.record(stream);
  graph.launch(stream);
  end.record(stream);
  await end.finished();
  return end.millisecondsSince(start);
}

await serveTimings({
  open: () => Device.open({ device: Number(process.argv[2]) }),
  time: timeGraph,
});
