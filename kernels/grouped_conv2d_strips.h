// The pixels of strips of LENGTH in the lines of DY, of which each has COUNT from pixel FIRST on, for `grouped_conv2d_backward_weights`.
// A thread loads a pixel of X once for all products of a strip that it is in.
{
  int steps = (N * P * COUNT + MB - 1) / MB;
  int least = steps / splits;
  int longer = steps % splits;
  int begin = part * least + min(part, longer);
  int end = (part + 1) * least + min(part + 1, longer);
  for (int step = begin; step < end; step += 1) {
    unsigned rm[MB] = (unsigned)(step * MB) + (unsigned[MB])(0 ... MB);
    unsigned line[MB] = rm / (unsigned)COUNT;
    int n[MB] = (int[MB])(line / (unsigned)P);
    int q[MB] = FIRST + (int[MB])(rm - line * (unsigned)COUNT) * LENGTH;
    int p[MB] = (int[MB])line - n * P;
    int h[MB] = p * stride_h - pad_h;
    int w[MB] = q - pad_w;
    TYPE *py[MB] = DY + ((long[MB])n * stride_yn + (p * stride_yp + q * stride_yq));
    TYPE *px[MB] = X + ((long[MB])n * stride_xn + (h * stride_xh + w * stride_xw));
    // As unsigned numbers, negative places are large.
#define LINE(r) \
    bool isLine##r[MB] = n < N && (unsigned[MB])(h + (at + r) * dilation_h) < (unsigned)H; \
    TYPE *px##r[MB] = px + (at + r) * dilation_h * stride_xh
    EACH_LINE(LINE);
    #pragma unroll
    for (int j = 0; j < LENGTH; j += 1) {
      float dy[MB, NB] = *?((n < N)[:, newaxis] && checkk[newaxis, :]) (py[:, newaxis] +
          (j * stride_yq + rk)[newaxis, :]);
#define MULTIPLY(i, r, s) \
      bool inside##i[MB] = isLine##r && (unsigned[MB])(w + (j + s)) < (unsigned)W; \
      float x##i[MB, NB] = *?(inside##i[:, newaxis] && checkk[newaxis, :]) (px##r[:, newaxis] + \
          ((j + s) * stride_xw + rk)[newaxis, :]); \
      sum##i += dy * x##i
      EACH_TAP(MULTIPLY);
    }
  }
}
#undef MULTIPLY
#undef LINE
#undef FIRST
#undef COUNT
#undef LENGTH
