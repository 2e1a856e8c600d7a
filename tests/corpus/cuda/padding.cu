// Structures whose padding has words of its own, copied from local and from shared memory to global memory. Nothing sets
// the padding, and that is no mistake: tests/emulator/shadow/padding_test.ts.

struct __align__(16) Three {
  float x, y, z;
};
struct LongInt {
  long a;
  int b;
};
struct CharInt {
  char c;
  int i;
};
struct CharShortChar {
  char c;
  short s;
  char e;
};
struct __align__(16) IntChar {
  int a;
  char c;
};
struct CharLong {
  char c;
  long d;
};

#define KERNELS(Type, SET)                                              \
  extern "C" __global__ void local_##Type(Type *out, const int *x) {    \
    Type all[4];                                                        \
    int t = threadIdx.x;                                                \
    for (int j = 0; j < 4; j++) {                                       \
      Type v;                                                           \
      int i = x[j];                                                     \
      SET;                                                              \
      all[j] = v;                                                       \
    }                                                                   \
    out[t] = all[x[t] & 3];                                             \
  }                                                                     \
  extern "C" __global__ void shared_##Type(Type *out, const int *x) {   \
    __shared__ Type all[32];                                            \
    int t = threadIdx.x;                                                \
    Type v;                                                             \
    int i = x[t];                                                       \
    SET;                                                                \
    all[t] = v;                                                         \
    __syncthreads();                                                    \
    out[t] = all[31 - t];                                               \
  }                                                                     \
  extern "C" __global__ void unset_##Type(Type *out, const int *x) {    \
    __shared__ Type all[32];                                            \
    int t = threadIdx.x;                                                \
    Type v;                                                             \
    int i = x[t];                                                       \
    SET;                                                                \
    if (t != 5) all[t] = v;                                             \
    __syncthreads();                                                    \
    out[t] = all[31 - t];                                               \
  }

KERNELS(Three, v.x = i; v.y = i; v.z = i)
KERNELS(LongInt, v.a = i; v.b = i)
KERNELS(CharInt, v.c = i; v.i = i)
KERNELS(CharShortChar, v.c = i; v.s = i; v.e = i)
KERNELS(IntChar, v.a = i; v.c = i)
KERNELS(CharLong, v.c = i; v.d = i)
