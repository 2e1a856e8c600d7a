// Tiles of transpose.tc: rows and columns of X, with the warps that have one, by measurement on an H200
// (tests/gpu/RESULTS.md). The first that fits is taken where nothing was timed. __TRI_SPECIALIZED__ is 1 where rows are
// 16-byte aligned, 0 for all else.

// Where rows are aligned, both sides move rows of 256 bytes. Where they are not, longer rows of Y win, because each end of an
// unaligned row is a partly written sector.
#pragma tri configs TM in {64},  TN in {64};  num_warps in {8} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 4
#pragma tri configs TM in {128}, TN in {128}; num_warps in {4} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 2
#pragma tri configs TM in {32},  TN in {32};  num_warps in {4} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 8
#pragma tri configs TM in {256}, TN in {256}; num_warps in {8} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 1
// For matrices that fit the L2 cache: transpose.tune.json says when.
#pragma tri configs TM in {32},  TN in {32};  num_warps in {4} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 4
#pragma tri configs TM in {64},  TN in {64};  num_warps in {8} if __TRI_SPECIALIZED__ && sizeof(TYPE) == 2
#pragma tri configs TM in {256}, TN in {64};  num_warps in {8} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 4
#pragma tri configs TM in {256}, TN in {64};  num_warps in {8} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 2
#pragma tri configs TM in {128}, TN in {64};  num_warps in {8} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 8
#pragma tri configs TM in {128, 64}, TN in {128}; num_warps in {8} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 1
// Bytes and halves are read and written by words where rows of Y have 256 bytes or more and rows of X 128 elements; it pays
// for large matrices.
#pragma tri configs TM in {512}, TN in {128}; num_warps in {16}, max_registers in {64} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 1 && __TRI_ARCH__ >= 900
#pragma tri configs TM in {256}, TN in {128}; num_warps in {8}, max_registers in {128} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 2 && __TRI_ARCH__ >= 900
