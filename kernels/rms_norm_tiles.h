// Tiles of rms_norm.tc: for rows of at most COLS elements, the warps, blocks and registers of a program. Rows of any length
// are done by tiles of 4096.

#pragma tri kernel rms_norm
#pragma tri config; num_warps=16, num_ctas=1, max_registers=128
#pragma tri specialize(auto && FITS) for COLS in {256, 512, 1024}; num_warps=2
#pragma tri specialize(auto && FITS) for COLS in {2048, 4096}; num_warps=COLS / 512
#pragma tri specialize(auto && FITS) for COLS in {8192}; num_warps=8
#pragma tri specialize(auto && FITS) for COLS in {16384}; max_registers=64
#pragma tri specialize(auto && FITS) for COLS in {32768}; num_warps=sizeof(TYPE) == 2 ? 16 : 32, max_registers=sizeof(TYPE) == 2 ? 72 : 64
#pragma tri specialize(auto && FITS) for COLS in {65536, 131072}; num_ctas=COLS / (sizeof(TYPE) == 2 ? 32768 : 16384), max_registers=sizeof(TYPE) == 2 ? 72 : 64
#pragma tri specialize(auto && FITS) for COLS in {262144}; num_warps=sizeof(TYPE) == 2 ? 16 : 32, num_ctas=8, max_registers=sizeof(TYPE) == 2 ? 72 : 64
// Rows that start anywhere.
#pragma tri specialize(FITS) for COLS in {256, 512, 1024, 2048}; num_warps=sizeof(TYPE) == 2 ? 2 : max(1024, COLS) / (sizeof(TYPE) == 4 ? 256 : 512), max_registers=sizeof(TYPE) == 2 ? 64 : 128
#pragma tri specialize(FITS) for COLS in {4096}; num_warps=sizeof(TYPE) == 2 ? 4 : 8, max_registers=sizeof(TYPE) == 2 ? 64 : 128
#pragma tri specialize(FITS) for COLS in {8192}; num_warps=8, max_registers=sizeof(TYPE) == 2 ? 64 : 128
#pragma tri specialize(FITS) for COLS in {16384}; max_registers=64
#pragma tri specialize(FITS) for COLS in {32768}; num_warps=32, max_registers=64
#pragma tri specialize(FITS) for COLS in {65536, 131072}; num_ctas=COLS / 16384, max_registers=64
#pragma tri specialize(auto) for COLS in {4096}; num_warps=8

#pragma tri kernel rms_norm_backward
#pragma tri config; num_warps=COLS <= 1024 ? 2 : COLS <= 4096 ? COLS / 512 : min(16, COLS / 1024), num_ctas=min(8, max(1, COLS / 16384)), max_registers=sizeof(TYPE) > 4 ? 255 : 128
#pragma tri specialize(auto && FITS) for COLS in {256, 512, 1024, 2048, 4096, 8192}
#pragma tri specialize(auto && FITS) for COLS in {16384}; max_registers=sizeof(TYPE) == 2 ? 56 : 128
#pragma tri specialize(auto && FITS) for COLS in {32768, 65536}; num_warps=sizeof(TYPE) == 2 ? 8 : 16, num_ctas=COLS / (sizeof(TYPE) == 2 ? 8192 : 16384), max_registers=sizeof(TYPE) == 2 ? 56 : 128
#pragma tri specialize(auto && FITS) for COLS in {131072, 262144}; num_ctas=min(sizeof(TYPE) == 2 ? 16 : 8, COLS / 16384), max_registers=sizeof(TYPE) == 2 ? 56 : 128
#pragma tri specialize(FITS) for COLS in {256, 512, 1024, 2048, 4096, 8192}; max_registers=sizeof(TYPE) > 4 ? 255 : sizeof(TYPE) == 2 && COLS == 8192 ? 80 : 128
#pragma tri specialize(FITS) for COLS in {16384, 32768, 65536, 131072}; num_ctas=min(8, COLS / (sizeof(TYPE) == 2 && COLS > 16384 ? 8192 : 16384)), max_registers=sizeof(TYPE) == 2 ? 64 : sizeof(TYPE) == 4 ? 128 : 255
#pragma tri specialize(auto) for COLS in {4096}
