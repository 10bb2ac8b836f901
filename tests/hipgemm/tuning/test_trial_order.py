"""In which order kernels are tried: what is known to be good, then by guesses that learn from what was seen."""

from functools import cache
from itertools import islice

from hipgemm.tuning import space, table, trial_order
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.trial_order import Order
from isa.gemm.names import name_of
from isa.gemm.vector.parameters import Parameters


@cache
def some() -> list[Parameters]:
    return [p for p in space.kernels("nn") if p.rows == p.columns == 128 and p.thread_rows == p.thread_columns == 8]


def guesses() -> list[tuple[Parameters, float]]:
    return [(p, 1e-6 * (100 + i)) for i, p in enumerate(some())]


def test_each_comes_once_and_those_that_are_known_first() -> None:
    known = [(some()[30], 1.0), (some()[7], 2.0)]
    mine = Order(known, guesses())
    first = list(islice(mine.next({}), 5))
    assert first[:2] == [some()[30], some()[7]]
    rest = list(mine.next({name_of(p): 1e-4 for p in first}))
    assert len(first) + len(rest) == len(some())
    assert {*first, *rest} == set(some())


def test_kinds_take_turns_until_something_is_known() -> None:
    assert [p.stream_k for p in islice(Order([], guesses()).next({}), 8)] == [False, True] * 4


def test_what_was_seen_of_kernels_orders_those_that_are_alike() -> None:
    """All guesses are equal; in truth a K block of 16 takes twice as long as one of 8, and groups of 4 half as long."""

    def takes(p: Parameters) -> float:
        return 1e-4 * (p.depth / 8) * (0.5 if p.group == 4 else 1)

    mine = Order([], [(p, 1e-4) for p in some()])
    seen = {name_of(p): takes(p) for p in islice(mine.next({}), 16)}
    after = list(islice(mine.next(seen), 8))
    assert [(p.depth, p.group) for p in after] == [(8, 4)] * 8


def test_what_the_table_takes_nearby_comes_first_for_matrices_that_lie_otherwise() -> None:
    entry = next(e for e in table.shipped().entries if e.shape == Shape(4096, 4096, 4096))
    found = [name_of(p) for p in trial_order.first(Shape(4000, 4096, 4096, "tt"), entry.on)]
    assert all(name.endswith("_tt") for name in found)
    assert len(found) == len(set(found)) >= 2
    near = [name_of(p) for p in trial_order.first(entry.shape, entry.on)]
    assert near[0] == entry.kernels[0].kernel


def test_another_shape_teaches_its_best_kernel_and_what_its_kernels_have_in_common() -> None:
    """A shape where K blocks of 16 took twice as long as guessed."""
    shape = Shape(512, 512, 512)
    before = Order([], [(p, 1e-4) for p in some()])
    lesson = before.lesson(shape, {name_of(p): 1e-4 * p.depth for p in before.next({})})
    mine = Order([], [(p, 3e-4) for p in some()], [lesson])
    assert {p.depth for p in islice(mine.next({}), 8)} == {8}
    assert lesson.best in [name_of(p) for p in trial_order.first(shape, "7900 XTX", [lesson])]
