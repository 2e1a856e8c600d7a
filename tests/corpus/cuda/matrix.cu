// Products of matrices: by plain arithmetic in tiles, and by tensor cores through every door there is.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void matrix_tiles(const float *a, const float *b, float *c, int n) {
  __shared__ float as[16][17], bs[16][17];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0.0f;
  for (int k = 0; k < n; k += 16) {
    as[y][x] = a[row * n + k + x];
    bs[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// One warp, 16 x 16 x 16.
extern "C" __global__ void matrix_wmma_half(const __half *a, const __half *b, float *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 1.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2.0f;
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void matrix_wmma_bytes(const signed char *a, const signed char *b, int *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
  wmma::fill_fragment(fc, 5);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// 64 x 64 x k, four warps, ldmatrix and mma.m16n8k16. A is row-major, B is row-major and transposed on the way in.
extern "C" __global__ void matrix_mma_half(const __half *a, const __half *b, float *c, int k) {
  __shared__ __align__(16) __half as[64][24];
  __shared__ __align__(16) __half bs[16][72];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  float sum[8][4] = {};
  for (int k0 = 0; k0 < k; k0 += 16) {
    *(uint4 *)&as[t >> 1][(t & 1) * 8] = *(const uint4 *)&a[(t >> 1) * k + k0 + (t & 1) * 8];
    *(uint4 *)&bs[t >> 3][(t & 7) * 8] = *(const uint4 *)&b[(k0 + (t >> 3)) * 64 + (t & 7) * 8];
    __syncthreads();
    unsigned fa[4];
    unsigned at = shared_address(&as[warp * 16 + (lane & 15)][(lane >> 4) * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(at));
    for (int j = 0; j < 8; j++) {
      unsigned fb[2];
      unsigned bt = shared_address(&bs[lane & 15][j * 8]);
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(fb[0]), "=r"(fb[1]) : "r"(bt));
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
                   : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    }
    __syncthreads();
  }
  for (int j = 0; j < 8; j++) {
    int row = warp * 16 + lane / 4, column = j * 8 + (lane & 3) * 2;
    *(float2 *)&c[row * 64 + column] = make_float2(sum[j][0], sum[j][1]);
    *(float2 *)&c[(row + 8) * 64 + column] = make_float2(sum[j][2], sum[j][3]);
  }
}

// One warp each, operands as they are in registers.
extern "C" __global__ void matrix_mma_forms(const unsigned *a, const unsigned *b, float *bf, float *tf, int *s8, unsigned *f16,
                                            double *f64, int *u4, const double *da, const double *db) {
  int lane = threadIdx.x;
  unsigned fa[4], fb[2];
  for (int i = 0; i < 4; i++) fa[i] = a[lane * 4 + i];
  for (int i = 0; i < 2; i++) fb[i] = b[lane * 2 + i];
  float x[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
               : "r"(fa[0] & 0x41f041f0), "r"(fa[1] & 0x41f041f0), "r"(fa[2] & 0x41f041f0), "r"(fa[3] & 0x41f041f0),
                 "r"(fb[0] & 0xc1f0c1f0), "r"(fb[1] & 0xc1f0c1f0));
  for (int i = 0; i < 4; i++) bf[lane * 4 + i] = x[i];
  float y[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(y[0]), "+f"(y[1]), "+f"(y[2]), "+f"(y[3])
               : "r"(fa[0] & 0x41f00000), "r"(fa[1] & 0x41f00000), "r"(fa[2] & 0x41f00000), "r"(fa[3] & 0x41f00000),
                 "r"(fb[0] & 0xc1f00000), "r"(fb[1] & 0xc1f00000));
  for (int i = 0; i < 4; i++) tf[lane * 4 + i] = y[i];
  int z[4] = {0, -1, 100000, 7};
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(z[0]), "+r"(z[1]), "+r"(z[2]), "+r"(z[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  for (int i = 0; i < 4; i++) s8[lane * 4 + i] = z[i];
  unsigned h[2] = {0x3c003c00u, 0x40003c00u};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
               : "+r"(h[0]), "+r"(h[1]) : "r"(fa[0] & 0x44004400), "r"(fa[1] & 0x44004400), "r"(fb[0] & 0xc400c400));
  f16[lane * 2] = h[0];
  f16[lane * 2 + 1] = h[1];
  double d[2] = {0.5, -0.5};
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(d[0]), "+d"(d[1]) : "d"(da[lane]), "d"(db[lane]));
  f64[lane * 2] = d[0];
  f64[lane * 2 + 1] = d[1];
  int w[2] = {3, -3};
  asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+r"(w[0]), "+r"(w[1]) : "r"(fa[0]), "r"(fb[0]));
  u4[lane * 2] = w[0];
  u4[lane * 2 + 1] = w[1];
}

// ldmatrix in all sizes, and a transposition in registers.
extern "C" __global__ void matrix_ldmatrix(const unsigned short *x, unsigned *y) {
  __shared__ __align__(16) unsigned short tile[32][8];
  int lane = threadIdx.x;
  for (int i = 0; i < 8; i++) tile[lane][i] = x[lane * 8 + i];
  __syncwarp();
  unsigned at = shared_address(&tile[lane][0]);
  unsigned r[4], s[4], one, moved;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3]) : "r"(at));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(one) : "r"(at));
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(r[2]));
  for (int i = 0; i < 4; i++) {
    y[lane * 10 + i] = r[i];
    y[lane * 10 + 4 + i] = s[i];
  }
  y[lane * 10 + 8] = one;
  y[lane * 10 + 9] = moved;
}
