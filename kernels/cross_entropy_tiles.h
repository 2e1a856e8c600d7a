// Tiles of cross_entropy.tc: for rows of at most COLS elements, the warps and registers of a program. Rows of any length are
// done by tiles of 4096, aligned ones of few rows, and long ones of floats, by tiles of 8192.

#pragma tri kernel cross_entropy
#pragma tri config; num_warps=16, max_registers=sizeof(TYPE) > 4 ? 128 : 64
#pragma tri specialize(auto && FITS) for COLS in {256, 512}; num_warps=sizeof(TYPE) == 2 ? 2 : 4, max_registers=sizeof(TYPE) > 4 ? 128 : sizeof(TYPE) == 2 ? 48 : 40
#pragma tri specialize(FITS) for COLS in {256, 512}; num_warps=4, max_registers=sizeof(TYPE) > 4 ? 128 : 40
#pragma tri specialize(auto && FITS, FITS) for COLS in {1024}; num_warps=4, max_registers=sizeof(TYPE) > 4 ? 128 : 40
#pragma tri specialize(auto && FITS) for COLS in {2048}; num_warps=4, max_registers=sizeof(TYPE) > 4 ? 128 : 32
#pragma tri specialize(auto && sizeof(TYPE) == 2 && N > 8192 && M >= 512) for COLS in {4096}; num_warps=4, max_registers=96, num_stages=3
#pragma tri specialize(auto && FITS) for COLS in {4096, 8192, 16384}; num_warps=max(8, COLS / (sizeof(TYPE) > 4 ? 512 : 1024)), max_registers=128
// Rows that start anywhere: threads have 32 halves, in vectors.
#pragma tri specialize(FITS) for COLS in {2048}; num_warps=sizeof(TYPE) == 2 ? 2 : 4, max_registers=sizeof(TYPE) > 4 ? 128 : sizeof(TYPE) == 2 ? 64 : 32
#pragma tri specialize(FITS) for COLS in {4096, 8192, 16384}; num_warps=max(sizeof(TYPE) == 2 ? COLS / 1024 : 8, COLS / (sizeof(TYPE) > 4 ? 512 : 1024)), max_registers=sizeof(TYPE) == 2 && COLS <= 8192 ? 64 : 128
#pragma tri specialize(auto && sizeof(TYPE) == 4 && N >= 32768) for COLS in {8192}; num_stages=2
#pragma tri specialize(auto && (sizeof(TYPE) != 2 && M >= 512 || COLS == 8192)) for COLS in {4096, 8192}; num_warps=max(8, COLS / (sizeof(TYPE) > 4 ? 512 : 1024)), max_registers=128

#pragma tri kernel cross_entropy_backward
#pragma tri config; num_warps=max(4, min(16, COLS / 256))
#pragma tri specialize(auto && FITS, FITS) for COLS in {256, 512, 1024, 2048, 4096, 8192, 16384}
#pragma tri specialize(auto && (M >= 512 || COLS == 8192)) for COLS in {4096, 8192}
