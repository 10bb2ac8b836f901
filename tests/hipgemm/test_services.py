"""What a launch is given of the host beside its arguments."""

import ctypes
import struct
from types import SimpleNamespace
from typing import Any

from hipgemm.simulated_hip.calls.modules import services
from isa.object.code_object import Argument
from isa.sim.run.memory import DeviceMemory


def test_workgroups_of_a_cooperative_launch_find_where_they_meet() -> None:
    """By the offsets that compiled code reads: the words of the barrier at 32, the number of workgroups at 40."""
    memory = DeviceMemory(1 << 20)
    asked: Any = SimpleNamespace(facts=SimpleNamespace(args=[Argument(56, 8, "hidden_multigrid_sync_arg")]), formats={})
    runtime: Any = SimpleNamespace(card=SimpleNamespace(memory=memory), take=None)
    with services(runtime, asked, b"explicit", together=48) as segment:
        (address,) = struct.unpack_from("<Q", segment, 56)
        assert segment.startswith(b"explicit")
        assert memory.find(address) is not None
        found = ctypes.string_at(address, 44)
        assert struct.unpack_from("<III", found, 32) == (0, 0, 48)
        assert struct.unpack_from("<QII", found) == (0, 0, 1)
    assert memory.find(address) is None
    with services(runtime, asked, b"explicit") as segment:
        assert segment == b"explicit"
