// Tiles of attention.tc: rows of Q and of K, with the warps that have one and the slots for keys and values. The first
// that fits is taken where nothing was timed.

// A warp group for each 64 rows, which take turns at the tensor cores.
#pragma tri configs BM in {256}, BN in {64}; num_warps in {16}, num_stages in {3} if sizeof(TYPE) == 2 && D == 64 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs BM in {128}, BN in {128}; num_warps in {8}, num_stages in {2} if sizeof(TYPE) == 2 && D > 64 && D <= 128 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs BM in {128}, BN in {64}; num_warps in {8}, num_stages in {2} if D == 256 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs BM in {128}, BN in {64}; num_warps in {4}, num_stages in {2} if sizeof(TYPE) == 2 && D == 64
#pragma tri configs BM in {128}, BN in {32}; num_warps in {4}, num_stages in {2} if sizeof(TYPE) == 2 && (D == 96 || D == 128)
#pragma tri configs BM in {32}, BN in {16}; num_warps in {4}, num_stages in {2} if sizeof(TYPE) == 4
// Few rows need small tiles to keep all multiprocessors busy: attention.tune.json says where.
#pragma tri configs BM in {64}, BN in {64}; num_warps in {4}, num_stages in {2} if sizeof(TYPE) == 2 && D <= 128
#pragma tri configs BM in {64}, BN in {16}; num_warps in {4}, num_stages in {2} if D == 256
