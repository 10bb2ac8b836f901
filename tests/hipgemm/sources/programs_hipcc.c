#include <stdio.h>
#include <stdlib.h>
typedef struct { unsigned x, y, z; } dim3;
typedef struct { unsigned magic, version; const void *image; void *unused; } wrapper;
void **__hipRegisterFatBinary(const void *);
void __hipUnregisterFatBinary(void **);
void __hipRegisterFunction(void **, const void *, const char *, const char *, unsigned, void *, void *, void *, void *,
                           int *);
void __hipRegisterVar(void **, void *, const char *, const char *, int, size_t, int, int);
int __hipPushCallConfiguration(dim3, dim3, size_t, void *);
int __hipPopCallConfiguration(dim3 *, dim3 *, size_t *, void **);
int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int hipMalloc(void **, size_t), hipMemcpy(void *, const void *, size_t, int), hipGetLastError(void);
int hipMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int hipMemcpyFromSymbol(void *, const void *, size_t, size_t, int), hipGetSymbolSize(size_t *, const void *);
int hipFuncGetAttributes(void *, const void *);

static void stub(int *out, int factor) {  // as hipcc writes it
    dim3 grid, block; size_t lds; void *stream; void *arguments[] = {&out, &factor};
    __hipPopCallConfiguration(&grid, &block, &lds, &stream);
    hipLaunchKernel((void *)stub, grid, block, arguments, lds, stream);
}
static int offset, table[4], unknown;
static void **module;
static wrapper w = {0x48495046, 1, NULL, NULL};
static char *image;
__attribute__((constructor)) static void before_main(void) {
    FILE *file = fopen(getenv("IMAGE"), "rb");
    image = malloc(1 << 20);
    fread(image, 1, 1 << 20, file);
    w.image = image;
    module = __hipRegisterFatBinary(&w);
    __hipRegisterFunction(module, (void *)stub, "f", "f", -1, 0, 0, 0, 0, 0);
    __hipRegisterVar(module, &offset, "offset", "offset", 0, 4, 0, 0);
    __hipRegisterVar(module, table, "table", "table", 0, 16, 0, 0);
}
int main(void) {
    int *d, h[8], five = 5, got[4]; size_t size;
    printf("%d", hipMalloc((void **)&d, sizeof h));
    printf(" %d", hipMemcpyToSymbol(&offset, &five, 4, 0, 1));
    dim3 grid = {1, 1, 1}, block = {8, 1, 1};
    if (!__hipPushCallConfiguration(grid, block, 0, NULL)) stub(d, 100);
    printf(" %d", hipGetLastError());
    hipMemcpy(h, d, sizeof h, 2);
    printf(" | %d %d %d", h[0], h[1], h[7]);
    printf(" | %d", hipMemcpyFromSymbol(got, table, 8, 8, 2));
    printf(" %d %d", got[1], hipGetSymbolSize(&size, table));
    printf(" %zu", size);
    printf(" | %d", hipMemcpyToSymbol(&offset, &five, 4, 1, 1));
    printf(" %d", hipGetLastError());
    printf(" %d", hipMemcpyToSymbol(&unknown, &five, 4, 0, 1));
    printf(" %d", hipLaunchKernel(&unknown, grid, block, NULL, 0, NULL));
    printf(" %d", hipMemcpyToSymbol(&offset, &five, 4, 0, 2));
    __hipUnregisterFatBinary(module);
    printf(" | %d\n", hipLaunchKernel((void *)stub, grid, block, NULL, 0, NULL));
    return 7;
}
__attribute__((destructor)) static void after_main(void) { void *d; printf("after %d\n", hipMalloc(&d, 4)); }
