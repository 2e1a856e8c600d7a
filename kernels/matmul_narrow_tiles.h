// Tiles of matmul_narrow.tc: rows, columns and depth, with the warps that have one and the slots for operands. The first
// that fits is taken where nothing was timed. __TRI_SPECIALIZED__ is 1 for B by columns, 2 for B by rows, 0 for all else.

// Operands of warp groups (sm_90a) stay out of registers, so tiles may be wider there: matmul_narrow.tune.json says where.
#pragma tri configs MB in {128}, NB in {128}, KB in {64};  num_warps in {8} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 1 && !(__TRI_SPECIALIZED__ == 1 && __TRI_ARCH_SPECIFIC__ == 900)
#pragma tri configs MB in {128}, NB in {256}, KB in {128}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 1 && __TRI_ARCH_SPECIFIC__ == 900
// A few rows are as fast as what B brings: much of it under way at a time, on all multiprocessors. Up to 512 rows small tiles
// keep them busy.
#pragma tri configs MB in {16},  NB in {32},  KB in {256}; num_warps in {4}, num_stages in {8} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 1 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {16},  NB in {64},  KB in {128}; num_warps in {4}, num_stages in {8} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 1 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64},  NB in {64, 128}, KB in {256}; num_warps in {4}, num_stages in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 1 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {128}, KB in {128}; num_warps in {4}, num_stages in {6} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 1 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {128, 256}, KB in {32}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 4 && (NB == 128 || (__TRI_SPECIALIZED__ == 1 && __TRI_ARCH_SPECIFIC__ == 900))
// B by rows comes from registers there, for NB rows of the transposed product.
#pragma tri configs MB in {256}, NB in {128}, KB in {32}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ == 2 && sizeof(TYPE) == 4 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {256}, NB in {128}, KB in {128}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ == 2 && sizeof(TYPE) == 1 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64},  NB in {64},  KB in {32};  num_warps in {4} if !__TRI_SPECIALIZED__
