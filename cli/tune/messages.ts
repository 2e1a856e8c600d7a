/**
 * Messages between `tri tune` and the processes that time for it, as lines of JSON. A kernel's `printf` goes to the
 * same stream as the reports, so each of those starts with a character that no text has.
 */
import type { CompiledKernel, CompiledModule } from "../../compiler/options.ts";
import type { Timing } from "../../ffi/kernel/tuning/tune_file.ts";
import type { TensorPlan } from "../report/arguments.ts";

/** Requests the times of some configurations with the same arguments. */
export interface TimingRequest {
  readonly scalars: readonly (readonly [name: string, value: number])[];
  readonly flags: readonly string[];
  readonly tensors: readonly TensorPlan[];
  readonly absent: readonly string[];
  readonly entries: readonly TimedEntry[];
}

/** A configuration as it is launched. */
export interface TimedEntry {
  readonly config: string;
  /** Identifies the code, as in the file of timings. */
  readonly code: string;
  readonly symbol: string;
  readonly kernel: CompiledKernel;
  readonly module: CompiledModule;
  /** In base64; without it the driver takes PTX. */
  readonly cubin: string | undefined;
  /** Equal where the image is. */
  readonly image: number;
}

/** What comes back: how far it is, then one of the last three. */
export type TimingReport =
  /** What fails now is this configuration's. */
  | { readonly kind: "loading"; readonly config: string }
  /** The same, and it is on the GPU: no further report comes unless it ends. */
  | { readonly kind: "running"; readonly config: string }
  | { readonly kind: "timings"; readonly timings: Readonly<Record<string, Timing>> }
  /** The process that says this is of no further use. */
  | { readonly kind: "failed"; readonly config: string; readonly reason: string }
  /** As with `failed`, but no configuration is to blame. */
  | { readonly kind: "broken"; readonly reason: string };

const START = "\x1e";

/** A request as a process reads it. */
export function printRequest(request: TimingRequest): string {
  return `${JSON.stringify(request)}\n`;
}

/** A report as `tri tune` reads it. */
export function printReport(report: TimingReport): string {
  return `${START}${JSON.stringify(report)}\n`;
}

/** The requests in a stream. */
export async function* readRequests(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<TimingRequest, void> {
  for await (const line of linesOf(stream)) yield JSON.parse(line);
}

/** The reports in a stream; what else is in it is passed over. */
export async function* readReports(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<TimingReport, void> {
  for await (const line of linesOf(stream)) {
    const start = line.indexOf(START);
    if (start >= 0) yield JSON.parse(line.slice(start + 1));
  }
}

/** std's `TextLineStream` gives an unfinished last line too, such as a process leaves that was killed. */
async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  for await (const bytes of stream) {
    const [first = "", ...lines] = decoder.decode(bytes, { stream: true }).split("\n");
    pieces.push(first);
    for (const line of lines) {
      yield pieces.join("");
      pieces = [line];
    }
  }
}
