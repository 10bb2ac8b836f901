"""A small llama with random weights, by llama.cpp on the card and on its CPU backend: `make clients`.

    python llama_generate.py --json FILE

For each type of weights a GGUF file is written. The prompt and then 32 tokens, the likeliest each time, are computed
with no layer on the card; then with all, from the same tokens, and the logits of each step are compared. The error is
that of ggml's own tests, the sum of squared differences over the sum of squares, and so is the bound, 5e-4, which is
the one for products with quantised matrices: both backends round what they are multiplied by to 8 bits, each in its
way. The card must choose the same tokens, but where the two best of the CPU lie closer together than twice that error.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import cyllama.llama.llama_cpp as llama
import gguf
import numpy as np

WIDTH, LAYERS, HEADS, KV_HEADS, FEED_FORWARD, VOCABULARY = 256, 2, 4, 2, 512, 512
PROMPT = [1, *range(300, 315)]
TOKENS = 32
MOST = 5e-4
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


def compared(path: Path, kind: str) -> dict[str, Any]:
    """A row of the table."""
    write(path, kind)
    cpu, reference = generate(path, layers=0)
    start = time.perf_counter()
    card, logits = generate(path, layers=99, given=cpu)
    seconds = time.perf_counter() - start
    errors = ((logits - reference) ** 2).sum(axis=1) / (reference**2).sum(axis=1)
    best = np.sort(reference, axis=1)
    close = best[:, -1] - best[:, -2] <= 2 * abs(logits - reference).max(axis=1)
    same = [a == b for a, b in zip(card, cpu, strict=True)]
    right = all(s or near for s, near in zip(same, close, strict=True)) and bool(errors.max() <= MOST)
    return {"kind": kind, "same": sum(same), "error": float(errors.max()), "seconds": seconds, "right": right}


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
