// Reductions: shuffles, static and dynamic shared memory, atomics, votes, a structure as parameter.
struct Range {
  int first;
  int last;
  double scale;
};

__constant__ float weights[4] = {0.25f, 0.5f, 1.0f, 2.0f};
__device__ int launches = 3;
__device__ int *launches_at = &launches;

extern "C" __global__ void __launch_bounds__(256, 2) sum(const float *__restrict__ x, float *y, Range range) {
  __shared__ float parts[32];
  float total = 0.0f;
  for (int i = range.first + blockIdx.x * blockDim.x + threadIdx.x; i < range.last; i += gridDim.x * blockDim.x) {
    total += x[i] * weights[i & 3];
  }
  for (int step = 16; step > 0; step >>= 1) total += __shfl_down_sync(0xffffffffu, total, step);
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = total;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < 8; warp++) total += parts[warp];
    atomicAdd(y, static_cast<float>(total * range.scale));
    atomicAdd(launches_at, 1);
  }
}

extern "C" __global__ void histogram(const unsigned char *bytes, unsigned *counts, long long n) {
  extern __shared__ unsigned bins[];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (long long i = threadIdx.x; i < n; i += blockDim.x) {
    unsigned same = __match_any_sync(__activemask(), bytes[i]);
    if (__popc(same & ((1u << (threadIdx.x & 31)) - 1)) == 0) atomicAdd(&bins[bytes[i]], __popc(same));
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) counts[i] = bins[i];
  if (__any_sync(0xffffffffu, counts[0] > 100)) __threadfence();
}
