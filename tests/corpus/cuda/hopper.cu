// What Hopper has: bulk copies, tensor maps, clusters of blocks that reach each other's shared memory.
#include <cuda.h>
#include <cuda_runtime.h>

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void init(unsigned long long *barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}

__device__ void arrive_expect(unsigned long long *barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

__device__ void wait(unsigned long long *barrier, unsigned parity) {
  asm volatile(
      "{\n\t"
      ".reg .pred done;\n"
      "again:\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
      "@!done bra again;\n\t"
      "}" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

// 4 KiB in, every byte changed, 4 KiB out and added to what is there.
extern "C" __global__ void hopper_bulk(const int *x, int *y, int *sum) {
  __shared__ __align__(128) int buffer[1024];
  __shared__ unsigned long long barrier;
  int t = threadIdx.x;
  if (t == 0) {
    init(&barrier, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    arrive_expect(&barrier, 4096);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" ::"r"(shared_address(buffer)),
                 "l"(x + blockIdx.x * 1024), "r"(shared_address(&barrier)) : "memory");
  }
  __syncthreads();
  wait(&barrier, 0);
  for (int i = t; i < 1024; i += blockDim.x) buffer[i] = buffer[i] * 2 + i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;" ::"l"(y + blockIdx.x * 1024), "r"(shared_address(buffer)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 4096;" ::"l"(sum), "r"(shared_address(buffer)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// Tiles of a matrix go through swizzled shared memory and come out transposed. Tiles at the edges are filled up.
extern "C" __global__ void hopper_tensor(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ __align__(1024) float in[32][32];
  __shared__ __align__(1024) float out[32][32];
  __shared__ unsigned long long barrier;
  int t = threadIdx.x;
  if (t == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&from) : "memory");
    init(&barrier, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    arrive_expect(&barrier, 4096);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(in)),
                 "l"(&from), "r"(blockIdx.x * 32), "r"(blockIdx.y * 32), "r"(shared_address(&barrier)) : "memory");
  }
  __syncthreads();
  wait(&barrier, 0);
  for (int i = t; i < 1024; i += blockDim.x) {
    int row = i >> 5, column = i & 31;
    // 16-byte chunks of a row of 128 bytes are where their number xor that of the row says.
    float value = in[row][((column >> 2) ^ (row & 7)) << 2 | (column & 3)];
    out[column][((row >> 2) ^ (column & 7)) << 2 | (row & 3)] = value;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(blockIdx.y * 32),
                 "r"(blockIdx.x * 32), "r"(shared_address(out)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}

// A box of three axes, every other element of one, added to another tensor.
extern "C" __global__ void hopper_tensor3(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int x, int y, int z) {
  __shared__ __align__(128) int box[4 * 4 * 8];
  __shared__ unsigned long long barrier;
  if (threadIdx.x == 0) {
    init(&barrier, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    arrive_expect(&barrier, sizeof box);
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(box)),
                 "l"(&from), "r"(x), "r"(y), "r"(z), "r"(shared_address(&barrier)) : "memory");
    wait(&barrier, 0);
    asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&to), "r"(0), "r"(0), "r"(0), "r"(shared_address(box)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// Four stages of bulk copies with full and empty barriers: one thread produces, four warps consume.
extern "C" __global__ void hopper_pipeline(const float *x, float *sums, int chunks) {
  __shared__ __align__(128) float stage[4][256];
  __shared__ unsigned long long full[4], empty[4];
  int t = threadIdx.x, warp = t >> 5;
  if (t == 0) {
    for (int i = 0; i < 4; i++) {
      init(&full[i], 1);
      init(&empty[i], 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const float *from = x + (size_t)blockIdx.x * chunks * 256;
  if (warp == 4) {
    if ((t & 31) == 0) {
      for (int k = 0; k < chunks; k++) {
        wait(&empty[k & 3], (k >> 2 & 1) ^ 1);
        arrive_expect(&full[k & 3], 1024);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(shared_address(stage[k & 3])),
                     "l"(from + k * 256), "r"(shared_address(&full[k & 3])) : "memory");
      }
    }
  } else {
    float sum = 0.0f;
    for (int k = 0; k < chunks; k++) {
      wait(&full[k & 3], k >> 2 & 1);
      sum += stage[k & 3][t] * 2.0f + stage[k & 3][255 - t];
      __syncwarp();
      if ((t & 31) == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&empty[k & 3])) : "memory");
    }
    sums[blockIdx.x * 128 + t] = sum;
  }
}

// Four blocks sort out a histogram together: each owns a quarter of the bins, in its shared memory.
extern "C" __global__ void __cluster_dims__(4, 1, 1) hopper_cluster(const unsigned char *x, unsigned *bins, int n) {
  __shared__ unsigned own[64];
  unsigned rank, size;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  if (threadIdx.x < 64) own[threadIdx.x] = 0;
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  for (int i = rank * blockDim.x + threadIdx.x; i < n; i += size * blockDim.x) {
    unsigned bin = x[i], address;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(&own[bin & 63])), "r"(bin >> 6));
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(address) : "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (threadIdx.x < 64) bins[rank * 64 + threadIdx.x] = own[threadIdx.x];
}

// A ring: each block of a cluster gives its values to the next one, with st.async and an mbarrier there.
extern "C" __global__ void __cluster_dims__(2, 2, 1) hopper_ring(const int *x, int *y) {
  __shared__ __align__(16) int values[2][64];
  __shared__ unsigned long long barrier;
  int t = threadIdx.x;
  unsigned rank, to, there;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0) init(&barrier, 1);
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int value = x[block * 64 + t];
  for (int round = 0; round < 3; round++) {
    if (t == 0) arrive_expect(&barrier, 256);
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(&values[round & 1][t])), "r"((rank + 1) & 3));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(&barrier)), "r"((rank + 1) & 3));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(value), "r"(there) : "memory");
    wait(&barrier, round & 1);
    value = values[round & 1][63 - t] * 3 + (int)rank;
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
  }
  y[block * 64 + t] = value;
}

// One block of a cluster fetches for all of them.
extern "C" __global__ void __cluster_dims__(2, 1, 1) hopper_multicast(const int *x, int *y) {
  __shared__ __align__(128) int buffer[256];
  __shared__ unsigned long long barrier;
  int t = threadIdx.x;
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0) {
    init(&barrier, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    arrive_expect(&barrier, 1024);
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (rank == 0 && t == 0) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 1024, [%2], %3;" ::"r"(shared_address(buffer)),
                 "l"(x), "r"(shared_address(&barrier)), "h"((unsigned short)3) : "memory");
  }
  wait(&barrier, 0);
  for (int i = t; i < 256; i += blockDim.x) y[rank * 256 + i] = buffer[255 - i] + (int)rank;
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

// One lane is elected, and tells the others.
extern "C" __global__ void hopper_elect(int *y) {
  int chosen;
  unsigned lane;
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      "elect.sync %1|p, 0xffffffff;\n\t"
      "selp.s32 %0, 1, 0, p;\n\t"
      "}" : "=r"(chosen), "=r"(lane));
  int count = __popc(__ballot_sync(0xffffffffu, chosen));
  y[threadIdx.x] = count * 100 + (chosen == (int)(lane == (threadIdx.x & 31)));
}
