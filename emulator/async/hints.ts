/** Instructions that change nothing that a kernel can compute here: hints about time and registers. */
import type { Handler, WarpFunction } from "../machine.ts";

const nothing: WarpFunction = () => {};

/** Grids come one after the other. */
const ignored: Handler = () => nothing;

/** Lets other warps run. */
const pause: Handler = (_match, { machine }) => () => machine.yield();

export const HINTS: Readonly<Record<string, Handler>> = {
  griddepcontrol: ignored,
  nanosleep: pause,
};
