// Barriers with results, named barriers, votes, locks between blocks.
#include <cuda_runtime.h>

extern "C" __global__ void sync_votes(const int *x, int *out) {
  int value = x[blockIdx.x * blockDim.x + threadIdx.x];
  int count = __syncthreads_count(value > 0);
  int all = __syncthreads_and(value > -90);
  int any = __syncthreads_or(value > 95);
  unsigned ballot = __ballot_sync(0xffffffffu, value & 1);
  int warp_all = __all_sync(0xffffffffu, value > -50);
  int warp_any = __any_sync(0xffffffffu, value > 80);
  int *to = out + 6 * (blockIdx.x * blockDim.x + threadIdx.x);
  to[0] = count; to[1] = all != 0; to[2] = any != 0; to[3] = (int)ballot; to[4] = warp_all != 0; to[5] = warp_any != 0;
}

// Lanes leave a loop one by one; what is left keeps voting.
extern "C" __global__ void sync_partial(const int *x, unsigned *out) {
  int value = x[blockIdx.x * blockDim.x + threadIdx.x] & 7;
  unsigned mask = 0xffffffffu, result = 0;
  for (int round = 0; round < 8; round++) {
    mask = __ballot_sync(mask, value > round);
    if (value <= round) break;
    result = result * 33 + __popc(mask);
    int leader = __ffs(mask) - 1;
    result += __shfl_sync(mask, value * 5 + round, leader);
    result ^= __match_any_sync(mask, value);
    int same;
    unsigned together = __match_all_sync(mask, value >> 2, &same);
    result += together + (same ? 7 : 0);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = result;
}

extern "C" __global__ void sync_shuffles(const unsigned *x, unsigned *out) {
  int lane = threadIdx.x & 31;
  unsigned value = x[threadIdx.x];
  unsigned *to = out + 8 * threadIdx.x;
  to[0] = __shfl_sync(0xffffffffu, value, (lane * 7 + 3) & 31);
  to[1] = __shfl_up_sync(0xffffffffu, value, 5);
  to[2] = __shfl_down_sync(0xffffffffu, value, 9);
  to[3] = __shfl_xor_sync(0xffffffffu, value, 21);
  to[4] = __shfl_sync(0xffffffffu, value, lane + 3, 8);
  to[5] = __shfl_up_sync(0xffffffffu, value, 3, 16);
  to[6] = __shfl_down_sync(0xffffffffu, value, 2, 4);
  to[7] = __shfl_xor_sync(0xffffffffu, value, 1, 2);
}

// Two halves of a block hand buffers over by named barriers: one fills, the other uses.
extern "C" __global__ void sync_named(const int *x, int *y, int rounds) {
  __shared__ int buffer[2][64];
  int t = threadIdx.x & 63;
  if (threadIdx.x < 64) {
    for (int k = 0; k < rounds; k++) {
      int full = 1 + (k & 1), empty = 3 + (k & 1);
      if (k >= 2) asm volatile("bar.sync %0, 128;" ::"r"(empty) : "memory");
      buffer[k & 1][t] = x[k * 64 + t] * 3;
      asm volatile("bar.arrive %0, 128;" ::"r"(full) : "memory");
    }
  } else {
    for (int k = 0; k < rounds; k++) {
      int full = 1 + (k & 1), empty = 3 + (k & 1);
      asm volatile("bar.sync %0, 128;" ::"r"(full) : "memory");
      y[k * 64 + t] = buffer[k & 1][63 - t] + k;
      if (k + 2 < rounds) asm volatile("bar.arrive %0, 128;" ::"r"(empty) : "memory");
    }
  }
}

__device__ int lock_word = 0;

// One thread of each block takes the lock; the counter is no atomic.
extern "C" __global__ void sync_lock(int *counter, int *log, int rounds) {
  if (threadIdx.x != 0) return;
  for (int k = 0; k < rounds; k++) {
    while (atomicCAS(&lock_word, 0, 1) != 0) __nanosleep(20);
    __threadfence();
    int at = *(volatile int *)counter;
    *(volatile int *)counter = at + 1;
    log[at] += 1 + at;
    __threadfence();
    atomicExch(&lock_word, 0);
  }
}

// All blocks meet: a counter that everyone spins on.
extern "C" __global__ void sync_grid(int *data, int *counter) {
  int b = blockIdx.x;
  for (int round = 0; round < 4; round++) {
    if (threadIdx.x == 0) {
      int left = ((volatile int *)data)[(b + gridDim.x - 1) % gridDim.x];
      __threadfence();
      atomicAdd(counter, 1);
      while (*(volatile int *)counter < (2 * round + 1) * (int)gridDim.x) {}
      ((volatile int *)data)[b] = left + b;
      __threadfence();
      atomicAdd(counter, 1);
      while (*(volatile int *)counter < (2 * round + 2) * (int)gridDim.x) {}
      __threadfence();
    }
    __syncthreads();
  }
}
