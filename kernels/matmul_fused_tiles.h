// Tiles of matmul_fused.tc: rows, columns and depth, with the warps that have one and the slots for operands. The first
// that fits is taken where nothing was timed. __TRI_SPECIALIZED__ is 1 for B by rows, 2 for B by columns, 0 for all else.

// As for plain products: what follows wide sums is computed slice by slice.
#pragma tri configs MB in {128}, NB in {256}, KB in {64}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ && __TRI_ARCH_SPECIFIC__ == 900
// Two such programs fill a multiprocessor: one multiplies while the other one activates, which pays where K is small.
#pragma tri configs MB in {128}, NB in {128}, KB in {64}; num_warps in {4}, num_stages in {5} if __TRI_SPECIALIZED__ && __TRI_ARCH_SPECIFIC__ == 900
// A few rows are as fast as what B brings, as for plain products; small tiles keep all multiprocessors busy.
#pragma tri configs MB in {16}, NB in {32}, KB in {128}; num_warps in {4}, num_stages in {8} if __TRI_SPECIALIZED__ && sizeof(OUT) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64}, NB in {64}, KB in {128}; num_warps in {4}, num_stages in {6} if __TRI_SPECIALIZED__ && sizeof(OUT) == 2 && __TRI_ARCH_SPECIFIC__ == 900
// Few elements in a thread, so that what follows the sums is little code.
#pragma tri configs MB in {64}, NB in {64}, KB in {32}; num_warps in {8} if __TRI_SPECIALIZED__ && __TRI_ARCH_SPECIFIC__ != 900
#pragma tri configs MB in {64}, NB in {64}, KB in {32}; num_warps in {16} if !__TRI_SPECIALIZED__
