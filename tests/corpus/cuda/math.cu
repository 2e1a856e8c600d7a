// Functions of CUDA's mathematical library, and the approximations of the hardware.
#include <cuda_runtime.h>

#define SINGLE(name, expression)                                            \
  extern "C" __global__ void math_##name(const float *x, const float *y, float *out, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                          \
    if (i >= n) return;                                                     \
    float a = x[i], b = y[i];                                               \
    out[i] = expression;                                                    \
  }

SINGLE(sinf, sinf(a) + 0.0f * b)
SINGLE(cosf, cosf(a) + 0.0f * b)
SINGLE(tanf, tanf(a) + 0.0f * b)
SINGLE(expf, expf(a) + 0.0f * b)
SINGLE(exp2f, exp2f(a) + 0.0f * b)
SINGLE(expm1f, expm1f(a) + 0.0f * b)
SINGLE(logf, logf(a) + 0.0f * b)
SINGLE(log2f, log2f(a) + 0.0f * b)
SINGLE(log1pf, log1pf(a) + 0.0f * b)
SINGLE(powf, powf(a, b))
SINGLE(erff, erff(a) + 0.0f * b)
SINGLE(tanhf, tanhf(a) + 0.0f * b)
SINGLE(atanf, atanf(a) + 0.0f * b)
SINGLE(atan2f, atan2f(a, b))
SINGLE(asinf, asinf(a) + 0.0f * b)
SINGLE(cbrtf, cbrtf(a) + 0.0f * b)
SINGLE(hypotf, hypotf(a, b))
SINGLE(fmodf, fmodf(a, b))
SINGLE(rsqrtf, rsqrtf(a) + 0.0f * b)
SINGLE(fast_sin, __sinf(a) + 0.0f * b)
SINGLE(fast_exp, __expf(a) + 0.0f * b)
SINGLE(fast_log, __logf(a) + 0.0f * b)
SINGLE(fast_divide, __fdividef(a, b))
SINGLE(fast_pow, __powf(a, b))

// Exactly rounded, in all directions.
extern "C" __global__ void math_exact(const float *x, const float *y, const float *z, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[i], b = y[i], c = z[i];
  float *to = out + 24 * i;
  to[0] = __fadd_rn(a, b); to[1] = __fadd_rz(a, b); to[2] = __fadd_ru(a, b); to[3] = __fadd_rd(a, b);
  to[4] = __fmul_rn(a, b); to[5] = __fmul_rz(a, b); to[6] = __fmul_ru(a, b); to[7] = __fmul_rd(a, b);
  to[8] = __fmaf_rn(a, b, c); to[9] = __fmaf_rz(a, b, c); to[10] = __fmaf_ru(a, b, c); to[11] = __fmaf_rd(a, b, c);
  to[12] = __fdiv_rn(a, b); to[13] = __fdiv_rz(a, b);
  to[14] = __fsqrt_rn(fabsf(a)); to[15] = __fsqrt_ru(fabsf(b));
  to[16] = __frcp_rn(a); to[17] = __frcp_rd(b);
  to[18] = fminf(a, b); to[19] = fmaxf(a, c);
  to[20] = rintf(a); to[21] = truncf(b); to[22] = ceilf(a); to[23] = floorf(c);
}

extern "C" __global__ void math_convert(const float *x, const double *y, int *ints, unsigned *words,
                                        long long *longs, float *singles, double *doubles, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[i];
  double b = y[i];
  ints[6 * i] = __float2int_rn(a);
  ints[6 * i + 1] = __float2int_rz(a);
  ints[6 * i + 2] = __float2int_ru(a);
  ints[6 * i + 3] = __float2int_rd(a);
  ints[6 * i + 4] = __double2int_rn(b);
  ints[6 * i + 5] = __double2int_rz(b);
  words[2 * i] = __float2uint_rz(a);
  words[2 * i + 1] = __double2uint_rn(b);
  longs[3 * i] = __float2ll_rz(a);
  longs[3 * i + 1] = __double2ll_rn(b);
  longs[3 * i + 2] = (long long)__double2ull_rz(b);
  singles[4 * i] = __double2float_rn(b);
  singles[4 * i + 1] = __double2float_rz(b);
  singles[4 * i + 2] = __int2float_rn(__float_as_int(a));
  singles[4 * i + 3] = __ull2float_rn((unsigned long long)__double_as_longlong(b));
  doubles[2 * i] = (double)a;
  doubles[2 * i + 1] = __ll2double_rn(__double_as_longlong(b));
}
