"""AMD's code object manager: compiles source to bitcode, assembly and objects, in data sets.

A library of its own in ROCm, libamd_comgr.so; here the same one answers, as version 3. An action reads the data of its
kind in one set, puts what it makes of each into another, and what the tools said into that as a log, if that is asked
for. Options are the caller's, as clang has them; the target is that of the action's ISA name. What actions do stands in
`hipgemm.simulated_hip.comgr`.

Not here: OpenCL, bundles, archives, SPIR-V, precompiled headers, symbols, metadata, disassembly. Such a call or action
answers AMD_COMGR_STATUS_ERROR and says so on stderr.

Sources: ROCm/llvm-project, amd/comgr/include/amd_comgr.h.in (numbers of version 3).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import partial
from typing import Any, TypeVar

from hipgemm.simulated_hip.abi import Answer, Int, Pointer, Size, UByte, answers, call, does, known, refuse_if
from hipgemm.simulated_hip.comgr import ACTIONS, ActionInfo, ActionUnderWay, Data, DataSet, Kind
from hipgemm.simulated_hip.host import is_mapped, read, read_text
from hipgemm.simulated_hip.runtime import Runtime
from isa import toolchain
from isa.errors import IsaError

VERSION = (3, 0)
PREFIX = "amdgcn-amd-amdhsa--"
T = TypeVar("T")


class Status(IntEnum):
    """amd_comgr_status_t, without AMD_COMGR_STATUS_."""

    SUCCESS = 0
    ERROR = 1
    ERROR_INVALID_ARGUMENT = 2
    ERROR_OUT_OF_RESOURCES = 3


LAST_LANGUAGE = 4
LAST_KIND = 21


class ComgrError(Answer):
    """A call's answer other than success."""

    def __init__(self, status: Status = Status.ERROR_INVALID_ARGUMENT) -> None:
        super().__init__(status)


_refuse_if = partial(refuse_if, code=Status.ERROR_INVALID_ARGUMENT, error=ComgrError)


def _find(rt: Runtime, handle: int, of: type[T]) -> T:
    found = rt.comgr.get(handle)
    if not isinstance(found, of):
        raise ComgrError
    return found


def _store(where: int, ctype: type, value: Any) -> None:
    _refuse_if(not is_mapped(where, ctypes.sizeof(ctype)))
    ctype.from_address(where).value = value  # type: ignore[attr-defined]


_answers = partial(answers, storing=_store)


def _drop(rt: Runtime, handle: int, of: type) -> None:
    _find(rt, handle, of)
    del rt.comgr[handle]


def _text(address: int) -> str:
    return os.fsdecode(known(read_text(address), Status.ERROR_INVALID_ARGUMENT, ComgrError))


def _give(size: int, out: int, content: bytes) -> None:
    """Into `out`, as much of it as the caller has room for; or only how much that is."""
    _refuse_if(not is_mapped(size, 8))
    room = ctypes.c_size_t.from_address(size)
    if out:
        content = content[: room.value]
        _refuse_if(not is_mapped(out, len(content)))
        ctypes.memmove(out, content, len(content))
    room.value = len(content)


@call
def amd_comgr_get_version(rt: Runtime, major: Pointer, minor: Pointer) -> None:
    for where, number in zip((major, minor), VERSION, strict=True):
        _store(where, ctypes.c_size_t, number)


def _status(rt: Runtime, status: int) -> int:
    _refuse_if(status not in Status._value2member_map_)
    return rt.text_address(Status(status).name)


def _at(found: Sequence[T], index: int) -> T:
    _refuse_if(index >= len(found))
    return found[index]


def _new(rt: Runtime, kind: int) -> int:
    _refuse_if(not 0 < kind <= LAST_KIND)
    return rt.handle(rt.comgr, Data(kind))


_answers("amd_comgr_status_string", "Int Handle*", _status)
_answers("amd_comgr_get_isa_count", "Size*", lambda rt: len(toolchain.ARCHS))
_answers("amd_comgr_get_isa_name", "Size Handle*", lambda rt, i: rt.text_address(PREFIX + _at(toolchain.ARCHS, i)))
_answers("amd_comgr_create_data", "Int Handle*", _new)
_answers("amd_comgr_create_data_set", "Handle*", lambda rt: rt.handle(rt.comgr, DataSet()))
_answers("amd_comgr_create_action_info", "Handle*", lambda rt: rt.handle(rt.comgr, ActionInfo()))
does("amd_comgr_release_data", "Pointer", lambda rt, data: _drop(rt, data, Data))  # what a set holds lives on
does("amd_comgr_destroy_data_set", "Pointer", lambda rt, data_set: _drop(rt, data_set, DataSet))
does("amd_comgr_destroy_action_info", "Pointer", lambda rt, info: _drop(rt, info, ActionInfo))


@call
def amd_comgr_set_data(rt: Runtime, data: Pointer, size: Size, content: Pointer) -> None:
    found = _find(rt, data, Data)
    _refuse_if(not size or not is_mapped(content, size))
    found.content = read(content, size)


@call
def amd_comgr_set_data_name(rt: Runtime, data: Pointer, name: Pointer) -> None:
    _find(rt, data, Data).name = _text(name) if name else ""


def _gives(name: str, arguments: str, content: Callable[..., bytes]) -> None:
    """A call that gives bytes, or how many they are, after these arguments: see `_give`."""
    does(f"amd_comgr_{name}", f"{arguments} Pointer Pointer", lambda rt, *g: _give(g[-2], g[-1], content(rt, *g[:-2])))


def _isa(arch: str) -> bytes:
    return (PREFIX + arch if arch else "").encode() + b"\0"


_gives("get_data", "Pointer", lambda rt, data: _find(rt, data, Data).content)
_gives("get_data_name", "Pointer", lambda rt, data: os.fsencode(_find(rt, data, Data).name) + b"\0")
_gives("action_info_get_isa_name", "Pointer", lambda rt, info: _isa(_find(rt, info, ActionInfo).arch))
_gives(
    "action_info_get_option_list_item",
    "Pointer Size",
    lambda rt, info, i: os.fsencode(_at(_find(rt, info, ActionInfo).options, i)) + b"\0",
)
_answers("amd_comgr_get_data_kind", "Pointer Int*", lambda rt, data: _find(rt, data, Data).kind)


@call
def amd_comgr_data_set_add(rt: Runtime, data_set: Pointer, data: Pointer) -> None:
    objects, added = _find(rt, data_set, DataSet).objects, _find(rt, data, Data)
    _refuse_if(not added.name or any(added is other for other in objects))
    objects.append(added)


@call
def amd_comgr_data_set_remove(rt: Runtime, data_set: Pointer, kind: Int) -> None:
    """Those of a kind, or with AMD_COMGR_DATA_KIND_UNDEF all."""
    found = _find(rt, data_set, DataSet)
    found.objects = [data for data in found.objects if kind and data.kind != kind]


def _of_kind(rt: Runtime, data_set: int, kind: int) -> list[Data]:
    return _find(rt, data_set, DataSet).of(kind)


_answers("amd_comgr_action_data_count", "Pointer Int Size*", lambda rt, *given: len(_of_kind(rt, *given)))
_answers(
    "amd_comgr_action_data_get_data",
    "Pointer Int Size Handle*",
    lambda rt, data_set, kind, i: rt.handle(rt.comgr, _at(_of_kind(rt, data_set, kind), i)),
)


@call
def amd_comgr_action_info_set_isa_name(rt: Runtime, info: Pointer, name: Pointer) -> None:
    found, isa = _find(rt, info, ActionInfo), _text(name) if name else ""
    _refuse_if(isa and not (isa.startswith(PREFIX) and isa.removeprefix(PREFIX).split(":")[0] in toolchain.ARCHS))
    found.arch = isa.removeprefix(PREFIX).split(":")[0]


@call
def amd_comgr_action_info_set_language(rt: Runtime, info: Pointer, language: Int) -> None:
    _refuse_if(not 0 <= language <= LAST_LANGUAGE)
    _find(rt, info, ActionInfo).language = language


@call
def amd_comgr_action_info_set_option_list(rt: Runtime, info: Pointer, options: Pointer, count: Size) -> None:
    _refuse_if(count and not is_mapped(options, 8 * count))
    texts = [_text(ctypes.c_uint64.from_address(options + 8 * i).value) for i in range(count)]
    _find(rt, info, ActionInfo).options = [text for text in texts if text]


@call
def amd_comgr_action_info_set_logging(rt: Runtime, info: Pointer, logging: UByte) -> None:
    _find(rt, info, ActionInfo).logging = bool(logging)


_answers("amd_comgr_action_info_get_language", "Pointer Int*", lambda rt, info: _find(rt, info, ActionInfo).language)
_answers("amd_comgr_action_info_get_logging", "Pointer Bool*", lambda rt, info: _find(rt, info, ActionInfo).logging)
_answers(
    "amd_comgr_action_info_get_option_list_count",
    "Pointer Size*",
    lambda rt, info: len(_find(rt, info, ActionInfo).options),
)


@call
def amd_comgr_do_action(rt: Runtime, kind: Int, info: Pointer, given: Pointer, result: Pointer) -> None:
    """What was made before a tool failed stays in the result."""
    how, data, out = _find(rt, info, ActionInfo), _find(rt, given, DataSet), _find(rt, result, DataSet)
    said: list[str] = []
    try:
        if kind not in ACTIONS:
            raise IsaError(f"amd_comgr_do_action: action {kind} is not supported by the simulated card")
        _refuse_if(not how.arch)
        ACTIONS[kind](ActionUnderWay(how, data, out, said))
    except IsaError as error:
        said.append(str(error))
        if rt.say is not None and not how.logging:
            rt.say(str(error))
        raise ComgrError(Status.ERROR) from error
    finally:
        if how.logging:
            out.objects.append(Data(Kind.LOG, "\n".join(filter(None, said)).encode() + b"\n", "comgr.log"))
