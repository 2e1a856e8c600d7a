// Functions that the driver supplies: printf, assert, malloc, free, and trap.
#include <cstdio>
#include <cassert>
extern "C" __global__ void talk(int* data, double d, const char* name) {
  int i = threadIdx.x;
  printf("thread %d of %s: %f %lld\n", i, name, d, (long long)data[i]);
  assert(data[i] >= 0);
  int* p = (int*)malloc(16);
  if (p == nullptr) __trap();
  p[0] = data[i];
  data[i] = p[0] + 1;
  free(p);
}
