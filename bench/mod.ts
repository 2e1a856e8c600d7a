/**
 * Benchmarks: what a module declares for `tri bench`, and the parts of that command for programs of their own.
 *
 * ```ts
 * import { benchmark } from "@tri/tri/bench";
 * import { transpose } from "./generated/transpose.ts";
 *
 * export default benchmark({
 *   name: "transpose",
 *   title: "Transposition of float32",
 *   x: { names: ["M", "N"], values: [1024, 2048, 4096] },
 *   measure: { unit: "GB/s", bytes: (n) => 2 * 4 * n * n },
 *   inputs: ({ device, x: n, keep }) => ({
 *     x: keep(device.zeros("float32", [n, n])),
 *     out: keep(device.empty("float32", [n, n])),
 *   }),
 *   lines: { ours: { label: "tri", prepare: ({ x, out }) => transpose.prepare(x, { out }) } },
 * });
 * ```
 *
 * @module
 */
export * from "./compare.ts";
export * from "./define.ts";
export * from "./measure.ts";
export * from "./record.ts";
export * from "./recorded_line.ts";
export * from "./recording.ts";
export * from "./run.ts";
export * from "./statistics.ts";
export * from "./timing.ts";
