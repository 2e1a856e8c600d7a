/**
 * Asynchronous instructions. In: copies, the mbarriers and groups that report their end, and hints. Out: handlers, and
 * what is pending for each warp, which checks of other accesses read.
 *
 * The ISA does not say when a copy takes effect before a thread has waited for it. Runs without checks carry copies out when
 * they are issued. Checked runs carry bulk and tensor copies out at the last moment, when a thread waits for them, and
 * remember what each thread may not know yet (`pending.ts`).
 */
import type { Handler } from "../machine.ts";
import { BULK } from "./bulk.ts";
import { COPY } from "./copy.ts";
import { HINTS } from "./hints.ts";
import { MBARRIER } from "./mbarrier.ts";
import { PUT } from "./put.ts";
import { REDUCE } from "./reduce.ts";
import { REPLACE } from "./replace.ts";
import { setMaxRegisters } from "./register_pool.ts";
import { TENSOR } from "./tensor.ts";

/** Handlers by opcode. */
export const ASYNC: Readonly<Record<string, Handler>> = {
  ...COPY,
  ...BULK,
  ...REDUCE,
  ...PUT,
  ...TENSOR,
  ...REPLACE,
  ...MBARRIER,
  ...HINTS,
  setmaxnreg: setMaxRegisters,
};
