// Control flow: loops that lanes leave at different times, early returns, switches, functions, local arrays, structures.
#include <cuda_runtime.h>

extern "C" __global__ void control_collatz(const unsigned *x, unsigned *steps, unsigned *peaks, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = x[i], count = 0, peak = value;
  while (value != 1) {
    value = value & 1 ? 3 * value + 1 : value / 2;
    peak = value > peak ? value : peak;
    count++;
  }
  steps[i] = count;
  peaks[i] = peak;
}

extern "C" __global__ void control_nested(const int *x, int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = x[i], sum = 0;
  if (a < 0) {
    if (a % 7 == 0) {
      y[i] = -7;
      return;
    }
    for (int k = 0; k < -a; k++) {
      if (k % 3 == 0) continue;
      if (k > 50) break;
      for (int m = k; m > 0; m >>= 1) {
        sum += m & 1;
        if (sum > 200) {
          y[i] = sum;
          return;
        }
      }
    }
  } else {
    do {
      if (a & 1) {
        sum += a;
        a = a * 2 / 3;
      } else if (a & 2) {
        sum -= a;
        a -= 5;
      } else {
        sum ^= a;
        a = a / 2 - 1;
      }
    } while (a > 0);
  }
  y[i] = sum;
}

extern "C" __global__ void control_switch(const int *op, const int *a, const int *b, int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int p = a[i], q = b[i], r;
  switch (op[i]) {
    case 0: r = p + q; break;
    case 1: r = p - q; break;
    case 2: r = p * q; break;
    case 3: r = q == 0 ? -1 : p / q; break;
    case 4: r = p & q; break;
    case 5: r = p | q;  // falls through
    case 6: r = p ^ q; break;
    case 7: r = p << (q & 31); break;
    case 8: r = p >> (q & 31); break;
    case 9: {
      r = 0;
      for (int k = 0; k < (q & 15); k++) r += p ^ k;
      break;
    }
    case 10: r = __popc(p) - __clz(q); break;
    case 11: r = min(p, q); break;
    case 12: y[i] = 12345; return;
    default: r = op[i]; break;
  }
  y[i] = r;
}

struct Pair {
  int low;
  double high;
  short tag[3];
};

__device__ __noinline__ int gcd(int a, int b) {
  while (b != 0) {
    int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

__device__ __noinline__ Pair combine(Pair p, int k) {
  Pair q;
  q.low = gcd(p.low, k);
  q.high = p.high * 0.5 + k;
  for (int i = 0; i < 3; i++) q.tag[i] = (short)(p.tag[(i + k) % 3] - i);
  return q;
}

extern "C" __global__ void control_functions(const int *x, Pair start, int *lows, double *highs, short *tags, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Pair p = start;
  p.low += x[i];
  for (int k = 1; k < 4 + (x[i] & 3); k++) p = combine(p, k * 6);
  lows[i] = p.low;
  highs[i] = p.high;
  for (int k = 0; k < 3; k++) tags[3 * i + k] = p.tag[k];
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int twice_sum(int a, int b) { return 2 * (a + b); }
__device__ __noinline__ int difference(int a, int b) { return a - b; }

extern "C" __global__ void control_pick(const int *x, int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i] % 3 == 0 ? twice_sum(x[i], i) : difference(x[i], i);
}

// An array that is indexed by data lies in local memory.
extern "C" __global__ void control_local(const unsigned *x, unsigned *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned stack[24];
  unsigned char order[16];
  for (int k = 0; k < 24; k++) stack[k] = x[i] * (k + 1);
  for (int k = 0; k < 16; k++) order[k] = (unsigned char)((x[i] >> (k & 15)) & 15);
  for (int k = 0; k < 16; k++) {
    unsigned at = (stack[order[k]] + k) % 24;
    unsigned other = stack[at];
    stack[at] = stack[23 - at] + k;
    stack[23 - at] = other ^ 0x55;
  }
  unsigned hash = 2166136261u;
  for (int k = 0; k < 24; k++) hash = (hash ^ stack[k]) * 16777619u;
  y[i] = hash;
}

__constant__ int primes[12] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
__constant__ float weights[2][4] = {{0.5f, 0.25f, 0.125f, 0.0625f}, {1.0f, 2.0f, 4.0f, 8.0f}};
__device__ const char letters[] = "the quick brown fox";
__device__ int *const table[2] = {nullptr, nullptr};

extern "C" __global__ void control_constants(const int *x, int *y, float *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k <= x[i] % 12; k++) sum += primes[k] * letters[(x[i] + k) % 19];
  y[i] = table[x[i] & 1] == nullptr ? sum : -1;
  z[i] = weights[x[i] & 1][i & 3] * (float)primes[x[i] % 12];
}

extern "C" __global__ void control_grid(int *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= width || y >= height) return;
  out[(z * height + y) * width + x] =
      x + 1000 * y + 1000000 * z + (int)(gridDim.x + gridDim.y + gridDim.z) * (int)(blockDim.z + 7);
}

// A jump table, as PTX spells it.
extern "C" __global__ void control_jump(const int *x, int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int value = x[i], result;
  asm volatile(
      "{\n\t"
      ".reg .u32 %at;\n\t"
      "and.b32 %at, %1, 3;\n\t"
      "targets: .branchtargets zero, one, two, three;\n\t"
      "brx.idx %at, targets;\n"
      "zero:\n\t"
      "mul.lo.s32 %0, %1, 5;\n\t"
      "bra.uni done;\n"
      "one:\n\t"
      "sub.s32 %0, 100, %1;\n"
      "two:\n\t"
      "shr.s32 %0, %1, 1;\n\t"
      "bra done;\n"
      "three:\n\t"
      "not.b32 %0, %1;\n"
      "done:\n\t"
      "}"
      : "=r"(result)
      : "r"(value));
  y[i] = result;
}

// Each thread interprets a program for a machine with a stack; threads take different ways through it.
extern "C" __global__ void control_machine(const int *code, int length, const int *x, int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int stack[16], top = 0;
  int pc = 0, steps = 0;
  for (int k = 0; k < 16; k++) stack[k] = 0;
  stack[top] = x[i];
  while (pc < length && steps++ < 400) {
    int op = code[2 * pc], k = code[2 * pc + 1];
    pc++;
    switch (op) {
      case 0: stack[++top & 15] = k; break;
      case 1: top--; stack[top & 15] += stack[(top + 1) & 15]; break;
      case 2: top--; stack[top & 15] -= stack[(top + 1) & 15]; break;
      case 3: top--; stack[top & 15] *= stack[(top + 1) & 15]; break;
      case 4: top++; stack[top & 15] = stack[(top - 1) & 15]; break;
      case 5: top--; break;
      case 6: if (stack[top & 15] > 0) pc = k; break;
      case 7: pc = k; break;
      case 8: stack[top & 15] >>= 1; break;
      case 9: {
        int a = stack[top & 15];
        stack[top & 15] = stack[(top - 1) & 15];
        stack[(top - 1) & 15] = a;
        break;
      }
      case 10: if (stack[top & 15] & 1) pc = k; break;
      case 11: y[i] = stack[top & 15]; return;
      case 12: stack[top & 15] ^= k; break;
      default: y[i] = -op; return;
    }
  }
  y[i] = -1000 - steps;
}
