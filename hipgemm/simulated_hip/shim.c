/* The C side of the simulated HIP runtime: it carries each call to Python and the answer back, and holds no state
   but the dispatcher's address. What follows this text is generated from the declarations in hipgemm.simulated_hip:
   one exported function a HIP call, which packs its arguments into 64-bit words.

   The dispatcher is a ctypes callback, which takes the GIL itself; hip-python released it before the call. It is there
   from hipgemm_connect to hipgemm_disconnect: a program may call earlier, and destructors of C++ call after Python's
   end. Such a call is answered here: hipErrorNotInitialized before, hipErrorDeinitialized afterwards. */

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))
#define POINTER(value) ((uint64_t)(uintptr_t)(value))
#define NUMBER(value) ((uint64_t)(int64_t)(value))

enum {
    HIP_NOT_INITIALIZED = 3, HIP_DEINITIALIZED = 4, HIP_LAUNCH_FAILURE = 719, HIP_NOT_SUPPORTED = 801,
    HIP_UNKNOWN = 999, HIPRTC_INTERNAL_ERROR = 11
};

/* The answer by which Python says: the user pressed Ctrl-C while this call ran. */
#define INTERRUPTED INT64_MIN

typedef int64_t (*dispatcher)(int32_t call, const uint64_t *arguments);

static dispatcher dispatch;
static int64_t without = HIP_NOT_INITIALIZED; /* what a call is answered while there is no dispatcher */

EXPORT void hipgemm_connect(dispatcher to) { dispatch = to; }

EXPORT void hipgemm_disconnect(void) {
    without = HIP_DEINITIALIZED;
    dispatch = NULL;
}

static int64_t forward(int32_t call, const uint64_t *arguments) {
    dispatcher to = dispatch;
    if (!to) return without;
    int64_t answer = to(call, arguments);
    if (answer != INTERRUPTED) return answer;
    raise(SIGINT); /* Python raises KeyboardInterrupt once it is back in its own loop: none may cross this frame. */
    return HIP_LAUNCH_FAILURE;
}

/* The same for a call whose answer is a text: a code is no address, so it is answered by its name. */
static const char *forward_text(int32_t call, const uint64_t *arguments) {
    int64_t answer = forward(call, arguments);
    switch (answer) {
    case HIP_NOT_INITIALIZED: return "hipErrorNotInitialized";
    case HIP_DEINITIALIZED: return "hipErrorDeinitialized";
    case HIP_UNKNOWN: return "hipErrorUnknown";
    case HIP_LAUNCH_FAILURE: return "hipErrorLaunchFailure";
    default: return (const char *)(uintptr_t)answer;
    }
}

static int missing(const char *name, int code) {
    fprintf(stderr, "hipgemm: the simulated card does not have %s\n", name);
    return code;
}

