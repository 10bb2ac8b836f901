"""Names of C++ kernels, held against the C++ library's own reader of them, which others wrote."""

import ctypes
import re

import pytest

from isa.mangling import meant_by, one_of, source_name, which

SYMBOLS = {
    "_Z6affine6ParamsPKdPd": "affine",
    "_Z5scaleIfLi64EEvPT_S0_": "scale<float, 64>",
    "_ZN1a1b5innerENS0_1QEPf": "a::b::inner",
    "_ZN12_GLOBAL__N_16hiddenEPf": "(anonymous namespace)::hidden",
    "_Z4litsILb1ELj7ELln3ELc120EEvPf": "lits<true, 7u, -3l, (char)120>",
    "_Z4packIJiPfPKdEEvS0_DpT_": "pack<int, float*, double const*>",
    "_ZN1a1b3twoINS0_1VIfEEPS3_Lin3EEEvT_T0_Pf": "a::b::two<a::b::V<float>, a::b::V<float>*, -3>",
    "_ZN1a1b3twoIPNS0_1QEPKS2_Li3EEEvT_T0_Pf": "a::b::two<a::b::Q*, a::b::Q const*, 3>",
    "_ZN1a1b3twoIDF16_Dv4_fLi3EEEvT_T0_Pf": "a::b::two<_Float16, float __vector(4), 3>",
    "_Z3ap2IN1a1b1VINS2_IiEEEE2OpIS4_EEvPT_T0_": "ap2<a::b::V<a::b::V<int> >, Op<a::b::V<a::b::V<int> > > >",
    "_Z3ap2ItSt4pairIttEEvPT_T0_": "ap2<unsigned short, std::pair<unsigned short, unsigned short> >",
}
UNREAD = (
    "saxpy", "_Z", "_Z99a", "_Z1", "_Z5scaleI", "_Z5scaleIS9_E", "_Z11k_bin_bcastIXadL_ZL6op_mulffEEfEvPf", "_ZN",
    "_Z3abcIL",
)  # fmt: skip


def as_the_library_says(symbol: str) -> str:
    """By __cxa_demangle, without the function's type."""
    try:
        library = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        pytest.skip("no libstdc++.so.6 here")
    library.__cxa_demangle.restype = ctypes.c_char_p
    status = ctypes.c_int()
    said = library.__cxa_demangle(symbol.encode(), None, None, ctypes.byref(status))
    if status.value and "DF16_" in symbol:
        pytest.skip("this libstdc++ is older than _Float16")
    assert status.value == 0, symbol
    text = re.sub(r"^void (?=.*\()", "", said.decode())
    depth = 0
    for at, letter in enumerate(text):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and not depth and not text.startswith("(anonymous", at):
            return text[:at]
    return text


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_names_are_those_of_the_source(symbol: str) -> None:
    assert source_name(symbol) == SYMBOLS[symbol].replace("> >", ">>").replace("> >", ">>")
    assert "".join(source_name(symbol).split()) == "".join(as_the_library_says(symbol).split())


@pytest.mark.parametrize("symbol", UNREAD)
def test_what_cannot_be_read_stays_as_it_is(symbol: str) -> None:
    assert source_name(symbol) == symbol


def test_a_name_means_the_one_symbol_that_has_it() -> None:
    two = [symbol for symbol in SYMBOLS if "3two" in symbol]
    assert meant_by("affine", SYMBOLS) == "_Z6affine6ParamsPKdPd"
    assert meant_by("_Z6affine6ParamsPKdPd", SYMBOLS) == "_Z6affine6ParamsPKdPd"
    assert meant_by("scale < float,64 >", SYMBOLS) == meant_by("scale", SYMBOLS) == "_Z5scaleIfLi64EEvPT_S0_"
    assert meant_by("inner", SYMBOLS) == meant_by("a::b::inner", SYMBOLS) == "_ZN1a1b5innerENS0_1QEPf"
    assert meant_by("two<_Float16, float __vector(4), 3>", SYMBOLS) in two
    assert meant_by("a::b::two<a::b::Q*, a::b::Q const*, 3>", SYMBOLS) in two
    assert meant_by("two", SYMBOLS) is meant_by("a::b::two", SYMBOLS) is meant_by("affin", SYMBOLS) is None
    assert which("affin", SYMBOLS) == "did you mean affine?"
    assert one_of([f"k{n}" for n in range(11)]).endswith("k7 and 3 more")
