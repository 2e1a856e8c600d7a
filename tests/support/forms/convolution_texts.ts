/** Convolutions in plain text whose loads gather windows, for warp groups. Tensors are dense, channels last. */

const PARAMS =
  `int N, int H, int W, int C __multipleof(8), int K __multipleof(8), int R, int S, int P, int Q,
    int steph, int stepw, int padh, int padw, int dilationh, int dilationw`;

/** The gradient by the filters, as a sum over all pixels. How pixels become places, and what is inside, differs. */
export const weightsText = (digits: "divided" | "counted" | "signed" | "chunked"): string => `
#pragma tri config; num_warps=4
__global__ void k(half *DY __readonly __noalias, half *X __readonly __noalias, float *DF __noalias, ${PARAMS}) {
  int size = R * S * C;
  int tiles = (size + 127) / 128;
  int rk[64] = get_program_id(0) / tiles * 64 + 0 ... 64;
  int at[128] = get_program_id(0) % tiles * 128 + 0 ... 128;
  int c[128] = at % C;
  int dh[128] = at / C / S * dilationh - padh;
  int dw[128] = at / C % S * dilationw - padw;
  int pixels = N * P * Q;
  float sum[64, 128] = 0;
${
  digits !== "counted" ? "" : `
  int begin[32] = 0 ... 32;
  int n[32] = begin / Q / P;
  int p[32] = begin / Q - n * P;
  int q[32] = begin % Q;`
}
${
  digits === "chunked"
    ? `
  for (int chunk = 0; chunk < clamp(pixels, 0, 1073741824); chunk += 96)
  for (int pixel = chunk; pixel < chunk + 96; pixel += 32) {`
    : `
  for (int pixel = 0; pixel < clamp(pixels, 0, 2147483600); pixel += 32) {`
}
    int row[32] = pixel + 0 ... 32;
${
  digits === "counted" ? "" : `
    int line[32] = row / Q;
    int n[32] = line / P;
    int p[32] = line % P;
    int q[32] = row % Q;`
}
    int h[32, 128] = (p * steph)[:, newaxis] + dh[newaxis, :];
    int w[32, 128] = (q * stepw)[:, newaxis] + dw[newaxis, :];
    bool inside[32, 128] = ${
  digits === "signed"
    ? "h >= 0 && h < H && w >= 0 && w < W"
    : "(unsigned[32, 128])h < (unsigned)H && (unsigned[32, 128])w < (unsigned)W"
};
    long picture[32] = (long[32])n * (H * W * C);
    long place[32, 128] = picture[:, newaxis] + (h * (W * C) + w * C + c[newaxis, :]);
    half dy[32, 64] = *?(row[:, newaxis] < pixels && rk[newaxis, :] < K) (DY + row[:, newaxis] * K + rk[newaxis, :]);
    half x[32, 128] = *?(n[:, newaxis] < N && at[newaxis, :] < size && inside) (X + place);
    sum += ^dy @ x;
${
  digits !== "counted" ? "" : `
    bool isRowDone[32] = q >= Q - 32 % Q;
    q += isRowDone ? 32 % Q - Q : 32 % Q;
    p += isRowDone ? 32 / Q % P + 1 : 32 / Q % P;
    bool isPictureDone[32] = p >= P;
    p -= isPictureDone ? P : 0;
    n += isPictureDone ? 32 / Q / P + 1 : 32 / Q / P;`
}
  }
  *?(rk[:, newaxis] < K && at[newaxis, :] < size) (DF + rk[:, newaxis] * size + at[newaxis, :]) = sum;
}
`;

/** The convolution itself, channels the fastest: by one loop or three, and with masks or numbers that fail comparisons. */
export const forwardText = (style: "nested" | "chosen"): string => `
#pragma tri config; num_warps=4
__global__ void k(half *X __readonly __noalias, half *F __readonly __noalias, float *Y __noalias, ${PARAMS}) {
  int tiles = (K + 63) / 64;
  int rm[64] = get_program_id(0) / tiles * 64 + 0 ... 64;
  int rk[64] = get_program_id(0) % tiles * 64 + 0 ... 64;
  int rc[32] = 0 ... 32;
  int line[64] = rm / Q;
  int n[64] = line / P;
  int w[64] = rm % Q * stepw - padw;
  float sum[64, 64] = 0;
${
  style === "nested"
    ? `
  int h[64] = line % P * steph - padh;
  for (int r = 0; r < R; r += 1) for (int s = 0; s < S; s += 1) for (int c = 0; c < C; c += 32) {
    int fr = clamp(r, 0, R);
    int fs = clamp(s, 0, S);
    int fc = clamp(c, 0, C);
    bool row[64] = n < N && h + r * dilationh >= 0 && h + r * dilationh < H;
    bool column[64] = w + s * dilationw >= 0 && w + s * dilationw < W;
    bool inside[64, 32] = row[:, newaxis] && column[:, newaxis] && rc[newaxis, :] < C - fc;`
    : `
  int h[64] = n < N ? line % P * steph - padh : -1073741824;
  int r = 0;
  int s = 0;
  int c = 0;
  for (int step = R * S * ((C + 31) / 32); step > 0; step -= 1) {
    int fr = clamp(r, 0, R - 1);
    int fs = clamp(s, 0, S - 1);
    int fc = clamp(c, 0, C);
    unsigned height[32] = rc < C - fc ? (unsigned)H : 0;
    unsigned top[64] = (unsigned[64])(h + fr * dilationh);
    bool column[64] = (unsigned[64])(w + fs * dilationw) < (unsigned)W;
    bool inside[64, 32] = top[:, newaxis] < height[newaxis, :] && column[:, newaxis];`
}
    long picture[64] = (long[64])n * (H * W * C);
    int place[64] = (h + ${style === "nested" ? "r" : "fr"} * dilationh) * (W * C) + (w + ${
  style === "nested" ? "s" : "fs"
} * dilationw) * C;
    half x[64, 32] = *?(inside) (X + (picture + place)[:, newaxis] + (fc + rc)[newaxis, :]);
    half f[32, 64] = *?(rc[:, newaxis] < C - fc && rk[newaxis, :] < K)
        (F + ((long)fr * (S * C) + (long)fs * C + fc) + rk[newaxis, :] * (R * S * C) + rc[:, newaxis]);
    sum += x @ f;
${
  style === "nested" ? "" : `
    bool isRowDone = c + 32 >= C;
    c = select(isRowDone, 0, c + 32);
    s = select(isRowDone, s + 1, s);
    bool isFilterRowDone = s == S;
    s = select(isFilterRowDone, 0, s);
    r = select(isFilterRowDone, r + 1, r);`
}
  }
  *?(rm[:, newaxis] < N * P * Q && rk[newaxis, :] < K) (Y + (long[64, 1])rm[:, newaxis] * K + rk[newaxis, :]) = sum;
}
`;

/**
 * The convolution as its definition says it: one index over all of a filter, which is divided in each iteration, or three loops.
 * `products`: by products of extents; `down`: one after the other, of an index that the loop carries; `loops`: three loops.
 */
export const plainText = (style: "products" | "down" | "loops"): string => `
#pragma tri config; num_warps=4
__global__ void k(half *X __readonly __noalias, half *F __readonly __noalias, float *Y __noalias, ${PARAMS}) {
  int tiles = (K + 63) / 64;
  int rm[64] = get_program_id(0) / tiles * 64 + 0 ... 64;
  int rk[64] = get_program_id(0) % tiles * 64 + 0 ... 64;
  int rc[32] = 0 ... 32;
${
  style === "products"
    ? `
  int n[64] = rm / (P * Q);
  int p[64] = rm % (P * Q) / Q;
  int q[64] = rm % Q;`
    : `
  int n[64] = rm / Q / P;
  int p[64] = rm / Q % P;
  int q[64] = rm % Q;`
}
  float sum[64, 64] = 0;
${
  style === "products"
    ? `
  for (int first = 0; first < R * S * C; first += 32) {
    int at[32] = first + rc;
    int r[32] = at / (S * C);
    int s[32] = at % (S * C) / C;
    int c[32] = at % C;
    bool there[32] = at < R * S * C;`
    : style === "down"
    ? `
  int at[32] = rc;
  for (int left = R * S * C; left > 0; left -= 32) {
    int place[32] = at / C;
    int c[32] = at % C;
    int s[32] = place % S;
    int r[32] = place / S;
    bool there[32] = r < R;`
    : `
  for (int r = 0; r < R; r++) for (int s = 0; s < S; s++) for (int first = 0; first < C; first += 32) {
    int c[32] = first + rc;
    int at[32] = (r * S + s) * C + c;
    bool there[32] = c < C;`
}
    int h[64, 32] = p[:, newaxis] * steph - padh + ${
  style === "loops" ? "r" : "r[newaxis, :]"
} * dilationh;
    int w[64, 32] = q[:, newaxis] * stepw - padw + ${
  style === "loops" ? "s" : "s[newaxis, :]"
} * dilationw;
    bool inside[64, 32] = h >= 0 && h < H && w >= 0 && w < W && there[newaxis, :] && ${
  style === "products" ? "rm[:, newaxis] < N * P * Q" : "n[:, newaxis] < N"
};
    half x[64, 32] = *?(inside) (X + ((n[:, newaxis] * H + h) * W + w) * C + c[newaxis, :]);
    half f[32, 64] = *?(${
  style === "down" ? "at[:, newaxis] < R * S * C" : "there[:, newaxis]"
} && rk[newaxis, :] < K) (F + rk[newaxis, :] * (R * S * C) + at[:, newaxis]);
    sum += x @ f;
${style === "down" ? "    at += 32;\n" : ""}  }
  *?(rm[:, newaxis] < N * P * Q && rk[newaxis, :] < K) (Y + rm[:, newaxis] * K + rk[newaxis, :]) = sum;
}
`;
