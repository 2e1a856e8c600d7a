// Tiles of quantized_matmul.tc: rows, columns and depth, with the warps that have one and the slots for operands.
// __TRI_SPECIALIZED__ is 1 and 2 for few rows of A, with W by columns and by rows, 3 and 4 for some, 5 and 6 for any number,
// and 0 for all else.

// W is the left operand of warp groups (sm_90a), from registers: what a thread makes of it serves all rows of A. Of 4 bits a
// step is in one half of a group.
#pragma tri configs MB in {16},  NB in {64},  KB in {128}; num_warps in {4}, num_stages in {6} if (__TRI_SPECIALIZED__ == 1 || __TRI_SPECIALIZED__ == 2) && BITS == 8 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {16},  NB in {64},  KB in {64};  num_warps in {4}, num_stages in {8} if (__TRI_SPECIALIZED__ == 1 || __TRI_SPECIALIZED__ == 2) && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {64},  KB in {128}; num_warps in {4}, num_stages in {4} if (__TRI_SPECIALIZED__ == 3 || __TRI_SPECIALIZED__ == 4) && BITS == 8 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {64},  KB in {64};  num_warps in {4}, num_stages in {4} if (__TRI_SPECIALIZED__ == 3 || __TRI_SPECIALIZED__ == 4) && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {256}, NB in {128}, KB in {64};  num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ >= 5 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {16},  NB in {64},  KB in {64};  num_warps in {4}, num_stages in {6} if (__TRI_SPECIALIZED__ == 1 || __TRI_SPECIALIZED__ == 2) && __TRI_ARCH__ >= 800
#pragma tri configs MB in {16},  NB in {64},  KB in {16};  num_warps in {4}, num_stages in {6} if (__TRI_SPECIALIZED__ == 1 || __TRI_SPECIALIZED__ == 2) && __TRI_ARCH__ < 800
#pragma tri configs MB in {128}, NB in {128}, KB in {64};  num_warps in {8}, num_stages in {3} if __TRI_ARCH_SPECIFIC__ == 900 || (__TRI_SPECIALIZED__ && __TRI_ARCH__ >= 800)
#pragma tri configs MB in {128}, NB in {128}, KB in {16};  num_warps in {8}, num_stages in {3} if __TRI_SPECIALIZED__ && __TRI_ARCH__ < 800
// Element by element, for as little code as plain products have. On an H200 7 rows take 0.58 of the time with these, but 333
// rows 1.35 and 4000 rows 1.7.
#pragma tri configs MB in {64},  NB in {64},  KB in {32};  num_warps in {4} if !__TRI_SPECIALIZED__ && __TRI_ARCH__ >= 800
#pragma tri configs MB in {64},  NB in {64},  KB in {16};  num_warps in {4} if !__TRI_SPECIALIZED__ && __TRI_ARCH__ < 800
