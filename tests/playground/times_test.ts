/** What a person waits for, in time of the processor: other work of the machine does not count. The best of three. */
import * as process from "node:process";
import { GALLERY } from "../../playground/gallery/entries.ts";
import { problemsOf } from "../../playground/session/check.ts";
import { choicesOf } from "../../playground/session/choices.ts";
import type { Program } from "../../playground/session/program.ts";
import { lookInto } from "../../playground/session/look.ts";
import { run } from "../../playground/session/run.ts";
import { traceOf } from "../../playground/session/trace.ts";
import { must } from "../../compiler/support/bug.ts";
import { assert } from "../support/assert.ts";
import { sampled } from "../support/sampled.ts";
import { openEntry } from "./gallery.ts";

/** Milliseconds. */
const CHECK = 100;
const RUN = 300;
const JUMP = 100;

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

/** The first instance of each kernel that is shipped, as the page chooses it. */
function shippedPrograms(): readonly Program[] {
  return [...Deno.readDirSync("kernels")].filter(({ name }) => name.endsWith(".tc")).flatMap(
    ({ name }) => {
      const { program } = openEntry({ file: `kernels/${name}`, chosen: {} });
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

Deno.test(`one instance of each shipped kernel is checked in ${CHECK} ms`, () => {
  const all = shippedPrograms();
  for (const program of sampled(all, all.length / 2)) {
    const took = milliseconds(() => void problemsOf(program, "chosen"));
    assert(took <= CHECK, `${program.kernel}: ${took} ms`);
  }
});

Deno.test(`each entry of the gallery runs in ${RUN} ms`, () => {
  for (const entry of GALLERY) {
    const { program, call } = openEntry(entry);
    const took = milliseconds(() => void run(program, call));
    assert(took <= RUN, `${entry.name}: ${took} ms`);
  }
});

Deno.test(`a jump to a step of the transposition, with all its variables, takes ${JUMP} ms`, () => {
  const entry = must(GALLERY.find(({ name }) => name === "transpose"), "the transposition");
  const { program, call } = openEntry(entry);
  const traced = traceOf(program, call, [1, 2, 0]);
  assert(traced.kind === "trace");
  const place = { program: [1, 2, 0], warp: 0, lane: 0 } as const;
  const last = traced.steps.length - 1;
  for (const at of [0, Math.floor(last / 2), last]) {
    const step = traced.steps[at] ?? 0;
    const took = milliseconds(() => void lookInto(program, call, { ...place, step }));
    assert(took <= JUMP, `step ${step}: ${took} ms`);
  }
});
