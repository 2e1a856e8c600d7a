// Tiles of block_sparse_packed.tc: the rows and columns of a program, and the depth of a step, with the warps that have one
// and the slots for operands.

// A program makes a group, or a part of one.
#pragma tri kernel sdd_packed
#pragma tri configs MB in {HIGH_OUT}, NB in {WIDE_OUT}, KB in {64}; num_warps in {8}, num_stages in {4} if __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64}, NB in {64}, KB in {32}; num_warps in {4} if __TRI_ARCH_SPECIFIC__ != 900

// A program makes the rows of a group, and NB columns of them.
#pragma tri kernel dsd_packed
#pragma tri configs NB in {256}, KB in {64}; num_warps in {8}, num_stages in {4} if __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs NB in {64}, KB in {32}; num_warps in {4} if __TRI_ARCH_SPECIFIC__ != 900

// A program makes the columns of a group, and MB rows of them.
#pragma tri kernel dds_packed
#pragma tri configs MB in {256}, KB in {64}; num_warps in {8}, num_stages in {4} if __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64}, KB in {32}; num_warps in {4} if __TRI_ARCH_SPECIFIC__ != 900
