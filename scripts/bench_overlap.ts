/**
 * How far copies of pinned memory overlap kernels: the same work — pieces of a matrix copied in, transposed a few times,
 * copied out — on one stream, and on three streams with two buffers each. With the kernels that `deno task
 * build-kernels` made. Without a GPU it only checks the results, because work of the emulator overlaps nothing.
 *
 *     deno run -A scripts/bench_overlap.ts
 */
import { Device, type PinnedArray, type Stream, type Tensor } from "../ffi/mod.ts";
import type { transpose as Transpose } from "../tests/golden/codegen/transpose.ts";

type Piece = Tensor<"float32", 2>;

/** The buffers of a piece; two of them, so that one is copied while the other is worked on. */
interface Slot {
  readonly input: PinnedArray<"float32", 2>;
  readonly output: PinnedArray<"float32", 2>;
  readonly x: Piece;
  readonly y: Piece;
}

interface Streams {
  readonly copyIn: Stream;
  readonly compute: Stream;
  readonly copyOut: Stream;
}

const { transpose }: { readonly transpose: typeof Transpose } = await import(
  new URL("../generated/transpose.ts", import.meta.url).href
);
using device = Device.open();
const isGpu = device.info.kind === "gpu";
const N = isGpu ? 4096 : 64;
const PIECES = isGpu ? 32 : 4;
const REPEATS = isGpu ? 10 : 1;
/** Transpositions per piece; an odd number. */
const DEPTH = isGpu ? 15 : 1;

const slots = [0, 1].map((): Slot => ({
  input: device.pinned("float32", [N, N]),
  output: device.pinned("float32", [N, N]),
  x: device.empty("float32", [N, N]),
  y: device.empty("float32", [N, N]),
}));

/** Queues everything; the streams wait for each other where they share memory, and the host only for memory it changes. */
async function run({ copyIn, compute, copyOut }: Streams): Promise<void> {
  for (let piece = 0; piece < PIECES; piece++) {
    const slot = slots[piece % 2];
    if (slot === undefined) return;
    const { input, output, x, y } = slot;
    await input.finished();
    input.array[1] = piece;
    x.copyFrom(input, { stream: copyIn });
    for (let i = 0; i < DEPTH; i += 2) {
      transpose(x, { out: y, stream: compute });
      if (i + 1 < DEPTH) transpose(y, { out: x, stream: compute });
    }
    y.copyTo(output, { stream: copyOut });
  }
  for (const { output } of slots) await output.finished();
}

async function milliseconds(streams: Streams): Promise<number> {
  await run(streams);
  const times: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    device.synchronize();
    const start = performance.now();
    await run(streams);
    times.push(performance.now() - start);
  }
  check();
  return times.sort((a, b) => a - b)[times.length >> 1] ?? NaN;
}

/** Each output has its piece's number where the transposition puts it. */
function check(): void {
  slots.forEach(({ output }, i) => {
    const last = PIECES - 2 + (PIECES + i) % 2;
    if (output.array[N] !== last) throw new Error(`piece ${last} came out as ${output.array[N]}`);
  });
}

const [one, two, three] = [device.stream(), device.stream(), device.stream()];
const serial = await milliseconds({ copyIn: one, compute: one, copyOut: one });
const overlapped = await milliseconds({ copyIn: one, compute: two, copyOut: three });
// deno-lint-ignore no-console -- a program for the terminal
console.log(
  isGpu
    ? `${device}: ${PIECES} pieces of ${N}×${N} float32, ${DEPTH} transpositions each, median of ${REPEATS}\n` +
      `one stream: ${serial.toFixed(2)} ms\nthree streams: ${overlapped.toFixed(2)} ms\n` +
      `${(serial / overlapped).toFixed(2)} times as fast`
    : `${device}: the results are right; times need a GPU`,
);
