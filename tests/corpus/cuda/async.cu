// Asynchronous copies of Ampere: groups of cp.async in a pipeline, and mbarriers.
#include <cuda_runtime.h>

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void copy16(void *to, const void *from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes) : "memory");
}

// Three stages: each block adds up rows of a matrix, 128 columns at a time, while the next ones arrive.
extern "C" __global__ void async_row_sums(const float *x, float *sums, int columns) {
  __shared__ __align__(16) float stage[3][4][128];
  int t = threadIdx.x, lane = t & 31, row = t >> 5;
  const float *from = x + (blockIdx.x * 4 + row) * columns;
  int chunks = (columns + 127) / 128;
  auto fetch = [&](int chunk) {
    int column = chunk * 128 + lane * 4;
    int bytes = column < columns ? min(16, (columns - column) * 4) : 0;
    if (chunk < chunks) copy16(&stage[chunk % 3][row][lane * 4], bytes > 0 ? from + column : x, bytes);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0);
  fetch(1);
  float sum = 0.0f;
  for (int chunk = 0; chunk < chunks; chunk++) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    fetch(chunk + 2);
    // Each lane reads what another one copied.
    float4 part = *(const float4 *)&stage[chunk % 3][row][(31 - lane) * 4];
    sum += part.x + part.y + part.z + part.w;
  }
  for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) sums[blockIdx.x * 4 + row] = sum;
}

// 4- and 8-byte copies, cp.async.wait_all.
extern "C" __global__ void async_gather(const int *x, const int *index, int *y, int n) {
  __shared__ __align__(8) int part[128][3];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (i < n) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&part[t][0])), "l"(x + index[i]) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(&part[t][1])), "l"(x + index[i] + 1), "r"(i % 5) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&part[t][2])), "l"(x + (index[i] ^ 1)) : "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (i < n) y[i] = part[t][0] * 3 + part[t][1] * 5 + part[t][2] * 7;
}

// Warps hand a token around by mbarriers: tokens, counts, drops.
extern "C" __global__ void async_mbarrier(const int *x, int *y) {
  __shared__ unsigned long long barrier[2];
  __shared__ int value[128];
  int t = threadIdx.x;
  unsigned first = shared_address(&barrier[0]), second = shared_address(&barrier[1]);
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(first) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(second) : "memory");
  }
  __syncthreads();
  int sum = x[t];
  for (int round = 0; round < 5; round++) {
    unsigned long long token;
    unsigned done;
    value[t] = sum;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(first) : "memory");
    do asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(first), "l"(token) : "memory");
    while (!done);
    sum += value[(t * 5 + round + 1) & 127];
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(second) : "memory");
    do asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(second), "r"(round & 1) : "memory");
    while (!done);
  }
  y[t] = sum;
}

// Copies that arrive at an mbarrier by themselves: one warp fetches, the other three use.
extern "C" __global__ void async_arrive(const int4 *x, int *y, int rounds) {
  __shared__ __align__(16) int4 stage[2][32];
  __shared__ unsigned long long full[2], empty[2];
  int t = threadIdx.x, warp = t >> 5, lane = t & 31;
  if (t < 2) {
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared_address(&full[t])) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 96;" ::"r"(shared_address(&empty[t])) : "memory");
  }
  __syncthreads();
  auto wait = [](unsigned barrier, unsigned parity) {
    unsigned done;
    do asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
    while (!done);
  };
  unsigned long long token;
  if (warp == 0) {
    for (int k = 0; k < rounds; k++) {
      wait(shared_address(&empty[k & 1]), (k >> 1 & 1) ^ 1);
      copy16(&stage[k & 1][lane], x + k * 32 + lane, 16);
      asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(&full[k & 1])) : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
  } else {
    int sum = 0;
    for (int k = 0; k < rounds; k++) {
      wait(shared_address(&full[k & 1]), k >> 1 & 1);
      int4 part = stage[k & 1][(lane + warp) & 31];
      sum = sum * 3 + part.x + 2 * part.y - part.z + (part.w ^ warp);
      asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(shared_address(&empty[k & 1])) : "memory");
    }
    y[t - 32] = sum;
  }
}
