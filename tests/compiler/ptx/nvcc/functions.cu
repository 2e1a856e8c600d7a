// Device functions that are called: with values, structures and pointers, in turn, and recursively.
struct Pair { int first; double second; short small; };
struct Big { float values[9]; };

__device__ __noinline__ int twice(int x) { return x * 2; }
__device__ __noinline__ float half_of(float x) { if (x < 0.0f) return -x * 0.5f; return x * 0.5f; }
__device__ __noinline__ Pair swap(Pair p, int extra) { Pair q; q.first = (int)p.second + extra; q.second = p.first; q.small = p.small; return q; }
__device__ __noinline__ float sum(Big b, int n) { float s = 0; for (int i = 0; i < n; i++) s += b.values[i]; return s; }
__device__ __noinline__ void store_to(int* where, int value) { *where = twice(value) + 1; }
__device__ __noinline__ bool is_odd(unsigned char c) { return (c & 1) != 0; }
__device__ __noinline__ int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

__device__ __forceinline__ int bounded(int x, int most) { return x > most ? most : x; }

extern "C" __global__ void calls(int* out, const float* in, Pair pair, Big big) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  Pair q = swap(pair, i);
  int local;
  store_to(&local, q.first);
  out[i] = local + twice(i) + (int)q.second + q.small + (int)sum(big, bounded(i, 9));
  out[i] += (int)half_of(in[i]) + (is_odd((unsigned char)i) ? 100 : 0);
}
extern "C" __global__ void recursive(int* out) { out[threadIdx.x] = factorial(threadIdx.x); }
