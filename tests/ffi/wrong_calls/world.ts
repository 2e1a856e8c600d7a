/** What wrong calls are made at: a device of the emulator with one of everything, and calls that still have to work. */
import { factsOf } from "../../../cli/report/facts.ts";
import { must } from "../../../compiler/support/bug.ts";
import {
  type ConstantBuffer,
  defineConstants,
  defineKernel,
  Device,
  type DeviceEvent,
  type Graph,
  type KernelFunction,
  type KernelModule,
  type ModuleVariable,
  type PinnedArray,
  type Stream,
  type Tensor,
} from "../../../ffi/mod.ts";
import { assertEquals } from "../../support/assert.ts";
import { compileFile } from "../../support/compile.ts";

/** A function of a wrapper, called with what JavaScript lets a program pass. */
export type Untyped = (...args: readonly unknown[]) => unknown;

interface Scaled extends Untyped {
  readonly prepare: (...args: readonly unknown[]) => () => unknown;
  readonly launch: Untyped;
  readonly grid: Untyped;
}

const FILE = new URL("./scaled.tc", import.meta.url);

/** The kernel and its image; compiled once. */
function compileScaled(): { readonly kernel: Scaled; factor: ConstantBuffer; ptx: string } {
  const { kernels: [compiled] } = compileFile(
    { name: "scaled.tc", text: Deno.readTextFileSync(FILE) },
    { targets: ["sm_90"], verify: true },
  );
  const module = must(compiled?.modules[0], "module");
  const facts = factsOf(must(compiled, "kernel"), module);
  const constants = defineConstants(facts.constantBuffers ?? []);
  const kernel = defineKernel<Scaled, string>({
    ...facts,
    tensorCall: {
      inputs: [{ param: "X", name: "x" }],
      outputs: [{ param: "Y", name: "y" }],
      options: [{ param: "alpha", name: "alpha" }],
    },
  }, constants);
  return { kernel, factor: must(constants["FACTOR"], "FACTOR"), ptx: module.ptx };
}

const DATA = Float32Array.of(1, 2, 3, 4, 5, 6);

/** One of everything on a device. */
export interface Objects {
  readonly x: Tensor;
  readonly out: Tensor;
  readonly stream: Stream;
  readonly event: DeviceEvent;
  readonly graph: Graph;
  readonly module: KernelModule;
  readonly fn: KernelFunction;
  readonly variable: ModuleVariable;
  readonly pinned: PinnedArray;
}

export class World implements Disposable {
  readonly kernel: Scaled;
  readonly factor: ConstantBuffer;
  readonly ptx: string;
  readonly device = Device.open({ device: "emulator" });
  readonly #elsewhere = Device.open({ device: "emulator" });
  /** Its objects are right nowhere, so they stay as they are. */
  readonly foreign: Objects;
  #module: KernelModule | undefined;
  #made: Disposable[] = [];

  constructor() {
    const { kernel, factor, ptx } = compileScaled();
    [this.kernel, this.factor, this.ptx] = [kernel, factor, ptx];
    this.foreign = this.#objectsOn(this.#elsewhere, this.#elsewhere.loadModule(ptx, "scaled"));
  }

  /** New objects; `clear` gives them back. */
  objects(): Objects {
    // Loading takes a while, so that a module is kept until a call has disposed it.
    if (this.#module?.disposed !== false) {
      this.#module = this.device.loadModule(this.ptx, "scaled");
    }
    const objects = this.#objectsOn(this.device, this.#module);
    const { graph, event, stream, x, out, pinned } = objects;
    this.#made.push(graph, event, stream, x, out, pinned);
    return objects;
  }

  #objectsOn(device: Device, module: KernelModule): Objects {
    const [x, out] = [device.tensor(DATA, [2, 3]), device.zeros("float32", [2, 3])];
    const [stream, event] = [device.stream(), device.event().record()];
    const graph = stream.capture(() => {
      this.kernel(x, { out, alpha: 2, stream });
    });
    const fn = module.function("scaled");
    const variable = must(module.variable("FACTOR"), "FACTOR");
    const pinned = device.pinned("float32", [2, 3]);
    return { x, out, stream, event, graph, module, fn, variable, pinned };
  }

  /** Right calls of each kind, with the results that they must have. */
  async check(): Promise<void> {
    const { device, kernel, factor } = this;
    const double = Float32Array.from(DATA, (value) => 2 * value);
    factor.set(Float32Array.of(1));
    using x = device.tensor(DATA, [2, 3]);
    using out = device.zeros("float32", [2, 3]);
    using stream = device.stream();
    kernel(x, { out, alpha: 2 });
    assertEquals(await out.read(), double);
    kernel.launch({ X: x, Y: out, M: 2, N: 3, ldx: 3, ldy: 3, alpha: 1 }, { grid: [1, 1] });
    assertEquals(out.readSync(), DATA);
    const run = kernel.prepare(x, { out, alpha: 2, stream });
    using graph = stream.capture(() => void run());
    graph.launch();
    assertEquals(out.readSync(), double);
    out.write(DATA);
    assertEquals(out.transpose().readSync(), Float32Array.of(1, 4, 2, 5, 3, 6));
    using end = device.event().record(stream);
    assertEquals(end.done && stream.done && device.defaultStream.done, true);
    assertEquals(kernel.grid({ M: 33, N: 3 }), [2, 1, 1]);
    using pinned = device.pinned("float32", [2, 3]);
    pinned.array.set(double);
    out.copyFrom(pinned, { stream });
    x.copyTo(pinned, { stream });
    await pinned.finished();
    assertEquals([pinned.array, out.readSync()], [DATA, double]);
    device.synchronize();
  }

  /** Gives back what `objects` made, whatever has become of it. */
  clear(): void {
    for (const object of this.#made.splice(0)) object[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.clear();
    this.device[Symbol.dispose]();
    this.#elsewhere[Symbol.dispose]();
  }
}
