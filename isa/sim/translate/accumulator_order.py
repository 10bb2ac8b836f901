"""The order of a strip's computation: accumulators stay in registers over all their FMAs.

In:  the body of a loop over strips without effects, its instructions, and the values that it must leave.
Out: the same instructions in another order, those that nothing needs left out, and where each result is stored.

A register-tiled kernel runs through all accumulators once a step; followed literally, each FMA would load and store its
accumulator. Here the results whose last operation is a chain of FMAs are taken a few at a time, and for these few all
chains are written to their end. In an outer product the few are a rectangle, so that they share operands: results are
edges of a graph between operands, which falls into two sides (columns of A, rows of B); some from one side, some from
the other make a tile. The tile's shape leaves room in the host's vector registers for its operands.

All other results are taken a few at a time, too (ABREAST), each few in the order in which they stood: one result after
the other would leave the processor a single chain of instructions that wait for each other (packed f16 code ran at a
third of the speed so), all at once more values than it has registers.

Each instruction's operands stand before it; that is all that this order must keep, since loads of the body meet no
stores but those of the results, and a result is stored only after the register's old value was loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from isa.sim.ir.ir import Fma, Line, Operation, opcode

ABREAST = 8
"""Results without FMAs that are computed side by side."""


@dataclass(frozen=True)
class Result:
    """A value that is stored: `ref` is its name, `store` the instructions that store it; `old` the names of values
    that were loaded from the same place, which must be loaded before."""

    ref: str
    store: tuple[Operation, ...]
    old: tuple[str, ...]


class _Body:
    """again: values that are loaded where they are used, by the instruction that loads each."""

    def __init__(self, operations: Sequence[Operation], again: Mapping[str | int, Operation]) -> None:
        self.operations = operations
        self.again = dict(again)
        self._copies = 0
        self.loaded: dict[str | int, str] = {}
        self.defined: dict[str | int, int] = {result: i for i, (result, _, _) in enumerate(operations)}
        self.done: set[int] = set()
        self.out: list[Line] = []
        self._named: set[str] = set()

    def need(self, ref: str) -> None:
        """Write the value's instruction, and before it all that it needs."""
        start = self.defined.get(ref)
        if start is None and ref in self.again and ref not in self._named:
            self._named.add(ref)
            self.out.append(self.again[ref])
        if start is None or start in self.done:
            return
        stack = [start]
        while stack:
            i = stack[-1]
            if i in self.done:
                stack.pop()
                continue
            inputs = map(self.defined.get, reversed(self.operations[i][2]))
            waiting = [j for j in inputs if j is not None and j not in self.done]
            if waiting:
                stack += waiting
            else:
                stack.pop()
                self.done.add(i)
                self._write(i)

    def _write(self, i: int) -> None:
        result, form, operands = self.operations[i]
        new = list(operands)
        for k, operand in enumerate(operands):
            if (load := self.again.get(operand)) is not None:
                if operand not in self.loaded:
                    self._copies += 1
                    self.loaded[operand] = f"{operand}.{self._copies}"
                    self.out.append((self.loaded[operand], *load[1:]))
                new[k] = self.loaded[operand]
        self.out.append((result, form, tuple(new)))

    def abreast(self, results: Sequence[Result]) -> None:
        """Write some results and all that they need, in the order in which it stood."""
        needed: set[int] = set()
        stack = [i for r in results for name in (r.ref, *r.old) if (i := self.defined.get(name)) is not None]
        while stack:
            i = stack.pop()
            if i not in needed and i not in self.done:
                needed.add(i)
                stack += [j for j in map(self.defined.get, self.operations[i][2]) if j is not None]
        self.done |= needed
        self.loaded.clear()
        for i in sorted(needed):
            self._write(i)
        for result in results:
            self.need(result.ref)
            self.out += result.store

    def chain(self, ref: str) -> list[tuple[str, str, str]]:
        """(name, operand, operand) of the FMAs that a value is the end of, first one first."""
        found = []
        while (i := self.defined.get(ref)) is not None:
            _, form, operands = self.operations[i]
            if " x float> @llvm.fma." in form:
                a, b, before = map(str, operands)
                found.append((ref, a, b))
                ref = before
            elif opcode(self.operations[i]) == "bitcast":
                ref = str(operands[0])
            else:
                break
        return found[::-1]

    def finish(self, result: Result) -> None:
        self.need(result.ref)
        for old in result.old:
            self.need(old)
        self.out += result.store


def values_only(lines: Sequence[Line]) -> list[Operation | Fma] | None:
    """The lines, if they are values only: one basic block without effects."""
    values: list[Operation | Fma] = []
    for line in lines:
        if isinstance(line, str):
            return None
        if isinstance(line, tuple) and (not line[0] or line[1].startswith("call i1 ") or "atomic" in line[1]):
            return None
        values.append(line)
    return values


def ordered(
    operations: Sequence[Operation], results: Sequence[Result], others: Sequence[str], tile: tuple[int, int],
    first: Mapping[str, Sequence[Line]] = MappingProxyType({}),
    again: Mapping[str | int, Operation] = MappingProxyType({}),
) -> list[Line]:  # fmt: skip
    """The body and the stores of its results. others: names that must be there too. tile: rows and columns. first:
    names that must be there before anything is stored, each with the lines that stand after it. again: values in memory
    that the body only reads, each by the instruction that loads it: they are loaded where they are used."""
    body = _Body(operations, again)
    chains = {r.ref: body.chain(r.ref) for r in results}
    for ref in (*others, *first):
        body.need(ref)
        body.out += first.get(ref, ())
    rest = [r for r in results if not chains[r.ref]]
    for i in range(0, len(rest), ABREAST):
        body.abreast(rest[i : i + ABREAST])
    for ref in _shared_less(chains.values()):
        if ref not in again:
            body.need(ref)
    for group in _tiles([r for r in results if chains[r.ref]], chains, tile):
        for step in range(max(len(chains[r.ref]) for r in group)):
            body.loaded.clear()
            for result in group:
                if step < len(chains[result.ref]):
                    body.need(chains[result.ref][step][0])
        for result in group:
            body.finish(result)
    return body.out


def _shared_less(chains: Collection[list[tuple[str, str, str]]]) -> list[str]:
    """Of each FMA's operands the one that fewer FMAs share: it comes from memory when it is used, so it is made before
    all chains; the other is made when its first chain begins, and stays in a register over the chains that share it."""
    uses = Counter(operand for chain in chains for _, *operands in chain for operand in operands)
    return list(dict.fromkeys(min(a, b, key=uses.__getitem__) for chain in chains for _, a, b in chain))


def _tiles(
    results: Sequence[Result], chains: dict[str, list[tuple[str, str, str]]], tile: tuple[int, int]
) -> list[list[Result]]:
    """Results by tiles of the graph of first operands; those that do not fit into one stand alone."""
    edges: dict[tuple[str, str], list[Result]] = {}
    neighbours: dict[str, dict[str, None]] = {}
    for r in results:
        _, a, b = chains[r.ref][0]
        edges.setdefault((a, b) if a < b else (b, a), []).append(r)
        neighbours.setdefault(a, {})[b] = None
        neighbours.setdefault(b, {})[a] = None
    side: dict[str, int] = {}
    sides: list[tuple[list[str], list[str]]] = []
    for node in neighbours:
        if node in side:
            continue
        component: tuple[list[str], list[str]] = ([], [])
        side[node] = 0
        queue = [node]
        for n in queue:
            component[side[n]].append(n)
            for other in neighbours[n]:
                if other not in side:
                    side[other] = 1 - side[n]
                    queue.append(other)
        sides.append(component)
    groups = []
    for few, many in ((min(c, key=len), max(c, key=len)) for c in sides):
        for i in range(0, len(few), tile[0]):
            for j in range(0, len(many), tile[1]):
                group = [
                    r
                    for a in few[i : i + tile[0]]
                    for b in many[j : j + tile[1]]
                    for r in edges.pop((a, b) if a < b else (b, a), [])
                ]
                if group:
                    groups.append(group)
    # Edges within one side (a graph that has no two sides) come as they are.
    return groups + [[r] for rest in edges.values() for r in rest]
