// Tiles of softmax.tc: for rows of at most COLS elements, the warps, blocks and registers of a program. Rows of any length
// are done by tiles of 4096.

#pragma tri kernel softmax
#pragma tri config; num_warps=16, num_ctas=1, max_registers=128
#pragma tri specialize(auto && FITS) for COLS in {256, 512, 1024}; num_warps=2
#pragma tri specialize(auto && FITS) for COLS in {2048, 4096}; num_warps=COLS / 512
#pragma tri specialize(auto && FITS) for COLS in {8192}; num_warps=8
#pragma tri specialize(auto && FITS) for COLS in {16384}; num_warps=sizeof(TYPE) == 2 ? 8 : 16, max_registers=sizeof(TYPE) == 2 ? 56 : 64
#pragma tri specialize(auto && FITS) for COLS in {32768}; num_warps=sizeof(TYPE) == 2 ? 16 : 32, max_registers=sizeof(TYPE) == 2 ? 56 : 64
#pragma tri specialize(auto && FITS) for COLS in {65536}; num_warps=sizeof(TYPE) == 2 ? 8 : 16, num_ctas=4, max_registers=sizeof(TYPE) == 2 ? 56 : 64
#pragma tri specialize(auto && FITS) for COLS in {131072, 262144}; num_warps=sizeof(TYPE) == 2 ? 8 : 16, num_ctas=COLS / 16384, max_registers=sizeof(TYPE) == 2 ? 56 : 40
// Rows that start anywhere.
#pragma tri specialize(FITS) for COLS in {256, 512, 1024}; num_warps=sizeof(TYPE) == 4 ? 4 : 2, max_registers=sizeof(TYPE) == 2 ? 64 : 128
#pragma tri specialize(FITS) for COLS in {2048}; num_warps=sizeof(TYPE) == 2 ? 2 : 4, max_registers=sizeof(TYPE) == 2 ? 64 : 128
#pragma tri specialize(FITS) for COLS in {4096}; num_warps=sizeof(TYPE) == 2 ? 4 : 8, max_registers=sizeof(TYPE) == 2 ? 64 : 128
#pragma tri specialize(FITS) for COLS in {8192}; num_warps=8, max_registers=sizeof(TYPE) == 2 ? 64 : 128
#pragma tri specialize(FITS) for COLS in {16384}; max_registers=64
#pragma tri specialize(FITS) for COLS in {32768}; num_warps=sizeof(TYPE) == 2 ? 16 : 32, num_ctas=sizeof(TYPE) == 2 ? 2 : 1, max_registers=64
#pragma tri specialize(FITS) for COLS in {65536}; num_warps=sizeof(TYPE) == 2 ? 8 : 16, num_ctas=sizeof(TYPE) == 2 ? 8 : 4, max_registers=64
#pragma tri specialize(FITS) for COLS in {131072}; num_ctas=8, max_registers=sizeof(TYPE) == 2 ? 64 : 48
// For targets without clusters.
#pragma tri specialize(sizeof(TYPE) == 2 && FITS) for COLS in {32768}; num_warps=32, max_registers=64
#pragma tri specialize(auto) for COLS in {4096}; num_warps=8

#pragma tri kernel softmax_backward
#pragma tri config; num_warps=COLS <= 1024 ? 2 : COLS <= 4096 ? COLS / 512 : min(16, COLS / 1024), num_ctas=max(1, COLS / 16384), max_registers=sizeof(TYPE) > 4 ? 255 : COLS < 262144 ? 128 : 64
#pragma tri specialize(auto && FITS) for COLS in {256, 512, 1024, 2048, 4096, 8192}
#pragma tri specialize(auto && FITS) for COLS in {16384}; max_registers=sizeof(TYPE) == 2 ? 64 : 128
#pragma tri specialize(auto && FITS) for COLS in {32768, 65536, 131072, 262144}; num_warps=sizeof(TYPE) == 2 ? 8 : 16, max_registers=sizeof(TYPE) == 2 ? 80 : COLS < 262144 ? 128 : 64
#pragma tri specialize(FITS) for COLS in {256, 512, 1024, 2048, 4096, 8192, 16384}
#pragma tri specialize(FITS) for COLS in {32768, 65536, 131072}; num_ctas=min(8, COLS / (sizeof(TYPE) == 2 ? 8192 : 16384)), max_registers=sizeof(TYPE) == 2 ? (COLS == 131072 ? 56 : 64) : sizeof(TYPE) == 4 ? 128 : 255
#pragma tri specialize(auto) for COLS in {4096}
