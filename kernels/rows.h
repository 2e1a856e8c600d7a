// What the kernels on rows share. A program takes as many rows as fit a tile of TILE elements (of the shortest, half
// as many: each has its own addresses), which it keeps in registers, so that memory is read once. A row that is longer
// than a tile has a program of its own, which reads it again.
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

// Rows of N elements that one program takes.
#define ROWS (N <= 256 ? TILE / 512 : N <= 1024 ? TILE / 1024 : N <= 4096 ? TILE / 4096 : 1)

// SHORT(rows, columns) for a tile that rows of N elements fit, LONG where there is none.
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

// Elements of a long row that are looked at together.
#define STEP 4096
