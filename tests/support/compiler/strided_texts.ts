/** Kernels as most are written elsewhere: the strides of all axes are arguments. */
import { must } from "../../../compiler/support/bug.ts";

export interface StridedText {
  /** Of the kernel. */
  readonly name: string;
  readonly text: string;
  /** The stride of the last axis of each tensor. */
  readonly last: readonly string[];
}

const MATMUL: StridedText = {
  name: "matmul",
  last: ["sak", "sbn", "scn"],
  text: `
__global__ void matmul(half *A, half *B, half *C, int M, int N, int K, int sam, int sak, int sbk, int sbn,
                       int scm, int scn) {
  int rm[64] = get_program_id(0) * 64 + 0 ... 64, rn[64] = get_program_id(1) * 64 + 0 ... 64, rk[32] = 0 ... 32;
  half *pa[64, 32] = A + rm[:, newaxis] * sam + rk[newaxis, :] * sak;
  half *pb[32, 64] = B + rk[:, newaxis] * sbk + rn[newaxis, :] * sbn;
  float sum[64, 64] = 0;
  for (int k = K; k > 0; k -= 32) {
    half a[64, 32] = *?(rm[:, newaxis] < M && rk[newaxis, :] < k) pa;
    half b[32, 64] = *?(rk[:, newaxis] < k && rn[newaxis, :] < N) pb;
    sum += dot(a, b);
    pa += 32 * sak;
    pb += 32 * sbk;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + rm[:, newaxis] * scm + rn[newaxis, :] * scn) = sum;
}`,
};

/** Programs in groups, rows that wrap around instead of masks. */
const GROUPED: StridedText = {
  name: "grouped",
  last: ["sak", "sbn", "scn"],
  text: `
__global__ void grouped(half *A, half *B, half *C, int M, int N, int K, int sam, int sak, int sbk, int sbn,
                        int scm, int scn) {
  int pid = get_program_id(0);
  int width = 8 * cdiv(N, 64), first = pid / width * 8;
  int rows = min(cdiv(M, 64) - first, 8);
  int pm = first + pid % width % rows, pn = pid % width / rows;
  int rm[64] = (pm * 64 + 0 ... 64) % M, rn[64] = (pn * 64 + 0 ... 64) % N, rk[32] = 0 ... 32;
  half *pa[64, 32] = A + rm[:, newaxis] * sam + rk[newaxis, :] * sak;
  half *pb[32, 64] = B + rk[:, newaxis] * sbk + rn[newaxis, :] * sbn;
  float sum[64, 64] = 0;
  for (int k = 0; k < cdiv(K, 32); k += 1) {
    sum += dot(*?(rk[newaxis, :] < K - k * 32) pa, *?(rk[:, newaxis] < K - k * 32) pb);
    pa += 32 * sak;
    pb += 32 * sbk;
  }
  int cm[64] = pm * 64 + 0 ... 64, cn[64] = pn * 64 + 0 ... 64;
  *?(cm[:, newaxis] < M && cn[newaxis, :] < N) (C + scm * cm[:, newaxis] + scn * cn[newaxis, :]) = sum;
}`,
};

const BATCHED: StridedText = {
  name: "batched",
  last: ["sak", "sbn", "scn"],
  text: `
__global__ void batched(half *A, half *B, half *C, int M, int N, int K, int sab, int sam, int sak, int sbb, int sbk,
                        int sbn, int scb, int scm, int scn) {
  int b = get_program_id(2);
  int rm[64] = get_program_id(0) * 64 + 0 ... 64, rn[64] = get_program_id(1) * 64 + 0 ... 64, rk[32] = 0 ... 32;
  half *pa[64, 32] = A + b * sab + rm[:, newaxis] * sam + rk[newaxis, :] * sak;
  half *pb[32, 64] = B + b * sbb + rk[:, newaxis] * sbk + rn[newaxis, :] * sbn;
  float sum[64, 64] = 0;
  for (int k = K; k > 0; k -= 32) {
    sum += dot(*?(rm[:, newaxis] < M && rk[newaxis, :] < k) pa, *?(rk[:, newaxis] < k && rn[newaxis, :] < N) pb);
    pa += 32 * sak;
    pb += 32 * sbk;
  }
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) (C + b * scb + rm[:, newaxis] * scm + rn[newaxis, :] * scn) = sum;
}`,
};

/** Keys are read as columns, and three operands are strided. */
const ATTENTION: StridedText = {
  name: "attention",
  last: ["sqd", "skd", "svd", "sod"],
  text: `
#pragma tri grid(cdiv(T, 64), heads)
__global__ void attention(half *Q, half *K, half *V, half *O, int heads, int T, float scale, int sqh, int sqm, int sqd,
                          int skh, int skn, int skd, int svh, int svn, int svd, int soh, int som, int sod) {
  int h = get_program_id(1);
  int rm[64] = get_program_id(0) * 64 + 0 ... 64, rn[32] = 0 ... 32, rd[32] = 0 ... 32;
  half *pk[32, 32] = K + h * skh + rn[newaxis, :] * skn + rd[:, newaxis] * skd;
  half *pv[32, 32] = V + h * svh + rn[:, newaxis] * svn + rd[newaxis, :] * svd;
  half q[64, 32] = *?(rm[:, newaxis] < T) (Q + h * sqh + rm[:, newaxis] * sqm + rd[newaxis, :] * sqd);
  float most[64] = -INFINITY, total[64] = 0, sum[64, 32] = 0;
  for (int n = 0; n < T; n += 32) {
    float s[64, 32] = dot(q, *?(rn[newaxis, :] < T - n) pk) * scale;
    s = rn[newaxis, :] < T - n ? s : -INFINITY;
    float next[64] = max(most, s[:, max]);
    float p[64, 32] = exp(s - next[:, newaxis]);
    float keep[64] = exp(most - next);
    total = total * keep + p[:, +];
    half weights[64, 32] = p;
    sum = sum * keep[:, newaxis] + dot(weights, *?(rn[:, newaxis] < T - n) pv);
    most = next;
    pk += 32 * skn;
    pv += 32 * svn;
  }
  sum /= total[:, newaxis];
  *?(rm[:, newaxis] < T) (O + h * soh + rm[:, newaxis] * som + rd[newaxis, :] * sod) = sum;
}`,
};

/** The last axis of Y is the first one of the tile. */
const TRANSPOSITION: StridedText = {
  name: "transposition",
  last: ["sx1", "sy1"],
  text: `
__global__ void transposition(float *X, float *Y, int M, int N, int sx0, int sx1, int sy0, int sy1) {
  int m[32] = get_program_id(0) * 32 + 0 ... 32, n[32] = get_program_id(1) * 32 + 0 ... 32;
  bool inside[32, 32] = m[:, newaxis] < M && n[newaxis, :] < N;
  *?(inside) (Y + n[newaxis, :] * sy0 + m[:, newaxis] * sy1) = *?(inside) (X + m[:, newaxis] * sx0 + n[newaxis, :] * sx1);
}`,
};

const COPY: StridedText = {
  name: "copied",
  last: ["sx1", "sy1"],
  text: `
__global__ void copied(float *X, float *Y, int M, int N, int sx0, int sx1, int sy0, int sy1) {
  int m[4] = get_program_id(0) * 4 + 0 ... 4, n[128] = get_program_id(1) * 128 + 0 ... 128;
  bool inside[4, 128] = m[:, newaxis] < M && n[newaxis, :] < N;
  *?(inside) (Y + m[:, newaxis] * sy0 + n[newaxis, :] * sy1) = *?(inside) (X + m[:, newaxis] * sx0 + n[newaxis, :] * sx1);
}`,
};

const SOFTMAX: StridedText = {
  name: "softmax",
  last: ["sy1", "sx1"],
  text: `
#pragma tri grid(M)
__global__ void softmax(float *Y, float *X, int M, int N, int sy0, int sy1, int sx0, int sx1) {
  int row = get_program_id(0), c[512] = 0 ... 512;
  float x[512] = c < N ? *?(c < N) (X + row * sx0 + c * sx1) : -INFINITY;
  float e[512] = exp(x - x[max]);
  *?(c < N) (Y + row * sy0 + c * sy1) = e / e[+];
}`,
};

/** Rows are wherever a list says. */
const EMBEDDING: StridedText = {
  name: "embedding",
  last: ["sw1", "sy1"],
  text: `
__global__ void embedding(float *W, int *Ids, float *Y, int rows, int columns, int sw0, int sw1, int sy0, int sy1) {
  int r[16] = get_program_id(0) * 16 + 0 ... 16, c[128] = get_program_id(1) * 128 + 0 ... 128;
  int id[16] = *?(r < rows) (Ids + r);
  bool inside[16, 128] = r[:, newaxis] < rows && c[newaxis, :] < columns;
  *?(inside) (Y + r[:, newaxis] * sy0 + c[newaxis, :] * sy1) = *?(inside) (W + id[:, newaxis] * sw0 + c[newaxis, :] * sw1);
}`,
};

export const STRIDED_TEXTS: readonly StridedText[] = [
  MATMUL,
  GROUPED,
  BATCHED,
  ATTENTION,
  TRANSPOSITION,
  COPY,
  SOFTMAX,
  EMBEDDING,
];

export const stridedText = (name: string): StridedText =>
  must(STRIDED_TEXTS.find((one) => one.name === name), name);

/** The same kernel where the text says that these strides are 1. */
export function withUnits({ text }: StridedText, names: readonly string[]): string {
  const shorter = names.reduce(
    (so, name) => so.replace(new RegExp(`,\\s*int ${name}\\b`), ""),
    text,
  );
  return `${names.map((name) => `#define ${name} 1\n`).join("")}${shorter}`;
}
