"""Vector arithmetic (VOP1, VOP2, VOP3, VOPD): RDNA3 ISA guide chapter 7 and 16.7 to 16.12."""

from isa.describe import inst
from isa.values import fma, select

inst("v_mov_b32 =v.b32, a.b32", lambda a: a, unit="valu", vopd="xy")
inst("v_fmac_f32 +v.f32, a.f32, a.f32", lambda d, a, b: fma(a, b, d), unit="valu", vopd="xy")
inst("v_cndmask_b32 =v.b32, a.b32, a.b32, m", lambda a, b, m: select(m, b, a), unit="valu", vopd="xy")
