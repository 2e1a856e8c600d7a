/** All cases of the corpus. */
import { CONTROL } from "./control.ts";
import { HALVES } from "./half.ts";
import { HISTOGRAM } from "./histogram.ts";
import { INTEGER } from "./integer.ts";
import { MATH } from "./math.ts";
import { REDUCE } from "./reduce.ts";
import { SCAN } from "./scan.ts";
import { SORT } from "./sort.ts";
import { SYNC } from "./sync.ts";
import type { CorpusCase } from "./types.ts";

export const CORPUS: readonly CorpusCase[] = [
  ...CONTROL,
  ...HALVES,
  ...HISTOGRAM,
  ...INTEGER,
  ...MATH,
  ...REDUCE,
  ...SCAN,
  ...SORT,
  ...SYNC,
];
