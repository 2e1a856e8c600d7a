/** All cases of the corpus. */
import { HISTOGRAM } from "./histogram.ts";
import { REDUCE } from "./reduce.ts";
import { SCAN } from "./scan.ts";
import { SORT } from "./sort.ts";
import type { CorpusCase } from "./types.ts";

export const CORPUS: readonly CorpusCase[] = [...REDUCE, ...SCAN, ...HISTOGRAM, ...SORT];
