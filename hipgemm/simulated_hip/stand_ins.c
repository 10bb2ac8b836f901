/* What stands in for ROCm's other libraries and needs no Python: RCCL of one rank, where whatever is reduced, gathered or
   sent around is a copy. Further ranks, and what one rank sends to itself, are refused. Before the calls that are forwarded. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define POINTER(value) ((uint64_t)(uintptr_t)(value))
#define NUMBER(value) ((uint64_t)(int64_t)(value))

int64_t hipgemm_forward(int32_t call, const uint64_t *arguments);
int64_t hipgemm_forward_last(int32_t call, const uint64_t *arguments, int *out, int value);
int hipgemm_missing(const char *name, int code);
int hipMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream);

EXPORT int numa_available(void) { return -1; }
static const char *text(int code) { return code ? "not on the simulated card" : "no error"; }
EXPORT const char *miopenGetErrorString(int code) { return text(code); }
EXPORT const char *rocprofiler_get_status_string(int code) { return text(code); }
EXPORT int amdsmi_status_code_to_string(int code, const char **out) { return *out = text(code), 0; }

enum { UNHANDLED = 1, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, OPERATIONS = 5, DEVICE_TO_DEVICE = 3 };
typedef struct { char bytes[128]; } ncclUniqueId;
struct rank { int of; };

EXPORT const char *ncclGetErrorString(int code) { return text(code); }
EXPORT const char *ncclGetLastError(struct rank *rank) { return ""; }
EXPORT int ncclGetVersion(int *version) { return version ? (*version = 22203, 0) : INVALID_ARGUMENT; }
EXPORT int ncclGetUniqueId(ncclUniqueId *id) { return id ? (memset(id, 0, sizeof *id), 0) : INVALID_ARGUMENT; }
EXPORT int ncclCommInitRank(struct rank **out, int ranks, ncclUniqueId id, int rank) {
    if (!out || rank < 0 || rank >= ranks) return INVALID_ARGUMENT;
    if (ranks > 1) return hipgemm_missing("ncclCommInitRank of several ranks", INVALID_USAGE);
    *out = calloc(1, sizeof **out);
    return *out ? 0 : UNHANDLED;
}
EXPORT int ncclCommInitAll(struct rank **out, int devices, const int *list) {
    ncclUniqueId none = {{0}};
    return list && devices == 1 && list[0] ? INVALID_ARGUMENT : ncclCommInitRank(out, devices, none, 0);
}
EXPORT int ncclCommFinalize(struct rank *rank) { return rank ? 0 : INVALID_ARGUMENT; }
EXPORT int ncclCommDestroy(struct rank *rank) { return free(rank), 0; }
EXPORT int ncclCommAbort(struct rank *rank) { return free(rank), 0; }
static int say(struct rank *rank, int *out, int value) { return rank && out ? (*out = value, 0) : INVALID_ARGUMENT; }
EXPORT int ncclCommCount(struct rank *rank, int *out) { return say(rank, out, 1); }
EXPORT int ncclCommCuDevice(struct rank *rank, int *out) { return say(rank, out, 0); }
EXPORT int ncclCommUserRank(struct rank *rank, int *out) { return say(rank, out, 0); }
EXPORT int ncclCommGetAsyncError(struct rank *rank, int *out) { return say(rank, out, 0); }
EXPORT int ncclGroupStart(void) { return 0; }
EXPORT int ncclGroupEnd(void) { return 0; }

/* Of one rank each operation but a user's own leaves its operand as it is. */
static int moved(const void *from, void *to, size_t count, int type, int operation, int root, struct rank *rank, void *stream) {
    static const char sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    if (!rank || type < 0 || type >= (int)sizeof sizes || operation < 0 || operation >= OPERATIONS || root) return INVALID_ARGUMENT;
    if (from == to || !count) return 0;
    return hipMemcpyAsync(to, from, count * sizes[type], DEVICE_TO_DEVICE, stream) ? UNHANDLED : 0;
}
EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation, struct rank *rank, void *stream) {
    return moved(from, to, count, type, operation, 0, rank, stream);
}
EXPORT int ncclReduceScatter(const void *from, void *to, size_t count, int type, int operation, struct rank *rank, void *stream) {
    return moved(from, to, count, type, operation, 0, rank, stream);
}
EXPORT int ncclReduce(const void *from, void *to, size_t count, int type, int operation, int root, struct rank *rank, void *stream) {
    return moved(from, to, count, type, operation, root, rank, stream);
}
EXPORT int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, struct rank *rank, void *stream) {
    return moved(from, to, count, type, 0, root, rank, stream);
}
EXPORT int ncclBcast(void *at, size_t count, int type, int root, struct rank *rank, void *stream) {
    return moved(at, at, count, type, 0, root, rank, stream);
}
EXPORT int ncclAllGather(const void *from, void *to, size_t count, int type, struct rank *rank, void *stream) {
    return moved(from, to, count, type, 0, 0, rank, stream);
}
