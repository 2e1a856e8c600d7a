// Half precision, vectors, and the instructions of tensor cores by inline assembly.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void axpy(__half a, const __half2 *x, __half2 *y, __nv_bfloat16 *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = __hfma2(__half2half2(a), x[i], y[i]);
  z[i] = __float2bfloat16(__low2float(y[i]) * 0.1f);
}

extern "C" __global__ void product(const uint4 *a, const float4 *b, float4 *c) {
  __shared__ __align__(16) unsigned char tile[4096];
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(tile)) + threadIdx.x * 16;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(a + threadIdx.x));
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  unsigned w, x, y, z;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(w), "=r"(x), "=r"(y), "=r"(z)
               : "r"(at));
  float4 sum = b[threadIdx.x];
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%4, %5}, {%0, %1, %2, %3};"
               : "+f"(sum.x), "+f"(sum.y), "+f"(sum.z), "+f"(sum.w)
               : "r"(w), "r"(x), "r"(y), "r"(z));
  sum.x = __expf(sum.x) + rsqrtf(sum.y) + __sinf(sum.z) / sum.w;
  c[threadIdx.x] = sum;
}
