// Tiles of matmul.tc: rows, columns and depth, with the warps that have one and the slots for operands. The first that
// fits is taken where nothing was timed. __TRI_SPECIALIZED__ is 1 to 4 for matrices stored by rows or by columns, 5 for rows that
// start anywhere, 0 for all else.

// Small products need small tiles to keep all multiprocessors busy, large ones wide tiles: matmul.tune.json says where.
// Operands of warp groups (sm_90a) stay out of registers, so tiles may be wider there; float and double were timed there.
// Of the other targets, some have no room for such tiles, and some too few registers.
#pragma tri configs MB in {128}, NB in {128}, KB in {32}; num_warps in {4} if sizeof(TYPE) == 2 && __TRI_SPECIALIZED__ && __TRI_SPECIALIZED__ <= 4 && !(__TRI_ARCH_SPECIFIC__ == 900)
#pragma tri configs MB in {128}, NB in {256}, KB in {64}; num_warps in {8}, num_stages in {4} if sizeof(TYPE) == 2 && __TRI_SPECIALIZED__ && __TRI_SPECIALIZED__ <= 4 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {64},  KB in {64}; num_warps in {4}, num_stages in {6} if sizeof(TYPE) == 2 && __TRI_SPECIALIZED__ && __TRI_SPECIALIZED__ <= 4 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {128}, KB in {64}; num_warps in {4}, num_stages in {6} if sizeof(TYPE) == 2 && (__TRI_SPECIALIZED__ == 1 || __TRI_SPECIALIZED__ == 2) && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64},  NB in {64},  KB in {128}; num_warps in {4}, num_stages in {4} if sizeof(TYPE) == 2 && (__TRI_SPECIALIZED__ == 1 || __TRI_SPECIALIZED__ == 2)
#pragma tri configs MB in {64},  NB in {128}, KB in {128}; num_warps in {4}, num_stages in {4} if sizeof(TYPE) == 2 && (__TRI_SPECIALIZED__ == 1 || __TRI_SPECIALIZED__ == 2) && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64},  NB in {128}, KB in {64} ; num_warps in {4}, num_stages in {8} if sizeof(TYPE) == 2 && (__TRI_SPECIALIZED__ == 1 || __TRI_SPECIALIZED__ == 2) && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64},  NB in {64},  KB in {128}; num_warps in {4}, num_stages in {6} if sizeof(TYPE) == 2 && __TRI_SPECIALIZED__ == 2 && __TRI_ARCH_SPECIFIC__ == 900
// A few rows are as fast as what B brings: much of it under way at a time, on all multiprocessors.
#pragma tri configs MB in {16},  NB in {64},  KB in {64}; num_warps in {4}, num_stages in {8} if sizeof(TYPE) == 2 && (__TRI_SPECIALIZED__ == 1 || __TRI_SPECIALIZED__ == 2)
#pragma tri configs MB in {16},  NB in {64},  KB in {128}; num_warps in {4}, num_stages in {6} if sizeof(TYPE) == 2 && __TRI_SPECIALIZED__ == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {16},  NB in {32},  KB in {128}; num_warps in {4}, num_stages in {8} if sizeof(TYPE) == 2 && (__TRI_SPECIALIZED__ == 1 || __TRI_SPECIALIZED__ == 2) && __TRI_ARCH_SPECIFIC__ == 900
// Bytes by rows and by columns, the second condition, are as wgmma wants them.
#pragma tri configs MB in {128}, NB in {128, 256}, KB in {128}; num_warps in {8}, num_stages in {4} if sizeof(TYPE) == 1 && __TRI_SPECIALIZED__ == 2 && (NB == 128 || __TRI_ARCH_SPECIFIC__ == 900)
#pragma tri configs MB in {16},  NB in {32},  KB in {256}; num_warps in {4}, num_stages in {8} if sizeof(TYPE) == 1 && __TRI_SPECIALIZED__ == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {16},  NB in {64},  KB in {128}; num_warps in {4}, num_stages in {8} if sizeof(TYPE) == 1 && __TRI_SPECIALIZED__ == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64},  NB in {64, 128}, KB in {256}; num_warps in {4}, num_stages in {4} if sizeof(TYPE) == 1 && __TRI_SPECIALIZED__ == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {128}, KB in {128}; num_warps in {4}, num_stages in {6} if sizeof(TYPE) == 1 && __TRI_SPECIALIZED__ == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {64},  KB in {64}; num_warps in {4} if sizeof(TYPE) == 1 && __TRI_SPECIALIZED__ && __TRI_SPECIALIZED__ <= 4 && __TRI_SPECIALIZED__ != 2
// Those by rows come from registers, for NB rows of the transposed product.
#pragma tri configs MB in {256}, NB in {128}, KB in {128}; num_warps in {8}, num_stages in {4} if sizeof(TYPE) == 1 && __TRI_SPECIALIZED__ == 1 && __TRI_ARCH_SPECIFIC__ == 900
// Rows that start anywhere, the fifth condition: the smaller tile is loaded element by element, and many warps wait for it;
// the larger one comes by aligned chunks on sm_90a.
#pragma tri configs MB in {128}, NB in {128}, KB in {64}; num_warps in {16} if sizeof(TYPE) == 2 && __TRI_SPECIALIZED__ == 5
#pragma tri configs MB in {256}, NB in {128}, KB in {32}; num_warps in {16} if sizeof(TYPE) == 2 && __TRI_SPECIALIZED__ == 5 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64},  NB in {64},  KB in {16}; num_warps in {4} if sizeof(TYPE) >= 4 && (!__TRI_SPECIALIZED__ || __TRI_SPECIALIZED__ == 5)
#pragma tri configs MB in {64},  NB in {64},  KB in {32}; num_warps in {4} if sizeof(TYPE) >= 4 || !__TRI_SPECIALIZED__ || __TRI_SPECIALIZED__ == 5
#pragma tri configs MB in {128}, NB in {256}, KB in {16}; num_warps in {8} if sizeof(TYPE) == 4 && __TRI_SPECIALIZED__ == 1 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {128}, KB in {32}; num_warps in {8} if sizeof(TYPE) == 4 && __TRI_SPECIALIZED__ && __TRI_SPECIALIZED__ <= 4 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {64, 128}, KB in {16}; num_warps in {8} if sizeof(TYPE) == 8 && __TRI_SPECIALIZED__ && __TRI_SPECIALIZED__ <= (NB == 64 ? 4 : 1) && __TRI_ARCH_SPECIFIC__ == 900
