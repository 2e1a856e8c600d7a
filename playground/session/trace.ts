/** What one program of a launch did. */
import { recordTrace, type Trace } from "../../cli/report/trace.ts";
import type { Triple } from "../../emulator/debug/debug_launch.ts";
import type { Program } from "./program.ts";
import { type Call, type NotRun, run } from "./run.ts";

/** Launches the kernel and looks on at one program. */
export function traceOf(program: Program, call: Call, wanted: Triple): Trace | NotRun {
  let trace: Trace | undefined;
  const outcome = run(program, call, (launch, tensors) => {
    trace = recordTrace(program.name, launch, tensors, wanted);
  });
  if (outcome.kind === "not run") return outcome;
  return trace ?? { kind: "not run", reason: "the launch has no programs", hint: "" };
}
