"""Graphs, by capture: calls on a stream under capture are recorded, and executed when the graph is launched.

Calls have run to their end before they answer, so a graph is a list of what they do, in the order of the calls, with
their arguments as they were. A stream that waits for an event of a stream that is being captured is captured into the
same graph. What cannot be captured (a question of whether work is done, an allocation) is
hipErrorStreamCaptureUnsupported, and the capture goes on.

Left out: graphs made node by node, and the rule that work on the legacy stream spoils a capture.

Sources: hip_runtime_api.h (ROCm 7), ROCm/clr, hipamd/src/hip_graph.cpp, hip_stream.cpp.
"""

from __future__ import annotations

import ctypes

from hipgemm.simulated_hip.abi import ErrorCode, HipError, Int, Pointer, answers, call, does, known, refuse_if, store
from hipgemm.simulated_hip.calls.streams import BUILT_IN, known_stream, submit
from hipgemm.simulated_hip.runtime import Graph, Runtime
from isa.errors import IsaError

LEGACY = BUILT_IN[:2]
MODES = range(3)  # global, of this thread, relaxed: which calls of others spoil a capture; here none does
ACTIVE = 1  # hipStreamCaptureStatus
UPDATED, CHANGED, OTHER_KIND = 0, 2, 3  # hipGraphExecUpdateResult


@call(alias=("hipStreamBeginCapture_spt",))
def hipStreamBeginCapture(rt: Runtime, stream: Pointer, mode: Int) -> None:
    known_stream(rt, stream)
    refuse_if(mode not in MODES)
    refuse_if(stream in LEGACY, ErrorCode.StreamCaptureUnsupported)
    refuse_if(stream in rt.captures, ErrorCode.IllegalState)
    rt.captures[stream] = Graph(begun_on=stream)


@call(alias=("hipStreamEndCapture_spt",))
def hipStreamEndCapture(rt: Runtime, stream: Pointer, out: Pointer) -> None:
    known_stream(rt, stream)
    refuse_if(not out)
    graph = known(rt.captures.get(stream), ErrorCode.IllegalState)
    refuse_if(graph.begun_on != stream, ErrorCode.StreamCaptureUnmatched)
    rt.captures = {s: g for s, g in rt.captures.items() if g is not graph}
    store(out, ctypes.c_uint64, rt.handle(rt.graphs, graph))


def _status(rt: Runtime, stream: int) -> int:
    known_stream(rt, stream)
    return ACTIVE if stream in rt.captures else 0


answers("hipStreamIsCapturing hipStreamIsCapturing_spt", "Pointer Int*", _status)


@call(alias=("hipStreamGetCaptureInfo_spt",))
def hipStreamGetCaptureInfo(rt: Runtime, stream: Pointer, out: Pointer, number: Pointer) -> None:
    store(out, ctypes.c_int, _status(rt, stream))
    if number and stream in rt.captures:
        store(number, ctypes.c_uint64, id(rt.captures[stream]))


@call
def hipGraphGetNodes(rt: Runtime, graph: Pointer, nodes: Pointer, count: Pointer) -> None:
    """How many there are; they have no handles."""
    found = rt.find(rt.graphs, graph)
    if nodes:
        raise HipError(ErrorCode.NotSupported, IsaError("nodes of a graph have no handles on the simulated card"))
    store(count, ctypes.c_size_t, len(found.nodes))


does("hipGraphDestroy", "Pointer", lambda rt, graph: rt.drop(rt.graphs, graph))
does("hipGraphExecDestroy", "Pointer", lambda rt, executable: rt.drop(rt.executables, executable))


def _instantiated(rt: Runtime, graph: int, *options: int) -> int:
    found = rt.find(rt.graphs, graph)
    return rt.handle(rt.executables, Graph(found.begun_on, list(found.nodes)))


answers("hipGraphInstantiate", "Handle* Pointer Pointer Pointer Size", _instantiated)
answers("hipGraphInstantiateWithFlags", "Handle* Pointer ULongLong", _instantiated)


@call
def hipGraphExecUpdate(rt: Runtime, executable: Pointer, graph: Pointer, node: Pointer, result: Pointer) -> None:
    """A graph that does other things takes the place of one that does as many of the same kinds."""
    old, new = rt.find(rt.executables, executable), rt.find(rt.graphs, graph)
    kinds = [[kind for kind, _ in g.nodes] for g in (old, new)]
    same = kinds[0] == kinds[1]
    store(result, ctypes.c_int, UPDATED if same else CHANGED if len(kinds[0]) != len(kinds[1]) else OTHER_KIND)
    refuse_if(not same, ErrorCode.GraphExecUpdateFailure)
    old.nodes[:] = new.nodes


@call(alias=("hipGraphLaunch_spt",))
def hipGraphLaunch(rt: Runtime, executable: Pointer, stream: Pointer) -> None:
    """Where the stream is captured itself, this graph becomes a part of the other one."""
    for kind, work in rt.find(rt.executables, executable).nodes:
        submit(rt, stream, kind, work)


@call
def hipGraphUpload(rt: Runtime, executable: Pointer, stream: Pointer) -> None:
    known_stream(rt, stream)
    rt.find(rt.executables, executable)
