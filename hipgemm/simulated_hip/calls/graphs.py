"""Graphs: calls on a stream under capture, or nodes that a program adds one by one -> work that a launch does.

Calls have run to their end before they answer, so a graph that is launched does one node after another, each after
those that it depends on, with its arguments as they were. A captured node depends on the one before it on its stream,
and on those before the events that the stream has waited for. A node that is added does what the call of its kind does
on a stream: it is made by capturing that call.

A stream that waits for an event of a stream that is being captured is captured into the same graph, and must be joined
by another event. What cannot be captured (a question of whether work is done, an allocation) is
hipErrorStreamCaptureUnsupported, and spoils the capture.

Left out: nodes of events, of allocations and of copies in two and three dimensions; parameters that are read back; the
rule that work on the legacy stream spoils a capture.

Sources: hip_runtime_api.h (ROCm 7), ROCm/clr, hipamd/src/hip_graph.cpp, hip_stream.cpp.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

from hipgemm.simulated_hip.abi import (
    ErrorCode,
    Int,
    Pointer,
    Size,
    UInt,
    answers,
    c_fields,
    call,
    does,
    known,
    refuse_if,
    store,
)
from hipgemm.simulated_hip.calls import copies, modules, registered
from hipgemm.simulated_hip.calls.streams import BUILT_IN, hipLaunchHostFunc, known_stream, submit
from hipgemm.simulated_hip.host import is_mapped
from hipgemm.simulated_hip.runtime import Graph, GraphNode, Runtime, Stream

LEGACY = BUILT_IN[:2]
MODES = range(3)  # global, of this thread, relaxed: which calls of others spoil a capture; here none does
ACTIVE, INVALIDATED = 1, 2  # hipStreamCaptureStatus
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
    store(out, ctypes.c_uint64, 0)
    refuse_if(graph.spoiled, ErrorCode.StreamCaptureInvalidated)
    joined = {*graph.ends.get(stream, []), *(before for node in graph.nodes.values() for before in node.after)}
    refuse_if(graph.nodes.keys() - joined, ErrorCode.StreamCaptureUnjoined)
    store(out, ctypes.c_uint64, rt.handle(rt.graphs, graph))


def _status(rt: Runtime, stream: int) -> int:
    known_stream(rt, stream)
    return 0 if stream not in rt.captures else INVALIDATED if rt.captures[stream].spoiled else ACTIVE


answers("hipStreamIsCapturing hipStreamIsCapturing_spt", "Pointer Int*", _status)


@call(alias=("hipStreamGetCaptureInfo_spt",))
def hipStreamGetCaptureInfo(rt: Runtime, stream: Pointer, out: Pointer, number: Pointer) -> None:
    store(out, ctypes.c_int, _status(rt, stream))
    if number and stream in rt.captures:
        store(number, ctypes.c_uint64, id(rt.captures[stream]))


does("hipGraphDestroy", "Pointer", lambda rt, graph: rt.drop(rt.graphs, graph))
does("hipGraphExecDestroy", "Pointer", lambda rt, executable: rt.drop(rt.executables, executable))


def _copied(graph: Graph) -> Graph:
    """The same nodes, by the same handles, in an order in which they may be done."""
    try:
        order = TopologicalSorter({handle: node.after for handle, node in graph.nodes.items()}).static_order()
        nodes = {handle: dataclasses.replace(node, after=list(node.after)) for handle in order
                 if (node := graph.nodes.get(handle))}  # fmt: skip
    except CycleError:
        nodes = {}
    refuse_if(len(nodes) != len(graph.nodes))
    return Graph(graph.begun_on, nodes)


def _instantiated(rt: Runtime, graph: int, *options: int) -> int:
    return rt.handle(rt.executables, _copied(rt.find(rt.graphs, graph)))


@call
def hipGraphCreate(rt: Runtime, out: Pointer, flags: UInt) -> None:
    refuse_if(flags)
    store(out, ctypes.c_uint64, rt.handle(rt.graphs, Graph()))


answers("hipGraphClone", "Handle* Pointer", lambda rt, graph: rt.handle(rt.graphs, _copied(rt.find(rt.graphs, graph))))
answers("hipGraphInstantiate", "Handle* Pointer Pointer Pointer Size", _instantiated)
answers("hipGraphInstantiateWithFlags", "Handle* Pointer ULongLong", _instantiated)


@call
def hipGraphExecUpdate(rt: Runtime, executable: Pointer, graph: Pointer, node: Pointer, result: Pointer) -> None:
    """A graph that does other things takes the place of one that does as many of the same kinds."""
    old, new = rt.find(rt.executables, executable), rt.find(rt.graphs, graph)
    kinds = [[node.kind for node in g.nodes.values()] for g in (old, new)]
    same = kinds[0] == kinds[1]
    store(result, ctypes.c_int, UPDATED if same else CHANGED if len(kinds[0]) != len(kinds[1]) else OTHER_KIND)
    refuse_if(not same, ErrorCode.GraphExecUpdateFailure)
    for held, other in zip(old.nodes.values(), new.nodes.values(), strict=True):
        held.work = other.work


@call(alias=("hipGraphLaunch_spt",))
def hipGraphLaunch(rt: Runtime, executable: Pointer, stream: Pointer) -> None:
    """Where the stream is captured itself, this graph becomes a part of the other one."""
    for node in rt.find(rt.executables, executable).nodes.values():
        submit(rt, stream, node.kind, node.work)


@call
def hipGraphUpload(rt: Runtime, executable: Pointer, stream: Pointer) -> None:
    known_stream(rt, stream)
    rt.find(rt.executables, executable)


# --- node by node
class KernelNode(ctypes.Structure):
    _fields_ = c_fields("""
        unsigned block[3]; void *extra, *function; unsigned grid[3]; void *parameters; unsigned dynamic_lds;
    """)


class MemsetNode(ctypes.Structure):
    """width: elements of a row; pitch: bytes from row to row."""

    _fields_ = c_fields("""
        void *destination; unsigned element; size_t height, pitch; unsigned value; size_t width;
    """)


class HostNode(ctypes.Structure):
    _fields_ = c_fields("void *function, *data;")


def _given(kind: type[Any], address: int) -> Any:
    refuse_if(not is_mapped(address, ctypes.sizeof(kind)))
    return kind.from_address(address)


def _kernel(rt: Runtime, stream: int, address: int) -> None:
    given = _given(KernelNode, address)
    handle = given.function if given.function in rt.functions else registered.function_of(rt, given.function or 0)
    shape = tuple(given.grid), tuple(given.block), given.dynamic_lds
    modules.launch(rt, handle, *shape, stream, given.parameters or 0, given.extra or 0)


def _fill(rt: Runtime, stream: int, address: int) -> None:
    given = _given(MemsetNode, address)
    refuse_if(given.element not in (1, 2, 4) or (given.height > 1 and given.element * given.width > given.pitch))
    for row in range(given.height):
        at = (given.destination or 0) + row * given.pitch
        copies.fill(rt, at, given.value, given.width, stream, width=given.element)


def _copy(rt: Runtime, stream: int, *what: int) -> None:
    copies.hipMemcpyAsync(rt, *what, stream)


def _host(rt: Runtime, stream: int, address: int) -> None:
    given = _given(HostNode, address)
    hipLaunchHostFunc(rt, stream, given.function or 0, given.data or 0)


def _work(rt: Runtime, make: Callable[..., None], given: tuple[int, ...]) -> Callable[[], None]:
    """What calls on a stream would do."""
    stream = rt.handle(rt.streams, Stream())
    graph = rt.captures[stream] = Graph(stream)
    try:
        make(rt, stream, *given)
    finally:
        del rt.captures[stream], rt.streams[stream]
    return partial(_done, graph.nodes.values())


def _done(nodes: Iterable[GraphNode]) -> None:
    for node in nodes:
        node.work()


def _handles(address: int, count: int) -> list[int]:
    refuse_if(count and not is_mapped(address, 8 * count))
    return list((ctypes.c_uint64 * count).from_address(address)) if count else []


def _added(rt: Runtime, graph: int, after: int, count: int, kind: str, work: Callable[[], None]) -> int:
    found, before = rt.find(rt.graphs, graph), _handles(after, count)
    refuse_if(any(handle not in found.nodes for handle in before))
    return rt.add(found, GraphNode(kind, work, before))


def _of_node(rt: Runtime, node: int) -> Graph:
    """The graph that has it."""
    return known(next((g for g in list(rt.graphs.values()) if node in g.nodes), None))


def _changed(
    rt: Runtime, graph: Graph, node: int, kind: str, make: Callable[..., None], given: tuple[int, ...]
) -> None:
    refuse_if(node not in graph.nodes or graph.nodes[node].kind != kind)
    graph.nodes[node].work = _work(rt, make, given)


_PLACE = "Pointer Pointer Size"
"""Of a node that is added: graph, handles of those before it, how many."""
for _name, _end, _kind, _make, _takes in (
    ("Kernel", "", "kernel", _kernel, "Pointer"), ("Memset", "", "fill", _fill, "Pointer"),
    ("Host", "", "host", _host, "Pointer"), ("Memcpy", "1D", "copy", _copy, "Pointer Pointer Size Int"),
):  # fmt: skip
    answers(f"hipGraphAdd{_name}Node{_end}", f"Handle* {_PLACE} {_takes}",
            lambda rt, graph, after, count, *given, make=_make, kind=_kind:
            _added(rt, graph, after, count, kind, _work(rt, make, given)))  # fmt: skip
    does(
        f"hipGraph{_name}NodeSetParams{_end}",
        f"Pointer {_takes}",
        lambda rt, node, *given, make=_make, kind=_kind: _changed(rt, _of_node(rt, node), node, kind, make, given),
    )
    does(f"hipGraphExec{_name}NodeSetParams{_end}", f"Pointer Pointer {_takes}",
         lambda rt, graph, node, *given, make=_make, kind=_kind:
         _changed(rt, rt.find(rt.executables, graph), node, kind, make, given))  # fmt: skip
answers(
    "hipGraphAddEmptyNode",
    f"Handle* {_PLACE}",
    lambda rt, graph, after, count: _added(rt, graph, after, count, "empty", lambda: None),
)


def _child(rt: Runtime, graph: int) -> partial[None]:
    """What a graph does, as it is now."""
    return partial(_done, _copied(rt.find(rt.graphs, graph)).nodes.values())


answers(
    "hipGraphAddChildGraphNode", f"Handle* {_PLACE} Pointer",
    lambda rt, graph, after, count, child: _added(rt, graph, after, count, "graph", _child(rt, child)),
)  # fmt: skip


@call
def hipGraphExecChildGraphNodeSetParams(rt: Runtime, executable: Pointer, node: Pointer, child: Pointer) -> None:
    """Another graph takes the place of a node's own, if it has as many nodes of the same kinds."""
    held, work = known(rt.find(rt.executables, executable).nodes.get(node)), _child(rt, child)
    refuse_if(held.kind != "graph")
    old, new = ([inner.kind for inner in of.args[0]] for of in (cast("partial[None]", held.work), work))
    refuse_if(old != new, ErrorCode.GraphExecUpdateFailure)
    held.work = work


TYPES = {"kernel": 0, "product": 0, "solve": 0, "copy": 1, "fill": 2, "host": 3, "graph": 4, "empty": 5}
"""hipGraphNodeType."""
answers("hipGraphNodeGetType", "Pointer Int*", lambda rt, node: TYPES[_of_node(rt, node).nodes[node].kind])


@call
def hipGraphAddDependencies(rt: Runtime, graph: Pointer, before: Pointer, after: Pointer, count: Size) -> None:
    nodes = rt.find(rt.graphs, graph).nodes
    pairs = list(zip(_handles(before, count), _handles(after, count), strict=True))
    refuse_if(any(one not in nodes for pair in pairs for one in pair))
    for first, second in pairs:
        refuse_if(first == second or first in nodes[second].after)
        nodes[second].after.append(first)


@call
def hipGraphRemoveDependencies(rt: Runtime, graph: Pointer, before: Pointer, after: Pointer, count: Size) -> None:
    nodes = rt.find(rt.graphs, graph).nodes
    pairs = list(zip(_handles(before, count), _handles(after, count), strict=True))
    refuse_if(any(second not in nodes or first not in nodes[second].after for first, second in pairs))
    for first, second in pairs:
        nodes[second].after.remove(first)


@call
def hipGraphDestroyNode(rt: Runtime, node: Pointer) -> None:
    graph = _of_node(rt, node)
    del graph.nodes[node]
    for other in graph.nodes.values():
        other.after[:] = [handle for handle in other.after if handle != node]


def _told(count: int, *columns: tuple[int, list[int]]) -> None:
    """Stores how many there are, or at most as many as the program has room for, and 0 behind the last."""
    refuse_if(not is_mapped(count, 8))
    there = len(columns[0][1])
    if all(address for address, _ in columns):
        room = ctypes.c_uint64.from_address(count).value
        for address, handles in columns:
            refuse_if(not is_mapped(address, 8 * room))
            for i, handle in enumerate((handles + [0] * room)[:room]):
                store(address + 8 * i, ctypes.c_uint64, handle)
        there = min(there, room)
    store(count, ctypes.c_size_t, there)


does(
    "hipGraphGetNodes",
    "Pointer Pointer Pointer",
    lambda rt, graph, out, count: _told(count, (out, [*rt.find(rt.graphs, graph).nodes])),
)
does("hipGraphGetRootNodes", "Pointer Pointer Pointer",
     lambda rt, graph, out, count:
     _told(count, (out, [h for h, node in rt.find(rt.graphs, graph).nodes.items() if not node.after])))  # fmt: skip
does(
    "hipGraphNodeGetDependencies",
    "Pointer Pointer Pointer",
    lambda rt, node, out, count: _told(count, (out, _of_node(rt, node).nodes[node].after)),
)
does("hipGraphNodeGetDependentNodes", "Pointer Pointer Pointer",
     lambda rt, node, out, count:
     _told(count, (out, [h for h, one in _of_node(rt, node).nodes.items() if node in one.after])))  # fmt: skip


@call
def hipGraphGetEdges(rt: Runtime, graph: Pointer, before: Pointer, after: Pointer, count: Pointer) -> None:
    edges = [(one, handle) for handle, node in rt.find(rt.graphs, graph).nodes.items() for one in node.after]
    _told(count, (before, [a for a, _ in edges]), (after, [b for _, b in edges]))
