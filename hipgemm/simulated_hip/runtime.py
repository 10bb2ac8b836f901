"""State of the simulated runtime: handles, streams and memory, and the answer to a call from C.

C hands over a call's number and its arguments as 64-bit words. `Runtime.dispatch` converts them as the declaration
says, runs the declared function under one lock (there is one card, and everything on it happens in the order of the
calls: a stream never lags behind), and answers with a HIP code. No exception leaves it: a `HipError` becomes its code,
any other exception becomes hipErrorUnknown, Ctrl-C becomes the word on which C raises SIGINT. What there is to say
beyond the code is kept as `report`.

Handles are numbers that were never given before, so a stale one is known as such and nothing is ever dereferenced.

The clock is the simulated one: it stands still but for launches, which advance it by what the card predicts.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hipgemm.simulated_hip.abi import CALLS, Answer, Call, ErrorCode, HipError, refuse_if
from hipgemm.simulated_hip.card import CardKernel, HipCard, LaunchReport, Module
from isa.object.code_object import CodeObject
from isa.object.code_object import DescribedKernel as KernelFacts
from isa.timing.machine.cards import Card as CardFacts

INTERRUPTED = -(1 << 63)
DISPATCHER = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int32, ctypes.POINTER(ctypes.c_uint64))
T = TypeVar("T")


@dataclass
class Allocation:
    """Memory that a program asked for. `kind`: "device", "host" or "managed"; `flags` as it gave them; `pool`: the
    handle of the one it is from, or 0."""

    size: int
    kind: str
    flags: int = 0
    pool: int = 0


@dataclass
class Pool:
    """A memory pool. `most`: bytes that were in use at a time."""

    attributes: dict[int, int] = field(default_factory=dict)
    most: int = 0


@dataclass
class Stream:
    flags: int = 0
    priority: int = 0
    device: int = 0


@dataclass
class GraphNode:
    """One thing that a graph does. kind: for those who compare graphs; after: handles of what comes before it."""

    kind: str
    work: Callable[[], None]
    after: list[int] = field(default_factory=list)


@dataclass(eq=False)
class Graph:
    """What a graph does, by handle. begun_on: the stream that was captured, 0 where it is made node by node; ends: of
    each stream that is captured, the nodes after which its next one comes; spoiled: what cannot be captured was asked.
    """

    begun_on: int = 0
    nodes: dict[int, GraphNode] = field(default_factory=dict)
    ends: dict[int, list[int]] = field(default_factory=dict)
    spoiled: bool = False


@dataclass
class HipEvent:
    """`at`: how many launches there were when it was recorded, None before; capture: into which it was recorded
    last, and there after which nodes."""

    flags: int = 0
    at: int | None = None
    capture: Graph | None = None
    after: list[int] = field(default_factory=list)


@dataclass
class LoadedModule:
    """A module that the card loaded; `code` is what its code object says of its kernels."""

    module: Module
    code: CodeObject
    functions: dict[str, int] = field(default_factory=dict)


@dataclass
class KernelHandle:
    """A kernel as the card holds it, and as its code object describes it; formats: of its printf, by hash."""

    kernel: CardKernel
    facts: KernelFacts
    formats: dict[int, str] = field(default_factory=dict)


@dataclass
class RtcProgram:
    """A hiprtc program. `headers`: name -> text; names: expressions, and once compiled the symbols that they lower to.
    Once compiled it has `code`, its code object, or `bitcode`."""

    source: bytes
    name: str
    headers: dict[str, str]
    code: bytes | None = None
    bitcode: bytes | None = None
    log: str = ""
    names: dict[str, str] = field(default_factory=dict)


@dataclass
class RtcLink:
    """What a program links with hiprtc: `parts` (name, bitcode or IR as text), and the code object made of them."""

    parts: list[tuple[str, bytes]] = field(default_factory=list)
    code: Any = None


@dataclass
class BlasHandle:
    """A hipBLAS handle. pointer_mode: 0 where alpha and beta lie on the host, 1 on the card."""

    stream: int = 0
    pointer_mode: int = 0


class Runtime:
    """One process's HIP runtime with one simulated card after it.

    stands_for: what the card says that it is.
    say: where a report goes as it happens; None keeps it for `take_report` alone.
    """

    def __init__(
        self, make_card: Callable[[], HipCard], stands_for: CardFacts, say: Callable[[str], None] | None
    ) -> None:
        self.stands_for, self.arch, self.say = stands_for, stands_for.arch, say
        self._make_card = make_card
        self._card: HipCard | None = None
        self._calls: list[Call] = list(CALLS.values())
        self._lock = threading.RLock()
        self._handles = itertools.count(0x1000, 0x10)
        self._texts: dict[str, Any] = {}
        self._errors: dict[int, ErrorCode] = {}  # by thread: Python forgets its own of threads that C made
        self.calls = 0
        self.timed: list[LaunchReport] = []  # launches since the first event: their times are asked for by events
        self.timing_asked = False
        self.report: BaseException | None = None
        self.last_launch: LaunchReport | None = None
        self.unseen: ErrorCode | None = None  # the fault of a `<<<>>>`: see `settled`
        self.budget: int | None = None  # of each launch, if not the card's own
        self.allocations: dict[int, Allocation] = {}
        self.registered: dict[int, int] = {}
        self.streams: dict[int, Stream] = {}
        self.events: dict[int, HipEvent] = {}
        self.captures: dict[int, Graph] = {}  # by the stream that is captured
        self.graphs: dict[int, Graph] = {}
        self.executables: dict[int, Graph] = {}
        self.modules: dict[int, LoadedModule] = {}
        self.functions: dict[int, KernelHandle] = {}
        self.pools: dict[int, Pool] = {}
        self.current_pool = 0
        self.pushed_contexts: dict[int, int] = {}
        self.programs: dict[int, RtcProgram] = {}
        self.links: dict[int, RtcLink] = {}
        self.comgr: dict[int, Any] = {}  # data, sets and actions of calls/comgr.py
        self.blas: dict[int, BlasHandle] = {}
        self.blas_lt: dict[int, list[int]] = {}  # layouts and descriptions of hipBLASLt
        self.blas_ones: dict[str, int] = {}  # by type, the address of a 1 on the card
        self.blas_kernels: dict[str, int] = {}  # by name, handles of functions
        self.take: Callable[[int], int] | None = None  # of the library: see hostcall.py
        self.registered_at = self.notes_read = 0  # of what compilers register: calls/registered.py
        self.registrations: dict[int, Any] = {}
        self.fat_binaries: dict[int, int] = {}
        self.callback = DISPATCHER(self.dispatch)  # C keeps its address: it must live as long as the library

    @property
    def card(self) -> HipCard:
        """The card, made at the first call that needs it."""
        if self._card is None:
            self._card = self._make_card()
        return self._card

    @property
    def last_error(self) -> ErrorCode:
        """This thread's last answer other than hipSuccess."""
        return self._errors.get(threading.get_ident(), ErrorCode.Success)

    @last_error.setter
    def last_error(self, code: ErrorCode) -> None:
        self._errors[threading.get_ident()] = code

    def settled(self) -> None:
        """Answer with the fault of a `<<<>>>` before, once, in the first call that waits for the device: such a launch
        has no answer that a program could look at."""
        code, self.unseen = self.unseen, None
        if code is not None:
            raise HipError(code)

    def add(self, graph: Graph, node: GraphNode) -> int:
        """Put a node into a graph."""
        return self.handle(graph.nodes, node)

    def handle(self, table: dict[int, T], thing: T) -> int:
        """Put a thing into its table under a number that was never used."""
        number = next(self._handles)
        table[number] = thing
        return number

    def find(self, table: dict[int, T], number: int) -> T:
        """The thing of a handle; what is none (any more) is hipErrorInvalidHandle, of graphs hipErrorInvalidValue."""
        of_graphs = table is self.graphs or table is self.executables
        refuse_if(number not in table, ErrorCode.InvalidValue if of_graphs else ErrorCode.InvalidHandle)
        return table[number]

    def drop(self, table: dict[int, T], number: int) -> None:
        """Its handle is none any more."""
        self.find(table, number)
        del table[number]

    def allocated(self, pool: int | None = None) -> int:
        """Bytes, of one pool or all: of a moment, as finalizers free whenever they like."""
        return sum(a.size for a in list(self.allocations.values()) if pool is None or a.pool == pool)

    def text_address(self, text: str) -> int:
        """Address of a C string that lives as long as the process."""
        if text not in self._texts:
            self._texts[text] = ctypes.create_string_buffer(text.encode())
        return ctypes.addressof(self._texts[text])

    def take_report(self) -> BaseException | None:
        """What the last failed call had to say beyond its code; asked once."""
        report, self.report = self.report, None
        return report

    def dispatch(self, number: int, words: Any) -> int:
        """Answer a call from C."""
        try:
            self.calls += 1
            call = self._calls[number]
            arguments = [_from_word(c, words[i]) for i, c in enumerate(call.arguments[: call.taken])]
            refuse_if(any(arguments[i] for i in call.devices), ErrorCode.InvalidDevice)
            with self._lock:
                answer = call.function(self, *arguments)
            return self.text_address(answer) if isinstance(answer, str) else answer or 0
        except Answer as answer:
            if answer.report is not None and self.say is not None:
                self.say(f"hipgemm: {answer.report}")
            return int(answer.code)
        except HipError as error:
            return self._failed(ErrorCode(error.code), error.report)
        except KeyboardInterrupt:
            return INTERRUPTED
        except BaseException as error:
            return self._failed(ErrorCode.Unknown, error)

    def _failed(self, code: ErrorCode, report: BaseException | None) -> int:
        try:
            self.last_error, self.report = code, report
            if report is not None and self.say is not None:
                self.say(f"hipgemm: {code.hip_name}\n{str(report) or repr(report)}")
        except BaseException as error:
            sys.stderr.write(f"hipgemm: a report could not be made: {type(error).__name__}\n")
        return int(code)


def _from_word(c_type: str, word: int) -> int | tuple[int, ...]:
    """An argument's value from its 64-bit word, which for a dim3 is where it lies."""
    if c_type == "dim3":
        return tuple((ctypes.c_uint32 * 3).from_address(word))
    return word - (1 << 64) if c_type == "int" and word >> 63 else word
