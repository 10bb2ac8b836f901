"""Triton backend: the simulated card for Triton (3.9 or newer), unmodified, with torch or without.

Triton finds it as it finds any backend, by an entry point: `hipgemm simulate` puts the folder above this package on
the path. Code is Triton's AMD backend's for the card that is simulated; only the driver is of here. NumPy arrays and
CPU tensors of torch stand for the card's: kernels reach them where they lie (arrays.py). What measures reads the
simulated clock (bench.py).

    from hipgemm_triton import tensor
    addresses = np.array([tensor(a).data_ptr(), tensor(b).data_ptr()])

It may be loaded by a Python in which hipgemm is not installed, so nothing here imports hipgemm before the library has
put it on the path, at its first call.
"""

from hipgemm_triton.arrays import HostTensor as tensor

__all__ = ["tensor"]
