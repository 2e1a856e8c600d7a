// Compiled with -G: DWARF sections, a call of everything, recursion.
__device__ int depth(int n) { return n < 2 ? n : depth(n - 1) + depth(n - 2); }
__device__ int doubled(int x) { return x + x; }
extern "C" __global__ void debug(int* out) { out[threadIdx.x] = doubled(depth(threadIdx.x)); }
