"""A small llama with random weights, by llama.cpp on the card and on its CPU backend: `make clients`.

    python llama_generate.py --json FILE

For each type of weights a GGUF file is written. The prompt and then 32 tokens, the likeliest each time, are computed
with no layer on the card; then with all, from the same tokens, and the logits of each step are compared. The error is
that of ggml's own tests, the sum of squared differences over the sum of squares. The card must choose the same tokens,
but where the two best of the CPU lie closer together than twice the largest difference.

With whole floats as weights the bound is ggml's for a product, 5e-4. With quantised ones a step is a chain of some
fifteen roundings to 8 bits, each of which ggml allows that much, and the card's kernels round otherwise than the CPU
(llama_reference.py has the theory), so they are judged by two things that do not come from the simulator:

- a product of each shape in the model, with 1 column and with 16, is the one that NumPy computes by the same algorithm,
  but for the order of sums in f32;
- the steps are as far from the exact ones, of float64 and unrounded x, as NumPy's chain by that algorithm is: the
  median of their errors is at most half as large again.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import cyllama.llama.llama_cpp as llama
import gguf
import numpy as np
from llama_reference import QUANTISED, Matrix
from llama_reference import logits as reference_logits

WIDTH, LAYERS, HEADS, KV_HEADS, FEED_FORWARD, VOCABULARY = 256, 2, 4, 2, 512, 512
PROMPT = [1, *range(300, 315)]
TOKENS = 32
MOST = 5e-4
MOST_PRODUCT = 1e-12
MOST_OF_MODEL = 1.5
SHAPES = ((WIDTH, WIDTH), (WIDTH // HEADS * KV_HEADS, WIDTH), (FEED_FORWARD, WIDTH), (WIDTH, FEED_FORWARD))
TYPES = ("F16", "BF16", "F32", "Q8_0", "Q4_0", "Q5_1")


def write(path: Path, kind: str) -> None:
    """A model as a GGUF file."""
    rng = np.random.default_rng(7)
    out = gguf.GGUFWriter(path, "llama")
    out.add_context_length(256)
    out.add_embedding_length(WIDTH)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(FEED_FORWARD)
    out.add_head_count(HEADS)
    out.add_head_count_kv(KV_HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_vocab_size(VOCABULARY)
    words = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256))]
    words += [f"\u2581w{i}" for i in range(VOCABULARY - len(words))]
    out.add_tokenizer_model("llama")
    out.add_token_list([word.encode() for word in words])
    out.add_token_scores([0.0] * VOCABULARY)
    out.add_token_types([2, 3, 3, *[6] * 256, *[1] * (VOCABULARY - 259)])
    type_ = gguf.GGMLQuantizationType[kind]

    def matrix(name: str, rows: int, columns: int, kind: Any = type_) -> None:
        values = rng.standard_normal((rows, columns), np.float32) * np.float32(columns**-0.5)
        out.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)

    def ones(name: str) -> None:
        out.add_tensor(name, np.ones(WIDTH, np.float32))

    kv = WIDTH // HEADS * KV_HEADS
    matrix("token_embd.weight", VOCABULARY, WIDTH, gguf.GGMLQuantizationType.F32)
    for i in range(LAYERS):
        ones(f"blk.{i}.attn_norm.weight")
        ones(f"blk.{i}.ffn_norm.weight")
        sizes = {"attn_q": WIDTH, "attn_k": kv, "attn_v": kv, "attn_output": WIDTH}
        for name, rows in {**sizes, "ffn_gate": FEED_FORWARD, "ffn_up": FEED_FORWARD}.items():
            matrix(f"blk.{i}.{name}.weight", rows, WIDTH)
        matrix(f"blk.{i}.ffn_down.weight", WIDTH, FEED_FORWARD)
    ones("output_norm.weight")
    matrix("output.weight", VOCABULARY, WIDTH)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


class Model(llama.LlamaModel):  # type: ignore[misc]
    """With the number that cyllama 0.2.18 itself asks for when it copies logits, and lacks."""

    n_vocab = VOCABULARY


def generate(path: Path, layers: int, given: list[int] | None = None) -> tuple[list[int], np.ndarray]:
    """The likeliest token of each step, and the logits. layers: so many on the card; given: what each step goes on
    with, in place of its own token."""
    options = llama.LlamaModelParams()
    options.n_gpu_layers = layers
    model = Model(str(path), options)
    wanted = llama.LlamaContextParams()
    wanted.n_ctx = 256
    wanted.op_offload = wanted.offload_kqv = layers > 0
    context = llama.LlamaContext(model, wanted)
    chosen: list[int] = []
    logits = []
    after, position = PROMPT, 0
    while len(chosen) < TOKENS:
        context.decode(llama.llama_batch_get_one(after, position))
        position += len(after)
        logits.append(np.array(context.get_logits_ith(-1), np.float64))
        chosen.append(int(logits[-1].argmax()))
        after = [given[len(chosen) - 1] if given else chosen[-1]]
    return chosen, np.array(logits)


class Wish(ctypes.Structure):
    """ggml_init_params."""

    _fields_ = (("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool))


class Ggml:
    """Products on the card by ggml's C interface, from the wheel's libraries."""

    def __init__(self) -> None:
        folder = Path(llama.__file__).parents[2] / "cyllama_rocm.libs"
        self.libraries = [ctypes.CDLL(str(path)) for path in folder.glob("libggml-*.so.*")]  # base, and backends' list
        self.backend = self("backend_init_by_name", b"ROCm0", None)

    def __call__(self, name: str, *values: Any) -> Any:
        """Pointers come as whole numbers, and none lies below 2**31."""
        function = next(f for f in (getattr(at, f"ggml_{name}", None) for at in self.libraries) if f)
        function.restype = ctypes.c_void_p
        return function(*(ctypes.c_void_p(v) if isinstance(v, int) and v >= 1 << 31 else v for v in values))

    def product(self, kind: str, weights: np.ndarray, x: np.ndarray) -> np.ndarray:
        """x @ weights.T, weights: the rows' bytes."""
        context = self("init", Wish(1 << 20, None, True))
        type_, long = int(gguf.GGMLQuantizationType[kind]), ctypes.c_int64
        matrix = self("new_tensor_2d", context, type_, long(x.shape[1]), long(len(weights)))
        columns = self("new_tensor_2d", context, 0, long(x.shape[1]), long(len(x)))
        out = self("mul_mat", context, matrix, columns)
        graph = self("new_graph", context)
        self("build_forward_expand", graph, out)
        buffer = self("backend_alloc_ctx_tensors", context, self.backend)
        result = np.empty((len(x), len(weights)), np.float32)
        size = ctypes.c_size_t
        for tensor, values in ((matrix, weights), (columns, x)):
            self("backend_tensor_set", tensor, values.ctypes.data, size(0), size(values.nbytes))
        if self("backend_graph_compute", self.backend, graph):
            raise RuntimeError(f"ggml computed no product with {kind}")
        self("backend_tensor_get", out, result.ctypes.data, size(0), size(result.nbytes))
        self("backend_buffer_free", buffer)
        self("free", context)
        return result


def product_error(kind: str) -> float:
    """The largest error of a product, to the algorithm that the card's kernels are written to."""
    ggml, rng, most = Ggml(), np.random.default_rng(11), 0.0
    for rows, inner in SHAPES:
        weights = rng.standard_normal((rows, inner), np.float32) * np.float32(inner**-0.5)
        stored = np.ascontiguousarray(gguf.quants.quantize(weights, gguf.GGMLQuantizationType[kind]))
        for columns in (1, len(PROMPT)):
            x = rng.standard_normal((columns, inner), np.float32)
            most = max(most, float(errors(ggml.product(kind, stored, x), Matrix(kind, stored).card(x)).max()))
    return most


def errors(found: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Of each row."""
    return np.asarray(((found - reference) ** 2).sum(axis=1) / (reference**2).sum(axis=1))


def compared(path: Path, kind: str) -> dict[str, Any]:
    """A row of the table."""
    write(path, kind)
    cpu, reference = generate(path, layers=0)
    start = time.perf_counter()
    card, logits = generate(path, layers=99, given=cpu)
    seconds = time.perf_counter() - start
    error = float(errors(logits, reference).max())
    best = np.sort(reference, axis=1)
    close = best[:, -1] - best[:, -2] <= 2 * abs(logits - reference).max(axis=1)
    same = [a == b for a, b in zip(card, cpu, strict=True)]
    row = {"kind": kind, "same": sum(same), "error": error, "seconds": seconds}
    right = all(s or near for s, near in zip(same, close, strict=True))
    if kind not in QUANTISED:
        return {**row, "right": right and error <= MOST}
    exact, modelled = (reference_logits(path, kind, PROMPT, cpu, HEADS, way) for way in ("exact", "card"))
    row["exact"], row["modelled"] = (float(np.median(errors(found, exact))) for found in (logits, modelled))
    row["product"] = product_error(kind)
    right &= row["product"] <= MOST_PRODUCT and row["exact"] <= MOST_OF_MODEL * row["modelled"]
    return {**row, "right": right}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--types", nargs="+", default=TYPES, choices=TYPES)
    asked = parser.parse_args()
    llama.disable_logging()
    llama.ggml_backend_load_all()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in asked.types:
            rows.append(compared(Path(folder) / f"{kind}.gguf", kind))
            print(rows[-1], flush=True)
    if asked.json:
        asked.json.write_text(json.dumps({"tokens": TOKENS, "rows": rows}))


if __name__ == "__main__":
    main()
