"""Workers for jobs: this process, processes of this machine, or dask.distributed on many machines.

All three take `submit(function, argument)` and give futures of concurrent.futures. A worker leaves Ctrl-C to the
process that started it, and a process of this machine ends with that.
"""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from isa import packages
from isa.children import die_with_parent
from isa.errors import IsaError

EXECUTORS = ("local", "dask")


@dataclass(frozen=True)
class Pool:
    """size: jobs at once."""

    executor: Executor
    size: int


class _Here(Executor):
    """Each job at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def pool(executor: str, jobs: int, scheduler: str | None = None) -> Iterator[Pool]:
    """executor: one of EXECUTORS. jobs: processes of this machine; one means none besides this. scheduler: of dask, by
    its address; without it a cluster of `jobs` processes is made on this machine."""
    if executor == "dask":
        with _dask(jobs, scheduler) as found:
            yield found
    elif jobs == 1:
        yield Pool(_Here(), 1)
    else:
        # Not forked: threads of LLVM and of the engine do not outlive a fork.
        with ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (gc.get_threshold(),)) as workers:
            yield Pool(workers, jobs)


@contextmanager
def _dask(jobs: int, scheduler: str | None) -> Iterator[Pool]:
    distributed = packages.load("distributed")
    if scheduler is None:
        with (
            distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
            client.get_executor(pure=False) as executor,
        ):
            yield Pool(executor, jobs)
        return
    try:
        client = distributed.Client(scheduler, timeout="5s")
    except (OSError, ValueError) as error:
        raise IsaError(f"no dask scheduler responds at {scheduler}", got=str(error)) from error
    with client, client.get_executor(pure=False) as executor:
        if not (threads := sum(client.nthreads().values())):
            raise IsaError(f"the dask scheduler at {scheduler} has no workers", hint=f"dask worker {scheduler}")
        yield Pool(executor, threads)


def _begin(threshold: tuple[int, int, int]) -> None:
    """threshold: of Python's garbage collector, as the process that started it has it."""
    gc.set_threshold(*threshold)
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
