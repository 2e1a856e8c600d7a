/** All cases of the corpus. */
import { ASYNC_COPIES } from "./async.ts";
import { CONTROL } from "./control.ts";
import { HALVES } from "./half.ts";
import { HISTOGRAM } from "./histogram.ts";
import { HOPPER } from "./hopper.ts";
import { HOPPER_PRODUCT } from "./hopper_product.ts";
import { INTEGER } from "./integer.ts";
import { LIBRARY } from "./library.ts";
import { MATH } from "./math.ts";
import { MATRIX } from "./matrix.ts";
import { REDUCE } from "./reduce.ts";
import { SCAN } from "./scan.ts";
import { SORT } from "./sort.ts";
import { SYNC } from "./sync.ts";
import { UNDEFINED } from "./undefined.ts";
import { WGMMA } from "./wgmma.ts";
import type { CorpusCase } from "./types.ts";

export const CORPUS: readonly CorpusCase[] = [
  ...ASYNC_COPIES,
  ...CONTROL,
  ...HALVES,
  ...HISTOGRAM,
  ...HOPPER,
  HOPPER_PRODUCT,
  ...INTEGER,
  ...LIBRARY,
  ...MATH,
  ...MATRIX,
  ...REDUCE,
  ...SCAN,
  ...SORT,
  ...SYNC,
  ...UNDEFINED,
  ...WGMMA,
];
