/* The C side of the simulated HIP runtime: it carries each call to Python and the answer back. What stands before
   and after this text is generated from the declarations in hipgemm.simulated_hip: where Python lies (python_library,
   python_home, python_attach), and one exported function a HIP call, which packs its arguments into 64-bit words.

   The dispatcher is a ctypes callback. It is there from `connected` to `disconnected`. The first call before
   that makes the connection itself: in the Python that is running, else in one that is started here. Where that fails a
   call is answered by hipErrorNotInitialized; after Python's end, when destructors of C++ still call, by
   hipErrorDeinitialized, but for what they call to clean up, which succeeds. An exception that is set in the calling thread stays set and is not seen by the dispatcher.

   What compilers put before `main` (__hipRegister*) is only noted here, in a list that Python reads when it first needs
   it: a constructor runs under the loader's lock, and to wait there for Python's would be a deadlock. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define POINTER(value) ((uint64_t)(uintptr_t)(value))
#define NUMBER(value) ((uint64_t)(int64_t)(value))
#define TRIPLE(value) ((uint64_t)(uintptr_t)&(value))

typedef struct { uint32_t x, y, z; } dim3;

enum {
    HIP_SUCCESS = 0, HIP_INVALID_VALUE = 1, HIP_NOT_INITIALIZED = 3, HIP_DEINITIALIZED = 4,
    HIP_LAUNCH_FAILURE = 719, HIP_NOT_SUPPORTED = 801, HIP_UNKNOWN = 999, HIPRTC_INTERNAL_ERROR = 11
};

/* The answer by which Python says: the user pressed Ctrl-C while this call ran. */
#define INTERRUPTED INT64_MIN

/* Python, by the functions of its stable interface, looked up when they are first needed. */
static struct {
    int (*initialized)(void);
    void (*initialize)(int);
    void *(*let_go)(void);
    int (*ensure)(void);
    void (*release)(int);
    void (*fetch)(void **, void **, void **);
    void (*restore)(void *, void *, void *);
    int (*run)(const char *);
    int (*finalizing)(void); /* not in each version's stable interface: may be missing, as the next */
    int *utf8; /* whether files are UTF-8 whatever the locale says, as of 3.15 on they are */
} python;

static int look_up_python(void *from) {
    python.initialized = (int (*)(void))dlsym(from, "Py_IsInitialized");
    python.initialize = (void (*)(int))dlsym(from, "Py_InitializeEx");
    python.let_go = (void *(*)(void))dlsym(from, "PyEval_SaveThread");
    python.ensure = (int (*)(void))dlsym(from, "PyGILState_Ensure");
    python.release = (void (*)(int))dlsym(from, "PyGILState_Release");
    python.fetch = (void (*)(void **, void **, void **))dlsym(from, "PyErr_Fetch");
    python.restore = (void (*)(void *, void *, void *))dlsym(from, "PyErr_Restore");
    python.run = (int (*)(const char *))dlsym(from, "PyRun_SimpleString");
    python.finalizing = (int (*)(void))dlsym(from, "Py_IsFinalizing");
    if (!python.finalizing) python.finalizing = (int (*)(void))dlsym(from, "_Py_IsFinalizing");
    python.utf8 = (int *)dlsym(from, "Py_UTF8Mode");
    return python.initialized && python.initialize && python.let_go && python.ensure && python.release &&
           python.fetch && python.restore && python.run;
}

typedef int64_t (*dispatcher)(int32_t call, const uint64_t *arguments);

static dispatcher dispatch;
static int64_t without = HIP_NOT_INITIALIZED; /* what a call is answered while there is no dispatcher */
static int started_here; /* Python */
static int was_running; /* Python, when this library was loaded: if it no longer is, then that was its end */

__attribute__((constructor)) static void loaded(void) {
    int (*initialized)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    was_running = initialized && initialized();
}

static void connected(dispatcher to) {
    if (look_up_python(RTLD_DEFAULT)) dispatch = to;
}

static void disconnected(void) {
    without = HIP_DEINITIALIZED;
    dispatch = NULL;
}

/* Python starts in a process that has none: at its own home, whatever PYTHONHOME says for the programs of others. */
static int start_python(void) {
    if (!look_up_python(RTLD_DEFAULT)) {
        void *library = dlopen(python_library, RTLD_NOW | RTLD_GLOBAL);
        if (!library || !look_up_python(library)) {
            fprintf(stderr, "hipgemm: the simulated card needs Python as a library, and %s is none: %s\n",
                    python_library, library ? "it lacks functions" : dlerror());
            return 0;
        }
    }
    if (python.initialized()) return 1;
    if (was_running) return 0;
    char *before = getenv("PYTHONHOME");
    before = before ? strdup(before) : NULL;
    setenv("PYTHONHOME", python_home, 1);
    if (python.utf8) *python.utf8 = 1;
    python.initialize(0);
    if (before) setenv("PYTHONHOME", before, 1); else unsetenv("PYTHONHOME");
    free(before);
    python.let_go();
    return started_here = 1;
}

struct registered;
static struct registered *newest;


/* What is at an address, which becomes 0, in one step (hostcall.py). */
static uint64_t take(uint64_t *where) { return __atomic_exchange_n(where, 0, __ATOMIC_ACQUIRE); }

/* What Python needs of this library: `Entries` of hipgemm.simulated_hip. */
EXPORT void *const hipgemm_entries[] = {(void *)connected, (void *)disconnected, (void *)take, (void *)&newest};

/* Ask Python for a dispatcher, once. */
static dispatcher connect(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int started, refused;
    if (without == HIP_DEINITIALIZED || refused) return NULL;
    pthread_mutex_lock(&lock); /* no other lock is taken inside unless Python is only now being started */
    int there = started || (started = start_python());
    pthread_mutex_unlock(&lock);
    if (!there) { refused = 1; return NULL; }
    char text[8192];
    int size = snprintf(text, sizeof text, "%s(%llu, %d)\n", python_attach, (unsigned long long)POINTER(hipgemm_entries), started_here);
    int state = python.ensure();
    void *type, *value, *trace;
    python.fetch(&type, &value, &trace);
    if (!dispatch && size < (int)sizeof text) python.run(text); /* it calls `connected` */
    refused = !dispatch;
    python.restore(type, value, trace);
    python.release(state);
    return dispatch;
}

static int64_t forward(int32_t call, const uint64_t *arguments) {
    if (dispatch && python.finalizing && python.finalizing()) disconnected(); /* it takes its modules down */
    dispatcher to = dispatch;
    if (!to && !(to = connect())) return without;
    int state = python.ensure();
    void *type, *value, *trace;
    python.fetch(&type, &value, &trace);
    int64_t answer = to(call, arguments);
    python.restore(type, value, trace);
    python.release(state);
    if (answer != INTERRUPTED) return answer;
    raise(SIGINT); /* Python raises KeyboardInterrupt once it is back in its own loop: none may cross this frame. */
    return HIP_LAUNCH_FAILURE;
}

/* How a thread rounds and whether it flushes subnormal numbers: set to `mode`, and what it was. */
static unsigned floats(unsigned mode) {
#ifdef __SSE__
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(mode);
    return before;
#else
    return mode;
#endif
}

EXPORT int64_t hipgemm_forward(int32_t call, const uint64_t *arguments) {
    unsigned theirs = floats(0x1f80); /* what processors begin with: the card computes the same for every program */
    int64_t answer = forward(call, arguments);
    floats(theirs);
    return answer;
}

/* The same for what destructors of C++ still call: after Python's end there is nothing left to free, destroy or wait for,
   which is no failure; most programs abort where one is. out: where a question's answer goes. */
EXPORT int64_t hipgemm_forward_last(int32_t call, const uint64_t *arguments, int *out, int value) {
    int64_t answer = hipgemm_forward(call, arguments);
    if (answer != HIP_DEINITIALIZED || dispatch) return answer;
    if (out) *out = value;
    return HIP_SUCCESS;
}

/* The same for a call whose answer is a text: a code is no address, so it is answered by its name. */
static const char *forward_text(int32_t call, const uint64_t *arguments) {
    int64_t answer = hipgemm_forward(call, arguments);
    switch (answer) {
    case HIP_NOT_INITIALIZED: return "hipErrorNotInitialized";
    case HIP_DEINITIALIZED: return "hipErrorDeinitialized";
    case HIP_UNKNOWN: return "hipErrorUnknown";
    case HIP_LAUNCH_FAILURE: return "hipErrorLaunchFailure";
    default: return (const char *)(uintptr_t)answer;
    }
}

EXPORT int hipgemm_missing(const char *name, int code) {
    fprintf(stderr, "hipgemm: the simulated card does not have %s\n", name);
    return code;
}

/* What programs that hipcc built register before `main`: images, and in each kernels and variables by the addresses
   that stand for them on the host. An image that is given back stays in the list with `image` NULL. Python reads these
   structures (calls/registered.py). */
enum { FUNCTION, VARIABLE, MANAGED };

struct fat_binary { const void *image; };

struct registered {
    struct registered *next;
    struct fat_binary *in;
    const void *host;
    const char *name;
    uint64_t kind, size;
};

static void *note(void *in, const void *host, const char *name, uint64_t kind, uint64_t size) {
    struct registered *entry = malloc(sizeof *entry);
    if (!entry) abort();
    *entry = (struct registered){newest, in, host, name, kind, size};
    while (!__atomic_compare_exchange_n(&newest, &entry->next, entry, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {}
    return entry;
}

EXPORT void **__hipRegisterFatBinary(const void *wrapper) {
    const struct { uint32_t magic, version; const void *image; } *given = wrapper;
    struct fat_binary *made = malloc(sizeof *made);
    if (!made) abort();
    made->image = given->magic == 0x48495046 && given->version == 1 ? given->image : NULL; /* "HIPF" */
    return (void **)made;
}

EXPORT void __hipUnregisterFatBinary(void **in) {
    if (in) ((struct fat_binary *)in)->image = NULL;
}

EXPORT void __hipRegisterFunction(void **in, const void *host, char *function, const char *name, unsigned threads,
                                  void *tid, void *bid, void *block, void *grid, int *wave) {
    note(in, host, name, FUNCTION, 0);
}

EXPORT void __hipRegisterVar(void **in, void *host, char *variable, char *name, int external, size_t size,
                             int constant, int global) {
    note(in, host, name, VARIABLE, size);
}

EXPORT void __hipRegisterManagedVar(void *in, void **pointer, void *initial, const char *name, size_t size,
                                    unsigned align) {
    void *made = NULL;
    if (posix_memalign(&made, align > 4096 ? align : 4096, size ? size : 1)) abort();
    *pointer = memcpy(made, initial, size);
    note(in, made, name, MANAGED, size);
}

/* kernel<<<grid, block, lds, stream>>>(...) as compilers write it: push, then a stub that pops and launches. */
struct configuration { dim3 grid, block; size_t lds; void *stream; };
static _Thread_local struct configuration pushed[64];
static _Thread_local unsigned depth;

EXPORT int __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds, void *stream) {
    if (depth == sizeof pushed / sizeof *pushed) return HIP_INVALID_VALUE;
    pushed[depth++] = (struct configuration){grid, block, lds, stream};
    return HIP_SUCCESS;
}

EXPORT int __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *lds, void **stream) {
    if (!depth) return HIP_INVALID_VALUE;
    const struct configuration *top = &pushed[--depth];
    *grid = top->grid, *block = top->block, *lds = top->lds, *stream = top->stream;
    return HIP_SUCCESS;
}

/* A call of this library by its name: some names stand for a newer structure since HIP 6.0. */
static int entry_point(const char *name, void **out, int version) {
    Dl_info here;
    if (!name || !out) return HIP_INVALID_VALUE;
    *out = NULL;
    void *self = dladdr((void *)&newest, &here) ? dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!self) return HIP_INVALID_VALUE;
    char newer[256];
    snprintf(newer, sizeof newer, "%sR0600", name);
    if (version >= 600) *out = dlsym(self, newer);
    if (!*out) *out = dlsym(self, name);
    dlclose(self);
    return *out ? HIP_SUCCESS : HIP_INVALID_VALUE;
}

/* Versions are given as 100 * major + minor, or more finely; status 0 is found, 1 is not. */
EXPORT int hipGetProcAddress(const char *name, void **out, int version, uint64_t flags, int *status) {
    int code = entry_point(name, out, version);
    if (status) *status = code != HIP_SUCCESS;
    return code;
}

EXPORT int hipGetDriverEntryPoint(const char *name, void **out, unsigned long long flags, int *status) {
    return hipGetProcAddress(name, out, 600, flags, status);
}

