/** What can be seen at a step of a launch. */
import { type Look, lookAt, type Place } from "../../cli/report/look.ts";
import { inGrid } from "../../cli/report/trace.ts";
import { namesFor } from "./names.ts";
import type { Program } from "./program.ts";
import { type Call, type NotRun, run } from "./run.ts";

/** Launches the kernel up to a step. */
export function lookInto(program: Program, call: Call, place: Place): Look | NotRun {
  let look: Look | undefined;
  const outcome = run(program, call, (launch, _tensors, options) => {
    const names = namesFor(program, options, launch.kernel);
    if (names !== undefined) launch.nameValues(names);
    launch.goto(place.step);
    const { warp, lane } = place;
    launch.focus = { program: inGrid(place.program, launch.grid), warp, lane };
    look = lookAt(launch, program.name);
  });
  if (outcome.kind === "not run") return outcome;
  return look ?? { kind: "not run", reason: "the launch has no programs", hint: "" };
}
