// Kernels with one mistake each, and the same without it: regenerate.sh compiles this file twice. All have the same
// parameters: X and Y are 1024 integers, of which X is input, and N is a number. What is wrong is between BAD and GOOD.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#ifdef WRONG
#define BAD(code) code
#define GOOD(code)
#else
#define BAD(code)
#define GOOD(code) code
#endif

#define KERNEL(name) extern "C" __global__ void name(const int *X, int *Y, int N)
#define t ((int)threadIdx.x)
#define FULL 0xffffffffu

namespace cg = cooperative_groups;

// Barriers of the block

KERNEL(reverse) {
  __shared__ int s[256];
  s[t] = X[t];
  GOOD(__syncthreads();)
  Y[t] = s[blockDim.x - 1 - t];
}

KERNEL(stencil) {
  __shared__ int s[258];
  s[t + 1] = X[t];
  if (t == 0) s[0] = s[blockDim.x + 1] = 0;
  GOOD(__syncthreads();)
  Y[t] = s[t] + s[t + 1] + s[t + 2];
}

KERNEL(tile_loop) {
  __shared__ int s[64];
  int sum = 0;
  for (int i = 0; i < N; i++) {
    s[t] = X[64 * i + t];
    __syncthreads();
    for (int k = 0; k < 64; k++) sum += s[k] * (k + t);
    GOOD(__syncthreads();)
  }
  Y[t] = sum;
}

KERNEL(double_buffer) {
  __shared__ int s[2][64];
  int sum = 0;
  s[0][t] = X[t];
  __syncthreads();
  for (int i = 0; i < N; i++) {
    if (i + 1 < N) s[GOOD((i + 1) & 1) BAD(i & 1)][t] = X[64 * (i + 1) + t];
    sum += s[i & 1][63 - t];
    __syncthreads();
  }
  Y[t] = sum;
}

KERNEL(broadcast) {
  __shared__ int first;
  if (t == 0) first = X[0];
  GOOD(__syncthreads();)
  Y[t] = first + X[t];
}

KERNEL(counter_start) {
  __shared__ int count;
  if (t == 0) count = 0;
  GOOD(__syncthreads();)
  atomicAdd(&count, X[t] & 1);
  __syncthreads();
  Y[t] = count;
}

KERNEL(counter_end) {
  __shared__ int count;
  if (t == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, X[t] & 1);
  GOOD(__syncthreads();)
  Y[t] = count;
}

KERNEL(tree) {
  __shared__ int s[256];
  s[t] = X[t];
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (t < k) s[t] += s[t + k];
    GOOD(__syncthreads();)
  }
  if (t == 0) Y[0] = s[0];
}

KERNEL(tree_tail) {
  __shared__ int s[256];
  s[t] = X[t];
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  Y[t] = s[0];
  GOOD(__syncthreads();)
  s[t] = X[t] + 1;
  __syncthreads();
  Y[256 + t] = s[255 - t];
}

KERNEL(scan) {
  __shared__ int s[128];
  s[t] = X[t];
  __syncthreads();
  for (int k = 1; k < 128; k *= 2) {
    int add = t >= k ? s[t - k] : 0;
    GOOD(__syncthreads();)
    s[t] += add;
    __syncthreads();
  }
  Y[t] = s[t];
}

KERNEL(warp_sums) {
  __shared__ int sums[8];
  int v = X[t];
  for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(FULL, v, k);
  if (t % 32 == 0) sums[t / 32] = v;
  GOOD(__syncthreads();)
  int all = 0;
  for (int w = 0; w < blockDim.x / 32; w++) all += sums[w];
  Y[t] = all;
}

KERNEL(warp_sums_twice) {
  __shared__ int sums[8];
  for (int i = 0; i < 2; i++) {
    int v = X[t + i * 128];
    for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(FULL, v, k);
    if (t % 32 == 0) sums[t / 32] = v;
    __syncthreads();
    int all = 0;
    for (int w = 0; w < blockDim.x / 32; w++) all += sums[w];
    Y[t + 128 * i] = all;
    GOOD(__syncthreads();)
  }
}

KERNEL(transpose) {
  __shared__ int s[16][17];
  s[t / 16][t % 16] = X[t];
  GOOD(__syncthreads();)
  Y[t] = s[t % 16][t / 16];
}

KERNEL(global_exchange) {
  Y[t] = X[t];
  GOOD(__syncthreads();)
  Y[256 + t] = Y[blockDim.x - 1 - t];
}

KERNEL(named_barrier) {
  __shared__ int s[64];
  if (t < 64) {
    s[t] = X[t];
    GOOD(asm volatile("bar.sync 1, 64;" ::: "memory");)
    Y[t] = s[63 - t];
  } else {
    Y[t] = X[t];
  }
}

// Barriers that not all threads come to

KERNEL(part_of_warp) {
  __shared__ int s[64];
  s[t] = X[t];
  BAD(if (t < 40)) __syncthreads();
  Y[t] = s[63 - t];
}

KERNEL(one_warp_of_two) {
  __shared__ int s[64];
  s[t] = X[t];
  BAD(if (t < 32)) __syncthreads();
  Y[t] = s[63 - t];
}

KERNEL(second_warp_of_two) {
  __shared__ int s[64];
  s[t] = X[t];
  BAD(if (t >= 32)) __syncthreads();
  Y[t] = s[63 - t];
}

KERNEL(trip_count) {
  __shared__ int s[64];
  int sum = 0;
  for (int i = 0; i < N GOOD(+0) BAD(+t / 40); i++) {
    s[t] = X[t + i];
    __syncthreads();
    sum += s[63 - t];
    __syncthreads();
  }
  s[t] = sum;
  __syncthreads();
  Y[t] = s[63 - t];
}

KERNEL(leaves_loop) {
  __shared__ int s[64];
  int sum = 0;
  s[t] = 0;
  for (int i = 0; i < N; i++) {
    BAD(if (X[i] > 30 + t) break;)
    __syncthreads();
    s[t] += X[t + i];
    __syncthreads();
    sum += s[63 - t];
  }
  Y[t] = sum + s[t];
}

KERNEL(split) {
  __shared__ int s[64];
  BAD(if (t < 40) { s[t] = X[t]; __syncthreads(); Y[t] = s[39 - t]; }
      else { s[t] = X[t] + 1; __syncthreads(); Y[t] = s[t] * 3 + s[103 - t]; })
  GOOD(s[t] = X[t] + (t >= 40); __syncthreads();
      if (t < 40) Y[t] = s[39 - t]; else Y[t] = s[t] * 3 + s[103 - t];)
}

KERNEL(switch_of_barriers) {
  __shared__ int s[32];
  s[t] = X[t];
  BAD(switch (t & 3) { case 0: __syncthreads(); s[t] += 1; break;
                       case 1: s[t] += 2; __syncthreads(); break; default: s[t] += 3; __syncthreads(); s[t] *= 5; })
  GOOD(s[t] += t & 3; __syncthreads();)
  Y[t] = s[t];
}

// Lanes of one warp

KERNEL(lanes_exchange) {
  __shared__ int s[32];
  s[t] = X[t];
  GOOD(__syncwarp();)
  Y[t] = s[t ^ 1];
}

KERNEL(lanes_exchange_back) {
  __shared__ int s[32];
  s[t] = X[t];
  __syncwarp();
  int other = s[t ^ 5];
  GOOD(__syncwarp();)
  s[t] = other + 1;
  __syncwarp();
  Y[t] = s[31 - t];
}

KERNEL(lanes_tree) {
  __shared__ int s[64];
  s[t] = X[t];
  s[t + 32] = 0;
  __syncwarp();
  int v = s[t];
  for (int k = 16; k > 0; k /= 2) {
    v += s[t + k];
    GOOD(__syncwarp();)
    s[t] = v;
    GOOD(__syncwarp();)
  }
  if (t == 0) Y[0] = v;
}

KERNEL(shuffle_is_no_barrier) {
  __shared__ int s[32];
  s[t] = X[t];
  int v = __shfl_xor_sync(FULL, X[t], 1);
  GOOD(__syncwarp();)
  Y[t] = s[t ^ 1] + v;
}

KERNEL(leader_writes) {
  __shared__ int s;
  if (t == 0) s = X[5];
  GOOD(__syncwarp();)
  Y[t] = s;
}

KERNEL(half_masks) {
  __shared__ int s[32];
  s[t] = X[t];
  BAD(if (t < 16) __syncwarp(0x0000ffff); else __syncwarp(0xffff0000);)
  GOOD(__syncwarp();)
  Y[t] = s[31 - t];
}

KERNEL(half_masks_right) {
  __shared__ int s[32];
  s[t] = X[t];
  GOOD(if (t < 16) __syncwarp(0x0000ffff); else __syncwarp(0xffff0000);)
  Y[t] = s[t ^ 15];
}

KERNEL(tiles) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  s[t] = X[t];
  tile.sync();
  Y[t] = s[t ^ GOOD(7) BAD(8)];
}

KERNEL(volatile_tree) {
  __shared__ volatile int s[64];
  s[t] = X[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    GOOD(__syncwarp(); int a = s[t + 16]; __syncwarp(); s[t] += a; __syncwarp(); a = s[t + 8]; __syncwarp(); s[t] += a; __syncwarp();)
    BAD(s[t] += s[t + 16]; s[t] += s[t + 8];)
    if (t == 0) Y[0] = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
  }
}

KERNEL(volatile_loop) {
  __shared__ volatile int s[64];
  s[t] = X[t];
  s[t + 32] = 0;
  GOOD(__syncwarp();)
#pragma unroll 1
  for (int k = N; k > 0; k /= 2) {
    int add = s[t + k];
    GOOD(__syncwarp();)
    s[t] += add;
    GOOD(__syncwarp();)
  }
  if (t == 0) Y[0] = s[0];
}

KERNEL(volatile_scan) {
  __shared__ volatile int s[64];
  s[t] = 0;
  s[t + 32] = X[t];
  GOOD(__syncwarp();)
  for (int k = 1; k < 32; k *= 2) {
    int add = s[t + 32 - k];
    GOOD(__syncwarp();)
    s[t + 32] += add;
    GOOD(__syncwarp();)
  }
  Y[t] = s[t + 32];
}

KERNEL(volatile_maximum) {
  __shared__ volatile int s[64];
  s[t] = X[t];
  s[t + 32] = 0;
  GOOD(__syncwarp();)
  for (int k = 16; k > 0; k /= 2) {
    int other = s[t + k];
    GOOD(__syncwarp();)
    if (other > s[t]) s[t] = other;
    GOOD(__syncwarp();)
  }
  if (t == 0) Y[0] = s[0];
}

KERNEL(volatile_broadcast) {
  __shared__ volatile int s;
  if (t == 7) s = X[7];
  GOOD(__syncwarp();)
  Y[t] = s;
}

// Updates that get lost

KERNEL(volatile_count_lanes) {
  BAD(volatile int *count = Y; *count = *count + 1;)
  GOOD(atomicAdd(Y, 1);)
}

KERNEL(volatile_count_warps) {
  __shared__ volatile int count;
  if (t == 0) count = 0;
  __syncthreads();
  BAD(if (t % 32 == 0) count = count + 1;)
  GOOD(if (t % 32 == 0) atomicAdd((int *)&count, 1);)
  __syncthreads();
  if (t == 0) Y[0] = count;
}

KERNEL(volatile_count_blocks) {
  BAD(volatile int *count = Y; if (t == 0) *count = *count + X[0];)
  GOOD(if (t == 0) atomicAdd(Y, X[0]);)
}

KERNEL(volatile_vote) {
  __shared__ volatile int winner;
  BAD(winner = t; __syncwarp(); Y[t] = winner;)
  GOOD(if (t == 0) winner = t; __syncwarp(); Y[t] = winner;)
}

KERNEL(histogram) {
  __shared__ int bins[16];
  if (t < 16) bins[t] = 0;
  __syncthreads();
  BAD(bins[X[t] & 15]++;)
  GOOD(atomicAdd(&bins[X[t] & 15], 1);)
  __syncthreads();
  if (t < 16) Y[t] = bins[t];
}

KERNEL(count_global) {
  BAD(Y[0] += X[t];)
  GOOD(atomicAdd(Y, X[t]);)
}

KERNEL(one_result) {
  BAD(Y[0] = t;)
  GOOD(Y[t] = t;)
}

// Blocks

KERNEL(blocks_overlap) {
  Y[blockIdx.x * (blockDim.x GOOD(+0) BAD(-1)) + t] = X[t] + blockIdx.x;
}

KERNEL(last_block) {
  __shared__ bool last;
  Y[1 + blockIdx.x * blockDim.x + t] = X[t];
  GOOD(__threadfence();)
  __syncthreads();
  if (t == 0) last = atomicAdd(Y, 1) == gridDim.x - 1;
  __syncthreads();
  GOOD(__threadfence();)
  if (last && t == 0) {
    int sum = 0;
    for (int i = 0; i < gridDim.x * blockDim.x; i++) sum += Y[1 + i];
    Y[1000] = sum;
  }
}

KERNEL(flag_between_blocks) {
  volatile int *flag = Y + 512;
  if (blockIdx.x == 0) {
    if (t == 0) {
      Y[0] = X[0];
      GOOD(__threadfence();)
      *flag = 1;
    }
  } else if (t == 0) {
    while (*flag == 0) {}
    GOOD(__threadfence();)
    Y[1] = Y[0] + 1;
  }
}

KERNEL(spin_lock) {
  if (t == 0) {
    while (atomicCAS(Y + 512, 0, 1) != 0) {}
    GOOD(__threadfence();)
    Y[0] += X[blockIdx.x];
    GOOD(__threadfence();)
    atomicExch(Y + 512, 0);
  }
}

KERNEL(look_back) {
  // Words 16 + 2b and 17 + 2b: whether block b's sum up to it is there, and the sum.
  volatile int *state = Y + 16;
  if (t == 0) {
    int before = 0;
    if (blockIdx.x > 0) {
      while (state[2 * blockIdx.x - 2] == 0) {}
      GOOD(__threadfence();)
      before = Y[16 + 2 * blockIdx.x - 1];
    }
    Y[16 + 2 * blockIdx.x + 1] = before + X[blockIdx.x];
    GOOD(__threadfence();)
    state[2 * blockIdx.x] = 1;
  }
}

// Member masks

KERNEL(not_in_mask) {
  Y[t] = __shfl_xor_sync(GOOD(FULL) BAD(0x0000ffff), X[t], 1);
}

KERNEL(not_in_vote) {
  Y[t] = __ballot_sync(t < 16 GOOD(|| true) ? FULL : BAD(0xff) GOOD(FULL), X[t] & 1);
}

KERNEL(lanes_pass_shuffle) {
  int v = X[t];
  if (t < 16) v = __shfl_xor_sync(GOOD(0x0000ffff) BAD(FULL), v, 1);
  __syncwarp();
  Y[t] = __shfl_xor_sync(FULL, v, 16);
}

KERNEL(lanes_pass_vote) {
  int v = X[t];
  __shared__ int s[32];
  s[t] = v;
  if (v & 1) v = __popc(__ballot_sync(GOOD(__activemask()) BAD(FULL), v > 3));
  __syncwarp();
  Y[t] = s[t ^ 1] + v;
}

KERNEL(masks_differ) {
  int v = X[t];
  v += __shfl_xor_sync(BAD(t < 16 ? FULL : 0xffff0000) GOOD(t < 16 ? 0xffffu : 0xffff0000u), v, 1);
  Y[t] = __shfl_xor_sync(FULL, v, 2);
}

KERNEL(exited_in_ballot) {
  if (t >= 20) return;
  Y[t] = __ballot_sync(GOOD(0x000fffff) BAD(FULL), X[t] & 1);
}

KERNEL(exited_in_sync) {
  __shared__ int s[32];
  if (t >= 20) return;
  s[t] = X[t];
  __syncwarp(GOOD(0x000fffff) BAD(FULL));
  Y[t] = s[19 - t];
}

KERNEL(exited_in_reduce) {
  if (t >= 20) return;
  Y[t] = __reduce_add_sync(GOOD(0x000fffff) BAD(FULL), X[t]);
}

KERNEL(shuffle_from_exited) {
  int v = X[t];
  BAD(if (t >= N) return;)
  GOOD(if (t >= N) v = 0;)
  for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(FULL, v, k);
  if (t == 0) Y[0] = v;
}

KERNEL(shuffle_from_outside) {
  if (t < 24) {
    int v = X[t];
    int other = __shfl_down_sync(0x00ffffff, v, 16);
    GOOD(if (t + 16 < 24)) v += other;
    Y[t] = v;
  }
}

KERNEL(shuffle_index_outside) {
  if (t < 16) Y[t] = __shfl_sync(0x0000ffff, X[t], GOOD(15) BAD(16));
}

// Asynchronous copies

KERNEL(copy_no_wait) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + t, X + t, 4);
  __pipeline_commit();
  GOOD(__pipeline_wait_prior(0);)
  __syncthreads();
  Y[t] = s[63 - t];
}

KERNEL(copy_no_barrier) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + t, X + t, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  GOOD(__syncthreads();)
  Y[t] = s[63 - t];
}

KERNEL(copy_waits_too_little) {
  __shared__ int s[2][64];
  __pipeline_memcpy_async(s[0] + t, X + t, 4);
  __pipeline_commit();
  __pipeline_memcpy_async(s[1] + t, X + 64 + t, 4);
  __pipeline_commit();
  __pipeline_wait_prior(GOOD(0) BAD(1));
  __syncthreads();
  Y[t] = s[0][63 - t] + s[1][63 - t];
}

KERNEL(copy_target_written) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + t, X + t, 4);
  __pipeline_commit();
  GOOD(__pipeline_wait_prior(0);)
  s[t] = 1;
  __pipeline_wait_prior(0);
  __syncthreads();
  Y[t] = s[63 - t];
}

KERNEL(copy_source_written) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + t, Y + t, 4);
  __pipeline_commit();
  GOOD(__pipeline_wait_prior(0);)
  Y[t] = 7;
  __pipeline_wait_prior(0);
  __syncthreads();
  Y[64 + t] = s[63 - t];
}

KERNEL(copy_source_written_by_others) {
  __shared__ int s[64];
  __pipeline_memcpy_async(s + t, Y + t, 4);
  __pipeline_commit();
  GOOD(__pipeline_wait_prior(0);)
  __syncthreads();
  Y[63 - t] = 7;
  __pipeline_wait_prior(0);
  __syncthreads();
  Y[64 + t] = s[63 - t];
}

KERNEL(copy_ring) {
  __shared__ int s[2][64];
  int sum = 0;
  __pipeline_memcpy_async(s[0] + t, X + t, 4);
  __pipeline_commit();
  for (int i = 0; i < N; i++) {
    if (i + 1 < N) __pipeline_memcpy_async(s[(i + 1) & 1] + t, X + 64 * (i + 1) + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[i & 1][63 - t];
    GOOD(__syncthreads();)
  }
  Y[t] = sum;
}

// Loads that do not see stores

KERNEL(read_only_own) {
  Y[t] = X[t] + 1;
  GOOD(Y[256 + t] = Y[t];)
  BAD(Y[256 + t] = __ldg(Y + t);)
}

KERNEL(read_only_barrier) {
  Y[t] = X[t] + 1;
  __syncthreads();
  GOOD(Y[256 + t] = Y[63 - t];)
  BAD(Y[256 + t] = __ldg(Y + 63 - t);)
}

KERNEL(read_only_blocks) {
  if (blockIdx.x == 0) {
    Y[t] = X[t];
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(Y + 512, 1);
  } else {
    if (t == 0) while (atomicAdd(Y + 512, 0) == 0) {}
    __syncthreads();
    __threadfence();
    GOOD(Y[256 + t] = Y[t];)
    BAD(Y[256 + t] = __ldg(Y + t);)
  }
}

// Clusters

KERNEL(cluster_exit) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  s[t] = X[t] + cluster.block_rank();
  cluster.sync();
  int *other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  Y[32 * blockIdx.x + t] = other[31 - t];
  GOOD(cluster.sync();)
}

KERNEL(cluster_exit_late) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  s[t] = X[t];
  cluster.sync();
  if (cluster.block_rank() == 1) {
    __nanosleep(100);
    for (volatile int i = 0; i < 10; i++) {}
    Y[t] = cluster.map_shared_rank(s, 0)[t];
  }
  GOOD(cluster.sync();)
}

KERNEL(cluster_start) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  s[t] = X[t] + cluster.block_rank();
  GOOD(cluster.sync();)
  int *other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  Y[32 * blockIdx.x + t] = other[31 - t];
  cluster.sync();
}

KERNEL(cluster_store) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  cluster.sync();
  cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[t] = X[t];
  GOOD(cluster.sync();)
  BAD(__syncthreads();)
  Y[32 * blockIdx.x + t] = s[31 - t];
  cluster.sync();
}

// Bounds and values

KERNEL(past_the_end) { Y[t GOOD(+0) BAD(+993)] = X[t]; }

KERNEL(before_the_start) { Y[t] = X[t GOOD(+0) BAD(-1)]; }

KERNEL(shared_end) {
  extern __shared__ int d[];
  d[t GOOD(+0) BAD(+1)] = X[t];
  __syncwarp();
  Y[t] = d[t];
}

KERNEL(misaligned) {
  int4 v = *(const int4 *)(X + GOOD(4 *) t);
  Y[t] = v.x + v.y + v.z + v.w;
}

KERNEL(never_written) {
  __shared__ int s[64];
  if (t < 30 GOOD(+2)) s[t] = X[t];
  __syncthreads();
  Y[t] = s[31 - t];
}

KERNEL(never_ends) {
  volatile int *flag = Y;
  if (t == 0) GOOD(*flag = 1;) BAD(*flag = 0;)
  if (t == 1) while (*flag == 0) {}
  Y[2 + t] = 5;
}

// What is right, however it looks: these have no mistake in either file.

KERNEL(early_return) {
  __shared__ int s[64];
  s[t] = X[t];
  if (t >= N) return;
  __syncthreads();
  Y[t] = s[N - 1 - t];
}

KERNEL(early_return_with_result) {
  __shared__ int s[64];
  s[t] = X[t];
  if (t >= N) {
    Y[t] = 0;
    return;
  }
  __syncthreads();
  Y[t] = s[N - 1 - t];
}

KERNEL(syncwarp_in_branches) {
  __shared__ int s[32];
  if (t < 16) {
    s[t] = X[t];
    __syncwarp();
    Y[t] = s[31 - t] + 1;
  } else {
    s[t] = X[t] + 2;
    __syncwarp();
    Y[t] = s[31 - t] * 3;
  }
}

KERNEL(groups) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int v = X[t];
  for (int k = tile.size() / 2; k > 0; k /= 2) v += tile.shfl_down(v, k);
  if (v & 1) {
    auto active = cg::coalesced_threads();
    v += active.shfl(v, 0) + active.thread_rank();
    active.sync();
  }
  Y[t] = v + tile.any(v & 2);
}

KERNEL(aggregated) {
  if (X[t] & 1) {
    auto active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(Y, active.size());
    Y[1 + active.shfl(first, 0) + active.thread_rank()] = t;
  }
}

KERNEL(partial_shuffle) {
  unsigned mask = __ballot_sync(FULL, t < 20);
  if (t < 20) {
    int v = X[t];
    for (int k = 16; k > 0; k /= 2) {
      int other = __shfl_down_sync(mask, v, k);
      if (t + k < 20) v += other;
    }
    if (t == 0) Y[0] = v;
  }
}

KERNEL(ticket_lock) {
  // Words 512 and 513: the next ticket, and the one that is served.
  if (t == 0) {
    int ticket = atomicAdd(Y + 512, 1);
    volatile int *serving = Y + 513;
    while (*serving != ticket) {}
    __threadfence();
    Y[0] = Y[0] * 3 + 1;
    __threadfence();
    *serving = *serving + 1;
  }
}

KERNEL(warps_take_turns) {
  __shared__ volatile int turn;
  __shared__ int sum;
  if (t == 0) { turn = 0; sum = 0; }
  __syncthreads();
  int warp = t / 32;
  if (t % 32 == 0) {
    while (turn != warp) {}
    __threadfence_block();
    sum = sum * 2 + X[t];
    __threadfence_block();
    turn = warp + 1;
  }
  __syncthreads();
  Y[t] = sum;
}

KERNEL(stops_early) {
  __shared__ volatile int found;
  if (t == 0) found = 0;
  __syncthreads();
  for (int i = 0; i < N && !found; i++) {
    if (X[i] == 7 + t) found = 1;
  }
  __syncthreads();
  Y[t] = found;
}

KERNEL(grid_barrier) {
  // A barrier of all blocks by hand.
  Y[16 + blockIdx.x * blockDim.x + t] = X[t];
  __threadfence();
  __syncthreads();
  if (t == 0) {
    atomicAdd(Y, 1);
    while (atomicAdd(Y, 0) < gridDim.x) {}
  }
  __syncthreads();
  __threadfence();
  int n = gridDim.x * blockDim.x;
  Y[512 + blockIdx.x * blockDim.x + t] = Y[16 + (n - 1 - blockIdx.x * blockDim.x - t)];
}

// Updates by compare and swap whose first read is plain

KERNEL(swap_sum) {
  int old = Y[0], seen;
  do {
    seen = old;
    old = atomicCAS(Y, seen, seen * 3 + X[t]);
  } while (old != seen);
  BAD(if (t == 40) Y[0] = 0;)
}

KERNEL(swap_maximum) {
  int old = *Y, seen;
  do {
    seen = old;
    if (seen >= X[t]) break;
    BAD(*Y = X[t]; old = seen;)
    GOOD(old = atomicCAS(Y, seen, X[t]);)
  } while (old != seen);
}

KERNEL(swap_shared) {
  __shared__ unsigned long long sum;
  if (t == 0) sum = 0;
  GOOD(__syncthreads();)
  unsigned long long old = sum, seen;
  do {
    seen = old;
    double next = __longlong_as_double(seen) + X[t];
    old = atomicCAS(&sum, seen, (unsigned long long)__double_as_longlong(next));
  } while (old != seen);
  __syncthreads();
  Y[t] = (int)__longlong_as_double(sum);
}

KERNEL(swap_then_read) {
  int old = Y[0], seen;
  do {
    seen = old;
    old = atomicCAS(Y, seen, seen + X[t]);
  } while (old != seen);
  GOOD(__syncthreads();)
  Y[1 + t] = Y[0];
}
