/** Instructions that change nothing that a kernel can compute here: hints about time and registers. */
import { noteWait } from "../check/early.ts";
import type { Handler, WarpFunction } from "../machine.ts";

const nothing: WarpFunction = () => {};

/** Grids come one after the other; a thread has to wait nevertheless where a launch may start early. */
const gridDependencies: Handler = ({ modifiers }, { machine }) =>
  modifiers.includes("wait") ? (_w, mask) => noteWait(machine, mask) : nothing;

/** Lets other warps run. */
const pause: Handler = (_match, { machine }) => () => machine.yield();

export const HINTS: Readonly<Record<string, Handler>> = {
  griddepcontrol: gridDependencies,
  nanosleep: pause,
};
