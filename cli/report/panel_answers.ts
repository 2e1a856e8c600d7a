/** What the debug adapter sends to a panel that shows pictures of a launch (`cli/debug/pictures.ts`). */
import type { Triple } from "../../emulator/debug/debug_launch.ts";
import type { LaunchProfile } from "../../ffi/mod.ts";
import type { Finding } from "./finding.ts";
import type { Look } from "./look.ts";
import type { Tile } from "./tiles.ts";
import type { Trace } from "./trace.ts";

/** What `tri/state` answers: where the launch is, and what was found up to there. */
export interface PanelState {
  /** The entry that was launched. */
  readonly entry: string;
  /** The kernel's file, where it lies. */
  readonly path: string;
  readonly scalars: Readonly<Record<string, number>>;
  /** The step that comes next. */
  readonly position: number;
  readonly program: Triple;
  readonly warp: number;
  readonly lane: number;
  readonly findings: readonly Finding[];
}

/** What `tri/profile` answers: counters of the whole launch; absent where it ends early. */
export interface PanelProfile {
  readonly profile?: LaunchProfile;
  readonly milliseconds: number;
}

/** The answers, by the names of their requests. */
export interface PanelAnswers {
  readonly "tri/state": PanelState;
  readonly "tri/profile": PanelProfile;
  readonly "tri/tiles": readonly Tile[];
  /** Of the program `program`. */
  readonly "tri/trace": Trace | undefined;
  /** Of `program`, `warp` and `lane` at `step`; without these where the launch is. It is there then. */
  readonly "tri/look": Look;
}
