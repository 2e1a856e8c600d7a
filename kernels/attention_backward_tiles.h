// Tiles of attention_backward.tc: the rows that a program makes and those that it goes over at a time, with the warps that
// have one and the slots for what is read. The first that fits is taken.

#pragma tri kernel attention_backward_rows
#pragma tri config BR=16; num_warps=4

#pragma tri kernel attention_backward_keys
#pragma tri configs BR in {128}, BC in {64}; num_warps in {8}, num_stages in {4} if sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900 && D == 64
#pragma tri configs BR in {128}, BC in {64}; num_warps in {8}, num_stages in {2} if sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900 && D == 128
#pragma tri configs BR in {64}, BC in {32}; num_warps in {4}, num_stages in {2} if sizeof(TYPE) == 2 && D == 64
#pragma tri configs BR in {64}, BC in {16}; num_warps in {4}, num_stages in {2} if sizeof(TYPE) == 2 && D == 128
#pragma tri configs BR in {16}, BC in {16}; num_warps in {4}, num_stages in {2} if sizeof(TYPE) == 4

#pragma tri kernel attention_backward_queries
#pragma tri configs BR in {128}, BC in {64}; num_warps in {8}, num_stages in {4} if sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900 && D == 64
#pragma tri configs BR in {128}, BC in {64}; num_warps in {8}, num_stages in {4} if sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900 && D == 128
#pragma tri configs BR in {64}, BC in {32}; num_warps in {4}, num_stages in {2} if sizeof(TYPE) == 2
#pragma tri configs BR in {32}, BC in {16}; num_warps in {4}, num_stages in {2} if sizeof(TYPE) == 4
