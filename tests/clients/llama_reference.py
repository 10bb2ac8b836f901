"""What llama.cpp's quantised weights should give on the card, in NumPy: a product and the small llama as a whole.

A block of 32 weights is q * scale + low, with whole q of 4, 5 or 8 bits and the rest in f16. ggml rounds what they are
multiplied by to 8 bits, per block of 32 as well: x = d * p, with d the largest |x| / 127. A block's part of a product:

    scale * d * sum(q * p)  +  low * (sum of the block's x)

Q8_0 has no low; with Q4_0 it is -8 * scale. ggml's CPU backend takes d * sum(p) for the sum of x, so it multiplies the
rounded x by the whole weight: it subtracts 8 from q first, or writes d * sum(p) into its block_q8_1. Its kernels for
cards (quantize.cu, vecdotq.cuh, mmq.cuh) write the sum of x before it was rounded. So there a rounding of x counts q
times, and not q + low / scale times, which is far less as weights lie about zero: products with Q4_0 and Q5_1 come out
several times further from the exact ones. Only the kernel for many columns (more than 8) subtracts Q4_0's 8 first.

In a chain of such products an error grows to a size of its own: one x that is rounded the other way changes some of the
next product's roundings, and soon all. The way of rounding sets the size of a step's error, not its value.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np

Array = np.ndarray[Any, Any]
BLOCK = 32
QUANTISED = ("Q8_0", "Q4_0", "Q5_1")
EPSILON, BASE = 1e-5, 10000.0  # of the norm, of the rotary positions


def f16(values: Array) -> Array:
    return values.astype(np.float16).astype(np.float64)


class Matrix:
    """A matrix of quantised weights, as it lies in a file."""

    def __init__(self, kind: str, data: Array) -> None:
        self.kind, type_ = kind, gguf.GGMLQuantizationType[kind]
        self.exact_weights = gguf.quants.dequantize(data, type_).astype(np.float64)
        raw = np.ascontiguousarray(data).view(np.uint8).reshape(len(data), -1, gguf.GGML_QUANT_SIZES[type_][1])
        halves = np.ascontiguousarray(raw[..., :4]).view(np.float16).astype(np.float64)
        self.scale = halves[..., 0]
        if kind == "Q8_0":
            self.q, self.low = raw[..., 2:].view(np.int8).astype(np.float64), 0 * self.scale
            return
        packed = raw[..., -BLOCK // 2 :]
        self.q = np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.float64)
        if kind == "Q4_0":
            self.low = -8 * self.scale
        else:  # Q5_1
            self.q += 16 * np.unpackbits(raw[..., 4:8], axis=-1, bitorder="little")
            self.low = halves[..., 1]

    def exact(self, x: Array) -> Array:
        return np.asarray(x @ self.exact_weights.T)

    def card(self, x: Array) -> Array:
        """The product with each row of x as ggml's kernels for cards compute it, but for the order of sums."""
        blocks = x.astype(np.float32).reshape(len(x), 1, -1, BLOCK)
        scale = abs(blocks).max(axis=-1) / np.float32(127)
        p = blocks / scale[..., None]
        p = np.trunc(p + np.copysign(np.float32(0.5), p)).astype(np.float64)  # half away from zero
        dot = np.einsum("rbi,nbi->nrb", self.q, p[:, 0])
        d, total = f16(scale), f16(blocks.sum(axis=-1, dtype=np.float64))
        few = len(x) == 1
        if self.kind == "Q8_0" and not few:
            d = scale.astype(np.float64)  # the kernel for many columns keeps it in f32
        if self.kind == "Q4_0" and not few:
            total = d * p.sum(axis=-1)
        scales, lows = self.scale * d, self.low * total
        if self.kind == "Q5_1" and few:
            scales, lows = f16(scales), f16(lows)  # a packed product of halves
        return np.asarray((dot * scales + lows).sum(axis=-1))


def logits(path: Path, kind: str, prompt: list[int], given: list[int], heads: int, way: str) -> Array:
    """Those of each step: of the prompt's last token, then of each given one but the last. way: 'exact' or 'card'."""
    tensors = {t.name: t.data for t in gguf.GGUFReader(path).tensors}
    embedding = tensors.pop("token_embd.weight").astype(np.float64)
    matrices = {name[:-7]: Matrix(kind, data) for name, data in tensors.items() if "norm" not in name}
    layers = 1 + max(int(name.split(".")[1]) for name in matrices if name.startswith("blk."))
    size = embedding.shape[1] // heads
    turn = BASE ** (-np.arange(size // 2) * 2 / size)

    def times(name: str, x: Array) -> Array:
        return np.asarray(getattr(matrices[name], way)(x))

    def norm(x: Array) -> Array:
        return np.asarray(x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON))

    def rotated(x: Array, positions: Array) -> Array:
        pairs = x.reshape(len(x), -1, size // 2, 2)
        turned = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * positions[:, None, None] * turn)
        return np.stack([turned.real, turned.imag], axis=-1).reshape(len(x), -1, size)

    keys: list[list[Array]] = [[] for _ in range(layers)]
    values: list[list[Array]] = [[] for _ in range(layers)]
    found, seen = [], 0
    for after in (prompt, *([token] for token in given[:-1])):
        x, positions = embedding[after], np.arange(seen, seen + len(after))
        seen += len(after)
        for i in range(layers):
            block, n = f"blk.{i}.", len(x)
            normed = norm(x)
            query = rotated(times(block + "attn_q", normed), positions)
            keys[i].append(rotated(times(block + "attn_k", normed), positions))
            values[i].append(times(block + "attn_v", normed).reshape(n, -1, size))
            key, value = np.concatenate(keys[i]), np.concatenate(values[i])
            if way == "card":
                key, value = f16(key), f16(value)
            key, value = (np.repeat(part, heads // part.shape[1], axis=1) for part in (key, value))
            score = np.einsum("nhd,mhd->hnm", query, key) / np.sqrt(size)
            score = np.where(np.arange(seen) <= positions[:, None], score, -np.inf)
            weight = np.exp(score - score.max(axis=-1, keepdims=True))
            weight /= weight.sum(axis=-1, keepdims=True)
            attended = times(block + "attn_output", np.einsum("hnm,mhd->nhd", weight, value).reshape(n, -1))
            if i == layers - 1:  # of the rest only the last token's is asked for, and computed
                x, attended = x[-1:], attended[-1:]
            x = x + attended
            normed = norm(x)
            gate = times(block + "ffn_gate", normed)
            x = x + times(block + "ffn_down", gate / (1 + np.exp(-gate)) * times(block + "ffn_up", normed))
        found.append(times("output", norm(x))[0])
    return np.array(found)
