// Products of a warpgroup, its operands in shared memory by descriptors, or in registers.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Rows of 64 halves, 128 bytes, with a 128-byte swizzle: groups of eight rows lie 1024 bytes apart.
__device__ unsigned long long descriptor(const void *p) {
  unsigned long long address = shared_address(p);
  return (address & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ int swizzled(int row, int column) { return row * 64 + ((((column >> 3) ^ row) & 7) << 3 | (column & 7)); }

#define SUMS(d) \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
  "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define LIST "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"

// C (64 x 32) = A (64 x 64) . B (64 x 32, given as 32 rows of 64).
extern "C" __global__ void __launch_bounds__(128) wgmma_shared(const __half *a, const __half *b, float *c) {
  __shared__ __align__(1024) __half as[64 * 64];
  __shared__ __align__(1024) __half bs[32 * 64];
  int t = threadIdx.x;
  for (int i = t; i < 64 * 64; i += 128) as[swizzled(i >> 6, i & 63)] = a[i];
  for (int i = t; i < 32 * 64; i += 128) bs[swizzled(i >> 6, i & 63)] = b[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float d[16];
  for (int i = 0; i < 16; i++) d[i] = -1.0f;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < 4; k++) {
    unsigned long long da = descriptor(as) + 2 * k, db = descriptor(bs) + 2 * k;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %18, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " LIST ", %16, %17, p, 1, 1, 0, 0;\n\t}"
                 : SUMS(d) : "l"(da), "l"(db), "r"(k));
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  int row = (t >> 5) * 16 + ((t & 31) >> 2), column = (t & 3) * 2;
  for (int j = 0; j < 4; j++) {
    c[row * 32 + j * 8 + column] = d[j * 4];
    c[row * 32 + j * 8 + column + 1] = d[j * 4 + 1];
    c[(row + 8) * 32 + j * 8 + column] = d[j * 4 + 2];
    c[(row + 8) * 32 + j * 8 + column + 1] = d[j * 4 + 3];
  }
}

// The same with A in registers, half of it negated.
extern "C" __global__ void __launch_bounds__(128) wgmma_registers(const __half *a, const __half *b, float *c) {
  __shared__ __align__(1024) __half bs[32 * 64];
  int t = threadIdx.x;
  for (int i = t; i < 32 * 64; i += 128) bs[swizzled(i >> 6, i & 63)] = b[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  int row = (t >> 5) * 16 + ((t & 31) >> 2), column = (t & 3) * 2;
  float d[16];
  for (int i = 0; i < 16; i++) d[i] = (float)i;
  unsigned fa[4][4];
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 4; i++) {
      fa[k][i] = *(const unsigned *)&a[(row + (i & 1) * 8) * 64 + k * 16 + (i >> 1) * 8 + column];
    }
  }
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int k = 0; k < 4; k++) {
    unsigned long long db = descriptor(bs) + 2 * k;
    if (k & 1) {
      asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " LIST ", {%16, %17, %18, %19}, %20, 1, -1, 1, 0;"
                   : SUMS(d) : "r"(fa[k][0]), "r"(fa[k][1]), "r"(fa[k][2]), "r"(fa[k][3]), "l"(db));
    } else {
      asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " LIST ", {%16, %17, %18, %19}, %20, 1, 1, 1, 0;"
                   : SUMS(d) : "r"(fa[k][0]), "r"(fa[k][1]), "r"(fa[k][2]), "r"(fa[k][3]), "l"(db));
    }
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int j = 0; j < 4; j++) {
    c[row * 32 + j * 8 + column] = d[j * 4];
    c[row * 32 + j * 8 + column + 1] = d[j * 4 + 1];
    c[(row + 8) * 32 + j * 8 + column] = d[j * 4 + 2];
    c[(row + 8) * 32 + j * 8 + column + 1] = d[j * 4 + 3];
  }
}
