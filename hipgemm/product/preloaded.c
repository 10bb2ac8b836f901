/* A library for LD_PRELOAD that has the product calls of rocBLAS, hipBLAS and hipBLASLt. It asks `hipgemm blas`, by a
   socket that $HIPGEMM_BLAS names, which kernel does a shape, once each, and starts that on the call's stream. What no
   kernel does is passed on to the library that the program has. (hipgemm/product/preloaded.py has the other end.)

   $HIPGEMM_BLAS_TABLE names a file of `struct counts`, one a shape, which all processes of the command share: nothing
   has to be sent at a process's end, however that comes. With $HIPGEMM_BLAS_VERIFY the vendor's library computes each
   product, too, into memory of its own, and both go into a file that the other end compares.

   A program's dlsym is answered here, too, since bindings of Python find their functions so. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define WHERE(library) library ".so"

/* What a shape is, in the words of a question. */
enum { OP_A, OP_B, M, N, K, TYPE_A, TYPE_B, TYPE_C, COMPUTE, LD_A, LD_B, LD_C, COUNT, STRIDE_A, STRIDE_B, STRIDE_C, SHAPE };
enum { AS_IT_IS = 111, SHAPES = 1 << 16, ARGUMENTS = 256 };

struct counts { uint64_t calls, done, ours_ns, theirs_ns; };

struct plan {
    struct plan *next;
    int64_t shape[SHAPE];
    int device, busy, timed;
    struct counts *counts;
    long index;
    void *kernel, *start, *stop; /* kernel: NULL where none does this shape */
    char scalar; /* of alpha and beta: h, f or i */
    int factor_bytes, result_bytes;
    unsigned grid[3], block[3];
    size_t workspace, size;
    unsigned char arguments[ARGUMENTS];
};

struct product {
    int64_t shape[SHAPE];
    const void *alpha, *beta, *a, *b;
    void *c, *stream;
    int apart; /* what beta multiplies lies elsewhere */
    struct plan *plan;
    float alpha_beta[2];
    void *ours, *before; /* with --verify: C, while `c` is the vendor's own, and what C held */
    int timing;
};

struct taken { const char *name, *library; void *ours, *theirs; };
extern struct taken __start_taken[], __stop_taken[];

static _Thread_local int inside; /* a call of the vendor's, whose own calls are not ours to take */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Functions of others. */

static void *(*real_dlsym(void))(void *, const char *) {
    static void *(*found)(void *, const char *);
    const char *versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (int i = 0; i < 3 && !found; ++i) found = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return found;
}

struct wanted { const char *file; char path[4096]; };

static int is_wanted(struct dl_phdr_info *of, size_t size, void *data) {
    struct wanted *wanted = data;
    const char *base = strrchr(of->dlpi_name, '/');
    base = base ? base + 1 : of->dlpi_name;
    if (strncmp(base, wanted->file, strlen(wanted->file))) return 0;
    snprintf(wanted->path, sizeof wanted->path, "%s", of->dlpi_name);
    return 1;
}

/* A function of a library that the process has loaded, by whatever scope. */
static void *function_of(const char *file, const char *name) {
    void *found = real_dlsym()(RTLD_NEXT, name);
    struct wanted wanted = {file, ""};
    if (found || !dl_iterate_phdr(is_wanted, &wanted)) return found;
    void *library = dlopen(wanted.path, RTLD_LAZY | RTLD_NOLOAD);
    return library ? real_dlsym()(library, name) : NULL;
}

#define OF(file, name, ...)                                           \
    ({                                                                \
        static int (*found)(const void *, ...);                       \
        if (!found) found = (int (*)(const void *, ...))function_of(WHERE(file), #name); \
        found ? found(__VA_ARGS__) : -1;                              \
    })
#define hip(name, ...) OF("libamdhip64", name, __VA_ARGS__)

static void *theirs_of(struct taken *call) {
    if (!call->theirs) call->theirs = function_of(call->library, call->name);
    return call->theirs;
}

/* The caller is the one whose scope RTLD_NEXT asks about: the compiler makes a jump of that return. */
EXPORT void *dlsym(void *handle, const char *name) {
    void *(*real)(void *, const char *) = real_dlsym();
    if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || (strncmp(name, "rocblas_", 8) && strncmp(name, "hipblas", 7)))
        return real(handle, name);
    void *found = real(handle, name);
    for (struct taken *call = __start_taken; found && call < __stop_taken; ++call)
        if (!strcmp(call->name, name)) {
            if (found != call->ours && !call->theirs) call->theirs = found;
            return call->ours;
        }
    return found;
}

/* The other end. */

static int ask(char *text, size_t room) {
    static int end = -1;
    static pid_t by;
    if (end < 0 || by != getpid()) {
        const char *path = getenv("HIPGEMM_BLAS");
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        if (!path || strlen(path) >= sizeof address.sun_path) return 0;
        strcpy(address.sun_path, path);
        end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        by = getpid();
        if (end < 0 || connect(end, (struct sockaddr *)&address, sizeof address)) return 0;
    }
    size_t size = strlen(text), at = 0;
    if (send(end, text, size, MSG_NOSIGNAL) != (ssize_t)size) return 0;
    while (at < room - 1) {
        ssize_t got = recv(end, text + at, room - 1 - at, 0);
        if (got <= 0) return 0;
        at += got;
        if (text[at - 1] == '\n') return text[at - 1] = 0, 1;
    }
    return 0;
}

static struct counts *table(void) {
    static struct counts *found;
    const char *path = getenv("HIPGEMM_BLAS_TABLE");
    int file = found || !path ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0) {
        void *there = mmap(NULL, SHAPES * sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (there != MAP_FAILED) found = there;
        close(file);
    }
    return found;
}

/* What a plan's answer says, and its kernel loaded; without one where there is none. */
static void planned(struct plan *plan) {
    char text[8192];
    size_t at = sprintf(text, "plan");
    for (int i = 0; i < SHAPE; ++i) at += sprintf(text + at, " %lld", (long long)plan->shape[i]);
    sprintf(text + at, "\n");
    if (!ask(text, sizeof text)) return;
    char kernel[512], hex[2 * ARGUMENTS + 1], path[4096];
    int found = sscanf(text, "%ld %c %d %d %zu %u %u %u %u %u %u %511s %512s %4095[^\n]", &plan->index, &plan->scalar,
                       &plan->factor_bytes, &plan->result_bytes, &plan->workspace, &plan->grid[0], &plan->grid[1],
                       &plan->grid[2], &plan->block[0], &plan->block[1], &plan->block[2], kernel, hex, path);
    struct counts *counts = table();
    if (found >= 1 && counts && plan->index < SHAPES) plan->counts = &counts[plan->index];
    if (found < 14) return;
    plan->size = strlen(hex) / 2;
    for (size_t i = 0; i < plan->size; ++i) sscanf(hex + 2 * i, "%2hhx", &plan->arguments[i]);
    void *module = NULL, *function = NULL;
    if (hip(hipModuleLoad, &module, path) || hip(hipModuleGetFunction, &function, module, kernel)) return;
    if (!hip(hipEventCreate, &plan->start) && !hip(hipEventCreate, &plan->stop)) plan->kernel = function;
}

static struct plan *plan_of(const int64_t *shape) {
    static struct plan *plans[1024];
    int device = 0;
    hip(hipGetDevice, &device);
    uint64_t hash = device;
    for (int i = 0; i < SHAPE; ++i) hash = (hash ^ (uint64_t)shape[i]) * 0x9E3779B97F4A7C15u;
    struct plan **first = &plans[hash >> 54], *plan;
    pthread_mutex_lock(&lock);
    for (plan = *first; plan; plan = plan->next)
        if (plan->device == device && !memcmp(plan->shape, shape, sizeof plan->shape)) break;
    if (!plan && (plan = calloc(1, sizeof *plan))) {
        memcpy(plan->shape, shape, sizeof plan->shape);
        plan->device = device;
        planned(plan);
        plan->next = *first;
        *first = plan;
    }
    pthread_mutex_unlock(&lock);
    return plan;
}

/* Workspaces: one a stream, whose counters kernels leave at 0. */
static void *workspace(struct plan *plan, void *stream) {
    static struct space { struct space *next; void *stream, *memory; size_t size; int device; } *spaces, *s;
    pthread_mutex_lock(&lock);
    for (s = spaces; s && (s->stream != stream || s->device != plan->device); s = s->next) {}
    if (!s && (s = calloc(1, sizeof *s))) {
        s->stream = stream, s->device = plan->device, s->next = spaces;
        spaces = s;
    }
    if (s && s->size < plan->workspace) {
        hip(hipFree, s->memory);
        s->size = 0;
        if (hip(hipMalloc, &s->memory, plan->workspace)) s->memory = NULL;
        else if (!hip(hipMemsetAsync, s->memory, 0, plan->workspace, stream)) s->size = plan->workspace;
    }
    void *found = s && s->size >= plan->workspace ? s->memory : NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Times: the least of what pairs of events said. */

static void least(uint64_t *of, struct plan *plan) {
    float ms = 0;
    if (hip(hipEventElapsedTime, &ms, plan->start, plan->stop) || !(ms > 0)) return;
    uint64_t ns = (uint64_t)(ms * 1e6f + 0.5f);
    if (ns && (!*of || ns < *of)) *of = ns;
}

static void look_at_the_clock(struct plan *plan) {
    if (plan->timed && !hip(hipEventQuery, plan->stop)) {
        plan->timed = 0;
        least(&plan->counts->ours_ns, plan);
    }
}

static float number(const void *from, char type) {
    if (type == 'i') return (float)*(const int32_t *)from;
    if (type == 'f') return *(const float *)from;
    uint32_t half = *(const uint16_t *)from, exponent = half >> 10 & 31, digits = half & 1023, bits;
    float value = (float)digits * 0x1p-24f; /* denormal */
    bits = (exponent == 31 ? 255u : exponent + 112) << 23 | digits << 13;
    if (exponent) memcpy(&value, &bits, sizeof value);
    return half >> 15 ? -value : value;
}

/* Bytes from the first to the last element of A, B or C. */
static size_t span(const struct product *p, int matrix) {
    const int64_t *s = p->shape;
    int64_t rows = matrix == 1 ? s[K] : s[M], columns = matrix == 0 ? s[K] : s[N];
    if (matrix < 2 && s[matrix] != AS_IT_IS) columns = rows, rows = matrix == 0 ? s[K] : s[N];
    int64_t last = s[LD_A + matrix] * (columns - 1) + rows;
    return (matrix < 2 ? p->plan->factor_bytes : p->plan->result_bytes) * (last + (s[COUNT] - 1) * s[STRIDE_A + matrix]);
}

static int launch(struct product *p) {
    struct plan *plan = p->plan;
    unsigned char arguments[ARGUMENTS];
    memcpy(arguments, plan->arguments, plan->size);
    memcpy(arguments, (const void *[]){p->b, p->a, p->c}, 24); /* column-major: C^T = B^T A^T */
    if (plan->scalar == 'i') memcpy(arguments + 36, p->alpha, 4), memcpy(arguments + 40, p->beta, 4);
    else memcpy(arguments + 36, p->alpha_beta, 8);
    if (plan->workspace) {
        void *space = workspace(plan, p->stream);
        if (!space) return 0;
        memcpy(arguments + 48, &space, 8);
    }
    void *extra[] = {(void *)1, arguments, (void *)2, &plan->size, (void *)3};
    const unsigned *g = plan->grid, *b = plan->block;
    return !hip(hipModuleLaunchKernel, plan->kernel, g[0], g[1], g[2], b[0], b[1], b[2], 0u, p->stream, NULL, extra);
}

/* Memory for the vendor's product, which holds what C does, and a copy on the host. */
static void set_aside(struct product *p) {
    size_t size = span(p, 2);
    void *theirs = NULL;
    p->before = malloc(size);
    if (!p->before || hip(hipStreamSynchronize, p->stream) || hip(hipMalloc, &theirs, size)) return;
    if (hip(hipMemcpy, p->before, p->c, size, 2) || hip(hipMemcpy, theirs, p->c, size, 3)) hip(hipFree, theirs);
    else p->ours = p->c, p->c = theirs;
}

static void forget(struct product *p) {
    if (p->ours) hip(hipFree, p->c), p->c = p->ours;
    free(p->before);
    p->ours = p->before = NULL;
    if (p->timing) __atomic_store_n(&p->plan->busy, 0, __ATOMIC_RELEASE);
    p->timing = 0;
}

/* Whether the product is done. With --verify it is not: the vendor's call follows, into p->c. */
static int take(struct product *p) {
    if (p->shape[COUNT] == 1) p->shape[STRIDE_A] = p->shape[STRIDE_B] = p->shape[STRIDE_C] = 0;
    struct plan *plan = p->plan = plan_of(p->shape);
    if (!plan || !plan->counts) return 0;
    __atomic_fetch_add(&plan->counts->calls, 1, __ATOMIC_RELAXED);
    int capturing = 0;
    hip(hipStreamIsCapturing, p->stream, &capturing);
    if (!plan->kernel || (capturing && plan->workspace)) return 0;
    for (int i = 0; i < 2; ++i) p->alpha_beta[i] = number(i ? p->beta : p->alpha, plan->scalar);
    if (p->alpha_beta[0] == 0 || (p->apart && p->alpha_beta[1] != 0)) return 0;
    p->timing = !capturing && !__atomic_exchange_n(&plan->busy, 1, __ATOMIC_ACQUIRE);
    if (!capturing && getenv("HIPGEMM_BLAS_VERIFY")) set_aside(p);
    void *theirs = p->c;
    if (p->ours) p->c = p->ours;
    if (p->timing) look_at_the_clock(plan);
    int fresh = p->timing && !plan->timed && !hip(hipEventRecord, plan->start, p->stream);
    int done = launch(p);
    if (fresh) plan->timed = done && !hip(hipEventRecord, plan->stop, p->stream);
    if (p->ours) hip(hipStreamSynchronize, p->stream);
    if (p->timing) look_at_the_clock(plan); /* the simulated card has done it already */
    p->c = theirs;
    if (done) __atomic_fetch_add(&plan->counts->done, 1, __ATOMIC_RELAXED);
    if (!done || !p->ours) forget(p);
    else if (p->timing) hip(hipEventRecord, plan->start, p->stream);
    return done && !p->ours;
}

static int wrote(int file, const void *from, size_t size, int on_card) {
    void *copy = on_card ? malloc(size) : (void *)from;
    int good = copy && (!on_card || !hip(hipMemcpy, copy, from, size, 2));
    for (size_t at = 0; good && at < size;) {
        ssize_t put = write(file, (char *)copy + at, size - at);
        if (put <= 0) good = 0; else at += put;
    }
    if (on_card) free(copy);
    return good;
}

/* After the vendor's call: with --verify both are compared by the other end. */
static int finished(struct product *p, int status) {
    if (!p->ours) return status;
    struct plan *plan = p->plan;
    if (p->timing && !hip(hipEventRecord, plan->stop, p->stream) && !hip(hipStreamSynchronize, p->stream))
        least(&plan->counts->theirs_ns, plan);
    char path[200] = "", text[512];
    snprintf(path, sizeof path, "%s-XXXXXX", getenv("HIPGEMM_BLAS_VERIFY"));
    int file = mkstemp(path);
    int good = !status && file >= 0 && wrote(file, p->a, span(p, 0), 1) && wrote(file, p->b, span(p, 1), 1) &&
               wrote(file, p->before, span(p, 2), 0) && wrote(file, p->ours, span(p, 2), 1) &&
               wrote(file, p->c, span(p, 2), 1);
    snprintf(text, sizeof text, "verify %ld %.9g %.9g %s\n", plan->index, p->alpha_beta[0], p->alpha_beta[1],
             good ? path : "");
    pthread_mutex_lock(&lock);
    ask(text, sizeof text);
    pthread_mutex_unlock(&lock);
    if (file >= 0) close(file), unlink(path);
    forget(p);
    return status;
}

/* The calls. Of a handle its stream is asked, and whether alpha and beta lie on the host. */

static int of_rocblas(struct product *p, void *handle) {
    int mode = 1;
    return !OF("librocblas", rocblas_get_pointer_mode, handle, &mode) && !mode &&
           (OF("librocblas", rocblas_is_device_memory_size_query, handle) & 255) != 1 &&
           !OF("librocblas", rocblas_get_stream, handle, &p->stream);
}

static int of_hipblas(struct product *p, void *handle) {
    int mode = 1;
    return !OF("libhipblas", hipblasGetPointerMode, handle, &mode) && !mode &&
           !OF("libhipblas", hipblasGetStream, handle, &p->stream);
}

static int missing(const char *name) {
    fprintf(stderr, "hipgemm: no library has %s\n", name);
    return 1;
}

#define TAKE(lib, name, parameters, arguments, into, known, ...)                                                          \
    EXPORT int name parameters;                                                                                           \
    static struct taken taken_##name __attribute__((section("taken"), used)) = {#name, WHERE(lib), (void *)name, NULL};  \
    int name parameters {                                                                                                 \
        int(*theirs) parameters = (int(*) parameters)theirs_of(&taken_##name);                                            \
        if (!theirs) return missing(#name);                                                                               \
        struct product p = {.shape = {__VA_ARGS__}, .alpha = alpha, .beta = beta, .a = a, .b = b, .c = into,              \
                            .apart = c != into};                                                                          \
        int nested = inside++, done = !nested && (known) && take(&p);                                                     \
        if (!nested && c == into) c = p.c;                                                                                \
        if (!nested) into = p.c;                                                                                          \
        int status = done ? 0 : theirs arguments;                                                                         \
        if (!nested) status = finished(&p, status);                                                                       \
        inside = nested;                                                                                                  \
        return status;                                                                                                    \
    }

#define OPERATIONS void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha
#define FORWARDED handle, op_a, op_b, m, n, k, alpha
#define SIZES op_a, op_b, m, n, k
#define TYPED(lib, name, of, type)                                                                                       \
    TAKE(lib, name,                                                                                                       \
         (OPERATIONS, const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc),               \
         (FORWARDED, a, lda, b, ldb, beta, c, ldc), c, of(&p, handle), SIZES, type, type, type, type, lda, ldb, ldc, 1)
#define STRIDED(lib, name, of, type)                                                                                     \
    TAKE(lib, name,                                                                                                       \
         (OPERATIONS, const void *a, int lda, int64_t step_a, const void *b, int ldb, int64_t step_b, const void *beta, \
          void *c, int ldc, int64_t step_c, int count),                                                                  \
         (FORWARDED, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c, count), c, of(&p, handle), SIZES, type, type,  \
         type, type, lda, ldb, ldc, count, step_a, step_b, step_c)

TYPED("librocblas", rocblas_sgemm, of_rocblas, 151)
TYPED("librocblas", rocblas_hgemm, of_rocblas, 150)
TYPED("libhipblas", hipblasSgemm, of_hipblas, 151)
TYPED("libhipblas", hipblasHgemm, of_hipblas, 150)
STRIDED("librocblas", rocblas_sgemm_strided_batched, of_rocblas, 151)
STRIDED("librocblas", rocblas_hgemm_strided_batched, of_rocblas, 150)
STRIDED("libhipblas", hipblasSgemmStridedBatched, of_hipblas, 151)
STRIDED("libhipblas", hipblasHgemmStridedBatched, of_hipblas, 150)

/* Flags: those that let a product of f16 be less exact change nothing here. */
#define PLAIN_EX (!algo && !(flags & ~12u) && (c != d || (ldc == ldd && c_type == d_type)))
TAKE("librocblas", rocblas_gemm_ex,
     (OPERATIONS, const void *a, int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, const void *c,
      int c_type, int ldc, void *d, int d_type, int ldd, int compute, int algo, int solution, unsigned flags),
     (FORWARDED, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, d, d_type, ldd, compute, algo, solution, flags), d,
     PLAIN_EX && of_rocblas(&p, handle), SIZES, a_type, b_type, d_type, compute, lda, ldb, ldd, 1)
TAKE("librocblas", rocblas_gemm_strided_batched_ex,
     (OPERATIONS, const void *a, int a_type, int lda, int64_t step_a, const void *b, int b_type, int ldb, int64_t step_b,
      const void *beta, const void *c, int c_type, int ldc, int64_t step_c, void *d, int d_type, int ldd, int64_t step_d,
      int count, int compute, int algo, int solution, unsigned flags),
     (FORWARDED, a, a_type, lda, step_a, b, b_type, ldb, step_b, beta, c, c_type, ldc, step_c, d, d_type, ldd, step_d,
      count, compute, algo, solution, flags), d,
     PLAIN_EX && (c != d || step_c == step_d) && of_rocblas(&p, handle), SIZES, a_type, b_type, d_type, compute, lda, ldb,
     ldd, count, step_a, step_b, step_d)

#define EX(name)                                                                                                          \
    TAKE("libhipblas", name,                                                                                              \
         (OPERATIONS, const void *a, int a_type, int lda, const void *b, int b_type, int ldb, const void *beta, void *c,  \
          int c_type, int ldc, int compute, int algo),                                                                    \
         (FORWARDED, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, compute, algo), c, of_hipblas(&p, handle),      \
         SIZES, a_type, b_type, c_type, compute, lda, ldb, ldc, 1)
#define STRIDED_EX(name)                                                                                                  \
    TAKE("libhipblas", name,                                                                                              \
         (OPERATIONS, const void *a, int a_type, int lda, int64_t step_a, const void *b, int b_type, int ldb,             \
          int64_t step_b, const void *beta, void *c, int c_type, int ldc, int64_t step_c, int count, int compute,        \
          int algo),                                                                                                      \
         (FORWARDED, a, a_type, lda, step_a, b, b_type, ldb, step_b, beta, c, c_type, ldc, step_c, count, compute, algo), \
         c, of_hipblas(&p, handle), SIZES, a_type, b_type, c_type, compute, lda, ldb, ldc, count, step_a, step_b, step_c)
EX(hipblasGemmEx)
EX(hipblasGemmEx_v2)
STRIDED_EX(hipblasGemmStridedBatchedEx)
STRIDED_EX(hipblasGemmStridedBatchedEx_v2)

/* hipBLASLt: a description does not say its types, so they are noted where it is made. */
static struct noted { struct noted *next; void *description; int compute, scale; } *descriptions;

EXPORT int hipblasLtMatmulDescCreate(void **out, int compute, int scale);
static struct taken taken_create __attribute__((section("taken"), used)) = {
    "hipblasLtMatmulDescCreate", WHERE("libhipblaslt"), (void *)hipblasLtMatmulDescCreate, NULL};
int hipblasLtMatmulDescCreate(void **out, int compute, int scale) {
    int (*theirs)(void **, int, int) = (int (*)(void **, int, int))theirs_of(&taken_create);
    if (!theirs) return missing("hipblasLtMatmulDescCreate");
    int status = theirs(out, compute, scale);
    struct noted *note;
    pthread_mutex_lock(&lock);
    for (note = descriptions; note && !status && note->description != *out; note = note->next) {}
    if (!status && !note && (note = malloc(sizeof *note))) note->next = descriptions, descriptions = note;
    if (!status && note) note->description = *out, note->compute = compute, note->scale = scale;
    pthread_mutex_unlock(&lock);
    return status;
}

static int64_t attribute(int of_layout, void *what, int which, size_t size) {
    int64_t value = 0;
    size_t written;
    int status = of_layout ? OF("libhipblaslt", hipblasLtMatrixLayoutGetAttribute, what, which, &value, size, &written)
                           : OF("libhipblaslt", hipblasLtMatmulDescGetAttribute, what, which, &value, size, &written);
    return status ? -1 : value;
}

enum { TRANS_A, TRANS_B, EPILOGUE, A_SCALE = 5, D_SCALE = 8, POINTER_MODE = 13, NO_EPILOGUE = 1 };
enum { BATCH, STEP, TYPE, ORDER, ROWS, COLUMNS, LD };

static int of_lt(struct product *p, void *description, void *const *layouts, void *c, void *d) {
    struct noted *note;
    pthread_mutex_lock(&lock);
    for (note = descriptions; note && note->description != description; note = note->next) {}
    pthread_mutex_unlock(&lock);
    if (!note || note->scale != (note->compute == 9 ? 10 : 0)) return 0; /* sums and scalars: i32, or f32 */
    if (attribute(0, description, EPILOGUE, 4) != NO_EPILOGUE || attribute(0, description, POINTER_MODE, 4)) return 0;
    for (int scale = A_SCALE; scale <= D_SCALE; ++scale) if (attribute(0, description, scale, 8)) return 0;
    int64_t *s = p->shape;
    void *matrices[] = {layouts[0], layouts[1], layouts[3]};
    for (int i = 0; i < 3; ++i) {
        if (attribute(1, matrices[i], ORDER, 4)) return 0;
        s[TYPE_A + i] = attribute(1, matrices[i], TYPE, 4), s[LD_A + i] = attribute(1, matrices[i], LD, 8);
        s[STRIDE_A + i] = attribute(1, matrices[i], STEP, 8);
    }
    if (c == d && s[LD_C] != attribute(1, layouts[2], LD, 8)) return 0;
    s[OP_A] = attribute(0, description, TRANS_A, 4), s[OP_B] = attribute(0, description, TRANS_B, 4);
    s[M] = attribute(1, matrices[2], ROWS, 8), s[N] = attribute(1, matrices[2], COLUMNS, 8);
    s[K] = attribute(1, matrices[0], s[OP_A] == AS_IT_IS ? COLUMNS : ROWS, 8);
    s[COUNT] = attribute(1, matrices[2], BATCH, 4), s[COMPUTE] = note->compute;
    for (int i = 0; i < 3 && s[COUNT] == 1; ++i) s[STRIDE_A + i] = 0;
    return 1;
}

TAKE("libhipblaslt", hipblasLtMatmul,
     (void *handle, void *description, const void *alpha, const void *a, void *layout_a, const void *b, void *layout_b,
      const void *beta, void *c, void *layout_c, void *d, void *layout_d, const void *algorithm, void *space, size_t size,
      void *stream),
     (handle, description, alpha, a, layout_a, b, layout_b, beta, c, layout_c, d, layout_d, algorithm, space, size,
      stream), d,
     (p.stream = stream, of_lt(&p, description, (void *[]){layout_a, layout_b, layout_c, layout_d}, c, d)), 0)
