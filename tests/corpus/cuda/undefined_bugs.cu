// Programs that use what nothing has set: each must be found.
#include <cuda_runtime.h>

extern "C" __global__ void bug_sum(int *out, const int *in, int n) {
  int i = threadIdx.x;
  int s;
  for (int j = 0; j < n; j++) s += in[(i + j) & 63];
  out[i] = s;
}

extern "C" __global__ void bug_some_sum(float *out, const int *in, int n) {
  int i = threadIdx.x;
  float s;
  if (in[i] > 10) s = 1;
  for (int j = 0; j < n; j++) s += in[(i + j) & 63];
  out[i] = s;
}

extern "C" __global__ void bug_index(int *out, const int *in, int n) {
  int i = threadIdx.x;
  int k;
  if (i > 5) k = i;
  out[i] = in[k];
}

extern "C" __global__ void bug_store_index(int *out, const int *in, int n) {
  int i = threadIdx.x;
  int k;
  if (in[i] > 5) k = i;
  if (i < 63) out[k & 63] = 1;
}

extern "C" __global__ void bug_condition(int *out, const int *in, int n) {
  int i = threadIdx.x;
  bool p;
  if (i > 40) p = in[i] > 3;
  if (p) out[i] = 1;
  else out[i] = 2;
}

extern "C" __global__ void bug_value(int *out, const int *in, int n) {
  int i = threadIdx.x;
  int v;
  if (in[i] & 1) v = in[i];
  out[i] = v;
}

extern "C" __global__ void bug_choice(int *out, const int *in, int n) {
  int i = threadIdx.x;
  int v;
  if (in[i] > 7) v = 3;
  int w = in[i] > 5 ? v : 0;
  out[i] = w + 1;
}

extern "C" __global__ void bug_local_array(int *out, const int *in, int n) {
  int i = threadIdx.x;
  int a[16];
  for (int j = 0; j < 15; j++) a[j ^ (n & 1)] = in[j];
  int s = 0;
  for (int j = 0; j < 16; j++) s += a[(j * n) & 15];
  out[i] = s;
}

extern "C" __global__ void bug_local_element(int *out, const int *in, int n) {
  int i = threadIdx.x;
  int a[16];
  for (int j = 0; j < 15; j++) a[in[j] & 15] = in[j];
  out[i] = a[in[i & 15] & 15] + a[15];
}

extern "C" __global__ void bug_shared_array(int *out, const int *in, int n) {
  __shared__ int a[64];
  int i = threadIdx.x;
  if (i < 60) a[i] = in[i];
  __syncthreads();
  out[i] = a[63 - i];
}

extern "C" __global__ void bug_shared_sum(int *out, const int *in, int n) {
  __shared__ int total;
  int i = threadIdx.x;
  atomicAdd(&total, in[i]);
  __syncthreads();
  out[i] = total;
}

extern "C" __global__ void bug_shared_bins(int *out, const int *in, int n) {
  __shared__ int bins[16];
  int i = threadIdx.x;
  if (i < 15) bins[i] = 0;
  __syncthreads();
  atomicAdd(&bins[in[i] & 15], 1);
  __syncthreads();
  if (i < 16) out[i] = bins[i];
}

extern "C" __global__ void bug_shuffle(int *out, const int *in, int n) {
  int i = threadIdx.x;
  int v = in[i];
  if ((i & 31) < 20) {
    v += __shfl_down_sync(0xfffff, v, 8);
    out[i] = v;
  }
}

extern "C" __global__ void bug_loop(int *out, const int *in, int n) {
  int i = threadIdx.x;
  int k;
  if (in[0] > 1000) k = 4;
  int s = 0;
  for (int j = 0; j < (k & 7); j++) s += in[j];
  out[i] = s;
}

extern "C" __global__ void bug_atomic(int *out, const int *in, int n) {
  int i = threadIdx.x;
  int v;
  if (i & 1) v = 1;
  atomicAdd(out, v);
}

extern "C" __global__ void bug_ballot(int *out, const int *in, int n) {
  int i = threadIdx.x;
  bool p;
  if (i > 4) p = in[i] > 2;
  unsigned m = __ballot_sync(~0u, p);
  out[i] = __popc(m);
}

extern "C" __global__ void bug_shared_index(int *out, const int *in, int n) {
  __shared__ int idx[64];
  int i = threadIdx.x;
  if (i != 9) idx[i] = i;
  __syncthreads();
  out[i] = in[idx[i]];
}

struct P {
  int a, b;
};

extern "C" __global__ void bug_structure(P *out, const int *in, int n) {
  int i = threadIdx.x;
  P p;
  p.a = in[i];
  if (in[i] > 4) p.b = 1;
  out[i] = p;
}

extern "C" __global__ void bug_bits(unsigned *out, const int *in, int n) {
  int i = threadIdx.x;
  unsigned m;
  for (int j = 0; j < 8; j++) if (in[j] > 3) m |= 1u << j;
  out[i] = m;
}

extern "C" __global__ void bug_switch(int *out, const int *in, int n) {
  int i = threadIdx.x;
  int k;
  if (in[i] > 100) k = in[i];
  int r = 0;
  switch (k) {
    case 0: r = 5; break;
    case 1: r = in[1]; break;
    case 2: r = in[2] * 3; break;
    case 3: r = 9 - in[3]; break;
    case 4: r = in[4] ^ 5; break;
    case 5: r = in[5] / 3; break;
    case 6: r = in[7]; break;
  }
  out[i] = r;
}
