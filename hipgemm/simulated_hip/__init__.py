"""Simulated HIP: a HIP runtime whose card is the simulator, under the library name that hip-python opens.

    hip-python -> libamdhip64.so (C, made by library.py) -> Runtime.dispatch -> calls/*.py -> HipCard

`install()` puts it in place. hip-python looks its library up at its first call and cannot change it afterwards, so
`install` must come before that first call; it then makes one call and sees whether it arrives here. Any hip-python
program runs on it unmodified: device memory is memory of this process, calls are answered with HIP's own codes, and a
call that is declared nowhere in calls/ answers hipErrorNotSupported and prints its name. hiprtc is answered by the same
library.

A fault in a kernel is an error code for the program and a report for whoever asks `take_report()`.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from hipgemm.simulated_hip.card import HipCard
from hipgemm.simulated_hip.runtime import Runtime
from isa import packages
from isa.errors import IsaError
from isa.sim.ir.jit import NATIVE
from isa.timing.machine import cards

"""Which card the simulated one stands for if nothing is said."""
# hip-python knows some calls by another name than the library exports (#define in hip_runtime_api.h).
EXPORTED = {"hipGetDeviceProperties": "hipGetDevicePropertiesR0600", "hipChooseDevice": "hipChooseDeviceR0600"}

_runtime: Runtime | None = None


def installed() -> bool:
    """Whether this process's HIP is the simulated one."""
    return _runtime is not None


def runtime() -> Runtime:
    """The installed runtime. Raises IsaError where there is none."""
    if _runtime is None:
        raise IsaError("the simulated card is not installed in this process", hint="hipgemm.simulated_hip.install()")
    return _runtime


def install(
    make_card: Callable[[], HipCard] | None = None,
    *,
    stands_for: str | None = None,
    say: Callable[[str], None] | None = None,
) -> Runtime:
    """Make hip-python use the simulated card from now on, for as long as this process lives.

    make_card:  makes the card at the first call that needs one; the simulator of `isa.sim` if not given.
    stands_for: a card of `isa.timing.machine.cards`: what the card says that it is, and what its launches are timed
    for.
    say:        where the text of a fault goes as it happens; None keeps it for `Runtime.take_report`.

    Installing again gives the same runtime back. Raises IsaError if hip-python opened another library before,
    and for a card that is not known or is another one than before; isa.toolchain.ToolchainMissing if the library lies
    in no cache and there is no C compiler.
    """
    global _runtime
    if _runtime is not None:
        if stands_for and cards.card(stands_for) is not _runtime.stands_for:
            raise IsaError(
                f"this process already has a simulated card, a {_runtime.stands_for.name}", got=stands_for,
                hint="open the other one in a separate process",
            )  # fmt: skip
        return _runtime
    from hipgemm.simulated_hip import library

    _bindings()  # a Python without them is told so before anything is compiled
    path = library.hips(_source()) / library.LIBRARY  # hiprtc's calls, too; those of other libraries are for programs
    shim = ctypes.CDLL(str(path))
    fresh = fresh_runtime(make_card, stands_for, say)
    connect(fresh, ctypes.addressof(ctypes.c_void_p.in_dll(shim, "hipgemm_entries")))
    undo = _found_at(path)
    try:
        _open()
        if not fresh.calls:
            raise IsaError(
                "hip-python opened another HIP library before the simulated card was asked for",
                expected="no call of hip-python before hipgemm.simulated_hip.install()",
                hint="start a new process, and install first",
            )
    except BaseException:
        undo()
        raise
    _runtime = fresh
    return fresh


def rocm_path() -> Path:
    """The folder, as $ROCM_PATH names one: its lib has the simulated card's libraries, compiled where they lie in no
    cache, its bin programs in the place of ROCm's (`rocm_programs`). Raises isa.toolchain.ToolchainMissing where there
    is no C compiler."""
    from hipgemm.simulated_hip import calls, library, rocm_programs

    others, found = library.stand_ins(calls.CALLS), library.installed(os.environ)
    return library.build(_source(), others, found, rocm_programs.scripts())


def _source() -> str:
    """The text of HIP's library."""
    from hipgemm.simulated_hip import calls, library

    try:
        names = [n for binding in _bindings() for n in binding.__pyx_capi__]
    except IsaError:  # programs that are not Python's need no binding; what is not simulated is then no symbol
        names = []
    return library.source(calls.CALLS, {EXPORTED.get(n, n) for n in names if n.startswith("hip")})


def fresh_runtime(
    make_card: Callable[[], HipCard] | None, stands_for: str | None, say: Callable[[str], None] | None
) -> Runtime:
    """A runtime that nothing calls yet; arguments as for `install`."""
    on = cards.card(stands_for or cards.DEFAULT)
    return Runtime(make_card or partial(simulator, stands_for=on.name), on, say)


class Entries(ctypes.Structure):
    """`hipgemm_entries` of shim.c."""

    _fields_ = (
        ("connected", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("disconnected", ctypes.CFUNCTYPE(None)),
        ("take", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)),
        ("newest", ctypes.c_void_p),
    )


def connect(fresh: Runtime, entries: int) -> None:
    """Calls of a library go to this runtime until its callback is freed, which happens when modules are torn down, or
    until Python's end, whichever comes first. entries: their address in the library."""
    library = Entries.from_address(entries)
    library.connected(ctypes.cast(fresh.callback, ctypes.c_void_p))
    weakref.finalize(fresh.callback, library.disconnected).atexit = False
    ctypes.pythonapi.Py_AtExit(library.disconnected)
    fresh.registered_at, fresh.take = library.newest or 0, library.take


def simulator(cpu: str = NATIVE, stands_for: str = cards.DEFAULT) -> HipCard:
    """The simulator of `isa.sim`. cpu: the host processor that it compiles kernels for; stands_for: the card that its
    launches are timed for."""
    from hipgemm.simulated_hip.clock import TimedCard

    card: Any = TimedCard(cards.card(stands_for), cpu=cpu)
    made: HipCard = card
    return made


def recorder(folder: Path, stands_for: str | None) -> Callable[[], HipCard]:
    """Makes the simulator that keeps its launches in a folder."""

    def make() -> HipCard:
        from hipgemm.simulated_hip.recorded import RecordingCard

        card: Any = RecordingCard(cards.card(stands_for or cards.DEFAULT), folder)
        made: HipCard = card
        return made

    return make


def _bindings() -> list[ModuleType]:
    """hip-python's compiled binding modules of HIP and hiprtc: in rocm.bindings since 7.14, in hip before."""
    try:
        return [importlib.import_module(name) for name in ("rocm.bindings.cyhip", "rocm.bindings.cyhiprtc")]
    except ModuleNotFoundError:
        packages.load("hip")
        return [importlib.import_module(name) for name in ("hip.chip", "hip.chiprtc")]


def _found_at(path: Path) -> Callable[[], None]:
    """Let hip-python find HIP and hiprtc at `path` from now on; the answer undoes it.

    Since 7.14 it asks rocm.bindings.util.paths at a library's first call, which would look into a `rocm_sdk` package
    before $ROCM_PATH, so that function is patched to return our path; before, it opened what the bindings' `DLL` names.
    """
    name = os.fsencode(path)
    try:
        paths = importlib.import_module("rocm.bindings.util.paths")
    except ModuleNotFoundError:
        owners, what, value = _bindings(), "DLL", name
    else:
        found = paths.get_library_path

        def answer(library: str, *more: Any, **named: Any) -> bytes:
            return name if library in ("amdhip64", "hiprtc") else found(library, *more, **named)

        owners, what, value = [paths], "get_library_path", answer  # type: ignore[assignment]
    before = [getattr(owner, what) for owner in owners]
    for owner in owners:
        setattr(owner, what, value)

    def undo() -> None:
        for owner, old in zip(owners, before, strict=True):
            setattr(owner, what, old)

    return undo


def _open() -> None:
    """Make hip-python's first call. It raises RuntimeError where an earlier attempt failed for want of a library."""
    packages.load("hip")
    from hip import hip

    try:
        hip.hipRuntimeGetVersion()
    except RuntimeError as error:
        raise IsaError(
            f"hip-python has already looked for a HIP library and failed: {error}",
            hint="start a new process, and call hipgemm.simulated_hip.install() before any hip-python call",
        ) from error
