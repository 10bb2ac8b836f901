// Runs KERNEL from SOURCE on the host and compares it with sums in double. A, B and C each end at a page that may not
// be touched, and begin right behind one, so that an access outside ends the process.
#include SOURCE
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct Work {
    const float *a, *b;
    float *c;
    int m, n, k;
    float alpha, beta;
    Coordinate block, thread;
};

static void *one_thread(void *argument) {
    Work *w = (Work *)argument;
    blockIdx = w->block;
    threadIdx = w->thread;
    KERNEL(w->a, w->b, w->c, w->m, w->n, w->k, w->alpha, w->beta);
    return nullptr;
}

// `count` floats; at_end: the last touches the guard page, else the first.
static float *guarded(long count, bool at_end) {
    const long page = sysconf(_SC_PAGESIZE), size = (count * 4 + page - 1) / page * page;
    char *all = (char *)mmap(nullptr, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(all + page, size, PROT_READ | PROT_WRITE);
    return (float *)(all + page + (at_end ? size - count * 4 : 0));
}

static float noise() { return (float)rand() / (float)RAND_MAX - 0.5f; }

// The largest |C - reference|, or NaN. With beta == 0, C holds NaN before.
extern "C" double check(int m, int n, int k, float alpha, float beta, int gx, int gy, int bx, int by, int at_end) {
    float *a = guarded((long)m * k, at_end), *b = guarded((long)k * n, at_end), *c = guarded((long)m * n, at_end);
    double *expected = (double *)malloc(sizeof(double) * m * n);
    for (long i = 0; i < (long)m * k; ++i)
        a[i] = noise();
    for (long i = 0; i < (long)k * n; ++i)
        b[i] = noise();
    for (int row = 0; row < m; ++row)
        for (int col = 0; col < n; ++col) {
            double sum = 0;
            for (int i = 0; i < k; ++i)
                sum += (double)a[(long)row * k + i] * b[(long)i * n + col];
            float &before = c[(long)row * n + col];
            before = beta == 0 ? NAN : noise();
            expected[(long)row * n + col] = alpha * sum + (beta == 0 ? 0 : (double)beta * before);
        }

    const int threads = bx * by;
    pthread_t *running = (pthread_t *)malloc(sizeof(pthread_t) * threads);
    Work *work = (Work *)malloc(sizeof(Work) * threads);
    blockDim = {(unsigned)bx, (unsigned)by, 1};
    pthread_barrier_init(&all_threads, nullptr, threads);
    for (unsigned y = 0; y < (unsigned)gy; ++y)
        for (unsigned x = 0; x < (unsigned)gx; ++x) {
            for (unsigned t = 0; t < (unsigned)threads; ++t) {
                work[t] = {a, b, c, m, n, k, alpha, beta, {x, y, 0}, {t % bx, t / bx, 0}};
                if (pthread_create(&running[t], nullptr, one_thread, &work[t]))
                    abort();
            }
            for (int t = 0; t < threads; ++t)
                pthread_join(running[t], nullptr);
        }

    double worst = 0;
    for (long i = 0; i < (long)m * n; ++i) {
        const double error = fabs(c[i] - expected[i]);
        worst = error <= worst ? worst : error; // a NaN goes through
    }
    return worst;
}
