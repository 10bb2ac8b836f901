"""What predictions are kept as: data, of which nothing is run, and which nothing but a prediction comes out of."""

import pickle
import re
from pathlib import Path

import msgpack
import numpy as np
import pytest

from isa.analysis.resources import occupancy
from isa.timing.machine.cards import CARDS
from isa.timing.model import predict
from isa.timing.model.ensemble import Timing
from isa.timing.model.run import Run
from isa.timing.trace.trace import Iterations

UNPICKLES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
ROOT = Path(__file__).parents[3]


def made() -> Timing:
    run = Run(
        cycles=1.5, played=1.0, causes={"VALU busy": np.int64(3)}, hits=np.arange(6).reshape(2, 3),  # type: ignore[dict-item]
        lines=np.ones(2), member=(1, 2), stalls=np.zeros((0, 2)),
    )  # fmt: skip
    fits = occupancy(64, 1024, 256, cu_mode=True)
    card = next(iter(CARDS.values()))
    return Timing(card, 2500, fits, 4, 2, 1, True, (run,), (0.9, 1.1), Iterations("l", 1.0, 1.0, 2.0, 0.5), 3.0, (7,))


def test_it_comes_back(tmp_path: Path) -> None:
    before = made()
    predict._write(tmp_path, before)
    after = predict._read(tmp_path)
    assert repr(after.runs[0].stalls) == repr(before.runs[0].stalls)
    assert (after.card, after.occupancy, after.iterations) == (before.card, before.occupancy, before.iterations)
    assert (after.ratios, after.guards, after.runs[0].causes) == (before.ratios, before.guards, before.runs[0].causes)
    assert (after.time_s, after.band) == (before.time_s, before.band)


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(Path("x")),
        b"",
        msgpack.packb(5),
        msgpack.packb(msgpack.ExtType(1, msgpack.packb(("Path", {})))),
        msgpack.packb(msgpack.ExtType(1, msgpack.packb(("Card", {"x": 1})))),
        msgpack.packb(msgpack.ExtType(2, msgpack.packb(("O", (1,), bytes(8))))),
    ],
)
def test_anything_else_is_made_again(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "timing").write_bytes(data)
    with pytest.raises(LookupError):
        predict._read(tmp_path)


def test_nothing_here_unpickles() -> None:
    """Nor has a word for it."""
    for file in (*ROOT.glob("isa/**/*.py"), *ROOT.glob("hipgemm/**/*.py")):
        imports = re.findall(r"^\s*(?:import|from) (.*)", file.read_text(), re.MULTILINE)
        assert not UNPICKLES & {name for line in imports for name in re.findall(r"\w+", line)}, file
