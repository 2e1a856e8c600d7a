/** Ten puzzles: what they ask for, and hints. Their inputs are in `cases.ts`, which the page does not load. */
import type { GalleryEntry } from "../gallery/entries.ts";
import type { PageState } from "../state/state.ts";

/** A puzzle; as an entry of the gallery its text is the one that a person begins with. */
export interface Puzzle extends GalleryEntry {
  readonly group: "Puzzles";
  /** From vague to exact. */
  readonly hints: readonly string[];
  /** A kernel that solves it, from the root of the repository. */
  readonly solution: string;
}

const FOLDER = "playground/puzzles/kernels";

function puzzle(
  name: string,
  title: string,
  sentence: string,
  chosen: Partial<PageState>,
  hints: readonly string[],
): Puzzle {
  return {
    name: `puzzle_${name}`,
    group: "Puzzles",
    title,
    sentence,
    file: `${FOLDER}/${name}.tc`,
    solution: `${FOLDER}/${name}.solution.tc`,
    chosen,
    hints,
  };
}

/** All puzzles, the easiest first. */
export const PUZZLES: readonly Puzzle[] = [
  puzzle(
    "tail_mask",
    "1. The tail",
    "Add vectors whose length is no multiple of 64.",
    { view: "contract", sizes: { N: 200 } },
    [
      "The last program has fewer than 64 elements to add. Which of its indices are inside?",
      "`*?(mask) pointer` accesses only the elements whose mask is true.",
      "All three accesses need the mask `i < N`.",
    ],
  ),
  puzzle(
    "outer_sum",
    "2. All pairs",
    "Add each element of X to each element of Y.",
    { view: "result", sizes: { M: 40, N: 24 } },
    [
      "`x + y` adds element by element. What shape must x and y have so that it adds all pairs?",
      "`x[:, newaxis]` is a tile of one column, `y[newaxis, :]` one of one row. Such axes stretch.",
    ],
  ),
  puzzle(
    "long_rows",
    "3. Long rows",
    "Sum rows that are longer than the 32 elements of a tile.",
    { view: "result", sizes: { M: 8, N: 100 } },
    [
      "One tile is not enough: a loop must go over the row, 32 elements at a time.",
      "Sum into a tile of 32 partial sums in the loop, and reduce it once, after the loop.",
      "The mask of each iteration is `start + j < N`.",
    ],
  ),
  puzzle(
    "row_maximum",
    "4. The largest",
    "Find the largest element of each row, also where all of them are negative.",
    { view: "result", sizes: { M: 8, N: 50 } },
    [
      "What do the elements of the tile hold that lie outside of the row?",
      "The value for them must never be the largest one.",
    ],
  ),
  puzzle(
    "stencil",
    "5. Neighbours",
    "Add the neighbours of each element; the ends have only one.",
    { view: "contract", sizes: { N: 200 } },
    [
      "Contract shows which elements the launch touches: some are none.",
      "Each of the three loads needs a mask of its own.",
      "`mask ? *(X + i - 1) : 0` reads where the mask is true and gives 0 elsewhere.",
    ],
  ),
  puzzle(
    "safe_softmax",
    "6. Softmax",
    "Compute the softmax of elements as large as 1000.",
    {
      view: "result",
      sizes: { M: 4, N: 50 },
      fills: { X: { kind: "numbers", values: [1000, 999, 998.5, 990, 1000.5] } },
    },
    [
      "exp(100) is more than a float can hold.",
      "The result is the same if a number is subtracted from all elements of a row.",
      "Subtract the row's maximum: `x[max]`.",
    ],
  ),
  puzzle(
    "variance",
    "7. Variance",
    "Compute variances so that they are right for elements around 4096.",
    {
      view: "result",
      sizes: { M: 4, N: 50 },
      fills: { X: { kind: "numbers", values: [4096, 4096.25, 4097, 4095.5] } },
    },
    [
      "The difference of two large numbers has few right digits.",
      "Subtract the mean before you square.",
      "Elements outside of the row must stay 0 after the subtraction.",
    ],
  ),
  puzzle(
    "whole_sectors",
    "8. Whole sectors",
    "Transpose a matrix with the fewest sectors, and without bank conflicts.",
    { view: "memory", sizes: { M: 64, N: 96 } },
    [
      "Memory shows the sectors of each line. Which of the two accesses wastes them?",
      "A program must read along rows of X and write along rows of Y: give it a tile of both axes.",
      "`^x` is the transposed tile; the compiler moves the elements.",
    ],
  ),
  puzzle(
    "product",
    "9. A product",
    "Multiply matrices whose inner extent is more than 16.",
    { view: "result", sizes: { M: 32, N: 32, K: 48 } },
    [
      "One tile covers 16 of the K terms of each sum.",
      "Loop over K in steps of TK, and add the products of the tiles: `c += a @ b`.",
    ],
  ),
  puzzle(
    "race",
    "10. A race to mend",
    "Count values without losing any.",
    { view: "faults", sizes: { N: 256 } },
    [
      "Between a thread's load and its store another one may store: its count is lost.",
      "Reading, adding and writing must be one step.",
      "`atomic_add(pointer, value, mask)`.",
    ],
  ),
];

/** The puzzle of this name. */
export function puzzleOf(name: string): Puzzle | undefined {
  return PUZZLES.find((each) => each.name === name);
}
