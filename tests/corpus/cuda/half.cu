// Arithmetic with 16-bit and 8-bit floats.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

extern "C" __global__ void half_scalar(const __half *x, const __half *y, const __half *z, unsigned short *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half a = x[i], b = y[i], c = z[i];
  unsigned short *to = out + 20 * i;
  to[0] = __half_as_ushort(__hadd_rn(a, b));
  to[1] = __half_as_ushort(__hsub_rn(a, b));
  to[2] = __half_as_ushort(__hmul_rn(a, b));
  to[3] = __half_as_ushort(__hfma(a, b, c));
  to[4] = __half_as_ushort(__hneg(a));
  to[5] = __half_as_ushort(__habs(a));
  to[6] = __half_as_ushort(__hmin(a, b));
  to[7] = __half_as_ushort(__hmax(a, b));
  to[8] = __half_as_ushort(__hadd_sat(a, b));
  to[9] = __half_as_ushort(__hfma_relu(a, b, c));
  to[10] = __heq(a, b) | __hlt(a, b) << 1 | __hge(a, b) << 2 | __hne(a, b) << 3 | __hisnan(c) << 4;
  to[11] = (unsigned short)__half2int_rn(a);
  to[12] = (unsigned short)__half2int_rz(b);
  to[13] = (unsigned short)__half2uint_ru(__habs(c));
  to[14] = __half_as_ushort(__int2half_rn((int)__half_as_ushort(a) * 3 - 90000));
  to[15] = __half_as_ushort(__float2half_rn(__half2float(a) * 1.00048828125f));
  to[16] = __half_as_ushort(__float2half_rz(__half2float(b) * 1.00048828125f));
  to[17] = __half_as_ushort(__float2half_ru(__half2float(c) * 1.00048828125f));
  to[18] = __half_as_ushort(__float2half_rd(__half2float(a) / 3.0f));
  to[19] = __half_as_ushort(hfloor(a));
}

extern "C" __global__ void half_packed(const __half2 *x, const __half2 *y, const __half2 *z, __half2 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half2 a = x[i], b = y[i], c = z[i];
  __half2 *to = out + 8 * i;
  to[0] = __hadd2_rn(a, b);
  to[1] = __hsub2_rn(a, __lowhigh2highlow(b));
  to[2] = __hmul2_rn(a, b);
  to[3] = __hfma2(a, b, c);
  to[4] = __hmin2(a, b);
  to[5] = __hmax2(a, __high2half2(b));
  to[6] = __hgt2(a, b);
  to[7] = __halves2half2(__low2half(a), __high2half(c));
}

extern "C" __global__ void half_bfloat(const __nv_bfloat16 *x, const __nv_bfloat16 *y, const __nv_bfloat16 *z,
                                       unsigned short *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat16 a = x[i], b = y[i], c = z[i];
  unsigned short *to = out + 12 * i;
  to[0] = __bfloat16_as_ushort(__hadd_rn(a, b));
  to[1] = __bfloat16_as_ushort(__hsub_rn(a, b));
  to[2] = __bfloat16_as_ushort(__hmul_rn(a, b));
  to[3] = __bfloat16_as_ushort(__hfma(a, b, c));
  to[4] = __bfloat16_as_ushort(__hmin(a, b));
  to[5] = __bfloat16_as_ushort(__hmax(a, b));
  to[6] = __bfloat16_as_ushort(__float2bfloat16_rn(__bfloat162float(a) * 1.00390625f));
  to[7] = __bfloat16_as_ushort(__float2bfloat16_rz(__bfloat162float(b) * 1.00390625f));
  to[8] = __bfloat16_as_ushort(__float2bfloat16_rn(__bfloat162float(a) + __bfloat162float(b)));
  to[9] = __heq(a, b) | __hlt(a, b) << 1 | __hisnan(c) << 2;
  to[10] = (unsigned short)__bfloat162int_rz(a);
  to[11] = __bfloat16_as_ushort(__hneg(__habs(c)));
}

// Pairs: two singles to two bytes, and back by way of halves.
extern "C" __global__ void half_fp8(const float2 *x, unsigned short *out, unsigned *back, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned short e4 = __nv_cvt_float2_to_fp8x2(x[i], __NV_SATFINITE, __NV_E4M3);
  unsigned short e5 = __nv_cvt_float2_to_fp8x2(x[i], __NV_SATFINITE, __NV_E5M2);
  __half2_raw h = (__half2_raw)__float22half2_rn(x[i]);
  out[4 * i] = e4;
  out[4 * i + 1] = e5;
  out[4 * i + 2] = __nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, __NV_E4M3);
  out[4 * i + 3] = __nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, __NV_E5M2);
  __half2_raw four = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)e4, __NV_E4M3);
  __half2_raw five = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)e5, __NV_E5M2);
  back[2 * i] = four.x | (unsigned)four.y << 16;
  back[2 * i + 1] = five.x | (unsigned)five.y << 16;
}
