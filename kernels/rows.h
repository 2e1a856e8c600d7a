// What the kernels on rows share: which rows a program does, and how it reads and writes a tile of them.
//
// A program does ROWS rows, in tiles of COLS columns. `left` columns are from the first of a tile to the ends of the rows,
// so loops over tiles count it down from N. Where a row fits a tile each loop runs once and memory is read once; the blocks
// of a cluster share a tile of a long row.
#pragma once

// What is computed in, and its lowest number.
#if __type_is(TYPE, double)
#define REAL double
#define LOWEST (-1.7976931348623157e308)
#else
#define REAL float
#define LOWEST (-3.4028234e38f)
#endif

#ifndef ROWS
#define ROWS max(1, 1024 / COLS)
#endif
// What an instance for rows of at most COLS elements is for.
#define FITS (1 <= N && N <= COLS && (sizeof(TYPE) <= 4 || COLS <= 4096))

typedef REAL tile[ROWS, COLS];
typedef REAL column[ROWS, 1];
typedef bool mask[ROWS, COLS];
typedef long places[ROWS, 1];

// The program's rows.
static places rows() { return (get_program_id(0) * ROWS + 0 ... ROWS)[:, newaxis]; }

// Which elements of a tile there are in M rows.
static mask inside(int M, int left) { return rows() < M && (0 ... COLS)[newaxis, :] < left; }

// A tile of X, whose rows are ld elements apart; `other` where there is no element.
static tile get(TYPE *X, int ld, int M, int N, int left, TYPE other) {
  TYPE *p[ROWS, COLS] = X + rows() * ld + (0 ... COLS)[newaxis, :];
  return (tile)load(p + (N - left), inside(M, left), other);
}

// The weights of a tile's columns, the same for all rows.
static tile weights(TYPE *W, int M, int N, int left) {
  TYPE *p[ROWS, COLS] = W + (0 ... COLS)[newaxis, :];
  return (tile)load(p + (N - left), inside(M, left), 0, "nc");
}

// Writes a tile of Y, where it has elements.
static void put(TYPE *Y, int ld, int M, int N, int left, tile values) {
  TYPE *p[ROWS, COLS] = Y + rows() * ld + (0 ... COLS)[newaxis, :];
  *?(inside(M, left)) (p + (N - left)) = (TYPE[ROWS, COLS])values;
}

// The mean along each row of N elements, from what its columns have summed up.
static column mean_of(tile sums, int N) { return sums[:, +][:, newaxis] * (1 / (REAL)N); }
