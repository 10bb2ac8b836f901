"""hipBLAS on the simulated card, called as a program of C calls it: by address, column by column."""

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

START = """
import ctypes, itertools, numpy as np
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
assert ex((153, 153, 153)) == 7 and "type 153" in said.pop()
assert ex((152, 152, 152), ld=3) == 3 and "leading dimension of 3" in said.pop()
assert ex((151, 150, 151)) == 7 and "f32 and f16 to f32" in said.pop()
assert ex((151, 151, 151), compute=160) == 7 and "type 160" in said.pop()
assert ex((151, 151, 151), ld=3) == 3 and "leading dimension of 3" in said.pop()
assert ex((151, 151, 151), op=5) == 10
assert ex((151, 151, 151), at=P(1)) == 1
assert blas.hipblasDestroy(handle) == 0 and blas.hipblasDestroy(handle) == 1 and blas.hipblasDestroy(P()) == 9
"""
    )


def test_other_types_and_vectors_by_a_plain_kernel(run_program: Run) -> None:
    """Against NumPy in the type of the elements; a pointer to what is not the card's is refused."""
    run_program(
        START
        + """
def number(value, dtype):
    return np.array([value], dtype).ctypes.data_as(P)

def random(*shape, dtype):
    return on_card((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype))

def at(array):
    return P(array.ctypes.data)

C = 113
for letter, dtype in (("D", np.float64), ("C", np.complex64), ("Z", np.complex128)):
    near = dict(rtol=1e-5 if letter == "C" else 1e-13, atol=1e-5 if letter == "C" else 1e-13)
    for op_a, op_b, alpha, beta in ((N, N, 1, 0), (T, C, 0.5, -2), (C, T, 2, 1)):
        m, n, k = 7, 9, 5
        turned = {N: lambda x: x, T: lambda x: x.T, C: lambda x: x.conj().T}
        a = random(*((k, m + 1) if op_a == N else (m, k)), dtype=dtype)
        b = random(*((n, k) if op_b == N else (k, n)), dtype=dtype)
        c = random(n, m, dtype=dtype)
        if not beta:
            c[...] = np.nan
        left, right = turned[op_a](a.T[:m] if op_a == N else a.T), turned[op_b](b.T)
        want = alpha * (left @ right) + (beta * c.T if beta else 0)
        status = getattr(blas, f"hipblas{letter}gemm")(
            handle, I(op_a), I(op_b), I(m), I(n), I(k), number(alpha, dtype), at(a), I(a.shape[1]), at(b),
            I(b.shape[1]), number(beta, dtype), at(c), I(m))
        assert status == 0
        assert np.allclose(c.T, want, **near)
    for side, uplo, op, diag in itertools.product((141, 142), (121, 122), (N, T, C), (131, 132)):
        m, n = 6, 9
        size = m if side == 141 else n
        a, b = random(size, size + 1, dtype=dtype), random(n, m + 2, dtype=dtype)
        a[:, :size] += 4 * np.eye(size)
        there, stored = a.T[:size].copy(), a.T[:size]
        stored[np.tril_indices(size, -1) if uplo == 121 else np.triu_indices(size, 1)] = np.nan
        there = np.triu(there) if uplo == 121 else np.tril(there)
        if diag == 132:
            np.fill_diagonal(there, 1)
            stored[np.diag_indices(size)] = np.nan
        turned = {N: there, T: there.T, C: there.conj().T}[op]
        right = 2 * b.T[:m]
        want = np.linalg.solve(turned, right) if side == 141 else np.linalg.solve(turned.T, right.T).T
        assert getattr(blas, f"hipblas{letter}trsm")(
            handle, I(side), I(uplo), I(op), I(diag), I(m), I(n), number(2, dtype), at(a), I(size + 1), at(b),
            I(m + 2)) == 0
        assert np.allclose(b.T[:m], want, rtol=1e-4 if letter == "C" else 1e-11, atol=1e-5)
    a, x, y = random(6, 8, dtype=dtype), random(20, dtype=dtype), random(8, dtype=dtype)
    want = 2 * (a.T @ x[:11:2][::-1]) + y
    assert getattr(blas, f"hipblas{letter}gemv")(handle, I(N), I(8), I(6), number(2, dtype), at(a), I(8), at(x), I(-2),
                                                 number(1, dtype), at(y), I(1)) == 0
    assert np.allclose(y, want, **near)
    end, out = ("c" if letter != "D" else ""), np.zeros(1, dtype)
    assert getattr(blas, f"hipblas{letter}dot{end}")(handle, I(8), at(x), I(1), at(y), I(1), at(out)) == 0
    assert np.allclose(out[0], np.vdot(x[:8], y), **near)
    want = a.T + 3 * np.outer(y, x[:6].conj())
    assert getattr(blas, f"hipblas{letter}ger{end}")(handle, I(8), I(6), number(3, dtype), at(y), I(1), at(x), I(1),
                                                     at(a), I(8)) == 0
    assert np.allclose(a.T, want, **near)
    want = 3 * x[:8] + y
    assert getattr(blas, f"hipblas{letter}axpy")(handle, I(8), number(3, dtype), at(x), I(1), at(y), I(1)) == 0
    assert np.allclose(y, want, **near)
    assert getattr(blas, f"hipblas{letter}scal")(handle, I(8), number(0.5, dtype), at(y), I(1)) == 0
    assert np.allclose(y, want / 2, **near)
    norm = np.zeros(1, np.float32 if letter == "C" else np.float64)
    name = {"D": "D", "C": "Sc", "Z": "Dz"}[letter]
    assert getattr(blas, f"hipblas{name}nrm2")(handle, I(20), at(x), I(1), at(norm)) == 0
    assert np.allclose(norm[0], np.linalg.norm(x), **near)

systems = [on_card(np.tril(rng.standard_normal((4, 4))).astype(np.float32) + 3 * np.eye(4, dtype="f")) for _ in "ab"]
results = [on_card(rng.standard_normal((5, 4)).astype(np.float32)) for _ in "ab"]
want = [np.linalg.solve(a.T, b.T) for a, b in zip(systems, results)]
lists = [on_card(np.array([x.ctypes.data for x in each], np.uint64)) for each in (systems, results)]
assert blas.hipblasStrsmBatched(handle, I(141), I(121), I(N), I(131), I(4), I(5), number(1, np.float32), at(lists[0]),
                                I(4), at(lists[1]), I(4), I(2)) == 0
assert all(np.allclose(b.T, w, rtol=1e-4, atol=1e-5) for b, w in zip(results, want))
assert blas.hipblasStrsm(handle, I(1), I(121), I(N), I(131), I(4), I(5), number(1, np.float32), at(systems[0]), I(4),
                         at(results[0]), I(4)) == 10

a, b = (on_card(rng.integers(-128, 128, s).astype(np.int8)) for s in ((9, 12), (5, 12)))
c = on_card(np.zeros((5, 9), np.int32))
one, none = number(1, np.int32), number(0, np.int32)
want = b.astype(np.int32) @ a.astype(np.int32).T
assert blas.hipblasGemmEx(handle, I(T), I(N), I(9), I(5), I(12), one, at(a), I(3), I(12), at(b), I(3), I(12), none,
                          at(c), I(10), I(9), I(9), I(160)) == 0
assert (c == want).all()
c[...] = 0
lt, shapes = ctypes.CDLL(simulated_hip.rocm_path() / "lib" / "libhipblaslt.so.1"), []
Z = ctypes.c_size_t
for type_, rows, columns in ((3, 12, 9), (3, 12, 5), (10, 9, 5)):
    shapes.append(P())
    assert lt.hipblasLtMatrixLayoutCreate(ctypes.byref(shapes[-1]), I(type_), Z(rows), Z(columns), Z(rows)) == 0
description, turned = P(), ctypes.c_int(T)
assert lt.hipblasLtMatmulDescCreate(ctypes.byref(description), I(9), I(10)) == 0
assert lt.hipblasLtMatmulDescSetAttribute(description, I(0), ctypes.byref(turned), Z(4)) == 0
def multiply():
    return lt.hipblasLtMatmul(handle, description, one, at(a), shapes[0], at(b), shapes[1], none, at(c), shapes[2],
                              at(c), shapes[2], None, None, Z(0), None)
assert multiply() == 0
assert (c == want).all()
assert lt.hipblasLtMatmulDescSetAttribute(description, I(0), ctypes.byref(ctypes.c_int(N)), Z(4)) == 0
assert multiply() == 3 and "9" in said.pop(), "of shapes that do not fit"
assert lt.hipblasLtMatmulDescSetAttribute(description, I(2), ctypes.byref(turned), Z(4)) == 7 and said.pop()
host = np.zeros((5, 9), np.int32)
assert blas.hipblasGemmEx(handle, I(T), I(N), I(9), I(5), I(12), one, P(8), I(3), I(12), at(b), I(3), I(12), none,
                          at(host), I(10), I(9), I(9), I(160)) != 0
"""
    )
