// Tiles of decode.tc, with the warps that have one and the slots for keys and values, and the launches that they are for:
// __TRI_SPECIALIZED__ is n where the nth condition of the kernel holds, and 0 for all else.

#pragma tri kernel decode
// By the rows that share keys. Pages of a multiple of 64 keys, or one page for each sequence, are read in longer steps;
// sm_70 and sm_75 have too few registers for those. Slots have 64 KB for elements of 128, so that three blocks fit where there
// are 228: by measurement on an H200 (tests/gpu/RESULTS.md), four warps that wait for two long steps beat one with four.
#pragma tri configs ROWS in {16}, BN in {64}; num_warps in {4}, num_stages in {2} if __TRI_SPECIALIZED__ == 1 && __TRI_ARCH__ >= 900 && D == 128
#pragma tri configs ROWS in {16}, BN in {32}; num_warps in {1}, num_stages in {4} if __TRI_SPECIALIZED__ == 1 && __TRI_ARCH__ >= 800 && !(__TRI_ARCH__ >= 900 && D == 128)
#pragma tri configs ROWS in {64}, BN in {32}; num_warps in {4}, num_stages in {4} if __TRI_SPECIALIZED__ == 2 && __TRI_ARCH__ >= 800
#pragma tri configs ROWS in {16}, BN in {16}; num_warps in {1}, num_stages in {6} if !__TRI_SPECIALIZED__ && __TRI_ARCH__ >= 750
#pragma tri configs ROWS in {16}, BN in {16}; num_warps in {4} if !__TRI_SPECIALIZED__ && __TRI_ARCH__ < 750
#pragma tri specialize((size % 64 == 0 || T == 1) && H / KH * M <= 16, size % 64 == 0 || T == 1)

#pragma tri kernel decode_combine
// Parts that are added at a time: all, where they are few.
#pragma tri configs AT_ONCE in {8}; num_warps in {1} if __TRI_SPECIALIZED__ == 1
#pragma tri configs AT_ONCE in {32}; num_warps in {4} if !__TRI_SPECIALIZED__
#pragma tri specialize(1 <= splits && splits <= 8)
