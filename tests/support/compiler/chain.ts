/** Launches of chain.tc beside this, each of which needs what the one before it has written, on a device. */
import type { TargetName } from "../../../compiler/mod.ts";
import { must } from "../../../compiler/support/bug.ts";
import type { Device, Stream, Tensor } from "../../../ffi/mod.ts";
import { assertEquals } from "../assert.ts";
import { compileFile } from "../compile.ts";
import { loadWrapper } from "../load_wrapper.ts";
import { freshRandom } from "../random.ts";

const FILE = new URL("./chain.tc", import.meta.url);
/** Elements of a program. */
const PROGRAM = 128;

interface Step {
  readonly X: Tensor<"int32">;
  readonly Y: Tensor<"int32">;
  readonly N: number;
  readonly live: number;
  readonly turns: number;
  readonly one: number;
}

/** The wrapper. */
export interface ChainKernel {
  launch(args: Step, options: { readonly stream: Stream }): unknown;
}

/**
 * Compiles the step for some targets. `letsStart`: its blocks allow the next launch to be started when they begin, as
 * kernels of others may, so that all its threads wait a long time.
 */
export async function compileChain(
  targets: readonly TargetName[],
  letsStart = false,
): Promise<ChainKernel> {
  const text = Deno.readTextFileSync(FILE);
  const { kernels, diagnostics } = compileFile({ name: "chain.tc", text }, { targets });
  assertEquals(diagnostics.map(({ code, message }) => `${code} ${message}`), []);
  const kernel = must(kernels[0], "kernel");
  const wait = "griddepcontrol.wait;";
  const modules = kernel.modules.map(({ ptx, ...module }) => ({
    ...module,
    ptx: letsStart ? ptx.replaceAll(wait, `griddepcontrol.launch_dependents; ${wait}`) : ptx,
  }));
  const { chainStep }: { readonly chainStep: ChainKernel } = await loadWrapper({
    ...kernel,
    modules,
  });
  return chainStep;
}

/** A chain of steps. */
export interface Chain {
  readonly length: number;
  readonly steps: number;
  /** Rounds that a program takes at least. */
  readonly turns: number;
  /** What a step has written is copied, overwritten and copied back before the next one. */
  readonly copies?: boolean;
  /** Recorded and launched so often; absent: queued one by one. */
  readonly launches?: number;
}

/**
 * Steps there and back between two tensors, so that each also overwrites what the one before has read, with launches
 * between that have nothing to do; against counting on the host.
 */
export function checkChain(
  device: Device,
  kernel: ChainKernel,
  { length, steps, turns, copies = false, launches }: Chain,
): void {
  const random = freshRandom();
  const start = Int32Array.from({ length }, () => random.below(1 << 20));
  using stream = device.stream();
  using x = device.tensor(start, [length], { stream });
  using y = device.tensor(new Int32Array(length).fill(-(1 << 30)), [length], { stream });
  using aside = device.zeros("int32", [length], { stream });
  const programs = Math.ceil(length / PROGRAM);
  const step = (X: Tensor<"int32">, Y: Tensor<"int32">, live: number): unknown =>
    kernel.launch({ X, Y, N: length, live, turns, one: 1 }, { stream });
  const all = (): void => {
    for (let i = 0; i < steps; i++) {
      const [from, to] = i % 2 === 0 ? [x, y] : [y, x];
      step(from, to, programs);
      if (copies) {
        aside.copyFrom(to, { stream });
        device.enter().fill(to.address, 0xab, 4 * length, stream.handle);
        to.copyFrom(aside, { stream });
      }
      // Ends at once, before the one before it: the next one still waits for both.
      if (i % 3 === 0) step(to, from, 0);
    }
  };
  if (launches === undefined) all();
  else {
    using graph = stream.capture(all);
    for (let i = 0; i < launches; i++) graph.launch();
  }
  const done = steps * (launches ?? 1);
  const last = steps % 2 === 0 ? x : y;
  const reversed = done % 2 === 1;
  const expected = (reversed ? start.toReversed() : start).map((value) => value + done);
  assertEquals(last.readSync(), expected, `${steps} steps of ${length} elements, ${turns} turns`);
}
