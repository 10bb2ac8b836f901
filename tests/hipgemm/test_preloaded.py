"""A program's matrix products, taken by the library for LD_PRELOAD: which kernel, and what --verify finds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from answer_schemas import check_answer
from numpy.lib.stride_tricks import as_strided
from test_programs import ROOT, embeds, program

from hipgemm.product.preloaded import Asked, Card, Planner, compared, plan_of
from hipgemm.simulated_hip import rocm_path
from isa.errors import IsaError
from isa.toolchain import build_host_library

CARD = Card("7900 XTX", "gfx1100", 96)
N, T = 111, 112
F32, F16, I8, I32 = 151, 150, 160, 162
HOST = Path(__file__).with_name("host")


def asked(
    types: tuple[int, int, int] = (F32, F32, F32), compute: int = F32, ops: tuple[int, int] = (N, N), ld: int = 0,
    count: int = 1,
) -> Asked:  # fmt: skip
    m, n, k = 24, 16, 8
    lines = tuple(x + ld for x in (m if ops[0] == N else k, k if ops[1] == N else n, m))
    strides = (1000, 2000, 3000) if count > 1 else (0, 0, 0)
    return Asked(ops, (m, n, k), types, compute, lines, count, strides)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "trans", "grid_z"),
    [
        (asked(), "nn", 1),
        (asked(ops=(T, N)), "nt", 1),  # C^T = op(B)^T op(A)^T
        (asked(ops=(N, T)), "tn", 1),
        (asked((F16, F16, F32)), "nn", 1),
        (asked((2, 2, 2), 2, ld=5), "nn", 1),
        (asked((I8, I8, I32), I32, (T, N), count=7), "nt", 7),
    ],
    ids=lambda x: str(x),
)
def test_a_product_as_the_libraries_have_it_is_a_launch(given: Asked, trans: str, grid_z: int) -> None:
    row, launch = plan_of(given, CARD)
    m, n, k = given.sizes
    assert (row.trans, launch.sizes, launch.grid[2]) == (trans, (n, m, k), grid_z)
    if launch.batch:
        a, b, c = given.lines
        assert launch.batch.lines == (b, a, c)


@pytest.mark.parametrize(
    "given",
    [asked(ld=1), asked(count=2), asked((152, 152, 152), 152), asked((F16, F16, F16), I32), asked((F32, F32, F16))],
    ids=lambda x: str(x),
)
def test_what_no_kernel_does_is_passed_on_and_counted(given: Asked, tmp_path: Path) -> None:
    with pytest.raises(IsaError):
        plan_of(given, CARD)
    planner = Planner(CARD, tmp_path / "counts")
    words = [*given.operations, *given.sizes, *given.types, given.compute, *given.lines, given.count, *given.strides]
    assert planner.answer(f"plan {' '.join(map(str, words))}\n") == "0"
    assert planner.seen()[0].why


@pytest.mark.parametrize("types", [(F32, F32, F32), (F16, F16, F16), (I8, I8, I32)], ids=str)
@pytest.mark.parametrize("ops", [(N, N), (T, T)], ids=str)
def test_verified_products_differ_by_rounding_only(types: tuple[int, int, int], ops: tuple[int, int]) -> None:
    """One of 8 products of a sum left out, and a byte between two columns, are found."""
    given = asked(types, I32 if types[0] == I8 else F32, ops, ld=3, count=2)
    rng = np.random.default_rng(0)
    factor, result = (np.dtype(x.dtype) for x in (given.elements.of_factor, given.elements.of_result))
    spans, views = [], []
    for i, (rows, columns) in enumerate(given.stored):
        ld, step = given.lines[i], given.strides[i]
        spans.append((30 * rng.standard_normal(step + ld * (columns - 1) + rows)).astype(result if i == 2 else factor))
        size = spans[i].itemsize
        views.append([as_strided(spans[i][j * step :], (rows, columns), (size, ld * size)) for j in range(2)])
    before = spans[2].copy()

    def product(lost: int, order: int) -> np.ndarray:
        """C, of sums forwards or backwards."""
        out = before.copy()
        for j in range(2):
            a, b = (x[j].T if op == T else x[j] for x, op in zip(views, ops, strict=False))
            to = as_strided(out[j * given.strides[2] :], views[2][j].shape, views[2][j].strides)
            wide = np.float32 if factor.kind == "f" else np.int64
            sums = 2 * (a.astype(wide)[:, ::order] @ b.astype(wide)[::order]) - to.astype(wide)
            if lost and j:
                sums[3, 2] -= 2 * a[3, 7].astype(wide) * b[7, 2].astype(wide)
            to[...] = sums.astype(result)
        return out

    def said(ours: np.ndarray, theirs: np.ndarray) -> str:
        return compared(given, 2, -1, b"".join(x.tobytes() for x in (*spans[:2], before, ours, theirs)))

    ours, theirs = product(0, 1), product(0, -1)
    assert not said(ours, theirs)
    assert said(product(1, 1), theirs).startswith("1 of 384 elements differ, first (3, 2)")
    ours[given.sizes[0]] += 1
    assert said(ours, theirs) == "bytes between the columns of C changed"


@pytest.mark.parametrize("compute", [F16, F32])
def test_sums_of_16_bits_are_asked_for_or_wrong(compute: int) -> None:
    m, n, k = 8, 8, 64
    given = Asked((N, N), (m, n, k), (F16, F16, F16), compute, (m, k, m), 1, (0, 0, 0))
    a, b = (np.random.default_rng(0).standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
    rough = np.zeros((m, n), np.float16)
    for i in range(k):
        rough = (rough + a[:, i : i + 1] * b[i]).astype(np.float16)
    fine = (a.astype(np.float64) @ b).astype(np.float16)
    said = compared(given, 1, 0, b"".join(x.tobytes(order="F") for x in (a, b, rough, fine, rough)))
    assert bool(said) == (compute == F32)
    fine[1, 1] += 8
    assert compared(given, 1, 0, b"".join(x.tobytes(order="F") for x in (a, b, rough, fine, rough)))


VENDOR = """
int rocblas_get_pointer_mode(void *handle, int *mode) { *mode = 0; return handle != handle_made; }
int rocblas_get_stream(void *handle, void **stream) { *stream = 0; return handle != handle_made; }
"""
CALLS = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int hipMalloc(void *, size_t), hipMemcpy(void *, const void *, size_t, int);
int rocblas_create_handle(void **), rocblas_set_stream(void *, void *);
int rocblas_sgemm(void *, int, int, int, int, int, const float *, const void *, int, const void *, int, const float *,
                  void *, int);
enum { M = 24, N = 16, K = 8 };
static void *card(const void *from, size_t size) {
    void *there;
    if (hipMalloc(&there, size) || hipMemcpy(there, from, size, 1)) exit(9);
    return there;
}
int main(int argc, char **argv) {
    void *handle;
    float a[M * K], b[K * N], c[M * N], alpha = 2, beta = 0, other;
    signed char bytes[M * K];
    for (int i = 0; i < M * K; ++i) a[i] = i % 7 - 3, bytes[i] = i % 5 - 2;
    for (int i = 0; i < K * N; ++i) b[i] = i % 5 - 2;
    for (int i = 0; i < M * N; ++i) c[i] = 100;
    void *da = card(a, sizeof a), *db = card(b, sizeof b), *dc = card(c, sizeof c);
    if (rocblas_create_handle(&handle) || rocblas_set_stream(handle, handle)) return 8;
    for (int i = 0; i < 3; ++i)
        if (rocblas_sgemm(handle, 111, 111, M, N, K, &alpha, da, M, db, K, &beta, dc, M)) return 7;
    if (hipMemcpy(c, dc, sizeof c, 2)) return 6;
    for (int j = 0; j < N; ++j)
        for (int i = 0; i < M; ++i) {
            float sum = 0;
            for (int k = 0; k < K; ++k) sum += a[i + k * M] * b[k + j * K];
            if (c[i + j * M] != 2 * sum) return 5;
        }
    int (*found)() = (int (*)())dlsym(dlopen(argv[1], RTLD_NOW), "rocblas_gemm_ex"), one = 1, none = 0;
    void *bytes_there = card(bytes, sizeof bytes);
    if (found(handle, 112, 111, 16, 16, 8, &one, bytes_there, 160, 8, bytes_there, 160, 8, &none, dc, 162, 16, dc, 162,
              16, 162, 0, 0, 0u)) return 4;
    int doubles = found(handle, 111, 111, 9, 9, 9, &one, da, 152, 9, db, 152, 9, &none, dc, 152, 9, dc, 152, 9, 152, 0,
                        0, 0u);
    if (doubles != 1) return 3; /* the vendor's answer */
    puts("right");
    return 0;
}
"""


@embeds
def test_a_program_whose_products_are_taken_and_verified(tmp_path: Path) -> None:
    """Linked calls and those found by dlsym; a vendor's that computes something else is told."""
    text = (HOST / "rocblas.c").read_text() + VENDOR
    for name, wrong in (("right", ""), ("wrong", "sum += 1e-3f;")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "products.h").write_text((HOST / "products.h").read_text())
        (folder / "rocblas.c").write_text(text.replace("float *out = c + i", f"{wrong} float *out = c + i"))
        library = folder / "librocblas.so.5"
        build_host_library(folder / "rocblas.c", library, ("-O2", "-Wl,-soname,librocblas.so.5"))
        made = program(CALLS, folder, f"-L{rocm_path() / 'lib'}", "-lamdhip64", str(library), "-ldl", "-w")
        options = ["--verify"] if wrong else ["--verify", "--json"]
        command = [sys.executable, "-m", "hipgemm", "blas", *options, "--", made, str(library)]
        env = {**os.environ, "PYTHONPATH": str(ROOT), "LD_LIBRARY_PATH": str(folder)}
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=600, check=False)
        assert done.returncode == (1 if wrong else 0), done.stderr
        if not wrong:
            found = json.loads(done.stdout)
            check_answer("blas", found)
            assert "right\n" in done.stderr
            assert [sum(one[key] for one in found["products"]) for key in ("ours", "calls")] == [4, 5]
            assert not any(one["wrong"] for one in found["products"])
            continue
        assert done.stdout == "right\n", done.stderr
        assert "4 of 5 products by hipgemm's kernels" in done.stderr, done.stderr
        assert "3 of 3" in done.stderr
        assert "384 of 384 elements differ" in done.stderr
