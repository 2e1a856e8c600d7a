// Algorithms of CUB for a block or a warp: their tiles have spare elements, and items past the end are not set.
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_merge_sort.cuh>

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};

extern "C" __global__ void blocks_merge_sort(int *x) {
  using Sort = cub::BlockMergeSort<int, 64, 3>;
  __shared__ typename Sort::TempStorage storage;
  int keys[3];
  for (int j = 0; j < 3; j++) keys[j] = x[threadIdx.x * 3 + j];
  Sort(storage).Sort(keys, Less());
  for (int j = 0; j < 3; j++) x[threadIdx.x * 3 + j] = keys[j];
}

extern "C" __global__ void blocks_merge_sort_some(int *x, int *y, int n) {
  using Sort = cub::BlockMergeSort<int, 64, 4, int>;
  __shared__ typename Sort::TempStorage storage;
  int keys[4];
  int values[4];
  for (int j = 0; j < 4; j++) {
    int i = threadIdx.x * 4 + j;
    if (i < n) {
      keys[j] = x[i];
      values[j] = y[i];
    }
  }
  Sort(storage).Sort(keys, values, Less(), n, 0x7fffffff);
  for (int j = 0; j < 4; j++) {
    int i = threadIdx.x * 4 + j;
    if (i < n) {
      x[i] = keys[j];
      y[i] = values[j];
    }
  }
}

extern "C" __global__ void blocks_warp_merge_sort(int *x) {
  using Sort = cub::WarpMergeSort<int, 4>;
  __shared__ typename Sort::TempStorage storage[2];
  int keys[4];
  for (int j = 0; j < 4; j++) keys[j] = x[threadIdx.x * 4 + j];
  Sort(storage[threadIdx.x / 32]).Sort(keys, Less());
  for (int j = 0; j < 4; j++) x[threadIdx.x * 4 + j] = keys[j];
}

extern "C" __global__ void blocks_radix_sort(int *x) {
  using Sort = cub::BlockRadixSort<int, 64, 4>;
  __shared__ typename Sort::TempStorage storage;
  int keys[4];
  for (int j = 0; j < 4; j++) keys[j] = x[threadIdx.x * 4 + j];
  Sort(storage).Sort(keys);
  for (int j = 0; j < 4; j++) x[threadIdx.x * 4 + j] = keys[j];
}

extern "C" __global__ void blocks_scan(int *x) {
  using Scan = cub::BlockScan<int, 64>;
  __shared__ typename Scan::TempStorage storage;
  int items[3];
  int sums[3];
  int total;
  for (int j = 0; j < 3; j++) items[j] = x[threadIdx.x * 3 + j];
  Scan(storage).ExclusiveSum(items, sums, total);
  for (int j = 0; j < 3; j++) x[threadIdx.x * 3 + j] = sums[j] + total;
}

extern "C" __global__ void blocks_reduce(int *x, int n) {
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ typename Reduce::TempStorage storage;
  int item;
  if (threadIdx.x < n) item = x[threadIdx.x];
  int sum = Reduce(storage).Sum(item, n);
  __syncthreads();
  if (threadIdx.x == 0) x[0] = sum;
}

extern "C" __global__ void blocks_load_store(int *x, int n) {
  using Load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  int items[4];
  Load(storage.load).Load(x, items, n);
  __syncthreads();
  for (int j = 0; j < 4; j++) items[j] = 2 * items[j] + 1;
  Store(storage.store).Store(x, items, n);
}

extern "C" __global__ void blocks_exchange(int *x) {
  using Exchange = cub::BlockExchange<int, 64, 5>;
  __shared__ typename Exchange::TempStorage storage;
  int items[5];
  for (int j = 0; j < 5; j++) items[j] = x[threadIdx.x * 5 + j];
  Exchange(storage).BlockedToStriped(items);
  for (int j = 0; j < 5; j++) x[threadIdx.x * 5 + j] = items[j];
}
