// Integer arithmetic at its edges.
#include <cuda_runtime.h>

extern "C" __global__ void integer_words(const unsigned *x, const unsigned *y, const unsigned *z, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned a = x[i], b = y[i], c = z[i];
  int s = (int)a, t = (int)b;
  unsigned *to = out + 40 * i;
  to[0] = b == 0 ? 0 : a / b;
  to[1] = b == 0 ? 0 : a % b;
  to[2] = t == 0 || (s == (int)0x80000000 && t == -1) ? 0 : s / t;
  to[3] = t == 0 || (s == (int)0x80000000 && t == -1) ? 0 : s % t;
  to[4] = __umulhi(a, b);
  to[5] = __mulhi(s, t);
  to[6] = __clz(s);
  to[7] = __popc(a);
  to[8] = __brev(a);
  to[9] = __ffs(s);
  to[10] = __funnelshift_l(a, b, c);
  to[11] = __funnelshift_r(a, b, c);
  to[12] = __funnelshift_lc(a, b, c & 63);
  to[13] = __funnelshift_rc(a, b, c & 63);
  to[14] = __byte_perm(a, b, c & 0x7777);
  to[15] = __dp4a(s, t, (int)c);
  to[16] = __dp4a(a, b, c);
  to[17] = __dp2a_lo(s, t, (int)c);
  to[18] = __dp2a_hi(a, b, c);
  to[19] = __sad(s, t, c);
  to[20] = __usad(a, b, c);
  to[21] = __hadd(s, t);
  to[22] = __rhadd(s, t);
  to[23] = __uhadd(a, b);
  to[24] = __mul24(s, t);
  to[25] = __umul24(a, b);
  to[26] = a << (c & 31);
  to[27] = a >> (c & 31);
  to[28] = (unsigned)(s >> (c & 31));
  to[29] = (unsigned)abs(s);
  to[30] = (unsigned)min(s, t);
  to[31] = max(a, b);
  to[32] = a * b + c;
  to[33] = (a & b) | (~a & c);
  to[34] = (unsigned)(signed char)a + (unsigned)(short)b;
  to[35] = (unsigned char)(a * 3) ^ (unsigned short)(b - c);
  to[36] = __vadd4(a, b);
  to[37] = __vsubss2(a, b);
  to[38] = __vmaxu4(a, b);
  to[39] = __vabsdiffs2(a, b);
}

extern "C" __global__ void integer_longs(const unsigned long long *x, const unsigned long long *y, unsigned long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long a = x[i], b = y[i];
  long long s = (long long)a, t = (long long)b;
  bool overflows = s == (long long)(1ull << 63) && t == -1;
  unsigned long long *to = out + 24 * i;
  to[0] = b == 0 ? 0 : a / b;
  to[1] = b == 0 ? 0 : a % b;
  to[2] = t == 0 || overflows ? 0 : s / t;
  to[3] = t == 0 || overflows ? 0 : s % t;
  to[4] = __umul64hi(a, b);
  to[5] = __mul64hi(s, t);
  to[6] = a * b;
  to[7] = __clzll(s);
  to[8] = __popcll(a);
  to[9] = __brevll(a);
  to[10] = __ffsll(s);
  to[11] = a << (b & 63);
  to[12] = a >> (b & 63);
  to[13] = s >> (b & 63);
  to[14] = min(s, t);
  to[15] = max(a, b);
  to[16] = (unsigned long long)(unsigned)a * (unsigned)b;
  to[17] = (unsigned long long)((long long)(int)a * (int)b);
  to[18] = a - b;
  to[19] = llabs(s);
  to[20] = a == b ? 1 : a < b ? 2 : s < t ? 3 : 4;
  to[21] = (a >> 7) ^ (b << 9) ^ ~(a & b);
  to[22] = (unsigned long long)(int)(a ^ b);
  to[23] = a > 0xffffffffull ? (unsigned)(b >> 32) : (unsigned short)a;
}

// 128-bit sums and products go through carries.
extern "C" __global__ void integer_wide(const unsigned long long *x, const unsigned long long *y, unsigned long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 >= n) return;
  unsigned __int128 a = (unsigned __int128)x[i] << 64 | x[i + 1];
  unsigned __int128 b = (unsigned __int128)y[i] << 64 | y[i + 1];
  unsigned __int128 sum = a + b, difference = a - b, product = a * b;
  unsigned __int128 shifted = (a << (y[i] & 127)) ^ (b >> (x[i] & 127));
  unsigned long long *to = out + 10 * i;
  to[0] = (unsigned long long)sum;
  to[1] = (unsigned long long)(sum >> 64);
  to[2] = (unsigned long long)difference;
  to[3] = (unsigned long long)(difference >> 64);
  to[4] = (unsigned long long)product;
  to[5] = (unsigned long long)(product >> 64);
  to[6] = (unsigned long long)shifted;
  to[7] = (unsigned long long)(shifted >> 64);
  to[8] = a < b;
  to[9] = (__int128)a < (__int128)b;
}

// Bit fields, byte permutations in all modes, three-input logic, and adds with carry, as PTX spells them.
extern "C" __global__ void integer_asm(const unsigned *x, const unsigned *y, const unsigned *z, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned a = x[i], b = y[i], c = z[i], r, high;
  unsigned *to = out + 20 * i;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 63), "r"(c & 63)); to[0] = r;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 63), "r"(c & 63)); to[1] = r;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c & 63), "r"(c >> 8 & 63)); to[2] = r;
  asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a)); to[3] = r;
  asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(a)); to[4] = r;
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(r) : "r"(a)); to[5] = r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); to[6] = r;
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); to[7] = r;
  asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); to[8] = r;
  asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); to[9] = r;
  asm("prmt.b32.ecl %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); to[10] = r;
  asm("prmt.b32.ecr %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); to[11] = r;
  asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); to[12] = r;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); to[13] = r;
  asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %4, 0;" : "=r"(r), "=r"(high) : "r"(a), "r"(b), "r"(c)); to[14] = r; to[15] = high;
  asm("sub.cc.u32 %0, %2, %3;\n\tsubc.u32 %1, %4, 0;" : "=r"(r), "=r"(high) : "r"(a), "r"(b), "r"(c)); to[16] = r; to[17] = high;
  asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(c & 63)); to[18] = r;
  asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); to[19] = r;
}
