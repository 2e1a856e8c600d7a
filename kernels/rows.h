// What the kernels on rows share. A program takes as many rows as fit a tile of TILE elements (of the shortest, half
// as many: each has its own addresses), which it keeps in registers, so that memory is read once. A row that is longer
// than a tile has a program of its own, which reads it again.
//
// A kernel that has an instance for each range of lengths says with ROW which one it is for: rows of at most ROW
// elements, more than half of that but in the shortest range, and of the longest whatever does not fit the others. The
// threads of a block and their registers then suit the length. Without ROW an instance takes rows of all lengths.
#pragma once

// What is computed in.
#if __type_is(TYPE, double)
#define REAL double
#define INF F64_INFINITY
#define LOWEST (-1.7976931348623157e308)
#else
#define REAL float
#define INF F32_INFINITY
#define LOWEST (-3.4028234e38f)
#endif

#ifndef ROW
#define ROW 0
#endif
#define SHORTEST 1024
#define LONGEST 16384

// Rows of N elements that one program takes.
#if ROW == 0
#define ROWS (N <= 256 ? TILE / 512 : N <= 1024 ? TILE / 1024 : N <= 4096 ? TILE / 4096 : 1)
#elif ROW == SHORTEST
#define ROWS (N <= 512 ? 2 : 1)
#else
#define ROWS 1
#endif

// SHORT(rows, columns) for a tile that rows of N elements fit, LONG where there is none.
#if ROW == 0
#define BY_LENGTH(SHORT, LONG) \
  if (N <= 256) \
    SHORT(TILE / 512, 256) \
  else if (N <= 1024) \
    SHORT(TILE / 1024, 1024) \
  else if (N <= 4096) \
    SHORT(TILE / 4096, 4096) \
  else if (TILE > 4096 && N <= TILE) \
    SHORT(1, TILE) \
  else \
    LONG
#elif ROW == SHORTEST
#define BY_LENGTH(SHORT, LONG) \
  if (N <= 256) \
    SHORT(2, 256) \
  else if (N <= 512) \
    SHORT(2, 512) \
  else \
    SHORT(1, ROW)
#elif ROW < LONGEST && ROW <= TILE
#define BY_LENGTH(SHORT, LONG) SHORT(1, ROW)
#else
#define BY_LENGTH(SHORT, LONG) \
  if (TILE >= ROW && N <= ROW) \
    SHORT(1, ROW) \
  else \
    LONG
#endif

// Elements of a 16-byte access.
#define V (16 / sizeof(TYPE))

// Elements of a long row that are looked at together.
#define STEP 4096
