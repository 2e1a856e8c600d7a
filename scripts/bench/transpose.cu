// The float transposition of kernels/transpose.tc as CUDA programs write it: the contender of bench_compile.ts.
// Two kernels, as tri compiles two instances: any alignment, and 16-byte aligned rows.
constexpr int TILE = 64;

extern "C" __global__ void transpose(const float *X, float *Y, int M, int N, int ldx, int ldy) {
  __shared__ float tile[TILE][TILE + 1];
  const int m = blockIdx.x * TILE, n = blockIdx.y * TILE;
  for (int i = threadIdx.y; i < TILE; i += blockDim.y)
    for (int j = threadIdx.x; j < TILE; j += blockDim.x)
      if (m + i < M && n + j < N) tile[i][j] = X[(m + i) * ldx + n + j];
  __syncthreads();
  for (int j = threadIdx.y; j < TILE; j += blockDim.y)
    for (int i = threadIdx.x; i < TILE; i += blockDim.x)
      if (m + i < M && n + j < N) Y[(n + j) * ldy + m + i] = tile[i][j];
}

extern "C" __global__ void transpose_a16(const float4 *X, float4 *Y, int M, int N, int ldx, int ldy) {
  __shared__ float tile[TILE][TILE + 1];
  const int m = blockIdx.x * TILE, n = blockIdx.y * TILE;
  for (int i = threadIdx.y; i < TILE; i += blockDim.y)
    for (int j = 4 * threadIdx.x; j < TILE; j += 4 * blockDim.x)
      if (m + i < M && n + j < N) {
        const float4 v = X[((m + i) * ldx + n + j) / 4];
        tile[i][j] = v.x, tile[i][j + 1] = v.y, tile[i][j + 2] = v.z, tile[i][j + 3] = v.w;
      }
  __syncthreads();
  for (int j = threadIdx.y; j < TILE; j += blockDim.y)
    for (int i = 4 * threadIdx.x; i < TILE; i += 4 * blockDim.x)
      if (m + i < M && n + j < N)
        Y[((n + j) * ldy + m + i) / 4] = make_float4(tile[i][j], tile[i + 1][j], tile[i + 2][j], tile[i + 3][j]);
}
