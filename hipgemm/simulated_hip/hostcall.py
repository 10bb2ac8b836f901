"""Host calls: requests of running kernels -> printf and assert as hipcc compiles them.

A wave takes a packet from the buffer's free stack, fills in the service and up to 8 words a lane, pushes it to the
ready stack, and waits until the packet's ready flag is clear. `Hostcalls` serves the ready stack from a thread for as
long as a launch runs. The layout is that of ROCm 4 to 7 (ROCm/clr, rocclr/device/devhostcall.hpp; llvm-project,
amd/device-libs, ockl/src/hostcall_impl.cl of then):

    buffer   headers, payloads (addresses), doorbell (a signal), free stack, ready stack, index mask: 8 bytes each
    header   next (8), active lanes (8), service (4), control (4; bit 0: ready)
    payload  64 lanes x 8 words

A printf is a message of several calls (devhcmessages.cpp): word 0 describes (bit 0: first, bit 1: last, bits 5 to 7:
words that follow, from bit 8: its number), and the words of all calls are a control word (bit 0: stderr), the format
and the arguments, as `printf.Record` reads them. Other services (a function's call, memory) are not simulated: they get
0.

The kernel may write anything into the stacks. A packet that a ready stack holds twice ends the service: a stack without
end would keep the host for ever. So do more messages under way than waves can have, or more bytes of them than
`printf.ROOM`. The launch then fails by a HostcallError, when it ends or has spent its budget.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable
from types import TracebackType

from hipgemm.simulated_hip import printf
from hipgemm.simulated_hip.card import CardMemory
from isa.errors import IsaError

ARGUMENT = "hidden_hostcall_buffer"
PRINTF = 2
PACKETS = 1024
"""More than there are waves in flight at a time."""
_HEADER, _LANES, _WORDS = struct.Struct("<QQII"), 64, 8
_PAYLOAD = 8 * _LANES * _WORDS
_SIGNAL = 64  # amd_signal_t: kind, value, where an interrupt goes (NULL: nowhere), ...
_FIXED = 64
_READY = 32
_POLL_S = 0.0002


class HostcallError(IsaError):
    """A kernel left packets that cannot be served."""


class Hostcalls:
    """A buffer in a card's memory, served while the context lasts. say(to_stderr, text): gets what is printed; take:
    exchanges the 8 bytes at an address for 0, in one step."""

    def __init__(self, memory: CardMemory, take: Callable[[int], int], say: Callable[[bool, str], None]) -> None:
        self._memory, self._take, self._say = memory, take, say
        self._messages: dict[int, bytearray] = {}
        self._numbers = self._held = 0
        self._failed: HostcallError | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> int:
        """The buffer's address."""
        headers = _FIXED + _SIGNAL
        self._payloads = -(-(headers + _HEADER.size * PACKETS) // 64) * 64
        self.address = self._memory.allocate(self._payloads + _PAYLOAD * PACKETS)
        # A pointer of a stack is an index with a tag above it, and never 0: the first's tag is 1.
        links = [0, PACKETS, *range(1, PACKETS - 1)]
        data = b"".join(_HEADER.pack(link, 0, 0, 0) for link in links)
        at = self.address
        fixed = struct.pack("<6Q", at + headers, at + self._payloads, at + _FIXED, PACKETS - 1, 0, PACKETS - 1)
        signal = struct.pack("<QQ", 1, 1)
        block = fixed.ljust(_FIXED, b"\0") + signal.ljust(_SIGNAL, b"\0") + data
        ctypes.memmove(at, block, len(block))
        self._headers = at + headers
        self._thread.start()
        return self.address

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        self._memory.free(self.address)
        if self._failed is not None:
            raise self._failed from error

    def _serve(self) -> None:
        while True:
            last = self._ended.is_set()
            pointer = self._take(self.address + _READY)
            served: set[int] = set()
            while pointer:
                index = pointer & (PACKETS - 1)
                if index in served:
                    self._failed = HostcallError(
                        f"the kernel's calls of the host never end: packet {index} follows itself in the ready stack",
                        expected="each packet once", got=f"{len(served)} packets, then {index} again",
                    )  # fmt: skip
                    return
                served.add(index)
                try:
                    pointer = self._packet(index)
                except HostcallError as error:
                    self._failed = error
                    return
            if last:
                return
            self._ended.wait(_POLL_S)

    def _packet(self, index: int) -> int:
        """Serve one; the pointer to the next."""
        header = self._headers + _HEADER.size * index
        following, active, service, control = _HEADER.unpack(ctypes.string_at(header, _HEADER.size))
        payload = self.address + self._payloads + _PAYLOAD * index
        for lane in range(_LANES):
            if active >> lane & 1:
                words = (ctypes.c_uint64 * _WORDS).from_address(payload + 8 * _WORDS * lane)
                words[0] = self._print(list(words)) if service == PRINTF else 0
        ctypes.c_uint32.from_address(header + 20).value = control & ~1
        return int(following)

    def _print(self, words: list[int]) -> int:
        """A call of a printf: the word that it is answered by, its number or what printf returns."""
        described, number = words[0], words[0] >> 8
        if described & 1:
            self._numbers += 1
            number = self._numbers
        data = self._messages.pop(number, bytearray())
        fresh = struct.pack("<8Q", *words)[8 : 8 * (1 + (described >> 5 & 7))]
        data += fresh
        self._held += len(fresh)
        if not described & 2:
            self._messages[number] = data
            if len(self._messages) > PACKETS * _LANES or self._held > printf.ROOM:
                raise HostcallError(
                    "the kernel's messages to the host never end", expected=f"at most {PACKETS * _LANES} at a time, of "
                    f"{printf.ROOM} bytes in all", got=f"{len(self._messages)}, of {self._held} bytes",
                )  # fmt: skip
            return number << 8 | described & 0xFE
        self._held -= len(data)
        record = printf.Record(bytes(data[8:]))
        text = printf.render(record.string(), record)
        self._say(bool(data[:1] and data[0] & 1), text)
        return len(text.encode())
