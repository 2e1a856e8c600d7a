// Histograms: atomics in shared memory, then in global memory; and one atomic for all lanes with the same bin.
#include <cuda_runtime.h>

extern "C" __global__ void histogram_shared(const unsigned char *x, unsigned *bins, int n) {
  __shared__ unsigned own[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[x[i]], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    if (own[b] != 0) atomicAdd(&bins[b], own[b]);
  }
}

extern "C" __global__ void histogram_match(const int *x, unsigned *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned active = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  int bin = x[i];
  unsigned same = __match_any_sync(active, bin);
  if (__ffs(same) - 1 == (threadIdx.x & 31)) atomicAdd(&bins[bin], (unsigned)__popc(same));
}

// A bin is two 16-bit counters in a word, changed by compare-and-swap.
extern "C" __global__ void histogram_cas(const unsigned char *x, unsigned *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned bin = x[i] & 15;
  unsigned *word = &bins[bin >> 1];
  unsigned old = *(volatile unsigned *)word, seen;
  do {
    seen = old;
    unsigned shift = 16 * (bin & 1);
    unsigned count = (seen >> shift) & 0xffff;
    unsigned next = (seen & ~(0xffffu << shift)) | ((count + 1) & 0xffff) << shift;
    old = atomicCAS(word, seen, next);
  } while (old != seen);
}
