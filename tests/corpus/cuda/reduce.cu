// Reductions of a block: by shared memory, by shuffles, by warp-wide instructions, and by atomics between blocks.
#include <cuda_runtime.h>

extern "C" __global__ void reduce_tree(const int *x, int *sums, int n) {
  __shared__ int part[256];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

extern "C" __global__ void reduce_shuffle(const float *x, float *sums, int n) {
  __shared__ float part[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < n ? x[i] : 0.0f;
  value = warp_sum(value);
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (lane == 0) part[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < (blockDim.x + 31) / 32 ? part[lane] : 0.0f;
    value = warp_sum(value);
    if (lane == 0) sums[blockIdx.x] = value;
  }
}

extern "C" __global__ void reduce_redux(const unsigned *x, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = i < n ? x[i] : 0u;
  unsigned add = __reduce_add_sync(0xffffffffu, value);
  unsigned low = __reduce_min_sync(0xffffffffu, value);
  unsigned high = __reduce_max_sync(0xffffffffu, value);
  int slow = __reduce_min_sync(0xffffffffu, (int)value);
  int shigh = __reduce_max_sync(0xffffffffu, (int)value);
  unsigned all = __reduce_and_sync(0xffffffffu, value | 0x10u);
  unsigned any = __reduce_or_sync(0xffffffffu, value & 0x0fu);
  unsigned odd = __reduce_xor_sync(0xffffffffu, value);
  if ((threadIdx.x & 31) == 0) {
    unsigned *to = out + 8 * (i / 32);
    to[0] = add; to[1] = low; to[2] = high; to[3] = (unsigned)slow;
    to[4] = (unsigned)shigh; to[5] = all; to[6] = any; to[7] = odd;
  }
}

// The last block to finish adds up what the others left: a fence, a counter, and volatile reads.
__device__ unsigned finished = 0;

extern "C" __global__ void reduce_last_block(const int *x, int *part, int *total, int n) {
  __shared__ int sum;
  __shared__ bool last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sum, x[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    part[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < 32) {
    int all = 0;
    for (int b = threadIdx.x; b < gridDim.x; b += 32) all += ((volatile int *)part)[b];
    for (int step = 16; step > 0; step >>= 1) all += __shfl_down_sync(0xffffffffu, all, step);
    if (threadIdx.x == 0) *total = all;
  }
}

extern "C" __global__ void reduce_atomics(const int *x, int *ints, unsigned *words, float *singles,
                                          double *doubles, unsigned long long *longs, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int value = x[i];
  atomicAdd(&ints[0], value);
  atomicSub(&ints[1], value);
  atomicMin(&ints[2], value);
  atomicMax(&ints[3], value);
  atomicMin(&words[0], (unsigned)value);
  atomicMax(&words[1], (unsigned)value);
  atomicAnd(&words[2], (unsigned)value | 0xff00ff00u);
  atomicOr(&words[3], (unsigned)value & 0x00ff00ffu);
  atomicXor(&words[4], (unsigned)value);
  atomicInc(&words[5], 99u);
  atomicDec(&words[6], 99u);
  atomicAdd(&singles[0], (float)(value & 0xff));
  atomicAdd(&doubles[0], (double)value);
  atomicAdd(&longs[0], (unsigned long long)(long long)value);
  atomicMax(&longs[1], (unsigned long long)(unsigned)value * 3ull);
  atomicXor(&longs[2], (unsigned long long)(unsigned)value << 17);
}
