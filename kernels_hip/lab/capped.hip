// Kernel 5 of the ladder under a cap on its VGPRs (-DVGPRS=96): the compiler spills what does not fit to scratch.
//
// Signature, sizes and launch are kernel 5's.
#ifndef VGPRS
#define VGPRS 256
#endif
#define kernel5 __attribute__((amdgpu_num_vgpr(VGPRS))) lab_capped
#include "../kernel5_lds.hip"
