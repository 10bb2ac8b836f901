"""Sources of the ladder: its HIP C++ files, and a freestanding `hip/hip_runtime.h` for machines without ROCm."""
