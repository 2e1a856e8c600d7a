/**
 * Asynchronous instructions: copies, the barriers and groups that say when they are over, and hints.
 *
 * Copies are carried out when they are issued, which the ISA allows. What it does not allow is to rely on it, so
 * checked runs remember what each thread may not know yet (`pending.ts`).
 */
import type { Handler } from "../machine.ts";
import { BULK } from "./bulk.ts";
import { COPY } from "./copy.ts";
import { HINTS } from "./hints.ts";
import { MBARRIER } from "./mbarrier.ts";
import { PUT } from "./put.ts";
import { REDUCE } from "./reduce.ts";
import { REPLACE } from "./replace.ts";
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
};
