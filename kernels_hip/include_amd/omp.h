// <omp.h> where there is no OpenMP: what its functions say of one thread, by which pragmas that nobody follows are right.
// Names and meaning: OpenMP 3.1, appendix B, "Stubs for Runtime Library Routines".
#if defined(_OPENMP) && __has_include_next(<omp.h>)
#include_next <omp.h>
#else
#pragma once
#include <chrono>
typedef int omp_lock_t;
static inline int omp_get_thread_num() { return 0; }
static inline int omp_get_num_threads() { return 1; }
static inline int omp_get_max_threads() { return 1; }
static inline int omp_get_num_procs() { return 1; }
static inline int omp_in_parallel() { return 0; }
static inline void omp_set_num_threads(int) {}
static inline void omp_set_dynamic(int) {}
static inline void omp_init_lock(omp_lock_t *) {}
static inline void omp_destroy_lock(omp_lock_t *) {}
static inline void omp_set_lock(omp_lock_t *) {}
static inline void omp_unset_lock(omp_lock_t *) {}
static inline double omp_get_wtick() { return 1e-9; }
static inline double omp_get_wtime() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
#endif
