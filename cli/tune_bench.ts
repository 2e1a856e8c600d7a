/** The GPUs of this machine as `tri tune` uses them: each is opened on its own, and asked how long a graph takes. */
import type { DeviceInfo } from "../ffi/driver.ts";
import type { Device, Graph, Stream } from "../ffi/mod.ts";
import { findGpus } from "./gpus.ts";

/** All GPUs, or why there are none. */
export type Bench =
  | { readonly kind: "gpus"; readonly gpus: readonly BenchGpu[] }
  | { readonly kind: "none"; readonly reason: string; readonly remedy: string };

/** One GPU. */
export interface BenchGpu {
  readonly info: Pick<DeviceInfo, "ordinal" | "name" | "arch" | "sm">;
  /** Opens it anew, also after a fault. */
  readonly open: () => Device;
  /** Milliseconds that the graph takes on the stream; `label` names what it launches. */
  readonly time: (graph: Graph, stream: Stream, label: string) => Promise<number>;
}

/** The GPUs that the driver has. */
export async function findBench(): Promise<Bench> {
  const found = await findGpus();
  if (found.kind === "none") return found;
  const { Device } = await import("../ffi/mod.ts");
  return {
    kind: "gpus",
    gpus: found.devices.map((info) => ({
      info,
      open: () => Device.open({ device: info.ordinal }),
      time: timeGraph,
    })),
  };
}

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
