// What compilers emit for newer architectures: clusters, async copies, barriers, reductions, half types.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
extern "C" __global__ void modern(float* out, const float* in, __half* h, __nv_bfloat162* b, int n) {
  __shared__ alignas(16) float tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  block.sync();
  cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof(tile)), bar);
  bar.arrive_and_wait();
  int i = threadIdx.x;
  unsigned m = __match_any_sync(~0u, i & 3);
  float v = tile[i] + __shfl_xor_sync(~0u, tile[255 - i], 5) + __popc(m & __ballot_sync(~0u, i > n)) + __reduce_add_sync(~0u, i);
  h[i] = __hfma(h[i], h[i], __float2half(v));
  b[i] = __hmax2(b[i], __floats2bfloat162_rn(v, 2.0f));
  __nv_fp8_e4m3 f8(v);
  out[i] = v + (float)f8 + __half2float(h[i]) + __funnelshift_l(i, n, 5) + __byte_perm(i, n, 0x1234) + __vadd2(i, n) + __dp4a(i, n, 3);
#if __CUDA_ARCH__ >= 900
  auto cluster = cg::this_cluster();
  float* other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  cluster.sync();
  out[i] += other[i];
  cluster.sync();
#endif
}
