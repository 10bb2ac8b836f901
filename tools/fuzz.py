#!/usr/bin/env python3
"""Fuzzing: damaged input for readers and verbs: each ends in a result or an error, never in a crash, a hang or growing
memory.

python tools/fuzz.py                                  # 30,000 inputs for each reader, 60,000 for verbs; two processes
python tools/fuzz.py --reader assembly --count 1000 --seed 7
python tools/fuzz.py --reader metadata --seed 7 --replay 123

Each reader runs in a process of its own with a limit of address space and a watch on its processor time; the same
seed gives the same inputs. Exit status 0: nothing found, 1: something was.
"""

from __future__ import annotations

import collections
import contextlib
import faulthandler
import json
import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # runs from a checkout, installed or not

from isa.errors import IsaError  # noqa: E402
from tools import mutations  # noqa: E402

ADDRESS_SPACE = 6 << 30
PEAK = 4 << 30
GROWTH = 48 << 20
"""Bytes by which a process may grow between the first fifth of its inputs and the last: caches fill, and no more."""
SECONDS = 20
"""Of processor time for one input; most take under 10 ms."""


SHORT = 1024
"""Bytes of code that all analyses read."""


class Hang(BaseException):
    """An input took more processor time than any may."""


# --- what reads


def read_assembly(source: str) -> None:
    """All that reads assembly: the parser, the views on kernels, lint with all its analyses, inspect."""
    from hipgemm.judge.inspection import inspect
    from isa.asm.emit import emit
    from isa.asm.parse import parse
    from isa.lint.lint import lint_program

    program = parse(source, "damaged.s")
    assert emit(program) == source, "emit(parse(text)) is another text"
    for name in program.kernels:
        _in_turn(partial(lint_program, program, name), partial(inspect, program, "damaged.s", name))


def read_container(data: bytes) -> None:
    """What reads code objects, alone or in a bundle, without their code: the loader, and what a launch and printf take
    from metadata."""
    from hipgemm.simulated_hip import printf
    from isa.object import code_object
    from isa.sim.run import arguments

    _in_turn(lambda: code_object.image_size(lambda offset, size: data[offset : offset + size]))
    loaded = code_object.load(data)
    _in_turn(lambda: [printf.render(text, printf.Record(bytes(64))) for text in printf.formats(loaded.printf).values()])
    for kernel in loaded.kernels.values():
        _in_turn(
            partial(arguments.kernarg_segment, kernel, bytes(256), (2, 1, 1), (64, 1, 1), 0),
            partial(arguments.scalar_registers, kernel, 1 << 32, 1 << 33, 64),
        )


def read_code(data: bytes) -> None:
    """The same, and what reads code: the disassembler, lint with all its analyses, inspect. Long code is only loaded:
    its analyses take long, and find in it what they find in short code."""
    from hipgemm.judge.inspection import inspect
    from isa.lint.lint import lint_code_object
    from isa.object import code_object

    read_container(data)
    loaded = code_object.load(data)
    for name, kernel in loaded.kernels.items():
        if kernel.code_size <= SHORT:
            _in_turn(
                partial(lint_code_object, loaded, "damaged.hsaco", name),
                partial(inspect, loaded, "damaged.hsaco", name),
            )


def read_printf(buffer: bytes) -> None:
    """What turns the printf buffer of a kernel into text."""
    from hipgemm.simulated_hip import printf

    if len(buffer) >= printf.HEADER.size:
        list(printf.lines(buffer, {1: "%d %s %f\n"}))


@dataclass(frozen=True)
class Verbs:
    """What the command line makes of a kind of file. suffix: of its name; damage: the kind of damage; commands: words,
    FILE among them, and KERNEL for a sound code object."""

    suffix: str
    damage: str
    commands: tuple[str, ...]

    def read(self, data: str | bytes) -> None:
        """One of the commands, by the file's contents."""
        from click.testing import CliRunner

        from hipgemm.cli import main as hipgemm
        from hipgemm.kernels.build import build

        octets = data.encode(errors="surrogatepass") if isinstance(data, str) else data
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"file{self.suffix}"
            file.write_bytes(octets)
            known = {"FILE": str(file), "OUT": f"{folder}/out", "KERNEL": str(build("kernel2").hsaco)}
            words = self.commands[zlib.crc32(octets) % len(self.commands)].split()
            done = CliRunner().invoke(hipgemm, [known.get(word, word.replace("FILE", str(file))) for word in words])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if OBEYED.search(done.output):
            raise AssertionError(f"a terminal would obey what is printed: {done.output[:200]!r}")
        if done.exit_code == 2:
            raise IsaError(done.output.replace(folder, ""))
        if done.exit_code not in (0, 1):
            raise AssertionError(f"status {done.exit_code}")


def _in_turn(*steps: Callable[[], object]) -> None:
    """Each step, whatever the one before said; the first error is raised at the end."""
    first = None
    for step in steps:
        try:
            step()
        except IsaError as error:
            first = first or error
    if first is not None:
        raise first


OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LAUNCH = "--grid 1 --block 32,32" + " --arg %s" * 3 + " --arg i32:64" * 5
_TIME = f"time FILE {_LAUNCH}".replace("%s", "zeros:f32:4096")
_OF_CODE = ("inspect FILE", "inspect FILE --json", "lint FILE", "lint FILE --sarif", "opt FILE --passes clause -o OUT",
            "diff FILE KERNEL", _TIME)  # fmt: skip
VERBS = {
    "verbs, assembly": Verbs(".s", "assembly", _OF_CODE),
    "verbs, code object": Verbs(".hsaco", "code object", _OF_CODE),
    "verbs, bundle": Verbs(".hsaco", "bundle", _OF_CODE),
    "verbs, metadata": Verbs(".hsaco", "metadata", _OF_CODE),
    "launch file": Verbs(
        ".toml",
        "launch",
        ("time KERNEL --launch FILE --budget 50000", "time KERNEL --launch FILE --budget 50000 --json"),
    ),
    "table": Verbs(".json", "json", ("explain 64 64 64 --no-predict --table FILE",)),
    "records": Verbs(".jsonl", "json", ("report FILE",)),
    "card file": Verbs(".json", "json", ("time kernel2 -n 64 --card-file FILE",)),
    "array": Verbs(".npy", "array", (f"time KERNEL {_LAUNCH}".replace("%s", "file:FILE"),)),
    "trace": Verbs(".pkl", "pickle", ("trace FILE", "trace FILE --json --kernel kernel2")),
}
READERS: dict[str, Callable[[Any], None]] = {
    "assembly": read_assembly,
    "code object": read_code,
    "bundle": read_container,
    "metadata": read_container,
    "printf": read_printf,
    **{name: verbs.read for name, verbs in VERBS.items()},
}


def originals(reader: str) -> Sequence[Any]:
    """The sound inputs that are damaged."""
    from hipgemm.kernels.build import build

    if reader == "printf":
        text = b"%d of %s: %8.3f\n".ljust(24, b"\0") + bytes(8) + b"name\0\0\0\0" + struct.pack("<d", 1.5)
        known = struct.pack("<IQQ", 20 << 2 | 2, 1, 7) + b"x" * 8
        records = struct.pack("<I", (len(text) + 4) << 2) + text + known
        return [struct.pack("<II", len(records), 1 << 12) + records]
    if reader in ("table", "records", "card file"):
        return _documents(reader)
    damage = VERBS[reader].damage if reader in VERBS else reader
    builds = [
        build(name) for name in (("kernel1", "kernel2") if reader in VERBS else ("kernel1", "kernel2", "kernel5"))
    ]
    if damage == "pickle":
        return [_trace(builds[1].hsaco.read_bytes())]
    if damage == "assembly":
        cases = sorted((ROOT / "tests" / "isa" / "lint" / "cases").glob("*/*.s"))
        short = [file.read_text().partition(";; expect")[0] for file in cases]
        return [*short, *(made.assembly.read_text() for made in builds[:2])]
    elves = [made.hsaco.read_bytes() for made in builds]
    return [mutations.Notes(elf).with_services() for elf in elves] if damage == "metadata" else elves


def _documents(reader: str) -> Sequence[Any]:
    """What JSON the verbs take."""
    from hipgemm.measure.result import Result
    from hipgemm.tuning import table
    from isa.timing.machine import rdna3

    if reader == "table":
        return [{"table": 1, "entries": [table.as_object(e) for e in table.shipped().entries[:3]]}]
    if reader == "card file":
        rows = {
            name: {"value": n.value, "low": n.value, "high": n.value, "at_end": False}
            for name, n in rdna3.NUMBERS.items()
        }
        return [{"card": "7900 XTX", "device": "x", "numbers": rows}]
    made = Result.__dataclass_fields__
    plain = {"str": "x", "int": 1, "float": 1.0, "bool": True}
    types = {name: str(f.type).split(" | ")[0] for name, f in made.items()}
    record = {name: plain[of] for name, of in types.items() if of in plain}
    whole = {
        **record,
        "record": 1,
        "kernel": "kernel1",
        "worst": [0, 0, 1.0, "nan"],
        "times_ms": [1.0],
        "time_kind": "predicted",
    }
    return [[whole, whole, {"record": 1, "kernel": "kernel2", "refused": "why"}]]


def _trace(code: bytes) -> bytes:
    """A profile of tinygrad with a trace of a kernel: its classes are looked for, and need not be there."""
    from isa.object import code_object
    from isa.timing.card_traces import sqtt
    from isa.timing.model import predict

    loaded = code_object.load(code)
    cfg = predict.cfg_of(loaded, loaded.kernel())
    issued = [sqtt.Issued(5 * k, k % 2, k // 2, "model") for k in range(24)]  # two waves, up to a branch
    blob = sqtt.encoded(issued, cfg)

    def text(word: str) -> bytes:
        return b"\x8c" + bytes([len(word)]) + word.encode()

    def octets(data: bytes) -> bytes:
        return b"B" + struct.pack("<I", len(data)) + data

    def event(kind: str, **fields: bytes) -> bytes:
        held = b"".join(text(name) + value for name, value in fields.items())
        return b"ctinygrad.x\n" + kind.encode() + b"\n)\x81}(" + held + b"ub"

    number = b"K\x00"
    program = event("ProfileProgramEvent", tag=number, name=text("kernel2"), lib=octets(code))
    return b"\x80\x04](" + program + event("ProfileSQTTEvent", kern=number, se=number, blob=octets(blob)) + b"e."


def damaged(reader: str, sound: Sequence[Any], seed: int, number: int) -> Any:
    """The input of that number."""
    damage = VERBS[reader].damage if reader in VERBS else reader
    return mutations.MUTATE[damage](random.Random(f"{reader} {seed} {number}"), sound)


# --- the process that reads


def work(reader: str, seed: int, first: int, count: int, progress: Path) -> dict[str, Any]:
    """Read `count` inputs. What is wrong with one is reported by its number; `progress` holds the one that is read."""
    sound = originals(reader)
    read = READERS[reader]
    ended: collections.Counter[str] = collections.Counter()
    messages: set[str] = set()
    wrong: list[str] = []
    early = 0
    with progress.open("w+") as place, _watch():
        for number in range(first, first + count):
            os.pwrite(place.fileno(), f"{number:<12}".encode(), 0)
            source = damaged(reader, sound, seed, number)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                read(source)
                ended["result"] += 1
            except IsaError as error:
                ended["IsaError"] += 1
                messages.add(re.sub(r"[^a-z ]+", "#", error.message))
            except Hang:
                wrong.append(f"{number}: more than {SECONDS} s")
            except Exception as error:
                wrong.append(f"{number}: {type(error).__name__}: {str(error)[:200]}")
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if number == first + count // 5:
                early = _resident()
    grown = _resident() - early
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if peak > PEAK >> 10:
        wrong.append(f"{peak >> 10} MiB were taken")
    if grown > GROWTH:
        wrong.append(f"memory grew by {grown >> 20} MiB")
    return {
        **ended,
        "messages": len(messages),
        "wrong": wrong,
        "peak": peak,
    }


@contextlib.contextmanager
def _watch() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Hang

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    faulthandler.enable()
    before = signal.signal(signal.SIGPROF, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGPROF, before)


def _resident() -> int:
    """Bytes of memory, without what is free and was not given back."""
    import ctypes
    import gc

    gc.collect()
    with contextlib.suppress(AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


# --- the command


def run(reader: str, seed: int, count: int, jobs: int = 1, first: int = 0) -> dict[str, Any]:
    """The readers' processes, and what they found together. A process that ends by itself is a finding."""
    share = -(-count // jobs)
    starts = range(first, first + count, share)
    began = time.monotonic()
    total: dict[str, Any] = {"reader": reader, "inputs": count, "result": 0, "IsaError": 0, "messages": 0, "wrong": []}
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for start in starts:
            progress = Path(folder) / f"{start}"
            progress.write_text(f"{start}")
            arguments = (reader, str(seed), str(start), str(min(share, first + count - start)), str(progress))
            command = [sys.executable, str(Path(__file__).resolve()), "--child", *arguments]
            pipe = subprocess.PIPE
            children.append((progress, subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)))
        for progress, child in children:
            said, complaint = child.communicate()
            if child.returncode:
                tail = complaint.strip()[-1500:]
                total["wrong"].append(f"{progress.read_text().strip()}: the process ended ({child.returncode}): {tail}")
                continue
            found = json.loads(said)
            total["peak"] = max(total.get("peak", 0), found["peak"])
            for key in ("result", "IsaError", "wrong"):
                total[key] += found.get(key, 0)
            total["messages"] = max(total["messages"], found["messages"])
    return {**total, "seconds": round(time.monotonic() - began, 1)}


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--reader", type=click.Choice(tuple(READERS)), help="One reader; all if not given.")
@click.option("--count", type=int, help="Inputs for each reader.  [default: 30000; 6000 for the command line's]")
@click.option("--seed", default=0, show_default=True)
@click.option("--jobs", default=2, show_default=True, help="Processes at a time.")
@click.option("--replay", type=int, metavar="NUMBER", help="Read this one input of --reader here, and show it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a reader.")
def main(reader: str | None, count: int | None, seed: int, jobs: int, replay: int | None, as_json: bool) -> None:
    if replay is not None:
        if reader is None:
            raise click.UsageError("--replay needs --reader")
        source = damaged(reader, originals(reader), seed, replay)
        click.echo(source if isinstance(source, str) else source.hex())
        READERS[reader](source)
        return
    failed = False
    for name in [reader] if reader else READERS:
        found = run(name, seed, count or (6_000 if name in VERBS else 30_000), jobs)
        failed |= bool(found["wrong"])
        if as_json:
            click.echo(json.dumps(found))
            continue
        click.echo(
            f"{name:12} {found['inputs']:7} inputs: {found['result']} read, {found['IsaError']} rejected with "
            f"{found['messages']} different messages, {len(found['wrong'])} wrong; {found['seconds']} s, "
            f"{found.get('peak', 0) >> 10} MiB at most"
        )
        for wrong in found["wrong"][:20]:
            click.echo(f"  {wrong}")
    sys.exit(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        name_, seed_, first_, count_, progress_ = sys.argv[2:]
        print(json.dumps(work(name_, int(seed_), int(first_), int(count_), Path(progress_))))
    else:
        main()
