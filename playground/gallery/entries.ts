/** The gallery: what there is to look at, each with one sentence and the view that opens with it. */
import type { PageState } from "../state/state.ts";

/** An entry of the gallery. */
export interface GalleryEntry {
  /** Its name in addresses. */
  readonly name: string;
  readonly group: "Learn" | "Kernels" | "Mistakes" | "Guide" | "Puzzles";
  readonly title: string;
  readonly sentence: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly chosen: Partial<PageState>;
}

const LEARN = "playground/gallery/learn";
const WRONG = "playground/gallery/mistakes";

/** All entries. */
export const GALLERY: readonly GalleryEntry[] = [
  {
    name: "vector_add",
    group: "Learn",
    title: "Vector addition",
    sentence: "One program adds 64 elements; a mask keeps the last one inside.",
    file: `${LEARN}/vector_add.tc`,
    chosen: { view: "result", sizes: { N: 200 } },
  },
  {
    name: "masks",
    group: "Learn",
    title: "Masks",
    sentence: "A mask with a value for what lies outside shifts a picture by one column.",
    file: `${LEARN}/shift.tc`,
    chosen: { view: "result", sizes: { M: 40, N: 40 }, fills: { X: { kind: "picture" } } },
  },
  {
    name: "transpose",
    group: "Learn",
    title: "Transposition with ^",
    sentence:
      "The tile is read along rows, changes its layout through shared memory, and is written along rows.",
    file: `${LEARN}/transpose.tc`,
    chosen: { view: "result", sizes: { M: 64, N: 96 }, fills: { X: { kind: "picture" } } },
  },
  {
    name: "transpose_naive",
    group: "Learn",
    title: "Transposition, naive",
    sentence: "Each store of a warp touches 32 rows of Y: 32 sectors where 4 would do.",
    file: `${LEARN}/transpose_naive.tc`,
    chosen: { view: "memory", sizes: { M: 64, N: 96 }, fills: { X: { kind: "picture" } } },
  },
  {
    name: "turned_rows",
    group: "Learn",
    title: "A sum of columns",
    sentence: "A reduction along the axis whose elements lie in different threads.",
    file: `${LEARN}/column_sums.tc`,
    chosen: { view: "layouts", sizes: { M: 64, N: 64 } },
  },
  {
    name: "row_softmax",
    group: "Learn",
    title: "Softmax of rows",
    sentence: "Maximum, exponential and sum of a row that one program holds.",
    file: `${LEARN}/row_softmax.tc`,
    chosen: { view: "result", sizes: { M: 48, N: 60 } },
  },
  {
    name: "tile_matmul",
    group: "Learn",
    title: "Product of matrices",
    sentence: "Fragments of matrix instructions: which thread holds which element of A, B and C.",
    file: `${LEARN}/matmul.tc`,
    chosen: { view: "layouts", sizes: { M: 64, N: 64, K: 64 }, target: "sm_80" },
  },
  {
    name: "histogram",
    group: "Learn",
    title: "Histogram by atomics",
    sentence: "Programs add to the same counters, in an order that no result depends on.",
    file: `${LEARN}/histogram.tc`,
    chosen: { view: "result", sizes: { N: 256 } },
  },
  {
    name: "softmax",
    group: "Kernels",
    title: "Softmax, as shipped",
    sentence:
      "One text of two loops: an entry for each range of lengths, and the conditions that choose one.",
    file: "kernels/softmax.tc",
    chosen: {
      view: "contract",
      variant: { TYPE: "float" },
      kernel: "softmax",
      sizes: { M: 8, N: 96 },
    },
  },
  {
    name: "transpose_shipped",
    group: "Kernels",
    title: "Transposition, as shipped",
    sentence: "Fourteen types, and tiles by measurement for aligned and for unaligned rows.",
    file: "kernels/transpose.tc",
    chosen: {
      view: "stages",
      variant: { TYPE: "float" },
      sizes: { M: 128, N: 96 },
      fills: { X: { kind: "picture" } },
    },
  },
  {
    name: "layer_norm",
    group: "Kernels",
    title: "Layer normalisation, as shipped",
    sentence: "Mean and variance in one pass over each row.",
    file: "kernels/layer_norm.tc",
    chosen: {
      view: "report",
      variant: { TYPE: "float" },
      kernel: "layer_norm",
      sizes: { M: 8, N: 64 },
    },
  },
  {
    name: "race",
    group: "Mistakes",
    title: "Race between programs",
    sentence:
      "The last element of a program is the first one of the next: who writes last is chance.",
    file: `${WRONG}/race.tc`,
    chosen: { view: "faults", sizes: { N: 256 } },
  },
  {
    name: "refused",
    group: "Mistakes",
    title: "A launch that is refused",
    sentence:
      "A store without a mask would reach past the end of Z: the contract says so before anything runs.",
    file: `${WRONG}/refused.tc`,
    chosen: { view: "contract", sizes: { N: 200 } },
  },
  {
    name: "out_of_bounds",
    group: "Mistakes",
    title: "Out of bounds",
    sentence: "Indices come from memory, and one of them is no row of X.",
    file: `${WRONG}/out_of_bounds.tc`,
    chosen: {
      view: "faults",
      sizes: { ROWS: 4, M: 6, N: 40 },
      fills: { INDEX: { kind: "numbers", values: [0, 3, 1, 4, 2, 0] } },
    },
  },
  {
    name: "uninitialised",
    group: "Mistakes",
    title: "Never written",
    sentence: "Memory that nothing has written holds NaN here, so that sums show it.",
    file: `${WRONG}/uninitialised.tc`,
    chosen: { view: "result", sizes: { N: 128 }, fills: { Y: { kind: "unwritten" } } },
  },
  {
    name: "assertion",
    group: "Mistakes",
    title: "A promise that does not hold",
    sentence: "`assume` is believed on a GPU and checked on the emulator.",
    file: `${WRONG}/assertion.tc`,
    chosen: { view: "faults", sizes: { N: 130 } },
  },
  {
    name: "endless",
    group: "Mistakes",
    title: "A lock that no block opens",
    sentence: "Each program waits for a value that none of them writes.",
    file: `${WRONG}/endless.tc`,
    chosen: { view: "faults", sizes: { N: 64 }, budget: 100_000 },
  },
  {
    name: "type_error",
    group: "Mistakes",
    title: "Shapes that do not fit",
    sentence: "The compiler says what is wrong, where, and how to mend it; try the fix.",
    file: `${WRONG}/shapes.tc`,
    chosen: { view: "stages", sizes: { N: 64 } },
  },
];

/** The files that entries may include, by the name that their texts have for them, and where they are. */
export const INCLUDES: Readonly<Record<string, string>> = {
  "rows.h": "kernels/rows.h",
  "layer_norm_tiles.h": "kernels/layer_norm_tiles.h",
  "softmax_tiles.h": "kernels/softmax_tiles.h",
  "transpose_tiles.h": "kernels/transpose_tiles.h",
};
