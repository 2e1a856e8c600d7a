/**
 * Requests of a panel that shows pictures of the launch. They are not part of the Debug Adapter Protocol, so their names
 * begin with `tri/`. What is not where the launch is now comes from a launch of its own with the same arguments: the one
 * that is walked through stays where it is, and prints nothing twice.
 */
import type { Triple } from "../../emulator/debug/debug_launch.ts";
import { warningOf } from "../../emulator/driver/failure.ts";
import { type DebugLaunch, DTYPES, EmulatorError } from "../../ffi/mod.ts";
import { findingOf } from "../report/finding.ts";
import { lookAt } from "../report/look.ts";
import { openEntry } from "../report/open_entry.ts";
import { pack } from "../report/packed.ts";
import type { PanelAnswers, PanelProfile } from "../report/panel_answers.ts";
import { type Tile, tilesOfFunc } from "../report/tiles.ts";
import { inGrid, recordTrace, type Trace } from "../report/trace.ts";
import type { LaunchArguments } from "./launch.ts";
import { launchPrepared, type PreparedLaunch } from "./prepared.ts";

type Arguments = Readonly<Record<string, unknown>>;
type Answers = {
  readonly [Name in keyof PanelAnswers]: (args: Arguments) => PanelAnswers[Name];
};

/** A request and what its body is. */
export type PictureRequests = Readonly<
  Record<string, (args: Arguments) => Readonly<Record<string, unknown>>>
>;

/** The requests on a launch; `moved` is called when one has moved it or its focus. */
export function pictureRequests(
  launch: DebugLaunch,
  { scalars, pathOf, prepared }: LaunchArguments,
  moved: () => void,
): PictureRequests {
  const { file } = prepared;
  const answers: Answers = {
    "tri/state": () => ({
      entry: launch.kernel,
      path: pathOf(file.name),
      scalars: Object.fromEntries(scalars),
      position: launch.position,
      ...launch.focus,
      findings: launch.findings.filter(({ step }) => step < launch.position)
        .map(({ fault }) => findingOf(warningOf(fault, launch.kernel), false)),
    }),
    "tri/profile": () => profileOf(prepared),
    "tri/tiles": () => tilesOf(prepared),
    "tri/trace": ({ program }) => traceOf(prepared, tripleOf(program) ?? launch.focus.program),
    "tri/look": (args) => {
      if (goTo(launch, args)) moved();
      return lookAt(launch, file.name);
    },
  };
  return Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      (args: Arguments) => ({ value: pack(answer(args)) }),
    ]),
  );
}

/** Whether that is elsewhere. */
function goTo(launch: DebugLaunch, args: Arguments): boolean {
  const { position, focus } = launch;
  const step = countOf(args["step"], Infinity) ?? position;
  if (step !== position) launch.goto(step);
  const warps = Math.ceil(launch.block.reduce((a, b) => a * b, 1) / 32);
  launch.focus = {
    program: inGrid(tripleOf(args["program"]) ?? focus.program, launch.grid),
    warp: countOf(args["warp"], warps) ?? focus.warp,
    lane: countOf(args["lane"], 32) ?? focus.lane,
  };
  return launch.position !== position || JSON.stringify(launch.focus) !== JSON.stringify(focus);
}

/** A count below a limit; undefined: it is none. */
function countOf(value: unknown, limit: number): number | undefined {
  const count = Number(value);
  return Number.isSafeInteger(value) && count >= 0 && count < limit ? count : undefined;
}

function tripleOf(value: unknown): Triple | undefined {
  const [x, y, z] = Array.isArray(value) ? value.map((each) => countOf(each, Infinity)) : [];
  return x === undefined || y === undefined || z === undefined ? undefined : [x, y, z];
}

function tilesOf(prepared: PreparedLaunch): readonly Tile[] {
  const { file, options, kernel, module, instance: { symbol } } = prepared;
  const own = { ...options, kernels: [kernel.name] };
  const func = openEntry(file, own, module.target, symbol)?.laidOut();
  return func === undefined ? [] : tilesOfFunc(func, file.name);
}

function profileOf(prepared: PreparedLaunch): PanelProfile {
  const started = performance.now();
  const profile = unlessItFails(() => launchPrepared(prepared, { print: () => {} }));
  const milliseconds = performance.now() - started;
  return { milliseconds, ...(profile === undefined ? {} : { profile }) };
}

function traceOf(prepared: PreparedLaunch, program: Triple): Trace | undefined {
  let trace: Trace | undefined;
  unlessItFails(() =>
    launchPrepared(prepared, {
      print: () => {},
      debug: (launch, tensors): void => {
        const traced = tensors.map(({ name, shape, address, dtype }) => ({
          name,
          shape,
          address,
          bytes: DTYPES[dtype].bytes,
        }));
        trace = recordTrace(prepared.file.name, launch, traced, program);
      },
    })
  );
  return trace;
}

/** A launch that cannot go on, such as one that never ends, throws what the state already says. */
function unlessItFails<Result>(launch: () => Result): Result | undefined {
  try {
    return launch();
  } catch (error) {
    if (error instanceof EmulatorError) return undefined;
    throw error;
  }
}
