// Calls through pointers to functions.
typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ Operation operations[2] = { plus, minus };
extern "C" __global__ void indirect(int* out, int which) { out[threadIdx.x] = operations[which & 1](threadIdx.x, 5); }
