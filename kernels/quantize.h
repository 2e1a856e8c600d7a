// What quantisation by rows and by blocks shares.
//
// A scale is the largest magnitude over the largest number of the type (127 or 448), so that nothing is clipped.
// Of zeros it is 0. A row or block with an infinity or NaN has a scale that is not finite, and its elements mean nothing.
#pragma once

#if __type_is(Q, int8)
#define LARGEST 127.0f
#define ROUNDED(x) rint(x)
#else
#define LARGEST 448.0f
#define ROUNDED(x) (x)
#endif
