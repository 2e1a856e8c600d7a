/** A device whose kernels take the time that a test says, and recordings made by hand. */
import { must } from "../../compiler/support/bug.ts";
import type { Recording } from "../../bench/mod.ts";
import { Device } from "../../ffi/device.ts";
import { FakeDriver, type FakeKernel } from "../support/driver/fake_driver.ts";

/** A device with a clock, and a way to queue work that takes a while on it. */
export class TimedDevice implements Disposable {
  readonly driver: FakeDriver;
  readonly device: Device;
  /** The kernels that ran, in order. */
  readonly ran: string[] = [];
  readonly #kernels: Record<string, FakeKernel> = {};
  #now = 0;

  constructor(kind: "gpu" | "emulator" = "gpu") {
    const [kernels, clock] = [this.#kernels, (): number => this.#now];
    this.driver = new FakeDriver({ devices: [{ kind }], kernels, clock });
    this.device = Device.fromDriver(this.driver);
  }

  /** A call that takes `milliseconds()` on the device, whenever it is run. */
  kernel(name: string, milliseconds: () => number): () => void {
    const { device } = this;
    this.#kernels[name] = () => {
      this.ran.push(name);
      this.#now += milliseconds();
    };
    const launcher = device.loadModule(new Uint8Array(4), name).function(name)
      .prepare({ block: [1, 1, 1], sharedBytes: 0, parameterBytes: 0 });
    return () => launcher.launch(1, 1, 1, device.defaultStream.handle);
  }

  [Symbol.dispose](): void {
    this.device[Symbol.dispose]();
  }
}

/** A recording with one benchmark `b`, unit GB/s, of work 1e6 bytes: the samples by line and point. */
export function recordingOf(
  lines: Readonly<Record<string, Readonly<Record<number, readonly number[]>>>>,
  more: Partial<Recording> = {},
): Recording {
  const names = Object.keys(lines);
  const points = [...new Set(names.flatMap((name) => Object.keys(must(lines[name], name))))];
  return {
    format: "tri bench 1",
    module: "hand",
    device: { name: "Fake GPU", arch: "sm_90", driver: "CUDA 13.0" },
    timing: { cache: "hot", rounds: 5 },
    benchmarks: [{
      name: "b",
      title: "By hand",
      x: { names: ["M", "N"], scale: "log" },
      unit: "GB/s",
      lines: names.map((name) => ({ name, label: name.toUpperCase() })),
      rows: points.map(Number).map((x) => ({
        x,
        work: 1e6,
        times: Object.fromEntries(
          names.flatMap((name) => {
            const samples = lines[name]?.[x];
            return samples === undefined ? [] : [[name, samples]];
          }),
        ),
      })),
    }],
    ...more,
  };
}
