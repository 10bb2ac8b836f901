"""Error codes: the last error, and the codes' names and texts."""

from __future__ import annotations

from hipgemm.simulated_hip.abi import Answer, ErrorCode, Int, Text, answers, call
from hipgemm.simulated_hip.runtime import Runtime


@call(alias=("hipExtGetLastError",))
def hipGetLastError(rt: Runtime) -> None:
    """Answers with the last failure of this thread and forgets it."""
    code, rt.last_error = rt.last_error, ErrorCode.Success
    if code is rt.unseen:
        rt.unseen = None
    _answer(code)


@call
def hipPeekAtLastError(rt: Runtime) -> None:
    _answer(rt.last_error)


def _answer(code: ErrorCode) -> None:
    if code is not ErrorCode.Success:
        raise Answer(code)


def _code(number: int) -> ErrorCode:
    return ErrorCode(number) if number in ErrorCode._value2member_map_ else ErrorCode.Unknown


@call
def hipGetErrorName(rt: Runtime, code: Int) -> Text:
    return _code(code).hip_name


@call
def hipGetErrorString(rt: Runtime, code: Int) -> Text:
    return _code(code).text


answers("hipDrvGetErrorName", "Int Handle*", lambda rt, code: rt.text_address(_code(code).hip_name))
answers("hipDrvGetErrorString", "Int Handle*", lambda rt, code: rt.text_address(_code(code).text))
