"""hipBLAS on the simulated card, called as a program of C calls it: by address, column by column."""

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

START = """
import ctypes, numpy as np
from hipgemm import simulated_hip
said = []
rt = simulated_hip.install(say=said.append)
blas = ctypes.CDLL(simulated_hip.rocm_path() / "lib" / "libhipblas.so.2")
P, I = ctypes.c_void_p, ctypes.c_int
N, T = 111, 112
handle = P()
assert blas.hipblasCreate(ctypes.byref(handle)) == 0
rng = np.random.default_rng(1)

def on_card(array):
    address = rt.card.memory.allocate(array.nbytes)
    room = np.frombuffer((ctypes.c_uint8 * array.nbytes).from_address(address), array.dtype).reshape(array.shape)
    room[...] = array
    return room

def column_major(rows, columns, ld, dtype):
    "On the card, with its numbers as a rows x columns matrix; what lies between columns is no number."
    stored = np.full((columns, ld), np.nan, dtype)
    stored[:, :rows] = rng.standard_normal((columns, rows))
    there = on_card(stored)
    return there, there[:, :rows].T

def scalar(value, of):
    return ctypes.byref(ctypes.c_float(value)) if of == 4 else (ctypes.c_uint16 * 1)(np.float16(value).view(np.uint16))
"""

CHECK = """
def check(op_a, op_b, m, n, k, pads, alpha, beta, dtype, types, compute, bytes_of_sum, count=1):
    shapes = ((m, k) if op_a == N else (k, m)), ((k, n) if op_b == N else (n, k)), (m, n)
    made = [[column_major(*s, s[0] + pad, dtype) for s, pad in zip(shapes, pads)] for _ in range(count)]
    if beta == 0:
        for x in made:
            x[2][1][...] = np.nan  # not read
    a, b, c = ([x[i] for x in made] for i in range(3))
    olds = [x[1].copy() for x in c]
    lds = [x[0].shape[1] for x in made[0]]
    lists = [on_card(np.array([y[0].ctypes.data for y in x], np.uint64)) for x in (a, b, c)]
    def matrix(i):
        return P(lists[i].ctypes.data), I(types[i]), I(lds[i])
    scales = scalar(alpha, bytes_of_sum), scalar(beta, bytes_of_sum)
    status = blas.hipblasGemmBatchedEx(
        handle, I(op_a), I(op_b), I(m), I(n), I(k), scales[0], *matrix(0), *matrix(1), scales[1], *matrix(2), I(count),
        I(compute), I(160))
    assert status == 0, said
    for (_, x), (_, y), (stored, z), old in zip(a, b, c, olds):
        left, right = (v.astype(np.float64) if op == N else v.astype(np.float64).T for v, op in ((x, op_a), (y, op_b)))
        wanted = alpha * (left @ right) + (beta * old.astype(np.float64) if beta else 0)
        bound = (k + 4) * np.finfo(np.float32).eps * (abs(alpha) * abs(left) @ abs(right) + abs(wanted))
        bound += np.finfo(dtype).eps * abs(wanted)
        assert (abs(z - wanted) <= bound).all()
        assert np.isnan(stored[:, m:]).all()  # what lies between columns is left alone

"""


def test_products_of_float32(run_program: Run) -> None:
    """Both numberings of types; dense and not; with and without what was in C; one and two."""
    run_program(
        START
        + CHECK
        + """
check(T, N, 5, 7, 9, (0, 0, 0), 2.0, 0.0, np.float32, (151, 151, 151), 151, 4)
check(T, N, 33, 4, 17, (3, 0, 2), 1.0, -0.5, np.float32, (0, 0, 0), 2, 4, count=2)
"""
    )


@pytest.mark.slow
def test_products_of_other_types_and_ways_to_lie(run_program: Run) -> None:
    run_program(
        START
        + CHECK
        + """
check(T, N, 4, 3, 0, (1, 1, 0), 1.0, 2.0, np.float32, (0, 0, 0), 2, 4)
check(N, T, 65, 3, 20, (0, 0, 0), 0.5, 0.0, np.float32, (151, 151, 151), 151, 4)
check(T, N, 16, 3, 20, (0, 0, 0), 0.5, 0.0, np.float16, (150, 150, 150), 150, 2)
check(T, N, 300, 301, 5, (0, 1, 0), 0.5, 1.0, np.float32, (151, 151, 151), 151, 4)
"""
    )


def test_what_is_not_there_is_refused_by_name(run_program: Run) -> None:
    run_program(
        START
        + """
one = scalar(1.0, 4)
def ex(types, compute=151, ld=4, at=P(), op=N):
    def matrix(i):
        return at, I(types[i]), I(ld)
    return blas.hipblasGemmEx(at if at.value == 1 else handle, I(op), I(N), I(4), I(4), I(4), one, *matrix(0),
                              *matrix(1), one, *matrix(2), I(compute), I(160))
assert ex((152, 152, 152)) == 7 and "type 152" in said.pop()
assert ex((151, 150, 151)) == 7 and "f32 and f16 to f32" in said.pop()
assert ex((151, 151, 151), compute=160) == 7 and "type 160" in said.pop()
assert ex((151, 151, 151), ld=3) == 3 and "leading dimension of 3" in said.pop()
assert ex((151, 151, 151), op=5) == 10
assert ex((151, 151, 151), at=P(1)) == 1
assert blas.hipblasDestroy(handle) == 0 and blas.hipblasDestroy(handle) == 1 and blas.hipblasDestroy(P()) == 9
"""
    )
