"""torch on the simulated card: a CPU build of torch -> the same with the card as its CUDA device, as ROCm's has it.

torch loads it as the backend of a device, by an entry point, at the end of `import torch`; `hipgemm simulate` puts the
folder above this package on the path. card.cpp, compiled once for each version of torch, has the device: memory,
streams, kernels. Here is what `torch.cuda` calls (`torch._C._cuda_...`), which a build for the CPU lacks.

A torch that has a CUDA device of its own stays as it is: that of ROCm finds the card by libamdhip64.so.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HIP = "TRITON_LIBHIP_PATH"
_CARD = 0
_KIND = 1
_OF_BYTES = ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes")
_OF_BLOCKS = ("allocation", "segment", "active")
"""torch's number of the device, and of its type."""


def load() -> None:
    """Give torch the card, in a process that `hipgemm simulate` started."""
    import torch

    if HIP not in os.environ or hasattr(torch._C, "_cuda_getDeviceCount"):
        return
    if ctypes.CDLL(os.environ[HIP]).hipInit(0):  # from here on hipgemm can be imported
        return
    from isa.errors import IsaError

    try:
        made = _compiled(torch)
        library = ctypes.CDLL(str(made))
        _for_extensions(made)
    except (IsaError, OSError) as error:
        print(f"hipgemm: torch has no card, since what it needs cannot be compiled: {error}", file=sys.stderr)
        return
    _connect(torch, library)
    importlib.import_module("hipgemm_torch.cells")


def _compiled(torch: Any) -> Path:
    """The library of card.cpp for this torch, under the names by which extensions are linked with ROCm's."""
    from isa import native

    root = Path(torch.__file__).parent
    flags = [
        "-xc++", "-std=c++20", "-O1", "-w", "-fvisibility=hidden", "-Wl,-soname,libtorch_hip.so",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}", f"-I{root / 'include'}",
        f"-L{root / 'lib'}", f"-Wl,--no-as-needed,-rpath,{root / 'lib'}", "-lc10", "-ltorch_cpu", "-lstdc++", "-ldl",
    ]  # fmt: skip
    text = f"/* torch {torch.__version__} */\n{Path(__file__).with_name('card.cpp').read_text()}"
    return native.build("torch", text, flags, "libtorch_hip.so", ("libc10_hip.so",)) / "libtorch_hip.so"


_HEADERS = (
    *(f"c10/hip/HIP{name}.h" for name in ("Stream", "Guard", "Exception", "Functions")),
    *(f"c10/cuda/CUDA{name}.h" for name in ("Stream", "Guard", "Exception", "Functions")),
    *(f"ATen/hip/{name}.h" for name in ("HIPContext", "Exceptions")),
    *(f"ATen/cuda/{name}.h" for name in ("CUDAContext", "Exceptions")),
    *(f"ATen/hip/impl/HIP{name}MasqueradingAsCUDA.h" for name in ("GuardImpl", "Stream")),
)
"""Names of include/torch_hip.h."""


def _for_extensions(library: Path) -> None:
    """Let torch.utils.cpp_extension, which calls $ROCM_HOME's hipcc and links by `c++`, find our headers and library.
    torch is compiled with GCC's library of C++, so an extension must be, too."""
    from isa import cache, toolchain

    ours = Path(__file__).with_name("include")

    def fill(folder: Path) -> None:
        for name in _HEADERS:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("#include <torch_hip.h>\n")

    headers = cache.make("torch-headers", cache.key(*_HEADERS), fill)
    flags = [f"-I{headers}", f"-I{ours}"]
    tools = toolchain.find()
    if tools.kind == "ziglang":  # it has a library of its own
        said = subprocess.run(
            ["c++", "-E", "-v", "-xc++", os.devnull], capture_output=True, text=True, check=False
        ).stderr
        folders = [f for f in re.findall(r"^ (/\S+)$", said, re.M) if "/lib/gcc/" not in f]
        folders.insert(sum("c++" in f for f in folders), str(Path(tools.compiler[0]).parent / "lib" / "include"))
        flags += ["-nostdinc++", *(word for folder in folders for word in ("-isystem", folder))]
    os.environ["HIPCC_COMPILE_FLAGS_APPEND"] = shlex.join(flags)
    os.environ["LIBRARY_PATH"] = os.pathsep.join(filter(None, (str(library.parent), os.environ.get("LIBRARY_PATH"))))


def _connect(torch: Any, library: ctypes.CDLL) -> None:
    """Put what `torch.cuda` calls in its place."""
    from hipgemm import simulated_hip
    from hipgemm.simulated_hip.abi import VERSION_TEXT

    runtime = simulated_hip.runtime()
    library.hipgemm_current_stream.restype = library.hipgemm_memory.restype = ctypes.c_int64
    library.hipgemm_set_stream.argtypes = (ctypes.c_int64,)
    cuda, c = torch.cuda, torch._C

    def stream(device: int = 0) -> tuple[int, int, int]:
        return library.hipgemm_current_stream(), _CARD, _KIND

    def set_stream(stream_id: int, device_index: int, device_type: int) -> None:
        library.hipgemm_set_stream(stream_id)

    def memory(device: int = 0) -> dict[str, Any]:
        """Each allocation is a segment of its own, and there are no pools."""
        none = dict.fromkeys(("current", "peak", "allocated", "freed"), 0)
        all_pools: dict[str, dict[str, int]] = {}
        for what, kinds in enumerate((_OF_BYTES, _OF_BLOCKS)):
            now, peak, ever = (library.hipgemm_memory(what, which) for which in range(3))
            tally = {"current": now, "peak": peak, "allocated": ever, "freed": ever - now}
            all_pools |= dict.fromkeys(kinds, tally)
        all_pools |= dict.fromkeys(("inactive_split", "inactive_split_bytes"), none)
        stats = {kind: {"all": tally, "large_pool": none, "small_pool": none} for kind, tally in all_pools.items()}
        return {**stats, "oversize_allocations": none, "oversize_segments": none, "num_alloc_retries": 0, "num_ooms": 0}

    def begin() -> None:
        cuda.default_generators = (torch.Generator("cuda:0"),)
        library.hipgemm_set_generator(ctypes.c_void_p(cuda.default_generators[0]._cdata))

    def choose(device: int) -> int:
        if device > 0:
            raise RuntimeError(f"invalid device ordinal {device}: there is one card")
        return _CARD

    def choose_if_there(device: int) -> int:  # torch.compile tells the two apart
        return choose(device)

    def synchronize() -> None:
        torch.Stream("cuda").synchronize()

    def capturing() -> bool:
        status = ctypes.c_int()
        _hip("hipStreamIsCapturing", ctypes.c_void_p(stream()[0]), ctypes.byref(status))
        return bool(status.value)

    nothing = type(None)
    calls: dict[str, Any] = {
        "init": begin, "getDeviceCount": lambda: 1, "getDevice": lambda: _CARD, "synchronize": synchronize,
        "hasPrimaryContext": lambda device: True, "setDevice": choose, "exchangeDevice": choose,
        "maybeExchangeDevice": choose_if_there,
        "getCurrentStream": stream, "getDefaultStream": lambda device: (0, _CARD, _KIND), "setStream": set_stream,
        "getStreamFromExternal": lambda address, device: (address, _CARD, _KIND),
        "getCurrentRawStream": lambda device: stream()[0], "getArchFlags": lambda: runtime.arch,
        "canDeviceAccessPeer": lambda one, other: False, "isCurrentStreamCapturing": capturing,
        "emptyCache": nothing, "ipc_collect": nothing, "sleep": lambda cycles: None, "memoryStats": memory,
        "resetPeakMemoryStats": lambda device: library.hipgemm_reset_peak(),
        "resetAccumulatedMemoryStats": lambda device: None, "cudaCachingAllocator_is_enabled": lambda: False,
        "set_sync_debug_mode": lambda mode: None, "get_sync_debug_mode": lambda: 0, "isHistoryEnabled": lambda: False,
        "getAllocatorBackend": lambda: "native",
    }  # fmt: skip
    for name, call in calls.items():
        setattr(c, f"_cuda_{name}", call)
    c._host_emptyCache = nothing
    c._has_cuda, c._CudaStreamBase, c._CudaEventBase = True, *_streams(torch)
    c._CUDAGraph, c._graph_pool_handle = _graphs(library, stream)
    c._CudaDeviceProperties = cuda._CudaDeviceProperties = SimpleNamespace
    torch.version.hip = VERSION_TEXT
    _make_storages(torch)
    _compile_for_it(torch)
    streams = importlib.reload(cuda.streams)
    for name in ("Stream", "ExternalStream", "Event"):
        setattr(cuda, name, getattr(streams, name))
    cuda._exchange_device, cuda._maybe_exchange_device = choose, choose_if_there
    graphs = importlib.reload(cuda.graphs)
    for name in graphs.__all__:
        setattr(cuda, name, getattr(graphs, name))
    card = _properties(runtime)
    cuda._get_device_properties = lambda device: card
    cuda._cudart = _runtime_calls(library, runtime)


def _make_storages(torch: Any) -> None:
    """torch.UntypedStorage(5, device="cuda"), whose own constructor knows a CUDA build's memory only."""

    def new(cls: Any, *values: Any, device: Any = None, **more: Any) -> Any:
        if device is None or torch.device(device).type != "cuda" or len(values) > 1:
            return super(torch.UntypedStorage, cls).__new__(cls, *values, device=device, **more)
        return torch.empty(*(values or (0,)), dtype=torch.uint8, device=device).untyped_storage()

    torch.UntypedStorage.__new__ = new


def _compile_for_it(torch: Any) -> None:
    """What code of torch.compile calls; it is to launch by Triton, not by a launcher of a CUDA build's, and to compile
    here, since the processes that it would start have no card."""
    os.environ["TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER"] = "0"
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"

    def empty_strided(size: Any, stride: Any, dtype: Any) -> Any:
        return torch.empty_strided(size, stride, dtype=dtype, device="cuda")

    torch._C._dynamo.guards._empty_strided_cuda = empty_strided


_PROPERTIES = {
    **{name: name for name in ("name", "uuid", "major", "minor", "gcnArchName")},
    "total_memory": "totalGlobalMem", "multi_processor_count": "multiProcessorCount", "is_integrated": "integrated",
    "warp_size": "warpSize", "max_threads_per_block": "maxThreadsPerBlock", "L2_cache_size": "l2CacheSize",
    "max_threads_per_multi_processor": "maxThreadsPerMultiProcessor", "clock_rate": "clockRate",
    "regs_per_multiprocessor": "regsPerMultiprocessor", "shared_memory_per_block": "sharedMemPerBlock",
    "shared_memory_per_block_optin": "sharedMemPerBlockOptin", "memory_clock_rate": "memoryClockRate",
    "shared_memory_per_multiprocessor": "sharedMemPerMultiprocessor", "memory_bus_width": "memoryBusWidth",
}  # fmt: skip
"""torch's name of a property -> HIP's."""


def _properties(runtime: Any) -> SimpleNamespace:
    """As torch.cuda.get_device_properties has them."""
    from hipgemm.simulated_hip.calls import device

    said = {
        name: value.decode() if type(value) is bytes else value for name, value in device.properties(runtime).items()
    }
    return SimpleNamespace(is_multi_gpu_board=0, **{ours: said[hips] for ours, hips in _PROPERTIES.items()})


def _runtime_calls(library: ctypes.CDLL, runtime: Any) -> SimpleNamespace:
    """As `torch.cuda.cudart()`."""
    total = runtime.stands_for.vram_bytes
    return SimpleNamespace(
        cudaError=SimpleNamespace(success=0),
        cudaGetErrorString=str,
        cudaMemGetInfo=lambda device: (total - library.hipgemm_memory(0, 0), total),
        cudaProfilerStart=lambda: 0,
        cudaProfilerStop=lambda: 0,
    )


def _streams(torch: Any) -> tuple[type, type]:
    """What torch.cuda.Stream and torch.cuda.Event inherit from."""

    class Stream(torch.Stream):
        def __new__(
            cls, *, priority: int = 0, stream_id: int | None = None, stream_ptr: int | None = None, **where: int
        ) -> Any:
            known = stream_id if stream_ptr is None else stream_ptr
            if known is None:
                return super().__new__(cls, device="cuda:0", priority=priority)
            return super().__new__(cls, stream_id=known, device_index=_CARD, device_type=_KIND)

        @property
        def cuda_stream(self) -> int:
            number: int = self.stream_id
            return number

        @property
        def priority(self) -> int:
            return 0

    class Event(torch.Event):
        def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False,
                    external: bool = False) -> Any:  # fmt: skip
            return super().__new__(
                cls, "cuda:0", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess
            )

        @property
        def cuda_event(self) -> int:
            number: int = self.event_id
            return number

        def elapsed_time(self, end: Any) -> float:
            """Milliseconds; torch.Event's own takes no event of a class that inherits from it."""
            out = ctypes.c_float()
            events = (ctypes.c_void_p(self.cuda_event), ctypes.c_void_p(end.event_id))
            _hip("hipEventElapsedTime", ctypes.byref(out), *events)
            return out.value

    return Stream, Event


def _hip(name: str, *arguments: Any) -> None:
    if code := getattr(ctypes.CDLL(os.environ[HIP]), name)(*arguments):
        raise RuntimeError(f"{name} returns {code}")


class _Captured:
    """Handles of what was captured, of HIP's graph, and of its executable; 0 before there is one."""

    def __init__(self, forget: Callable[[Any], None]) -> None:
        self.memory, self.graph, self.executable = (ctypes.c_void_p() for _ in range(3))
        self._forget = forget

    def __del__(self) -> None:
        for destroy, handle in (("hipGraphExecDestroy", self.executable), ("hipGraphDestroy", self.graph)):
            if handle:
                _hip(destroy, handle)
        if self.memory:
            self._forget(self.memory)


def _graphs(library: ctypes.CDLL, stream: Callable[[], tuple[int, int, int]]) -> tuple[type, Callable[[], Any]]:
    """What torch.cuda.CUDAGraph inherits from, and what numbers pools of graphs: each graph has memory of its own."""
    numbers = itertools.count(1)

    class Graph:
        _keep: bool
        _pool: Any
        _held: _Captured

        def __new__(cls, keep_graph: bool = False) -> Any:
            self = super().__new__(cls)
            self._keep, self._pool = keep_graph, (0, next(numbers))
            self._held = _Captured(library.hipgemm_forget)
            return self

        def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
            self._pool, self._on = pool or self._pool, ctypes.c_void_p(stream()[0])
            _hip("hipStreamBeginCapture", self._on, _MODES.index(capture_error_mode))
            library.hipgemm_capture(ctypes.byref(self._held.memory))

        def capture_end(self) -> None:
            library.hipgemm_capture(None)
            _hip("hipStreamEndCapture", self._on, ctypes.byref(self._held.graph))
            if not self._keep:
                self.instantiate()

        def instantiate(self) -> None:
            made = ctypes.byref(self._held.executable)
            _hip("hipGraphInstantiate", made, self._held.graph, None, None, ctypes.c_size_t(0))

        def replay(self) -> None:
            if not self._held.executable:
                self.instantiate()
            _hip("hipGraphLaunch", self._held.executable, ctypes.c_void_p(stream()[0]))

        def reset(self) -> None:
            self._held = _Captured(library.hipgemm_forget)

        def pool(self) -> Any:
            return self._pool

        def register_generator_state(self, generator: Any) -> None:
            """A replay draws on from where the generator is, by itself."""

        def raw_cuda_graph(self) -> int | None:
            return self._held.graph.value

        def raw_cuda_graph_exec(self) -> int | None:
            return self._held.executable.value

    return Graph, lambda: (0, next(numbers))


_MODES = ("global", "thread_local", "relaxed")
"""By number of hipStreamCaptureMode."""
