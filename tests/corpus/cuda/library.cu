// CUDA's own libraries: atomic_ref with every order and scope, barriers, pipelines, groups of threads.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

template <class T, cuda::thread_scope S> __device__ void common(T *p, T *o) {
  cuda::atomic_ref<T, S> a(*p);
  o[0] = a.fetch_add(1, cuda::memory_order_relaxed);
  o[1] = a.fetch_add(2, cuda::memory_order_acquire);
  o[2] = a.fetch_sub(1, cuda::memory_order_release);
  o[3] = a.fetch_add(3, cuda::memory_order_acq_rel);
  o[4] = a.fetch_add(4, cuda::memory_order_seq_cst);
  o[5] = a.exchange(7, cuda::memory_order_acq_rel);
  T expected = 7;
  a.compare_exchange_strong(expected, 9, cuda::memory_order_acq_rel, cuda::memory_order_relaxed);
  o[6] = expected;
  expected = 5;
  a.compare_exchange_strong(expected, 1, cuda::memory_order_seq_cst);
  o[7] = expected;
  a.store(11, cuda::memory_order_release);
  o[8] = a.load(cuda::memory_order_acquire);
  a.store(12, cuda::memory_order_seq_cst);
  o[9] = a.load(cuda::memory_order_seq_cst);
}

template <class T, cuda::thread_scope S> __device__ void integral(T *p, T *o) {
  common<T, S>(p, o);
  cuda::atomic_ref<T, S> a(*p);
  o[10] = a.fetch_and(0x5d, cuda::memory_order_acquire);
  o[11] = a.fetch_or(3, cuda::memory_order_release);
  o[12] = a.fetch_xor(5, cuda::memory_order_relaxed);
  o[13] = a.fetch_min(2, cuda::memory_order_acq_rel);
  o[14] = a.fetch_max(100, cuda::memory_order_seq_cst);
  o[15] = a.load(cuda::memory_order_relaxed);
}

// Each thread has a variable of its own, as wide as its type, and one scope per warp.
template <class T> __device__ void scopes(T *p, T *o) {
  int t = threadIdx.x;
  if (t < 32) integral<T, cuda::thread_scope_block>(p + t, o + 16 * t);
  else if (t < 64) integral<T, cuda::thread_scope_device>(p + t, o + 16 * t);
  else integral<T, cuda::thread_scope_system>(p + t, o + 16 * t);
}
extern "C" __global__ void library_atomics_i32(int *p, int *o) { scopes(p, o); }
extern "C" __global__ void library_atomics_u64(unsigned long long *p, unsigned long long *o) { scopes(p, o); }
extern "C" __global__ void library_atomics_f32(float *p, float *o) {
  int t = threadIdx.x;
  if (t < 32) common<float, cuda::thread_scope_block>(p + t, o + 16 * t);
  else common<float, cuda::thread_scope_device>(p + t, o + 16 * t);
}

// Halves of a block exchange what they have, by a barrier object.
extern "C" __global__ void library_barrier(const int *in, int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int s[128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int v = in[threadIdx.x];
  for (int k = 0; k < 3; k++) {
    s[threadIdx.x] = v;
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    v = 3 * s[127 - threadIdx.x] + k;
    barrier.arrive_and_wait();
  }
  out[threadIdx.x] = v;
}

// Sums of rows that a pipeline brings into shared memory, two at a time.
extern "C" __global__ void library_pipeline(const int *in, int *out, int rows) {
  __shared__ int s[2][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int i = 0; i <= rows; i++) {
    if (i < rows) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, s[i & 1], in + i * 128, sizeof(int) * 128, pipeline);
      pipeline.producer_commit();
    }
    if (i > 0) {
      pipeline.consumer_wait();
      sum += s[(i - 1) & 1][127 - threadIdx.x];
      block.sync();
      pipeline.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

// Tiles of 16 and of 64 threads (the latter meet in reserved shared memory), and what shares a bit.
extern "C" __global__ void library_groups(const int *in, int *out) {
  auto block = cg::this_thread_block();
  auto small = cg::tiled_partition<16>(block);
  auto large = cg::tiled_partition<64>(block);
  int v = in[block.thread_rank()];
  int sum = cg::reduce(small, v, cg::plus<int>());
  int scan = cg::inclusive_scan(small, v);
  int most = cg::reduce(large, v, cg::greater<int>());
  int odd = 0;
  if (v & 1) {
    auto together = cg::coalesced_threads();
    odd = together.size() * 100 + together.thread_rank();
  }
  int *o = out + 4 * block.thread_rank();
  o[0] = sum;
  o[1] = scan;
  o[2] = most;
  o[3] = odd;
}
