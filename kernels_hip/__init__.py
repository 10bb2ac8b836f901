"""The HIP C++ sources of the ladder, and a freestanding `hip/hip_runtime.h` for machines without ROCm."""
