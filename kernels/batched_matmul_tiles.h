// Tiles of batched_matmul.tc: rows, columns and depth, with the warps that have one and the slots for operands. The first
// that fits is taken where nothing was timed. __TRI_SPECIALIZED__ is 1 for B by rows, 2 for B by columns, 0 for all else.

#pragma tri configs MB in {128}, NB in {256}, KB in {64}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
// For products of little depth, whose time is that of the results.
#pragma tri configs MB in {256}, NB in {128}, KB in {64}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {128}, KB in {32}; num_warps in {4} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 2
// For small matrices, and where there are few: batched_matmul.tune.json says when.
#pragma tri configs MB in {64},  NB in {64}, KB in {64}; num_warps in {4} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 2
#pragma tri configs MB in {64},  NB in {64}, KB in {32}; num_warps in {4} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 2
#pragma tri configs MB in {64},  NB in {64}, KB in {32}; num_warps in {4} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 8
#pragma tri configs MB in {64},  NB in {64}, KB in {16}; num_warps in {4} if (!__TRI_SPECIALIZED__ && sizeof(TYPE) == 8) || sizeof(TYPE) == 4
