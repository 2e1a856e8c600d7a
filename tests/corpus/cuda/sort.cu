// Sorting networks.
#include <cuda_runtime.h>

extern "C" __global__ void sort_bitonic(int *keys, int *values) {
  __shared__ int key[512];
  __shared__ int value[512];
  int t = threadIdx.x, base = blockIdx.x * 512;
  for (int i = t; i < 512; i += 256) {
    key[i] = keys[base + i];
    value[i] = values[base + i];
  }
  for (int size = 2; size <= 512; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      int i = 2 * t - (t & (stride - 1));
      bool up = (i & size) == 0;
      int a = key[i], b = key[i + stride];
      if ((a > b) == up) {
        key[i] = b;
        key[i + stride] = a;
        int v = value[i];
        value[i] = value[i + stride];
        value[i + stride] = v;
      }
    }
  }
  __syncthreads();
  for (int i = t; i < 512; i += 256) {
    keys[base + i] = key[i];
    values[base + i] = value[i];
  }
}

extern "C" __global__ void sort_warp(float *x, int n) {
  int lane = threadIdx.x & 31;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = i < n ? x[i] : __int_as_float(0x7f800000);
  for (int size = 2; size <= 32; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      float b = __shfl_xor_sync(0xffffffffu, a, stride);
      bool up = (lane & size) == 0, low = (lane & stride) == 0;
      a = low == up ? fminf(a, b) : fmaxf(a, b);
    }
  }
  if (i < n) x[i] = a;
}

extern "C" __global__ void sort_odd_even(short *x, int n) {
  extern __shared__ short part[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) part[i] = x[i];
  for (int round = 0; round < n; round++) {
    __syncthreads();
    int i = 2 * threadIdx.x + (round & 1);
    if (i + 1 < n && part[i] > part[i + 1]) {
      short a = part[i];
      part[i] = part[i + 1];
      part[i + 1] = a;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = part[i];
}
