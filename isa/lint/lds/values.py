"""Numbers of all work-items of a workgroup at once, each known or not: the values that a kernel's code runs on here.

A `Numbers` is a `NumpyValue` (`isa.sim`) whose array has a row for each wave and a column for each lane, or one
column where the number is the same in all lanes of a wave (an SGPR), and beside it which of its bits are known. What is
computed from known numbers is known and exact, floats included; what an unknown bit goes into is unknown, but for the
operations on bits, shifts, conversions between integers, and selections. A bit that is not known is held as 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isa.registers import LANES
from isa.semantics.float_mode import FloatMode
from isa.semantics.reference.exact import DTYPES
from isa.semantics.reference.values import NumpyValue
from isa.semantics.values import DispatchedValue, Number, Value

MODE = FloatMode()
Known = Any
"""All, nothing, or an array in the shape of the numbers: of integers masks of bits, of other types whether it is."""

_MASKS: dict[str, Any] = {f"{s}{n}": DTYPES[f"u{n}"] for s in "ui" for n in (8, 16, 32, 64)}
_WHOLE = {type_: dtype(~dtype(0)) for type_, dtype in _MASKS.items()}
_POWERS = np.uint32(1) << np.arange(LANES, dtype=np.uint32)
_FAILURES = (AssertionError, TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError, KeyError)


class Numbers(DispatchedValue):
    """See the module's docstring. v: the numbers, None where none is known. either: of a mask of lanes that are not all
    known, what it is if the unknown ones hold, and if they do not. shared: it is the only one of its content."""

    __slots__ = ("either", "known", "shared", "type", "v")

    def __init__(self, type_: str, v: NumpyValue | None, known: Known) -> None:
        self.type, self.v, self.known = type_, v, known
        self.either: tuple[Numbers, Numbers] | None = None
        self.shared = False

    @classmethod
    def of(cls, type_: str, array: Any, known: Known = True) -> Numbers:
        """Numbers as an array. known: for all of them, or of their shape."""
        if known is False:
            return unknown(type_)
        if known is True:
            return cls(type_, NumpyValue(type_, array, MODE), True)
        if not known.any():
            return unknown(type_)
        if (known == _whole(type_)).all():
            return cls(type_, NumpyValue(type_, array, MODE), True)
        array = np.asarray(array, DTYPES[type_])
        shape = np.broadcast_shapes(array.shape, known.shape)
        known = np.broadcast_to(known, shape)
        if known.dtype == np.bool_:
            array = np.where(known, array, DTYPES[type_](0))
        else:
            array = np.broadcast_to(array, shape) & known.view(DTYPES[type_])
        return cls(type_, NumpyValue(type_, array, MODE), known)

    @property
    def a(self) -> Any:
        """The numbers; 0 where they are not known."""
        return self.v.a if self.v is not None else DTYPES[self.type](0)

    @property
    def known_whole(self) -> Any:
        """Of which numbers all bits are known: one truth value, or an array."""
        return np.bool_(self.known) if isinstance(self.known, bool) else self.known == _whole(self.type)

    @property
    def content(self) -> tuple[object, ...]:
        """What makes two values the same."""
        if self.v is None:
            return (self.type,)
        known = self.known if isinstance(self.known, bool) else self.known.tobytes()
        return self.type, self.v.a.shape, self.v.a.tobytes(), known

    def __repr__(self) -> str:
        return f"{self.type} {self.a} known {self.known}"

    def __bool__(self) -> bool:
        raise AssertionError("the truth of a value is not known when code is written; use select")

    # --- helpers
    def _other(self, other: Number) -> Numbers:
        if isinstance(other, Numbers):
            return other
        assert isinstance(other, int | float)
        return Numbers(self.type, NumpyValue.scalar(self.type, other, MODE), True)

    @property
    def _bits(self) -> Any:
        """Which bits are known, as a mask or an array of them."""
        whole = _whole(self.type)
        return whole if self.known is True else _nothing(self.type) if self.known is False else self.known

    def operation(self, name: str, *operands: Number, type_: str = "") -> Numbers:
        return self._strict(type_ or self.type, getattr(NumpyValue, name), *operands)

    def _strict(self, type_: str, operation: Callable[..., Value], *others: Number) -> Numbers:
        """An operation whose result is known only where all that goes into it is."""
        operands = (self, *map(self._other, others))
        if any(o.known is False for o in operands):
            return unknown(type_)
        try:
            with np.errstate(all="ignore"):
                result = operation(*(o.v for o in operands))
        except _FAILURES:
            return unknown(type_)
        assert isinstance(result, NumpyValue)
        known: Any = True
        for o in operands:
            if o.known is not True:
                known = known & o.known_whole
        return Numbers(type_, result, True) if known is True else Numbers.of(type_, result.a, _spread(type_, known))

    def _by_bits(self, array: Any, known: Any) -> Numbers:
        """A result of this type, each bit known by itself."""
        return Numbers.of(self.type, array, np.asarray(known))

    def _shifted(self, other: Number, operation: Callable[[Any, Any], Any]) -> Numbers:
        o = self._other(other)
        exact = self._strict(self.type, operation, o)
        if self.known is True or self.known is False or o.known is not True:
            return exact
        # The mask of what is known moves with the number; what comes in from outside is known, but for an unknown sign.
        own = _MASKS[self.type]
        number, mask, ones = (
            operation(NumpyValue(self.type, np.asarray(bits).view(DTYPES[self.type]), MODE), o.v).a
            for bits in (self.a, self.known, np.full_like(self.known, _whole(self.type)))
        )
        return self._by_bits(number, mask.view(own) | ~ones.view(own))

    # --- bits
    def __and__(self, other: Number) -> Numbers:
        o = self._other(other)
        if self.known is True and o.known is True:
            return Numbers(self.type, NumpyValue(self.type, self.a & o.a, MODE), True)
        a, b = self._held, o._held
        return self._by_bits(self.a & o.a, self._bits & o._bits | self._bits & ~a | o._bits & ~b)

    def __or__(self, other: Number) -> Numbers:
        o = self._other(other)
        if self.known is True and o.known is True:
            return Numbers(self.type, NumpyValue(self.type, self.a | o.a, MODE), True)
        return self._by_bits(self.a | o.a, self._bits & o._bits | self._held | o._held)

    def __xor__(self, other: Number) -> Numbers:
        o = self._other(other)
        if self.known is False or o.known is False:
            return unknown(self.type)
        return self._by_bits(self.a ^ o.a, self._bits & o._bits)

    def __invert__(self) -> Numbers:
        return unknown(self.type) if self.known is False else self._by_bits(~self.a, self._bits)

    @property
    def _held(self) -> Any:
        """The bits that are known to be set."""
        return self.a if self.type == "b1" else np.asarray(self.a).view(_MASKS[self.type])

    def __lshift__(self, other: Number) -> Numbers:
        return self._shifted(other, lambda a, b: a << b)

    def __rshift__(self, other: Number) -> Numbers:
        return self._shifted(other, lambda a, b: a >> b)

    def select(self, yes: Number, no: Number) -> Numbers:
        typed = yes if isinstance(yes, Numbers) else no
        assert isinstance(typed, Numbers), "select between two Python numbers has no type"
        y, n = typed._other(yes), typed._other(no)
        if self.known is False:
            return unknown(typed.type)
        return merged(self.a, y, n, self.known)

    # --- conversion
    def bits(self, type_: str) -> Numbers:
        return self._converted(type_, lambda a: a.bits(type_), self._bits)

    def to(self, type_: str) -> Numbers:
        signed = self.type in _MASKS and type_ in _MASKS and self.type[0] == "i"
        known = self._bits.view(DTYPES[self.type]).astype(DTYPES[type_]) if signed else self._bits
        if type_ in _MASKS and self.type in _MASKS and not signed:
            known = known.astype(_MASKS[type_]) | ~_whole(self.type).astype(_MASKS[type_])
        return self._converted(type_, lambda a: a.to(type_), known)

    def _converted(self, type_: str, operation: Callable[..., Any], known: Any) -> Numbers:
        """known: between integers, which bits of the result are."""
        if type_ == self.type:
            return self
        if self.known is True or self.known is False or not (type_ in _MASKS and self.type in _MASKS):
            return self._strict(type_, operation)
        return Numbers.of(type_, operation(self.v).a, np.asarray(known).view(_MASKS[type_]))

    def to_int(self, type_: str) -> Numbers:
        return self._strict(type_, lambda a: a.to_int(type_))

    def primitive(self, name: str, *others: Value, type_: str = "") -> Numbers:
        operands = [o for o in others if isinstance(o, Numbers)]
        return self._strict(type_ or self.type, lambda a, *rest: a.primitive(name, *rest, type_=type_), *operands)

    def call(self, name: str) -> Numbers:
        return self._strict(self.type, lambda a: a.call(name))

    def is_nan(self) -> Numbers:
        return self._strict("b1", lambda a: a.is_nan())

    # --- lanes
    def lane(self, index: Number) -> Numbers:
        i = index if isinstance(index, Numbers) else constant("u32", int(index))  # type: ignore[arg-type]
        if self.known is False or i.known is False:
            return unknown(self.type)
        return self if self.a.ndim == 0 or self.a.shape[1] == 1 else self._taken(_rows(i.a), i.known)

    def _taken(self, index: Any, index_known: Known) -> Numbers:
        """Of each wave the lanes whose numbers stand in its row of `index`."""
        array = np.broadcast_to(self.a, (max(len(self.a), len(index)), LANES))
        index = np.broadcast_to(index.astype(np.int64), (len(array), index.shape[1]))
        known: Known = True
        if self.known is not True:
            known = np.take_along_axis(np.broadcast_to(self.known, array.shape), index, 1)
        if index_known is not True:
            sure = np.broadcast_to(index_known == _whole("u32"), index.shape)
            known = np.where(sure, self._bits if known is True else known, _nothing(self.type))
        return Numbers.of(self.type, np.take_along_axis(array, index, 1), known)

    def with_lane(self, index: Number, value: Number) -> Numbers:
        i = index if isinstance(index, Numbers) else constant("u32", int(index))  # type: ignore[arg-type]
        new = self._other(value)
        if i.known is not True:
            return unknown(self.type)
        rows = np.broadcast_shapes(_rows(self.a).shape, _rows(new.a).shape, _rows(i.a).shape)[0]
        at = np.broadcast_to(_rows(i.a).astype(np.int64), (rows, 1))
        parts = []
        for old, put, dtype in ((self.a, new.a, DTYPES[self.type]), (self._bits, new._bits, _MASKS[self.type])):
            copy = np.broadcast_to(_rows(old), (rows, LANES)).astype(dtype)
            np.put_along_axis(copy, at, np.broadcast_to(_rows(put), (rows, 1)), 1)
            parts.append(copy)
        return Numbers.of(self.type, *parts)

    def shuffle(self, index: Value) -> Numbers:
        assert isinstance(index, Numbers)
        if self.known is False or index.known is False:
            return unknown(self.type)
        if self.a.ndim == 0 or self.a.shape[1] == 1:
            return self
        return self._taken(_rows(index.a), index.known)

    def mask(self) -> Numbers:
        array = np.broadcast_to(_rows(self.a), (len(_rows(self.a)), LANES))
        held = _word(array)
        if self.known is True:
            return held
        result = Numbers("u32", None, False)
        result.either = (_word(array | np.logical_not(self.known)), held)
        return result

    def lanes(self) -> Numbers:
        if self.known is False:
            return unknown("b1")
        array = _rows(self.a) & _POWERS != 0
        return Numbers.of("b1", array, True if self.known is True else _rows(self.known) & _POWERS != 0)


def _rows(array: Any) -> Any:
    """As (waves, lanes)."""
    array = np.asarray(array)
    return array if array.ndim == 2 else array.reshape(1, 1)


def _whole(type_: str) -> Any:
    """All bits of a number as a mask; of a type that is no integer, True."""
    return _WHOLE.get(type_, np.bool_(True))


def _nothing(type_: str) -> Any:
    """No bit of a number as a mask."""
    return _MASKS.get(type_, np.bool_)(0)


def _spread(type_: str, sure: Any) -> Any:
    """Which numbers are known -> which bits."""
    return np.where(sure, _whole(type_), _nothing(type_))


def _word(array: Any) -> Numbers:
    return Numbers.of("u32", np.where(array, _POWERS, np.uint32(0)).sum(axis=1, dtype=np.uint32).reshape(-1, 1))


_UNKNOWN: dict[str, Numbers] = {}


def unknown(type_: str) -> Numbers:
    """No element is known."""
    if type_ not in _UNKNOWN:
        _UNKNOWN[type_] = Numbers(type_, None, False)
    return _UNKNOWN[type_]


def constant(type_: str, number: float) -> Numbers:
    """One number everywhere."""
    return Numbers(type_, NumpyValue.scalar(type_, number, MODE), True)


def merged(pick: Any, yes: Numbers, no: Numbers, pick_known: Known = True) -> Numbers:
    """yes where `pick` (an array) holds, no elsewhere."""
    if yes.known is False and no.known is False:
        return unknown(yes.type)
    known: Known = True
    if yes.known is not True or no.known is not True or pick_known is not True:
        known = np.where(pick, yes._bits, no._bits)
        known = np.where(pick_known, known, known ^ known)
    return Numbers.of(yes.type, np.where(pick, yes.a, no.a), known)
