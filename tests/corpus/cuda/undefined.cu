// Programs that copy, shuffle and store values which nothing has set, and never use them.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

// Warp-aggregated atomics: one lane adds for all, and its result goes to all.
extern "C" __global__ void undefined_active(int *kept, int *count, const int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || x[i] <= 0) return;
  unsigned active = __activemask();
  int leader = __ffs(active) - 1;
  int lane = threadIdx.x & 31;
  int at;
  if (lane == leader) at = atomicAdd(count, __popc(active));
  at = __shfl_sync(active, at, leader);
  kept[at + __popc(active & ((1u << lane) - 1))] = x[i];
}

extern "C" __global__ void undefined_ballot(int *kept, int *count, const int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool keep = i < n && x[i] > 0;
  unsigned mask = __ballot_sync(~0u, keep);
  int lane = threadIdx.x & 31;
  int base;
  if (lane == 0) base = atomicAdd(count, __popc(mask));
  base = __shfl_sync(~0u, base, 0);
  if (keep) kept[base + __popc(mask & ((1u << lane) - 1))] = x[i];
}

extern "C" __global__ void undefined_group(int *kept, int *count, const int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) {
    cg::coalesced_group group = cg::coalesced_threads();
    int at;
    if (group.thread_rank() == 0) at = atomicAdd(count, (int)group.size());
    at = group.thread_rank() + group.shfl(at, 0);
    kept[at] = x[i];
  }
}

// Structures without members are passed as a byte that nothing has set.
struct Nothing {};
struct Sum {
  __device__ int operator()(int a, int b) const { return a + b; }
};
struct Holder {
  Nothing nothing;
  int value;
};
template <class Op> __device__ __noinline__ int apply(Op op, int a, int b) { return op(a, b); }
__device__ __noinline__ Holder hold(int value, Nothing nothing) {
  Holder holder;
  holder.value = value;
  holder.nothing = nothing;
  return holder;
}

extern "C" __global__ void undefined_empty(int *out, const int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Holder holder = hold(x[i], Nothing{});
  out[i] = apply(Sum{}, x[i], 1) + holder.value;
}

// Structures are copied with the bytes between their members.
struct Padded {
  char c;
  int i;
  double d;
};

extern "C" __global__ void undefined_padding(Padded *out, const int *x, int n) {
  __shared__ Padded tile[64];
  int i = threadIdx.x;
  Padded own;
  own.c = x[i];
  own.i = 2 * x[i];
  own.d = 0.5 * x[i];
  tile[i] = own;
  __syncthreads();
  if (i >= n) return;
  out[i] = tile[n - 1 - i];
  // The bytes between the members, so that the result is known.
  volatile char *bytes = reinterpret_cast<volatile char *>(&out[i]);
  for (int at = 1; at < 4; at++) bytes[at] = 0;
}

// Members of a word are set one after the other.
struct Fields {
  unsigned a : 3, b : 9, c : 20;
};

extern "C" __global__ void undefined_fields(int *out, const int *x) {
  int i = threadIdx.x;
  Fields own;
  own.a = x[i];
  own.b = 3 * x[i];
  Fields all[4];
  all[i & 3] = own;
  all[(i + 1) & 3].b = 7;
  out[i] = all[i & 3].a + all[(i + 1) & 3].b + own.b;
}

// A scan drops what it reads from lanes that take no part.
extern "C" __global__ void undefined_tail(int *out, const int *x, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  unsigned mask = __activemask();
  int sum = x[i];
  for (int step = 1; step < 32; step *= 2) {
    int other = __shfl_up_sync(mask, sum, step);
    if ((i & 31) >= step) sum += other;
  }
  int next = __shfl_down_sync(mask, sum, 1);
  out[i] = (i & 31) == 31 || i == n - 1 ? sum : next;
}
