/**
 * Asks a running service for entries of its own index, many at a time, checks the answers and says how long they took:
 * `deno run --allow-net examples/service/client.ts [URL] [REQUESTS]`.
 */
// deno-lint-ignore-file no-console -- an example prints
import { DIMENSIONS, sampleVectors } from "./index.ts";

const [url = "http://localhost:8000/find", requests = "2000"] = Deno.args;
/** Requests that are under way at the same time. */
const CLIENTS = 64;
/** Products of float32 may be made of TF32. */
const BOUND = 2 ** -8;

const vectors = sampleVectors();
const entries = vectors.length / DIMENSIONS;
const rowOf = (entry: number): Float32Array =>
  vectors.subarray(entry * DIMENSIONS, (entry + 1) * DIMENSIONS);

/** Milliseconds until the answer is there. Every vector has length 1, so the largest product is 1. */
async function ask(entry: number): Promise<number> {
  const start = performance.now();
  const query = rowOf(entry);
  const response = await fetch(url, { method: "POST", body: JSON.stringify([...query]) });
  const answer: unknown = await response.json();
  const milliseconds = performance.now() - start;
  const found = isMatch(answer)
    ? rowOf(answer.entry).reduce((sum, x, i) => sum + x * (query[i] ?? NaN), 0)
    : NaN;
  if (!(Math.abs(found - 1) <= BOUND)) {
    throw new Error(`entry ${entry}: ${response.status} ${JSON.stringify(answer)}`);
  }
  return milliseconds;
}

function isMatch(answer: unknown): answer is { readonly entry: number } {
  return typeof answer === "object" && answer !== null && "entry" in answer &&
    typeof answer.entry === "number";
}

await ask(0); // the kernels are loaded
let next = 0;
const times: number[] = [];
const start = performance.now();
await Promise.all(Array.from({ length: CLIENTS }, async () => {
  while (next < Number(requests)) times.push(await ask(next++ % entries));
}));
const seconds = (performance.now() - start) / 1000;
times.sort((a, b) => a - b);
const at = (part: number): string => (times[Math.floor(part * times.length)] ?? NaN).toFixed(1);
console.log(
  `${times.length} right answers, ${(times.length / seconds).toFixed(0)} a second, ` +
    `median ${at(0.5)} ms, 99 % within ${at(0.99)} ms`,
);
