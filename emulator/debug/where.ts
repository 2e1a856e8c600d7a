/** A place in a launch, and the thread that is looked at there. */
import type { Machine } from "../machine.ts";
import type { Focus } from "./debug_launch.ts";
import type { ObservedLaunch } from "./observed_launch.ts";
import type { LaunchNames } from "./launch_names.ts";
import type { Track } from "./track.ts";

/** Where to look. */
export interface Where {
  readonly machine: Machine;
  readonly launch: ObservedLaunch;
  readonly track: Track;
  readonly focus: Focus;
  /** What the compiler says of variables; undefined: nothing. */
  readonly named: LaunchNames | undefined;
}
