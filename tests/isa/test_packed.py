"""What is packed comes back; what is not packed by the classes that a reader names does not."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa import packed


@dataclass(frozen=True)
class Inner:
    value: object


@dataclass(frozen=True, slots=True)
class Outer:
    name: str
    parts: tuple[Inner, ...]


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner) | st.builds(Inner, inner),
)


@given(st.builds(Outer, st.text(), st.lists(st.builds(Inner, _PLAIN)).map(tuple)))
def test_it_comes_back(value):
    assert packed.unpack(packed.pack(value), (Inner, Outer)) == value


def test_a_path_of_any_bytes_comes_back():
    name = bytes(range(1, 256)).decode(errors="surrogateescape")
    assert packed.unpack(packed.pack(Inner(name)), (Inner,)) == Inner(name)


def test_arrays_keep_type_and_shape():
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    back = packed.unpack(packed.pack({"a": array, "n": np.float32(0.5)}), ())
    assert back["n"] == 0.5
    assert back["a"].dtype == np.int16
    np.testing.assert_array_equal(back["a"], array)


@pytest.mark.parametrize("classes", [(), (Outer,), (Inner,)])
def test_a_class_that_is_not_named_is_not_made(classes):
    with pytest.raises(LookupError):
        packed.unpack(packed.pack(Outer("a", (Inner(1),))), classes)


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\xc7\x02\x01\xc0\x00", packed.pack((1, 2))[:-1]])
def test_what_was_cut_or_is_something_else_is_not_read(data):
    with pytest.raises(LookupError):
        packed.unpack(data, (Inner,))


def test_what_has_no_form_is_refused():
    with pytest.raises(TypeError):
        packed.pack({1, 2})
