/* A libnccl that writes its arguments to the file of NCCL_STUB_LOG: built by tests with the C compiler, so that arguments
   pass as they do to the real one. Declarations as in nccl.h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { char internal[128]; } ncclUniqueId;
typedef struct { size_t size; unsigned magic; unsigned version; int blocking, clusters, least, most; char *net; int share; } ncclConfig_t;
typedef struct ncclComm *ncclComm_t;
typedef struct CUstream_st *cudaStream_t;
typedef int ncclResult_t, ncclDataType_t, ncclRedOp_t;
static int polls, async_error;
static ncclComm_t *later; /* where a communicator is written that is not made yet */
static FILE *out(void) {
  static FILE *file;
  if (!file) { file = fopen(getenv("NCCL_STUB_LOG"), "w"); setvbuf(file, 0, _IONBF, 0); }
  return file;
}
#define LOG(...) (fprintf(out(), __VA_ARGS__), 0)
#define P(x) ((unsigned long long)(uintptr_t)(x))
ncclResult_t ncclGetVersion(int *version) { *version = 22809; return 0; }
ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  for (int i = 0; i < 128; i++) id->internal[i] = (char)(i * 7 + 1);
  return 0;
}
ncclResult_t ncclCommInitAll(ncclComm_t *comms, int n, const int *devices) {
  for (int i = 0; i < n; i++) { comms[i] = (ncclComm_t)(uintptr_t)(100 + i); LOG("device %d\n", devices[i]); }
  return LOG("multicast %s\n", getenv("NCCL_NVLS_ENABLE"));
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id, int rank, ncclConfig_t *config) {
  int right = 0;
  for (int i = 0; i < 128; i++) right += id.internal[i] == (char)(i * 7 + 1);
  *comm = (ncclComm_t)(uintptr_t)200;
  LOG("rank %d of %d, id %d, config %zu %x %u, blocking %d, share %d\n", rank, size, right, config->size, config->magic, config->version, config->blocking, config->share);
  return 7;
}
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *other, ncclConfig_t *config) {
  later = other;
  polls = 0;
  LOG("split %llu, color %d, key %d, blocking %d\n", P(comm), color, key, config->blocking);
  return 7;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  *error = polls++ == 0 && P(comm) == 200 ? 7 : async_error;
  if (later && polls == 3) { *later = (ncclComm_t)(uintptr_t)201; later = 0; }
  return 0;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) { return LOG("destroy %llu\n", P(comm)); }
ncclResult_t ncclCommAbort(ncclComm_t comm) { return LOG("abort %llu\n", P(comm)); }
ncclResult_t ncclGroupStart(void) { return LOG("group\n"); }
ncclResult_t ncclGroupEnd(void) { return LOG("end\n"); }
ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return LOG("all-reduce %zu type %d op %d comm %llu %s\n", count, type, op, P(comm), from == to ? "in place" : "apart");
}
ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return LOG("reduce-scatter %zu type %d op %d comm %llu\n", count, type, op, P(comm));
}
ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) {
  return LOG("all-gather %zu type %d comm %llu\n", count, type, P(comm));
}
ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream) {
  return LOG("broadcast %zu type %d root %d comm %llu\n", count, type, root, P(comm));
}
ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return LOG("send %zu type %d peer %d comm %llu\n", count, type, peer, P(comm));
}
ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  async_error = peer == 1 && count == 12 ? 6 : 0; /* 3 floats from rank 1: as if it had died */
  return LOG("receive %zu type %d peer %d comm %llu\n", count, type, peer, P(comm));
}
