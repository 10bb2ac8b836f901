"""`hipgemm.gemm` with any library's arrays, on the host or the device, however they lie: against BLAS's rules in
float64, on a card whose kernels are Python functions; on the simulated card; with PyTorch."""

import numpy as np
import pytest

import hipgemm
from hipgemm import Weights
from hipgemm.measure.device import Device
from hipgemm.product.arrays import Matrix, view
from hipgemm.product.compute import element_copy
from hipgemm.product.places import DeviceArray


@pytest.fixture(scope="module")
def device() -> Device:
    return Device.open("simulated")


def on(device: Device, array: np.ndarray) -> DeviceArray:
    return DeviceArray.of(array, device)


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.int32])
def test_the_copying_kernel_on_the_simulated_card(device: Device, dtype: type) -> None:
    """Any axis order and steps, against NumPy."""
    rng = np.random.default_rng(2)
    x, y = (rng.integers(0, 100, (3, 22, 70)).astype(dtype) for _ in range(2))
    there = on(device, x), on(device, y)
    whole = [view("x", array, (np.dtype(dtype).name,), (3,)).matrix for array in there]
    for take, put in (
        (np.s_[:, ::2, 3:40:3], np.s_[:, 11:, 57:]),
        (np.s_[::-1, 20::-1, :9], np.s_[:, :21, 9:18]),
        (np.s_[1, :, 5], np.s_[0, :, 2]),
    ):
        ends = []
        for array, matrix, part in zip((x, y), whole, (take, put), strict=True):
            assert matrix is not None
            seen = array[part]
            at = matrix.address + seen.__array_interface__["data"][0] - array.__array_interface__["data"][0]
            ends.append(Matrix(at, seen.shape, seen.strides, matrix.itemsize))
        element_copy(device, *ends)
        y[put] = x[take]
    np.testing.assert_array_equal(there[1].numpy(), y)


@pytest.mark.slow
def test_halves_on_the_simulated_card(device: Device) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.uniform(-1, 1, (40, 36)).astype(np.float16), rng.uniform(-1, 1, (50, 36)).astype(np.float16)
    bias = rng.uniform(-1, 1, 50).astype(np.float32)
    name = "gemm_f16_f32_64x64x32_32x32_s1_strided_bias_nt"
    da, db, dc = (on(device, x) for x in (a, b, np.full((44, 56), np.nan, np.float32)))

    class Part:
        """Rows and columns of a device array, from an odd element on."""

        def __init__(self, whole: DeviceArray, down: slice, along: slice) -> None:
            seen = np.empty(whole.shape, whole.dtype)
            part = seen[down, along]
            face = whole.__cuda_array_interface__
            at = face["data"][0] + part.ctypes.data - seen.ctypes.data
            self.__cuda_array_interface__ = {**face, "shape": part.shape, "data": (at, False), "strides": part.strides}

    class Turned(Part):
        def __init__(self, whole: DeviceArray, down: slice, along: slice) -> None:
            super().__init__(whole, down, along)
            for key in ("shape", "strides"):
                self.__cuda_array_interface__[key] = self.__cuda_array_interface__[key][::-1]

    rows, depth, columns = slice(1, 40), slice(3, 36), slice(0, 50)
    c = Part(dc, slice(2, 41), slice(1, 51))
    hipgemm.gemm(
        Part(da, rows, depth), Turned(db, columns, depth), c, bias=on(device, bias), kernel=name, device=device
    )
    got = dc.numpy()
    wanted = a[rows, depth].astype(np.float64) @ b[:, depth].T.astype(np.float64) + bias
    np.testing.assert_allclose(got[2:41, 1:51], wanted, atol=2e-5)
    got[2:41, 1:51] = np.nan
    assert np.isnan(got).all()


def test_weights_on_the_device(device: Device) -> None:
    rng = np.random.default_rng(4)
    x, w = rng.uniform(-1, 1, (1, 256)).astype(np.float16), Weights.quantised(rng.uniform(-1, 1, (20, 256)), "q4_0")
    there = Weights("q4_0", *(on(device, array) for array in w.arrays))
    got = hipgemm.gemm(on(device, x), there, kernel="gemv_f16_q4_0_f32_1x5_w2", device=device)
    np.testing.assert_allclose(got.numpy(), x.astype(np.float64) @ w.numbers().T, rtol=2e-4, atol=1e-4)
    with pytest.raises(ValueError, match=r"different memories"):
        hipgemm.gemm(x, there, device=device)
