/* The C side of the simulated HIP runtime: it carries each call to Python and the answer back, and holds no state
   but the dispatcher's address. What follows this text is generated from the declarations in hipgemm.simulated_hip:
   one exported function a HIP call, which packs its arguments into 64-bit words.

   The dispatcher is a ctypes callback, which takes the GIL itself; hip-python released it before the call. */

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))
#define POINTER(value) ((uint64_t)(uintptr_t)(value))
#define NUMBER(value) ((uint64_t)(int64_t)(value))

enum { HIP_NOT_INITIALIZED = 3, HIP_LAUNCH_FAILURE = 719, HIP_NOT_SUPPORTED = 801, HIPRTC_INTERNAL_ERROR = 11 };

/* The answer by which Python says: the user pressed Ctrl-C while this call ran. */
#define INTERRUPTED INT64_MIN

typedef int64_t (*dispatcher)(int32_t call, const uint64_t *arguments);

static dispatcher dispatch;

EXPORT void hipgemm_connect(dispatcher to) { dispatch = to; }

static int64_t forward(int32_t call, const uint64_t *arguments) {
    if (!dispatch) return HIP_NOT_INITIALIZED;
    int64_t answer = dispatch(call, arguments);
    if (answer != INTERRUPTED) return answer;
    raise(SIGINT); /* Python raises KeyboardInterrupt once it is back in its own loop: none may cross this frame. */
    return HIP_LAUNCH_FAILURE;
}

static int missing(const char *name, int code) {
    fprintf(stderr, "hipgemm: the simulated card does not have %s\n", name);
    return code;
}

