"""Epilogues as terms: the sum of a row of A and a column of B -> the element that is stored, by alpha, beta, bias,
scales and activation.

    s = sum                         of bytes, where C is not int32, as f32
    C = alpha s + beta C            int32
    C = fma(alpha, s, beta C)       f32 without bias, scales and activation; alpha s where beta is 0
    C = round(f(x + bias[j]))       all others, each operation rounded to f32: x is alpha s,
                                    times row_scale[i], times column_scale[j] where there are scales,
                                    fma(beta, C, that) where beta is not 0
                                    with a gate: fma is left out, and round(f(x + bias[j]) C)
    relu(x) = 0 where 0 > x, else x          silu(x) = x / (1 + e^-x)
    gelu(x) = x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3)

e^y is 2^(y log2 e) and x / z is x (1 / z), 2^y and 1 / z as the card's v_exp_f32 and v_rcp_f32 give them; gelu's
exponent is x fma(c1, x x, c0). A bf16 is the upper half of an f32, to nearest even: of its bits + 0x7fff + bit 16, of a
NaN its bits and bit 22.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from isa.prove.definition import halves
from isa.prove.definition.names import Names, add, either, number, sum_of, term
from isa.prove.definition.narrow import SIGNLESS, added, multiplied

VECTORS = ("bias", "row_scale", "column_scale")
_mul, _fma = SIGNLESS["mul"], SIGNLESS["fma"]
_GELU = -2 * math.sqrt(2 / math.pi) * math.log2(math.e)


@dataclass(frozen=True)
class Epilogue:
    """result: type of C: f32, f16, bf16, i32. bias: of N f32; scales: of M and of N f32; activation: "", relu, silu,
    gelu. gate: what C held, whatever beta is."""

    result: str = "f32"
    bias: bool = False
    scales: bool = False
    activation: str = ""
    gate: bool = False

    @property
    def halves(self) -> bool:
        """C has elements of 16 bits."""
        return self.result in ("f16", "bf16")

    @property
    def vectors(self) -> tuple[str, ...]:
        """The arguments after beta."""
        return (("bias",) if self.bias else ()) + (("row_scale", "column_scale") if self.scales else ())

    @property
    def text(self) -> str:
        """The definition, for people."""
        found = "row_scale column_scale " * self.scales + "alpha A B" + " + beta C" * (not self.gate)
        found += " + bias" * self.bias
        found = f"{self.activation}({found})" if self.activation else f"({found})" if self.gate else found
        found += " * C" * self.gate
        return found if self.result in ("f32", "i32") else f"{self.result}({found})"

    @property
    def _plain(self) -> bool:
        return self.result == "f32" and not self.vectors and not self.activation and not self.gate

    def stored(self, sums: Names, alpha: Names, beta: Names | None, c: Names, vectors: dict[str, Names]) -> Names:
        """The names of what is stored, of f32 or i32 sums. beta: None where it is 0; c: what C held; vectors: as they
        broadcast to C."""
        if self.result == "i32":
            scaled = multiplied(alpha, sums)
            return scaled if beta is None else added(scaled, multiplied(beta, c))
        if self._plain:
            return _mul(alpha, sums) if beta is None else _fma(alpha, sums, _mul(beta, c))
        x = _mul(alpha, sums)
        if self.scales:
            x = _mul(_mul(x, vectors["row_scale"]), vectors["column_scale"])
        before = halves.widened(self.result, halves.of_entries(c)) if self.halves else c
        if beta is not None and not self.gate:
            x = _fma(beta, before, x)
        if self.bias:
            x = add(x, vectors["bias"])
        x = self._activated(x)
        x = _mul(before, x) if self.gate else x
        if self.result == "bf16":
            return halves.entries(halves.rounded("bf16", brain(x)))
        return halves.entries(halves.rounded("f16", x)) if self.halves else x

    def _activated(self, x: Names) -> Names:
        if not self.activation:
            return x
        if self.activation == "relu":
            return term("select", term("gt", number(0.0), x), number(0.0), x)
        if self.activation == "silu":
            exponent = _mul(number(-math.log2(math.e)), x)
        else:
            exponent = _mul(x, _fma(number(0.044715 * _GELU), _mul(x, x), number(_GELU)))
        return _mul(x, term("1/", add(term("2^", exponent), number(1.0))))


PLAIN = Epilogue()


def brain(x: Names) -> Names:
    """The f32 whose upper half is x as bf16."""
    odd = term("bits", x, _int(16), _int(1))
    return term("select", term("unordered", x, x), either(x, _int(0x400000)), sum_of(x, odd, _int(0x7FFF)))


def _int(value: int) -> Names:
    return np.array([value, 0], np.uint64).reshape(2, 1, 1)
