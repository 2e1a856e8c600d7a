/** The kernels of the guide as entries, so that its pages lead to them: `?entry=guide_NAME`. */
import type { PageState } from "../state/state.ts";
import type { GalleryEntry } from "./entries.ts";

function guided(name: string, sentence: string, chosen: Partial<PageState>): GalleryEntry {
  return {
    name: `guide_${name}`,
    group: "Guide",
    title: name.replaceAll("_", " "),
    sentence,
    file: `docs/guide/kernels/${name}.tc`,
    chosen,
  };
}

const PRODUCT = { M: 64, N: 64, K: 64 };
const MATRIX = { M: 64, N: 96 };
const PICTURE = { X: { kind: "picture" } } as const;

/** In the order of the guide. */
export const GUIDE: readonly GalleryEntry[] = [
  guided("scale", "The first kernel: a factor for each element.", {
    view: "result",
    sizes: { N: 300, factor: 3 },
  }),
  guided("add_row", "A row is added to each row of a matrix.", { view: "layouts", sizes: MATRIX }),
  guided("apply_curve", "A table in constant memory.", { view: "result", sizes: { N: 256 } }),
  guided("no_mask", "Without a mask the last program would write past the end.", {
    view: "contract",
    sizes: { N: 200 },
  }),
  guided("row_max", "What lies outside of a row must not be the largest element.", {
    view: "result",
    sizes: { M: 8, N: 200 },
  }),
  guided("matmul_1", "Step 1: one element per program.", { view: "memory", sizes: PRODUCT }),
  guided("matmul_2", "Step 2: one tile per program.", { view: "memory", sizes: PRODUCT }),
  guided("matmul_3", "Step 3: tensor cores.", { view: "layouts", sizes: PRODUCT }),
  guided("matmul_4", "Step 4: larger tiles.", { view: "report", sizes: PRODUCT }),
  guided("matmul_5", "Step 5: operands of later iterations are prefetched.", {
    view: "timeline",
    sizes: PRODUCT,
  }),
  guided("matmul_6", "Step 6: grouped programs.", { view: "report", sizes: PRODUCT }),
  guided("matmul_7", "Step 7: a tile for warp groups.", { view: "report", sizes: PRODUCT }),
  guided("transpose_naive", "Each store of a warp touches 32 rows of Y.", {
    view: "memory",
    sizes: MATRIX,
    fills: PICTURE,
  }),
  guided("transpose_tiled", "A tile, and still a row after the other.", {
    view: "memory",
    sizes: MATRIX,
    fills: PICTURE,
  }),
  guided("transpose_shared", "The whole tile is transposed through shared memory.", {
    view: "layouts",
    sizes: MATRIX,
    fills: PICTURE,
  }),
  guided("transpose_pointers", "The same code from transposed pointers.", {
    view: "layouts",
    sizes: MATRIX,
    fills: PICTURE,
  }),
  guided("slow_columns", "Each float is loaded with seven that are not used.", {
    view: "memory",
    sizes: { M: 128, N: 64 },
  }),
  guided("fast_columns", "A tile of 32 columns wants all of a sector.", {
    view: "memory",
    sizes: { M: 128, N: 64 },
  }),
  guided("slow_blocks", "Lanes read words that are in one bank.", {
    view: "memory",
    sizes: { N: 2 },
  }),
  guided("fast_blocks", "The compiler chooses the places in shared memory.", {
    view: "memory",
    sizes: { N: 2 },
  }),
  guided("slow_rows", "Each thread loads one float at a time.", {
    view: "memory",
    sizes: { M: 8, N: 512 },
  }),
  guided("fast_rows", "Each thread loads 16 bytes at a time.", {
    view: "memory",
    sizes: { M: 8, N: 512 },
  }),
  guided("slow_sum", "All elements are added to one address.", {
    view: "report",
    sizes: { N: 2048 },
  }),
  guided("fast_sum", "A program adds its elements first.", { view: "report", sizes: { N: 2048 } }),
  guided("pick_rows", "One of the indices is no row of X.", {
    view: "faults",
    sizes: { ROWS: 4, M: 6, N: 40 },
    fills: { INDEX: { kind: "numbers", values: [0, 3, 1, 4, 2, 0] } },
  }),
  guided("count_values", "Threads that count without atomics lose counts.", {
    view: "faults",
    sizes: { N: 256, BINS: 8 },
  }),
  guided("tuned_scale", "Several configurations to choose from.", {
    view: "stages",
    sizes: { N: 1000, factor: 2 },
  }),
];
