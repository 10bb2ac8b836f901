"""What kernels ask of the host while they run."""

import ctypes
import struct
import time
from pathlib import Path

import pytest
from verbs import Run

from hipgemm.simulated_hip import hostcall, printf
from isa import toolchain
from isa.errors import IsaError

# The protocol from the device's side, as AMD's device libraries have it.
KERNEL = Path(__file__).with_name("sources").joinpath("hostcall_kernel.hip").read_text()


def test_printf_by_calls_of_the_host(run_program: Run) -> None:
    """3 workgroups of 2 waves print in two calls each, of which lanes go apart; each lane gets what printf returns."""
    try:
        toolchain.find()
    except IsaError as error:
        pytest.skip(str(error))
    done = run_program(
        f"""
import ctypes, numpy as np
from hipgemm import simulated_hip
simulated_hip.install()
from hip import hip, hiprtc
def ok(answer):
    assert int(answer[0]) == 0, answer
    return answer[1] if len(answer) == 2 else answer[1:]
program = ok(hiprtc.hiprtcCreateProgram({KERNEL!r}.encode(), b"k", 0, None, None))
code = hiprtc.hiprtcCompileProgram(program, 0, None)
log = bytearray(ok(hiprtc.hiprtcGetProgramLogSize(program)))
hiprtc.hiprtcGetProgramLog(program, log)
assert int(code[0]) == 0, log.decode()
image = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
ok(hiprtc.hiprtcGetCode(program, image))
f = ok(hip.hipModuleGetFunction(ok(hip.hipModuleLoadData(image)), b"f"))
out = np.zeros(3 * 64, np.uint64)
d = ok(hip.hipMalloc(out.nbytes))
for service in (2, 7):
    ok(hip.hipModuleLaunchKernel(f, 3, 1, 1, 64, 1, 1, 0, None, None, (d, ctypes.c_int(service))))
    ok(hip.hipMemcpy(out, d, out.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    items = np.arange(out.size)
    texts = np.where(items % 2, items, 100 + items)
    want = [len(f"n {{t}}\\n") if service == 2 else 0 for t in texts]
    assert out.tolist() == want, (service, out, want)
"""
    )
    items = range(3 * 64)
    assert sorted(done.stdout.splitlines()) == sorted(f"n {i if i % 2 else 100 + i}" for i in items)


class Memory:
    def allocate(self, size: int) -> int:
        self.bytes = ctypes.create_string_buffer(size)
        return ctypes.addressof(self.bytes)

    def free(self, address: int) -> None:
        pass

    def find(self, address: int) -> tuple[int, int] | None:
        return None


def test_the_free_stack_holds_each_packet_once_and_never_the_number_0() -> None:
    with hostcall.Hostcalls(Memory(), lambda address: 0, lambda err, text: None) as address:
        headers, _, _, pointer, ready, mask = struct.unpack("<6Q", ctypes.string_at(address, 48))
        assert (ready, mask) == (0, hostcall.PACKETS - 1)
        seen = []
        while pointer:
            seen.append(pointer & mask)
            pointer = ctypes.c_uint64.from_address(headers + 24 * seen[-1]).value
    assert sorted(seen) == list(range(hostcall.PACKETS))


def serve(links: dict[int, int], service: int) -> None:
    """Packets that follow one another as `links` says, the first of them ready."""
    ready: list[int] = []
    with hostcall.Hostcalls(Memory(), lambda _: ready.pop() if ready else 0, lambda *_: None) as address:
        (headers,) = struct.unpack("<Q", ctypes.string_at(address, 8))
        for index, following in links.items():
            data = struct.pack("<QQII", hostcall.PACKETS + following if following >= 0 else 0, 3, service, 1)
            ctypes.memmove(headers + 24 * index, data, len(data))
        ready.append(hostcall.PACKETS + next(iter(links)))


@pytest.mark.parametrize("ring", [[1], [1, 2], [5, 4, 3, 7]])
@pytest.mark.parametrize("service", [hostcall.PRINTF, 7])
def test_a_ring_of_packets_is_an_error_that_names_one(ring: list[int], service: int) -> None:
    links = dict(zip(ring, [*ring[1:], ring[0]], strict=True))
    with pytest.raises(hostcall.HostcallError, match=f"packet {ring[0]} follows itself"):
        serve(links, service)


def test_all_packets_may_be_ready_at_once() -> None:
    serve({index: index + 1 if index + 1 < hostcall.PACKETS else -1 for index in range(hostcall.PACKETS)}, 7)


def begun_by_all(rounds: int) -> None:
    """In each round each lane of each packet begins a message, and ends none."""
    ready = list[int]()
    with hostcall.Hostcalls(Memory(), lambda _: ready.pop() if ready else 0, lambda err, text: None) as address:
        headers, payloads = struct.unpack("<2Q", ctypes.string_at(address, 16))
        last = ctypes.c_uint32.from_address(headers + 24 * (hostcall.PACKETS - 1) + 20)
        for number in range(rounds):
            for i in range(hostcall.PACKETS):
                following = 1 << 32 | i + 1 if i + 1 < hostcall.PACKETS else 0
                packet = struct.pack("<QQII", following, (1 << 64) - 1, hostcall.PRINTF, 1)
                ctypes.memmove(headers + 24 * i, packet, 24)
                ctypes.memmove(payloads + 4096 * i, struct.pack("<Q", 1 | 1 << 5).ljust(64, b"\0") * 64, 4096)
            ready.append(1 << 32)
            while ready or (number + 1 < rounds and last.value & 1):
                time.sleep(0.001)


def test_messages_that_never_end() -> None:
    begun_by_all(1)
    with pytest.raises(hostcall.HostcallError, match="messages to the host never end"):
        begun_by_all(2)


def test_text_that_a_few_directives_would_make_without_end() -> None:
    many = 100_000
    assert printf.render("%u" * many, printf.Record(struct.pack("<Q", 7) * many)) == "7" * many
    assert len(printf.render("%1024u" * many, printf.Record(b""))) == printf.ROOM


def test_arguments_one_by_one() -> None:
    record = printf.Record(b"ab\0".ljust(8, b"\0") + struct.pack("<Q", 5) + b"12345678\0".ljust(16, b"\0") + b"end")
    assert printf.render("%s %u %s %s %s %d", record) == "ab 5 12345678 end  0"
