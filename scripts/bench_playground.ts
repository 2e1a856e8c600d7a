/**
 * What a person waits for in the playground, in milliseconds of the processor, the best of three: other work of the machine
 * counts little. The checks of one instance of each shipped kernel (bar 100), the runs of the gallery's entries (300), and
 * jumps to steps of the transposition with all its variables (100).
 *
 *     deno run -A scripts/bench_playground.ts
 */
// deno-lint-ignore-file no-console -- a program for the terminal
import * as process from "node:process";
import { must } from "../compiler/support/bug.ts";
import { GALLERY } from "../playground/gallery/entries.ts";
import { problemsOf } from "../playground/session/check.ts";
import { choicesOf } from "../playground/session/choices.ts";
import { lookInto } from "../playground/session/look.ts";
import type { Program } from "../playground/session/program.ts";
import { run } from "../playground/session/run.ts";
import { traceOf } from "../playground/session/trace.ts";
import { openEntry, textOf } from "../tests/playground/gallery.ts";

function milliseconds(action: () => void): number {
  let best = Infinity;
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = process.threadCpuUsage();
    action();
    const { user, system } = process.threadCpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
    // What is fast enough need not be tried again.
    if (best < 10) break;
  }
  return best;
}

/** The first instance of each kernel that is shipped, as the page chooses it, with all files that kernels include. */
function shippedPrograms(): readonly Program[] {
  const names = [...Deno.readDirSync("kernels")].map(({ name }) => name);
  const headers = names.filter((name) => name.endsWith(".h"));
  const includes = Object.fromEntries(headers.map((name) => [name, textOf(`kernels/${name}`)]));
  return names.filter((name) => name.endsWith(".tc")).flatMap(
    (name) => {
      const program = {
        ...openEntry({ file: `kernels/${name}`, chosen: {} }).program,
        includes,
      };
      return choicesOf(program).map((
        { kernel, variants: [variant], configs: [config] },
      ): Program => ({
        ...program,
        kernel,
        variant: variant?.bindings ?? {},
        ...(config === undefined ? {} : { config }),
      }));
    },
  );
}

/** A line for each case, the slowest first. */
function report(what: string, times: readonly (readonly [name: string, took: number])[]): void {
  console.log(`${what}:`);
  for (const [name, took] of times.toSorted(([, a], [, b]) => b - a)) {
    console.log(`  ${took.toFixed(1).padStart(7)} ms  ${name}`);
  }
}

report(
  "checks",
  shippedPrograms().map((program) => [
    must(program.kernel, "kernel"),
    milliseconds(() => void problemsOf(program, "chosen")),
  ]),
);
report(
  "runs",
  GALLERY.map((entry) => {
    const { program, call } = openEntry(entry);
    return [entry.name, milliseconds(() => void run(program, call))];
  }),
);
const { program, call } = openEntry(
  must(GALLERY.find(({ name }) => name === "transpose"), "the transposition"),
);
const place = { program: [1, 2, 0], warp: 0, lane: 0 } as const;
const traced = traceOf(program, call, [...place.program]);
const steps = traced.kind === "trace" ? traced.steps : [];
report(
  "jumps",
  [0, steps.length >> 1, steps.length - 1].map((at) => {
    const step = steps[at] ?? 0;
    return [`step ${step}`, milliseconds(() => void lookInto(program, call, { ...place, step }))];
  }),
);
