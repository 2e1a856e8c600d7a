// Functions of CUDA's mathematical library in double precision.
#include <cuda_runtime.h>

#define DOUBLE(name, expression)                                            \
  extern "C" __global__ void math_##name(const double *x, const double *y, double *out, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                          \
    if (i >= n) return;                                                     \
    double a = x[i], b = y[i];                                              \
    out[i] = expression;                                                    \
  }

DOUBLE(sin, sin(a) + 0.0 * b)
DOUBLE(exp, exp(a) + 0.0 * b)
DOUBLE(log, log(a) + 0.0 * b)
DOUBLE(pow, pow(a, b))
DOUBLE(tanh, tanh(a) + 0.0 * b)
DOUBLE(cbrt, cbrt(a) + 0.0 * b)
DOUBLE(erf, erf(a) + 0.0 * b)
DOUBLE(rsqrt, rsqrt(a) + 0.0 * b)
DOUBLE(fmod, fmod(a, b))

extern "C" __global__ void math_double_exact(const double *x, const double *y, const double *z, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a = x[i], b = y[i], c = z[i];
  double *to = out + 10 * i;
  to[0] = __dadd_rn(a, b); to[1] = __dadd_ru(a, b); to[2] = __dmul_rn(a, b); to[3] = __dmul_rz(a, b);
  to[4] = __fma_rn(a, b, c); to[5] = __fma_rd(a, b, c); to[6] = __ddiv_rn(a, b); to[7] = __dsqrt_rn(fabs(a));
  to[8] = fmin(a, b); to[9] = rint(a);
}
