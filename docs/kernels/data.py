"""What the kernels of this folder are given, and what they must answer, in float64 and then rounded."""

import numpy as np

random = np.random.default_rng(0)


def save(**arrays: np.ndarray) -> None:
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)


rows = random.standard_normal((8, 1024), np.float32)
powers = np.exp(rows - rows.max(axis=1, keepdims=True).astype(np.float64))
save(rows=rows, softmax=(powers / powers.sum(axis=1, keepdims=True)).astype(np.float32))

image, weights = random.standard_normal((96, 256), np.float32), random.standard_normal((3, 3), np.float32)
around = np.pad(image.astype(np.float64), 1)
convolved = sum(weights[y, x] * around[y : y + 96, x : x + 256] for y in range(3) for x in range(3))
save(image=image, weights=weights, convolved=np.float32(convolved))

a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((64, 96), (128, 96)))
save(a=a, b=b, product=(a.astype(np.float64) @ b.T.astype(np.float64)).astype(np.float32))

left, right = (random.standard_normal((256, 256), np.float32) for _ in range(2))
save(left=left, right=right, square=(left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32))
