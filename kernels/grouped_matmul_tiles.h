// Tiles of grouped_matmul.tc: rows, columns and depth, with the warps that have one and the slots for operands.
// __TRI_SPECIALIZED__ is 1 where all is aligned, 0 for all else.

#pragma tri configs MB in {128}, NB in {256}, KB in {64}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64},  NB in {64},  KB in {64}; num_warps in {4} if __TRI_SPECIALIZED__ && __TRI_ARCH_SPECIFIC__ != 900
#pragma tri configs MB in {64},  NB in {64},  KB in {32}; num_warps in {4} if !__TRI_SPECIALIZED__
