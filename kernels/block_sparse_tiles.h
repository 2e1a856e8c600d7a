// Tiles of block_sparse.tc: the free rows and columns of a program, and the depth of a step, with the warps that have one.
// The first that fits is taken. __TRI_SPECIALIZED__ is 1 where all is aligned, 0 for all else.

// A program makes a block.
#pragma tri kernel sdd
#pragma tri configs KB in {64}; num_warps in {1} if BLOCK == 16 && sizeof(TYPE) == 2 && __TRI_SPECIALIZED__
#pragma tri configs KB in {32}; num_warps in {1} if BLOCK == 16 && sizeof(TYPE) == 2
#pragma tri configs KB in {16}; num_warps in {1} if BLOCK == 16
#pragma tri configs KB in {64}; num_warps in {4} if sizeof(TYPE) == 2 && __TRI_SPECIALIZED__
#pragma tri configs KB in {32}; num_warps in {4} if sizeof(TYPE) == 2
#pragma tri configs KB in {16}; num_warps in {4}

// A program makes the rows of a block, and NB columns of them.
#pragma tri kernel dsd
#pragma tri configs NB in {128}, KB in {BLOCK}; num_warps in {4} if BLOCK < 64 && sizeof(TYPE) == 2
#pragma tri configs NB in {64},  KB in {64};    num_warps in {4} if sizeof(TYPE) == 2 && __TRI_SPECIALIZED__
#pragma tri configs NB in {64},  KB in {32};    num_warps in {4} if sizeof(TYPE) == 2
#pragma tri configs NB in {64},  KB in {16};    num_warps in {4}

// A program makes the columns of a block, and MB rows of them.
#pragma tri kernel dds
#pragma tri configs MB in {128}, KB in {BLOCK}; num_warps in {4} if BLOCK < 64 && sizeof(TYPE) == 2
#pragma tri configs MB in {64},  KB in {64};    num_warps in {4} if sizeof(TYPE) == 2 && __TRI_SPECIALIZED__
#pragma tri configs MB in {64},  KB in {32};    num_warps in {4} if sizeof(TYPE) == 2
#pragma tri configs MB in {64},  KB in {16};    num_warps in {4}
