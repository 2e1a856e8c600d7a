// Inclusive scans: in shared memory, by shuffles, and over many blocks in one pass by looking back.
#include <cuda_runtime.h>

extern "C" __global__ void scan_shared(const int *x, int *y, int n) {
  __shared__ int part[2][256];
  int t = threadIdx.x, in = 0;
  int i = blockIdx.x * 256 + t;
  part[0][t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    int value = part[in][t];
    if (t >= step) value += part[in][t - step];
    in ^= 1;
    part[in][t] = value;
    __syncthreads();
  }
  if (i < n) y[i] = part[in][t];
}

__device__ long long warp_scan(long long value, int lane) {
  for (int step = 1; step < 32; step *= 2) {
    long long before = __shfl_up_sync(0xffffffffu, value, step);
    if (lane >= step) value += before;
  }
  return value;
}

extern "C" __global__ void scan_shuffle(const long long *x, long long *y, int n) {
  __shared__ long long sums[8];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long value = warp_scan(i < n ? x[i] : 0, lane);
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  for (int w = 0; w < warp; w++) value += sums[w];
  if (i < n) y[i] = value;
}

// States of a block: 0 nothing yet, 1 the sum of its own elements, 2 the sum of all elements so far.
extern "C" __global__ void scan_look_back(const int *x, int *y, unsigned *ticket, unsigned long long *states,
                                          int n) {
  __shared__ unsigned block;
  __shared__ int before;
  __shared__ int sums[4];
  if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
  __syncthreads();
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int i = block * blockDim.x + threadIdx.x;
  int value = i < n ? x[i] : 0;
  for (int step = 1; step < 32; step *= 2) {
    int left = __shfl_up_sync(0xffffffffu, value, step);
    if (lane >= step) value += left;
  }
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  for (int w = 0; w < warp; w++) value += sums[w];
  if (threadIdx.x == blockDim.x - 1) {
    unsigned long long own = (unsigned)value;
    int found = 0;
    if (block == 0) {
      atomicExch(&states[0], 2ull << 32 | own);
    } else {
      atomicExch(&states[block], 1ull << 32 | own);
      for (int other = block - 1;; other--) {
        unsigned long long state;
        do state = atomicAdd(&states[other], 0ull); while (state >> 32 == 0);
        found += (int)(unsigned)state;
        if (state >> 32 == 2) break;
      }
      atomicExch(&states[block], 2ull << 32 | (unsigned)(found + (int)(unsigned)own));
    }
    before = found;
  }
  __syncthreads();
  if (i < n) y[i] = value + before;
}
