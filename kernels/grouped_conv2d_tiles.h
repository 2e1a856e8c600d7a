// What grouped_conv2d.tc and grouped_conv2d_backward.tc share. WAY says which groups an instance is for: 0 any, 1 each channel by
// itself, 3, 5 and 7 the same with filters that are so wide and move by one pixel, 8 and 16 groups of so many bytes.

#if __type_is(TYPE, float)
#define BYTES 4
#else
#define BYTES 2
#endif
// 16-byte accesses: V elements.
#define V (16 / BYTES)
// Channels of a group, which are its filters too, and the width of filters, where instances know them.
#define EACH (WAY >= 8 ? WAY / BYTES : 1)
#define WIDE (WAY > 1 && WAY < 8 ? WAY : 0)
#define DEPTHWISE (WAY >= 1 && WAY < 8)

#define VECTORS_OF(T, LENGTH, n, h, w, c) \
  (T % 16 == 0 && LENGTH % V == 0 && stride_##n % V == 0 && stride_##h % V == 0 && stride_##w % V == 0 && stride_##c == 1)
#define VECTORS_OF_X(X) VECTORS_OF(X, C, xn, xh, xw, xc)
#define VECTORS_OF_Y(Y) VECTORS_OF(Y, K, yn, yp, yq, yk)
#define VECTORS_OF_F \
  (F % 16 == 0 && stride_fk % EACH == 0 && stride_fr % EACH == 0 && stride_fs % EACH == 0 && stride_fc == 1)

// The elements of groups: of a tile of ROWS x COLUMNS groups of EACH elements, X0 is a tile with the first one of each group.
// Threads load vectors, so a group is in one thread, and taking it apart moves nothing.
#if EACH == 2
#define ELEMENTS_OF(ROWS, COLUMNS, X, T) \
  TYPE X##_[ROWS, COLUMNS, 2] = reshape(T, ROWS, COLUMNS, 2); \
  float X##0[ROWS, COLUMNS] = split0(X##_), X##1[ROWS, COLUMNS] = split1(X##_)
#elif EACH == 4
#define ELEMENTS_OF(ROWS, COLUMNS, X, T) \
  TYPE X##_[ROWS, COLUMNS, 2, 2] = reshape(T, ROWS, COLUMNS, 2, 2); \
  TYPE X##even[ROWS, COLUMNS, 2] = split0(X##_), X##odd[ROWS, COLUMNS, 2] = split1(X##_); \
  float X##0[ROWS, COLUMNS] = split0(X##even), X##2[ROWS, COLUMNS] = split1(X##even); \
  float X##1[ROWS, COLUMNS] = split0(X##odd), X##3[ROWS, COLUMNS] = split1(X##odd)
#elif EACH == 8
#define ELEMENTS_OF(ROWS, COLUMNS, X, T) \
  TYPE X##_[ROWS, COLUMNS, 4, 2] = reshape(T, ROWS, COLUMNS, 4, 2); \
  TYPE X##even[ROWS, COLUMNS, 2, 2] = reshape(split0(X##_), ROWS, COLUMNS, 2, 2); \
  TYPE X##odd[ROWS, COLUMNS, 2, 2] = reshape(split1(X##_), ROWS, COLUMNS, 2, 2); \
  TYPE X##04[ROWS, COLUMNS, 2] = split0(X##even), X##26[ROWS, COLUMNS, 2] = split1(X##even); \
  TYPE X##15[ROWS, COLUMNS, 2] = split0(X##odd), X##37[ROWS, COLUMNS, 2] = split1(X##odd); \
  float X##0[ROWS, COLUMNS] = split0(X##04), X##4[ROWS, COLUMNS] = split1(X##04); \
  float X##2[ROWS, COLUMNS] = split0(X##26), X##6[ROWS, COLUMNS] = split1(X##26); \
  float X##1[ROWS, COLUMNS] = split0(X##15), X##5[ROWS, COLUMNS] = split1(X##15); \
  float X##3[ROWS, COLUMNS] = split0(X##37), X##7[ROWS, COLUMNS] = split1(X##37)
#endif

// DO for each column of a filter.
#if WIDE == 3
#define EACH_COLUMN(DO) DO(0); DO(1); DO(2)
#elif WIDE == 5
#define EACH_COLUMN(DO) DO(0); DO(1); DO(2); DO(3); DO(4)
#elif WIDE == 7
#define EACH_COLUMN(DO) DO(0); DO(1); DO(2); DO(3); DO(4); DO(5); DO(6)
#endif

// DO for the number of each element of a group.
#if EACH == 2
#define EACH_ELEMENT(DO) DO(0); DO(1)
#elif EACH == 4
#define EACH_ELEMENT(DO) DO(0); DO(1); DO(2); DO(3)
#elif EACH == 8
#define EACH_ELEMENT(DO) DO(0); DO(1); DO(2); DO(3); DO(4); DO(5); DO(6); DO(7)
#endif

// What a program of `grouped_conv2d_backward_weights` has of a filter, DO(number, row, column): filters 3 wide as a whole, wider
// ones a row. TAPS is how many programs a filter has.
#if WIDE == 3
#define EACH_LINE(DO) DO(0); DO(1); DO(2)
#define EACH_TAP(DO) \
  DO(0, 0, 0); DO(1, 0, 1); DO(2, 0, 2); DO(3, 1, 0); DO(4, 1, 1); DO(5, 1, 2); DO(6, 2, 0); DO(7, 2, 1); DO(8, 2, 2)
#elif WIDE == 5
#define EACH_LINE(DO) DO(0)
#define EACH_TAP(DO) DO(0, 0, 0); DO(1, 0, 1); DO(2, 0, 2); DO(3, 0, 3); DO(4, 0, 4)
#elif WIDE == 7
#define EACH_LINE(DO) DO(0)
#define EACH_TAP(DO) \
  DO(0, 0, 0); DO(1, 0, 1); DO(2, 0, 2); DO(3, 0, 3); DO(4, 0, 4); DO(5, 0, 5); DO(6, 0, 6)
#endif
#define TAPS (WIDE == 3 ? 1 : WIDE ? WIDE : EACH > 1 ? R * S : R * S * (C / groups))
