"""A name for each Parameters, and back: what a user types, and the kernel's symbol in its code object.

    gemm_128x128x8_8x16_l4_g2_s2_nn
         |         |    |  |  |  A and B: n row-major as they are multiplied, t stored transposed
         |         |    |  |  stages
         |         |    |  group
         |         |    lane_rows
         |         thread_rows x thread_columns
         rows x columns x depth

Every other field of Parameters stands before the last word where it is not the default, as a label and a number, or
as a label alone where it is a flag that is set: gemm_128x128x8_8x16_l4_g2_s2_streamk_widthb4_nn. A kernel on the matrix
units says its types first, of A and B and of C, and the tile of a wave in place of a thread's:
gemm_f16_f32_128x128x32_64x64_s1_nn; _g8 after the stages where workgroups go down 8 rows of tiles, _strided where
arguments say how far lines are apart, _streamk as above, _prio where waves that store go first, _half where sums have
16 bits; what it does to C besides alpha and beta stands before the last word, _scales_bias_gelu_gate. A kernel for few
rows (`isa.gemm.gemv`) is a gemv, with the format of the weights between the types where it is another than A's:
gemv_f16_q4_0_f32_1x43_w8. No two kernels ever share a name.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from isa.gemm.gemv.formats import FORMATS
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.vector.parameters import ParameterError, Parameters

_TILE = ("rows", "columns", "depth", "thread_rows", "thread_columns")
_LABELS = {"lane_rows": "l", "group": "g", "stages": "s"}
_TRANS = ("trans_a", "trans_b")
_FORM = "gemm_ROWSxCOLUMNSxDEPTH_THREADROWSxTHREADCOLUMNS_lLANEROWS_gGROUP_sSTAGES_nn"
_TILE_TEXT = re.compile(r"gemm_(\d+)x(\d+)x(\d+)_(\d+)x(\d+)")
_LABEL_TEXT = re.compile(r"_([a-z]+)(\d*)")
_MATRIX_TEXT = re.compile(
    r"gemm_(b?f16|i8|i4|fp8|bf8)_(b?f\d+|i32)_(\d+)x(\d+)x(\d+)_(\d+)x(\d+)_s(\d+)(?:_g(\d+))?"
    r"(_strided|_streamk)?(_prio)?(_half)?(_scales)?(_bias)?(?:_((?!gate_)[a-z]+))?(_gate)?_([nt])([nt])"
)
_GEMV_TEXT = re.compile(
    rf"gemv_(b?f16|i8|fp8|bf8)(?:_({'|'.join(sorted(FORMATS, key=len, reverse=True))}))?_(b?f\d+|i32)"
    r"_(\d+)x(\d+)_w(\d+)(_scales)?(_bias)?(?:_([a-z]+))?"
)
_GEMV_FORM = "gemv_FACTOR_FORMAT_RESULT_ROWSxCOLUMNS_wWAVES"
_MATRIX_FORM = "gemm_FACTOR_RESULT_ROWSxCOLUMNSxDEPTH_WAVEROWSxWAVECOLUMNS_sSTAGES_nn"


def _labelled() -> dict[str, dataclasses.Field[int]]:
    """Label -> field, for all that stand after the tile."""
    fields = [f for f in dataclasses.fields(Parameters) if f.name not in (*_TILE, *_TRANS)]
    return {_LABELS.get(f.name, f.name.replace("_", "")): f for f in fields}


def name_of(p: Parameters | MatrixParameters | GemvParameters) -> str:
    """Its name."""
    if isinstance(p, GemvParameters):
        tile = f"{p.rows}x{p.columns}"
        return "_".join(filter(None, ("gemv", p.factor, p.weights, p.result, tile, f"w{p.waves}", p.epilogue_text)))
    if isinstance(p, MatrixParameters):
        tile = f"{p.rows}x{p.columns}x{p.depth}_{p.wave_rows}x{p.wave_columns}"
        group = f"g{p.group}" if p.group > 1 else ""
        known = {"strided": p.strided, "streamk": p.stream_k, "prio": p.prio, "half": p.half_sums}
        flags = [name for name, holds in known.items() if holds]
        words = filter(None, (p.factor, p.result, tile, f"s{p.stages}", group, *flags, p.epilogue_text, trans_of(p)))
        return f"gemm_{'_'.join(words)}"
    text = f"gemm_{p.rows}x{p.columns}x{p.depth}_{p.thread_rows}x{p.thread_columns}"
    for label, field in _labelled().items():
        value = getattr(p, field.name)
        if field.name in _LABELS or value != field.default:
            text += f"_{label}" if isinstance(field.default, bool) else f"_{label}{value}"
    return f"{text}_{trans_of(p)}"


def trans_of(p: Parameters | MatrixParameters | GemvParameters) -> str:
    """How A and B lie: n row-major as they are multiplied, t stored transposed."""
    return "".join("t" if getattr(p, field) else "n" for field in _TRANS)


def is_name(text: str) -> bool:
    """Whether it is meant to be such a name."""
    return text.startswith(("gemm_", "gemv_"))


def parameters_of(name: str) -> Parameters | MatrixParameters | GemvParameters:
    """The parameters that it names. ParameterError where it names none."""
    if gemv := _GEMV_TEXT.fullmatch(name):
        factor, weights, result, *numbers, scales, bias, activation = gemv.groups()
        rows, columns, waves = map(int, numbers)
        return GemvParameters(
            rows, columns, waves, factor, weights or "", result, bool(bias), bool(scales), activation or ""
        )
    if matrix := _MATRIX_TEXT.fullmatch(name):
        factor, result, *numbers, group, places, prio, half, scales, bias, activation, gate, a, b = matrix.groups()
        rows, columns, depth, wave_rows, wave_columns, stages = map(int, numbers)
        return MatrixParameters(
            rows, columns, depth, wave_rows, wave_columns, stages, factor, result, a == "t", b == "t",
            bias=bool(bias), scales=bool(scales), activation=activation or "", gate=bool(gate), group=int(group or 1),
            strided=places == "_strided", stream_k=places == "_streamk", prio=bool(prio), half_sums=bool(half),
        )  # fmt: skip
    labelled = _labelled()
    tile = _TILE_TEXT.match(name)
    pairs = _LABEL_TEXT.findall(name, tile.end(), len(name) - len("_nn")) if tile else []
    if tile and all(label in labelled for label, _ in pairs):
        values: dict[str, Any] = dict(zip(_TILE, map(int, tile.groups()), strict=True))
        for label, number in pairs:
            values[labelled[label].name] = int(number) if number else True
        values |= dict(zip(_TRANS, (letter == "t" for letter in name[-2:]), strict=True))
        found = Parameters(**values)
        if name_of(found) == name:
            return found
    raise ParameterError(
        f"{name} is not the name of a GEMM kernel", expected=f"{_FORM}, {_MATRIX_FORM} or {_GEMV_FORM}", got=name
    )
