"""The simulated card's clock: a launch is predicted once, by whoever is first, and only one ahead at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from hipgemm.simulated_hip import clock


class Slow:
    """Stands for a launch whose prediction waits until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun = threading.Event()
        self.predicted = 0

    def predict(self) -> str:
        self.begun.set()
        assert self.go.wait(600)
        self.predicted += 1
        return f"time {self.predicted}"


@pytest.fixture
def slow() -> Iterator[Slow]:
    launched = Slow()
    yield launched
    launched.go.set()


def test_what_was_begun_ahead_is_not_predicted_again(slow: Slow) -> None:
    time = clock._Clock()
    time.begin(slow)
    assert slow.begun.wait(600)
    time.begin(slow)
    slow.go.set()
    assert [time.of(slow), time.of(slow)] == ["time 1", "time 1"]


def test_one_ahead_at_a_time(slow: Slow) -> None:
    time, other = clock._Clock(), Slow()
    time.begin(slow)
    time.begin(other)
    assert slow.begun.wait(600)
    assert not other.begun.is_set()
    other.go.set()
    assert time.of(other) == "time 1"  # asked for, it does not wait for the one ahead
    slow.go.set()
    assert time.of(slow) == "time 1"


def test_an_interrupted_prediction_is_made_again() -> None:
    class Interrupted:
        times = 0

        def predict(self) -> str:
            self.times += 1
            if self.times == 1:
                raise KeyboardInterrupt
            return "time"

    time, launched = clock._Clock(), Interrupted()
    with pytest.raises(KeyboardInterrupt):
        time.of(launched)
    assert time.of(launched) == "time"
