// Texture and surface objects, and what queries them.
#include <cuda_fp16.h>
extern "C" __global__ void textures(cudaTextureObject_t a, cudaTextureObject_t b, cudaSurfaceObject_t s, float4* out) {
  int x = threadIdx.x, y = blockIdx.x;
  float4 v = tex2D<float4>(a, x + 0.5f, y + 0.5f);
  float w = tex1Dfetch<float>(b, x);
  float4 g = tex2Dgather<float4>(a, x, y, 1);
  float4 l = tex2DLod<float4>(a, x, y, 1.0f);
  float4 layered = tex2DLayered<float4>(a, x, y, 3);
  float4 volume = tex3D<float4>(a, x, y, 0.5f);
  float cube = texCubemap<float>(b, x, y, 1.0f);
  int4 read; surf2Dread(&read, s, x * 16, y);
  surf2Dwrite(make_float4(v.x, w, g.y, l.z), s, x * 16, y);
  surf1Dwrite(read.x, s, x * 4, cudaBoundaryModeClamp);
  out[x] = make_float4(v.x + layered.x + volume.y + cube, w, g.y + read.y, l.z);
}
