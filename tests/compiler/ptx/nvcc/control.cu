// Control flow: a jump table, local memory, loops that stay loops, early exits, inline assembly with scopes of its own.
__constant__ unsigned char opcodes[7] = {3, 1, 4, 1, 5, 9, 2};

extern "C" __global__ void interpret(const int *program, int *memory, int length) {
  int stack[16];
  int top = 0;
  for (int i = 0; i < 16; i++) stack[i] = i * i;
#pragma unroll 1
  for (int at = 0; at < length; at++) {
    int value = program[at] >> 4;
    switch (program[at] & 7) {
      case 0: stack[top & 15] = value; top++; break;
      case 1: stack[top & 15] += value; break;
      case 2: stack[top & 15] *= memory[value & 63]; break;
      case 3: memory[value & 63] = stack[top & 15]; break;
      case 4: top -= opcodes[value % 7]; break;
      case 5: stack[top & 15] /= value; break;
      case 6: stack[top & 15] ^= 0x5bd1e995; break;
      default: if (value < 0) return; stack[(top + 1) & 15] = __clz(value) - 3; break;
    }
  }
  memory[threadIdx.x] = stack[threadIdx.x & 15];
}

extern "C" __global__ void collatz(const unsigned long long *starts, int *steps, double *logs) {
  unsigned long long n = starts[threadIdx.x];
  int count = 0;
#pragma unroll 1
  while (n != 1) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    if (++count > 1000) __trap();
  }
  steps[threadIdx.x] = count;
  logs[threadIdx.x] = logs[threadIdx.x] / static_cast<double>(count) - 1.5e-300;
}

__device__ __forceinline__ int saturate(int x) {
  int y;
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  .reg .b32 t, tid;\n"
      "  mov.u32 tid, %%tid.x;\n"
      "  setp.gt.s32 p, %1, 0x7F;\n"
      "  selp.b32 t, 127, %1, p;\n"
      "  @!p bra DONE;\n"
      "  add.s32 t, t, tid;\n"
      "DONE:\n"
      "  mov.b32 %0, t;\n"
      "}"
      : "=r"(y)
      : "r"(x));
  return y;
}

extern "C" __global__ void scopes(int *x) {
  x[threadIdx.x] = saturate(x[threadIdx.x]) + saturate(x[threadIdx.x + 32]);
}
