// Constants, initial values with addresses, dynamic and static shared memory, a switch, vectors.
#include <cstdint>
__constant__ float weights[3][4] = { { 0.5f, 1.0f }, { 2.0f, 3.0f, 4.0f, 5.0f }, { -1.0f } };
__constant__ double tenth = 0.1;
__device__ int counter = 7;
__device__ __managed__ int managed_value = 3;
__device__ int* pointers[2] = { &counter, nullptr };
__device__ const char* const names[3] = { "zero", "one", "two and more" };
struct __attribute__((packed)) Row { char tag; int* where; short x[3]; };
__device__ Row rows[2] = { { 'a', &counter, { 1, 2, 3 } }, { 'b', nullptr, { 4, 5, 6 } } };
__device__ float4 quad = { 1, 2, 3, 4 };
extern __shared__ float dynamic[];
extern "C" __global__ void __launch_bounds__(128, 2) tables(float* out, int n, float4 v, uint8_t kind) {
  __shared__ float tile[4][33];
  __shared__ int flag;
  int i = threadIdx.x;
  if (i == 0) flag = counter;
  tile[i & 3][i >> 2] = weights[i % 3][i & 3] * v.x + (float)tenth;
  dynamic[i] = quad.y;
  __syncthreads();
  float r = tile[i & 3][31 - (i >> 2)];
  switch (kind) {
    case 0: r += names[i % 3][0]; break;
    case 1: r *= rows[i & 1].x[i % 3]; break;
    case 2: r -= *pointers[0]; break;
    case 3: r = sqrtf(r); break;
    case 4: r = __sinf(r) + v.w; break;
    case 5: r = fmaf(r, v.y, v.z); break;
    case 6: atomicAdd(&counter, 1); break;
    case 9: r = managed_value; break;
    default: r = dynamic[127 - i];
  }
  if (i < n) out[i] = r + flag;
}
