/** The body of a process that times on one GPU: requests on stdin, reports on stdout, until stdin ends. */
import { writeSync } from "node:fs";
import process from "node:process";
import { Stopwatch, type TimedGpu } from "./measure.ts";
import { printReport, readRequests, type TimingReport } from "./messages.ts";

/** Serves until there is nothing more to do; does not return. */
export async function serveTimings(gpu: TimedGpu): Promise<never> {
  const stopwatch = new Stopwatch(gpu, send);
  // Requests are read also while a kernel runs: if it never ends, the end of stdin still ends this process.
  for await (const request of readRequests(process.stdin)) {
    stopwatch.measure(request).then((report) => {
      send(report);
      if (report.kind !== "timings") process.exit(1);
    });
  }
  process.exit(0);
}

function send(report: TimingReport): void {
  const bytes = new TextEncoder().encode(printReport(report));
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
}
