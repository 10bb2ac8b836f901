"""Operators that torch has for a CUDA device alone: cells of LSTM and GRU, their gates -> the next state and gradients,
by its other operators on the card; and whether a loss is a vendor's library's.

What goes from the
forward to the backward call ("workspace") is theirs alone.
"""

from __future__ import annotations

from typing import Any

import torch


def _gates(given: Any, bias: Any, count: int) -> Any:
    return (given if bias is None else given + bias).chunk(count, 1)


def lstm(of_input: Any, of_hidden: Any, c: Any, input_bias: Any = None, hidden_bias: Any = None) -> Any:
    pairs = zip(_gates(of_input, input_bias, 4), _gates(of_hidden, hidden_bias, 4), strict=True)
    i, f, g, o = (x + y for x, y in pairs)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    after = f * c + i * g
    return o * after.tanh(), after, torch.cat([i, f, g, o], 1)


def lstm_backward(of_h: Any, of_c: Any, c: Any, after: Any, workspace: Any, has_bias: bool) -> Any:
    i, f, g, o = workspace.chunk(4, 1)
    t = after.tanh()
    of_h = torch.zeros_like(after) if of_h is None else of_h
    of_after = of_h * o * (1 - t * t) + (0 if of_c is None else of_c)
    each = (of_after * g * i * (1 - i), of_after * c * f * (1 - f), of_after * i * (1 - g * g), of_h * t * o * (1 - o))
    gates = torch.cat(each, 1)
    return gates, of_after * f, gates.sum(0) if has_bias else None


def gru(of_input: Any, of_hidden: Any, h: Any, input_bias: Any = None, hidden_bias: Any = None) -> Any:
    (ir, iz, ig), (hr, hz, hg) = _gates(of_input, input_bias, 3), _gates(of_hidden, hidden_bias, 3)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    g = (ig + r * hg).tanh()
    return g + z * (h - g), torch.cat([r, z, g, h, hg], 1)


def gru_backward(of_after: Any, workspace: Any, has_bias: bool) -> Any:
    r, z, g, h, hg = workspace.chunk(5, 1)
    of_g = of_after * (1 - z) * (1 - g * g)
    of_r, of_z = of_g * hg * r * (1 - r), of_after * (h - g) * z * (1 - z)
    of_input, of_hidden = torch.cat([of_r, of_z, of_g], 1), torch.cat([of_r, of_z, of_g * r], 1)
    sums = (of_input.sum(0), of_hidden.sum(0)) if has_bias else (None, None)
    return of_input, of_hidden, of_after * z, *sums


LIBRARY = torch.library.Library("aten", "IMPL")
"""Registered for as long as this lives."""
for _name, _cell in {
    "_thnn_fused_lstm_cell": lstm, "_thnn_fused_lstm_cell_backward_impl": lstm_backward,
    "_thnn_fused_gru_cell": gru, "_thnn_fused_gru_cell_backward": gru_backward,
}.items():  # fmt: skip
    LIBRARY.impl(_name, _cell, "CUDA")
for _name in ("_use_cudnn_ctc_loss", "_use_miopen_ctc_loss"):
    for _overload in ("", ".Tensor"):
        LIBRARY.impl(_name + _overload, lambda *ignored: False, "CUDA")
