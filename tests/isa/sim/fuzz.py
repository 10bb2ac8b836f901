"""Launches mutated code objects, in a process of its own: `fuzz.py SEED COUNT FILE...`.

Whatever a code object does, it must end in a result or an IsaError, and touch nothing but the card's memory. Bytes of
the host stand guard on both sides of what a launch may reach. Prints how many were launched and how they ended.
"""

from __future__ import annotations

import collections
import ctypes
import random
import resource
import sys
from pathlib import Path

from isa.errors import IsaError
from isa.object import code_object
from isa.sanitize import observe
from isa.sim.run.card import Card

GUARD = bytes(range(256)) * 256
MEMORY = 2 << 30


def mutate(image: bytes, chosen: random.Random, places: list[tuple[int, int]]) -> bytes:
    """A few bits, bytes or words changed, mostly in the code."""
    data = bytearray(image)
    for _ in range(chosen.choice((1, 1, 2, 4))):
        start, end = chosen.choice(places) if chosen.random() < 0.9 else (0, len(data))
        at = chosen.randrange(start, end)
        kind = chosen.randrange(4)
        if kind == 0:
            data[at] ^= 1 << chosen.randrange(8)
        elif kind == 1:
            data[at] = chosen.choice((0, 1, 0x7F, 0x80, 0xFF, chosen.randrange(256)))
        else:
            at = at // 4 * 4
            other = chosen.randrange(start, end) // 4 * 4
            word = bytes(data[other : other + 4])
            if kind == 2:
                data[other : other + 4] = data[at : at + 4]
            data[at : at + 4] = word
    return bytes(data)


def places_of(image: bytes) -> list[tuple[int, int]]:
    """Where in the file code and descriptors are."""
    loaded = code_object.load(image)
    found = []
    for kernel in loaded.kernels.values():
        for piece in (loaded.code(kernel.name), loaded.read(loaded.symbols[f"{kernel.name}.kd"].address, 64)):
            if (at := image.find(piece)) >= 0:
                found.append((at, at + len(piece)))
    return found


def main(seed: int, count: int, files: list[str]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (64 << 30, 64 << 30))
    chosen = random.Random(seed)
    images = [Path(file).read_bytes() for file in files]
    guards = [ctypes.create_string_buffer(GUARD, len(GUARD)) for _ in range(8)]
    ended: collections.Counter[str] = collections.Counter()
    for number in range(count):
        original = chosen.choice(images)
        image = mutate(original, chosen, places_of(original))
        card = Card(capacity=1 << 24)
        try:
            module = card.load(image)
            if not module.kernels:
                ended["no kernel"] += 1
                continue
            kernel = chosen.choice(list(module.kernels.values()))
            buffers = [card.memory.allocate(4096) for _ in range(4)]
            for buffer in buffers:
                ctypes.memset(buffer, 1, 4096)
            kernarg = b"".join(b.to_bytes(8, "little") for b in buffers) + bytes([4, 0, 0, 0]) * 64
            if number % 2:
                findings = observe(card, kernel, (2, 1, 1), (64, 1, 1), kernarg, schedules=1, budget=100_000).findings
                ended["findings" if findings else "clean"] += 1
            else:
                card.launch(kernel, (2, 1, 1), (64, 1, 1), kernarg, budget=100_000)
                ended["ran"] += 1
        except IsaError as error:
            ended[type(error).__name__] += 1
        for guard in guards:
            assert guard.raw == GUARD, f"{seed} {number}: the host's memory was written to"
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        assert used < MEMORY, f"{seed} {number}: {used} bytes of memory"
    print(sum(ended.values()), dict(ended))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
